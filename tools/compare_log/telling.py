"""The lines of a log that state what the comparison reads, so that a long log can be carried shortened."""

from __future__ import annotations

import re

from tools.compare_log.parse import line_patterns

_MOST_LINES = 120
_LONGEST_LINE = 4_000
_SENTENCE_LINES = 4  # an out-of-memory message wraps over so many lines of a terminal
_MEMORY_FAULT = re.compile(r"out of memory|OutOfMemoryError|No available memory", re.IGNORECASE)


def telling_lines(text: str) -> str:
    """Lines with figures, flags or a failure, in order and each once; the first hundred and twenty."""
    telling = re.compile("|".join(f"(?:{pattern})" for pattern in line_patterns()), re.IGNORECASE)
    found: dict[str, None] = {}
    wrapped = 0
    for line in text.splitlines():
        line = line[:_LONGEST_LINE]
        if _MEMORY_FAULT.search(line):
            wrapped = _SENTENCE_LINES
        if wrapped or telling.search(line):
            found.setdefault(line)
        wrapped = max(0, wrapped - 1)
        if len(found) >= _MOST_LINES:
            break
    return "\n".join(found)
