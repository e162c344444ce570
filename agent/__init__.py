"""The one agent: reads questions, chooses tools, writes answers, lets no ungrounded figure through."""
