"""Who may call: keys, sites and visits, sessions, origins, rates."""
