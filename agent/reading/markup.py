"""Text out of HTML: a question that was copied or sent with its tags is read as the words inside."""

from __future__ import annotations

import re
from html import unescape

_BLOCKS = r"p|div|br|li|ul|ol|tr|table|tbody|thead|h[1-6]|blockquote|section|article|pre|hr"
_INLINE = r"b|i|u|em|strong|span|a|font|small|sub|sup|code|mark|td|th|label|center|html|body"
_BLOCK = re.compile(rf"</?(?:{_BLOCKS})(?:\s[^<>]{{0,2000}})?/?>", re.IGNORECASE)
_TAG = re.compile(rf"</?(?:{_INLINE})(?:\s[^<>]{{0,2000}})?/?>", re.IGNORECASE)
_OPEN = re.compile(rf"<({_BLOCKS}|{_INLINE})(?:\s[^<>]{{0,2000}})?>", re.IGNORECASE)
_BREAK = re.compile(r"<br\s{0,20}/?>", re.IGNORECASE)


def without_markup(text: str) -> str:
    """The text without HTML's tags and entities, where it holds an element or a line break of HTML; other
    text comes back as it is, so that "<model>" in a command stays."""
    if "<" not in text or not (_has_element(text) or _BREAK.search(text)):
        return text
    return unescape(_TAG.sub("", _BLOCK.sub("\n", text))).strip()


def _has_element(text: str) -> bool:
    """Whether a tag that is opened is closed further on: one look for each name, however often it stands."""
    low = text.lower()
    opened: dict[str, int] = {}
    for match in _OPEN.finditer(low):
        opened.setdefault(match[1], match.end())
    return any(low.find(f"</{name}>", place) >= 0 for name, place in opened.items())
