"""Loads the vocabulary files: phrases as people write them, compiled to patterns over the plain text.

A phrase is a regular expression with four conveniences: Latin words match whole (a trailing `*` leaves the
end open), a blank matches any blank or hyphen (between Chinese characters also none), ` .. ` is a gap of up
to 24 characters within a sentence, and `#` is a number.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent / "vocabulary"
# Runs are bounded, so that no text makes a search quadratic.
_BOUNDS = ((r"\d+", r"\d{1,9}"), (r"\w+", r"\w{1,24}"), (r"\w*", r"\w{0,24}"))
_LOOKBEHIND = re.compile(r"(\(\?<[!=][^)]*\))")  # of fixed width, so left as written
_GAP = r"[^.;!?\n]{0,24}?"


def phrase_pattern(phrase: str) -> str:
    """The regular expression of one phrase."""
    open_end = phrase.endswith("*") and not phrase.endswith((".*", "]*", r"\w*"))
    text = phrase[:-1] if open_end else phrase
    head = r"(?<![a-z])" if re.match(r"\(?[a-z]", text) else ""
    tail = r"(?![a-z])" if not open_end and re.search(r"(?<!\\)[a-z]\)?\??$", text) else ""
    for endless, bounded in _BOUNDS:
        text = text.replace(endless, bounded)
    parts = _LOOKBEHIND.split(text)
    text = "".join(part if index % 2 else _expand(part) for index, part in enumerate(parts))
    return f"{head}(?:{text}){tail}"


def _expand(text: str) -> str:
    text = text.replace(" .. ", _GAP).replace(" ?", r"[\s-]{0,2}")
    text = re.sub(r"(?<=[一-鿿)\]?]) | (?=[一-鿿(\[])", r"[\\s-]{0,2}", text)
    return text.replace(" ", r"[\s-]{1,2}").replace("#", r"\d[\d.,]{0,12}")


def any_of(phrases: list[str]) -> re.Pattern[str]:
    """One pattern for a list of phrases."""
    return re.compile("|".join(phrase_pattern(phrase) for phrase in phrases))


@cache
def vocabulary(name: str) -> dict[str, Any]:
    """A vocabulary file as written."""
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


@cache
def tags(name: str) -> dict[str, re.Pattern[str]]:
    """A vocabulary file of `tag = [phrases]`, each tag as one pattern, in the order of the file."""
    return {tag: any_of(phrases) for tag, phrases in vocabulary(name).items()}
