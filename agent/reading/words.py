"""One user turn in the plain form that the finders read, with the way back to the words as written."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field

MAX_CHARS = 4_000  # of prose per turn; longer questions are read up to here
TAKEN = "¦"  # stands for a character that a finder has used

_SAME = str.maketrans(dict(zip("×✕✖∗〜～–—−‐‑’‘“”", "xxx*~~-----''\"\"", strict=True)) | {"。": ". "})


@dataclass
class Words:
    """A turn: `original` as typed, `plain` for matching (NFKC, lower case, numerals as digits).

    `free` is `plain` with the parts that finders took replaced by a mark, so that the "70b" of a model
    name is not read a second time as a size. `origin[i]` is the place of `plain[i]` in `original`.
    """

    original: str
    plain: str
    origin: list[int]
    free: str = field(default="")

    @classmethod
    def of(cls, text: str) -> Words:
        original = text[:MAX_CHARS]
        chars: list[str] = []
        origin: list[int] = []
        for index, char in enumerate(original):
            # A lower-cased or decomposed character may become several, all from the same place.
            for part in unicodedata.normalize("NFKC", char).translate(_SAME).lower():
                # One blank for a run of them keeps every pattern linear in the length of the text.
                if part.isspace() and chars and chars[-1].isspace():
                    continue
                chars.append(" " if part.isspace() and part != "\n" else part)
                origin.append(index)
            if len(chars) >= MAX_CHARS:  # some characters stand for a whole phrase
                break
        plain = "".join(chars)
        return cls(original, plain, [*origin, len(original)], plain)

    def rewrite(self, pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str | None]) -> None:
        """Replaces matches in `plain` (None keeps one); every new character points at the match's start."""
        plain: list[str] = []
        origin: list[int] = []
        place = 0
        for match in pattern.finditer(self.plain):
            new = replace(match)
            if new is None or match.end() == match.start():
                continue
            plain.append(self.plain[place : match.start()])
            origin.extend(self.origin[place : match.start()])
            plain.append(new)
            origin.extend([self.origin[match.start()]] * len(new))
            place = match.end()
        plain.append(self.plain[place:])
        origin.extend(self.origin[place:])
        self.plain, self.origin = "".join(plain), origin
        self.free = self.plain

    def take(self, start: int, end: int) -> None:
        self.free = self.free[:start] + TAKEN * (end - start) + self.free[end:]

    def said(self, start: int, end: int) -> str:
        """The words as typed for a part of `plain`."""
        begin = self.origin[start]
        stop = self.origin[end] if end < len(self.origin) else len(self.original)
        return self.original[begin : max(stop, begin + 1)].strip()[:120]


Value = str | int | float | bool | tuple[str, ...]


@dataclass(frozen=True)
class Found:
    """A value for one field as one turn states it."""

    field: str
    value: Value
    confidence: float
    text: str
