"""From a reading to tool calls: what to calculate, look up and search, in at most three rounds."""

from agent.planner.plan import plan

__all__ = ["plan"]
