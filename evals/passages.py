"""Text of an answer as a scorer reads it: mentions, and passages (paragraphs, list items, table rows)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_SENTENCE_END = re.compile(r"(?<=[。！？!?；;])|(?<=[.])\s+(?=[A-Z\"“(])")
_HEADING = re.compile(r"^\s*(?:#{1,6}\s+(.+)|\*\*([^*]+)\*\*\s*[:：]?\s*|([^|]{1,60}[:：]))\s*$")
_LEAD = re.compile(
    r"(?:[-*+]\s+|\d+[.)]\s+)?\*\*([^*]{1,40})\*\*"
)  # "**Assumed:** …" names what its line says
_ITEM = re.compile(r"^\s*(?:[-*+•]|\d+[.)、])\s+")
_NEGATION = re.compile(
    r"不|没|无法|无需|未|别|勿|并非|而非|否|\b(?:not|no|never|cannot|can't|without|neither|nor|isn't|aren't|doesn't|don't|won't"
    r"|instead|rather than|wrong|false|impossible|unable|lacks?|refuse|declin\w+)\b|n't\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Passage:
    """A paragraph, list item or table row, with the heading above it and, for a row, its columns' names."""

    text: str
    heading: str = ""
    columns: str = ""

    @property
    def stated(self) -> str:
        """What the passage says by itself: a row says something only with the names of its columns."""
        return f"{self.columns}\n{self.text}" if self.columns else self.text

    @property
    def whole(self) -> str:
        return f"{self.heading}\n{self.stated}" if self.heading else self.stated

    @property
    def sentences(self) -> list[str]:
        return [part.strip() for part in _SENTENCE_END.split(self.text) if part and part.strip()]


def negated(sentence: str) -> bool:
    """Whether a sentence denies something: what it names is then no claim."""
    return _NEGATION.search(sentence) is not None


def mentions(text: str, wanted: str) -> bool:
    """Whether a plain string occurs, in any case; an ASCII one must not touch a letter or digit."""
    if wanted.isascii():
        pattern = rf"(?<![a-z0-9]){re.escape(wanted.lower())}(?![a-z0-9])"
        return re.search(pattern, text.lower()) is not None
    return wanted.lower() in text.lower()


def mentions_any(text: str, wanted: Iterable[str]) -> bool:
    return any(mentions(text, item) for item in wanted)


def passages(text: str) -> list[Passage]:
    """The answer cut into passages; a table row carries the head of its table, an item its heading."""
    found: list[Passage] = []
    heading, table_head = "", ""
    for line in text.splitlines():
        bare = line.strip()
        if not bare:
            table_head = ""
        elif set(bare) <= set("|-: "):
            continue  # the rule under a table's head
        elif bare.startswith("|"):
            found.append(Passage(bare, heading, table_head))
            table_head = table_head or bare
        elif _HEADING.match(line) and not _ITEM.match(line):
            heading = bare
            found.append(Passage(bare))
        else:
            found.append(Passage(bare, heading))
    return found
