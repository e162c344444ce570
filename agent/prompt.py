"""The system prompt of a language model, kept in `prompt.md`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_PROMPT = Path(__file__).with_name("prompt.md")


@cache
def system_prompt() -> str:
    """The prompt file without its heading line."""
    return _PROMPT.read_text(encoding="utf-8").split("\n", 1)[1].strip()
