"""Decides the language of the answer: that of the words between the names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.reading.types import Language

_CHINESE = re.compile(r"[一-鿿]")
_CHINESE_GRAMMAR = re.compile(r"[的了吗呢怎么是要和在用给我有多少够想跑能行不么那这哪几]")
_ENGLISH_GRAMMAR = re.compile(
    r"(?<![a-z])(?:the|is|are|what|which|how|do|does|can|could|should|would|i|we|my|our|to|for|of"
    r"|on|in|with|and|or|it|this"
    r"|that|if|why|need|want|please|me|you|a|an|be|not|will|about|have|has|any|than|much|many|mean)(?![a-z])"
)
# A program's own message, up to the next Chinese words or line: quoted, not spoken.
_ERROR = re.compile(
    r"(?:\b\w*(?:Error|Exception|Warning)\b\s*:|\b(?:NCCL WARN|NVRM:|Traceback|FATAL|RuntimeError)\b)"
    r"[^\n一-鿿]{0,600}"
)
_QUOTED = re.compile(r"[\"'“「『《`][^\"'”」』》`]{1,60}[\"'”」』》`]")


def language_of(turns: Sequence[str]) -> Language:
    """The language of the last turn that has one; `en` where none has."""
    for turn in reversed(turns):
        found = _language(turn[:2000])
        if found:
            return found
    return "en"


def _language(text: str) -> Language | None:
    chinese = len(_CHINESE.findall(text))
    text = _ERROR.sub(" ", text) if chinese else text
    english = len(_ENGLISH_GRAMMAR.findall(text.lower()))
    if not chinese:
        return "en" if english or len(re.findall(r"[A-Za-z]{3,}", text)) > 3 else None
    own = _QUOTED.sub(" ", text)
    grammar = len(_CHINESE_GRAMMAR.findall(own))
    # A few Chinese terms inside an English sentence ask for English; all else with Chinese in it for Chinese.
    if english >= 3 and english > 2 * grammar and len(_CHINESE.findall(own)) < 2 * english:
        return "en"
    return "zh"
