"""From reports to Markdown in English and Chinese. Every figure comes from a report; nothing is computed here
but sums, ratios and unit changes."""

from agent.writing.answer import write

__all__ = ["write"]
