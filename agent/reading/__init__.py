"""Reading: the user's messages as an intent, slots, names and premises; deterministic and offline."""

from agent.reading.conversation import read

__all__ = ["read"]
