"""A language model's prose made safe to show: no images, no links but to sources, no raw HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_IMAGE = re.compile(r"!\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])?")
_LINK = re.compile(r"\[([^\]]+)\]\(\s*<?([^)\s>]+)>?[^)]*\)")
_REFERENCE = re.compile(r"(?m)^\s*\[[^\]]+\]:\s*\S+.*$")
_AUTOLINK = re.compile(r"<((?:https?|ftp|mailto|data|javascript):[^>\s]*)>", re.IGNORECASE)
_BARE = re.compile(r"\bhttps?://[^\s)\]}>\"'，。；）]+", re.IGNORECASE)


def clean_prose(text: str, sources: Iterable[str]) -> str:
    """The text with every address removed that no source names; code blocks keep their letters."""
    known = "\n".join(sources)
    parts: list[str] = []
    place = 0
    for match in _CODE.finditer(text):
        parts += [_clean(text[place : match.start()], known), match[0]]
        place = match.end()
    return "".join([*parts, _clean(text[place:], known)]).strip()


def _clean(text: str, known: str) -> str:
    text = _REFERENCE.sub("", text)
    text = _IMAGE.sub(lambda match: match[1], text)
    text = _LINK.sub(lambda match: match[0] if match[2] in known else match[1], text)
    text = _AUTOLINK.sub(lambda match: match[1], text)
    text = _BARE.sub(lambda match: match[0] if match[0] in known else "", text)
    return text.replace("<", "&lt;")
