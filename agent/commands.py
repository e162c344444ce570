"""Commands in prose: the lines of code blocks and code spans, and the words that they are made of."""

from __future__ import annotations

import re

_BLOCK = re.compile(r"(?m)^[ \t>]*(`{3,16}|~{3,16})[^\n]*\n(.*?)(?:^[ \t>]*\1|\Z)", re.DOTALL)
_SPAN = re.compile(r"(`{1,8})([^`\n]+?)\1(?!`)")
_WORD = re.compile(r"(?<![A-Za-z0-9_./:@%+~*-])[A-Za-z0-9_./:@%+~*-]*[A-Za-z0-9_/*]")


def commands_in(text: str) -> list[str]:
    """What the text would have its reader type: lines of code blocks that are no remark, and code spans of
    more than one word. A span of one word is a name or an option, not a command."""
    blocks = [match[2] for match in _BLOCK.finditer(text)]
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    spans = [match[2].strip() for match in _SPAN.finditer(_BLOCK.sub("\n", text))]
    return [line for line in lines if line and not line.startswith(("#", "//"))] + [
        span for span in spans if len(span.split()) > 1
    ]


def words_of(text: str) -> list[str]:
    """The words of a command or of a text that holds commands: programs, options, paths, values."""
    return _WORD.findall(text)
