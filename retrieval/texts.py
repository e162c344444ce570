"""Questions cut to what search can use, and passages cut to the lines that answer."""

from __future__ import annotations

import re
from collections.abc import Sequence

LONGEST_QUERY = 6000  # characters; a pasted log is cut around its error lines before it comes here
EMBEDDED_CHARACTERS = 300  # of a question, error lines first: more costs time and finds nothing more
_ERROR_LINE = re.compile(
    r"error|fail|fatal|exception|traceback|xid|nvrm|nccl|cuda|unable|cannot|could not|denied|refused"
    r"|timed? ?out|killed|not found|mismatch|invalid|unsupported|错误|失败|报错|异常|超时|找不到|无法|不足",
    re.IGNORECASE,
)


def focus(query: str) -> str:
    """A question cut to what search can use: all of a short one, the error lines and ends of a long log."""
    text = query.strip()
    if len(text) <= LONGEST_QUERY // 3:
        return text
    lines = [line.strip()[:400] for line in text[: 40 * LONGEST_QUERY].splitlines() if line.strip()]
    errors = list(dict.fromkeys(line for line in lines if _ERROR_LINE.search(line)))
    kept = [*lines[:3], *errors[-25:], *lines[-3:]]
    return "\n".join(dict.fromkeys(kept))[:LONGEST_QUERY]


def gist(text: str) -> str:
    """What of a question is embedded: all of a short one, the error lines of a log and then the others."""
    if len(text) <= EMBEDDED_CHARACTERS:
        return text
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    ordered = sorted(lines, key=lambda line: _ERROR_LINE.search(line) is None)
    return "\n".join(ordered)[:EMBEDDED_CHARACTERS]


def highlight(text: str, tokens: Sequence[str], longest: int = 320) -> str:
    """The lines of a passage that carry the question's words first, cut to a length."""
    lines = [line for line in text.splitlines() if line.strip()]
    wanted = set(tokens)
    ranked = sorted(
        range(len(lines)), key=lambda at: (-sum(token in lines[at].lower() for token in wanted), at)
    )
    chosen: list[int] = []
    size = 0
    for at in ranked:
        if chosen and size + len(lines[at]) > longest:
            break
        chosen.append(at)
        size += len(lines[at])
    return "\n".join(lines[at] for at in sorted(chosen))[: longest + 80]


def flat(text: str) -> str:
    """The form in which literal error strings are compared: lower case, one space, no quotes."""
    return re.sub(r"[\s\"'`*“”‘’]+", " ", text.lower()).strip(" .,;:!?。，；：！？")
