"""What a turn's shape tells beyond its names: topics, quoted errors, names set against each other."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from agent.reading.claims import named_architectures
from agent.reading.pasted import Pasted
from agent.reading.phrases import tags
from agent.reading.types import Mention
from agent.reading.words import Words

_QUOTED_ERROR = re.compile(
    r"(?:cuda|torch)[\w.: ]{0,24}out of memory|\w{1,40}error:|\s--[a-z][\w-]{3,40}|traceback|exit\s?code"
    r"|error code|xid|cuda error|nccl (?:warn|error|watchdog)"
    r"|(?<![a-z0-9/.])(?:[a-z]{1,40}(?:error|exception|failed|notfound|denied)|err(?:no)?\s?\d{1,6}"
    r"|0x[0-9a-f]{4,16}|/dev/\w{1,20})(?![a-z])"
)
# An error's name as programs print it, by its capitals: "cudaErrorNotReady", "InvalidParameter".
_ERROR_NAME = re.compile(
    r"(?<![A-Za-z])(?:[A-Za-z]{1,40}(?:Error|Exception|NotFound|Denied|Invalid|Unsupported|NotSupport"
    r"|Conflict|Failed)\w{0,40}|[A-Za-z][a-z]{1,20}(?:[A-Z][a-z]{1,20}){3,8}|[A-Z]{2,20}(?:_[A-Z]{1,20}){2,8})"
    r"(?![a-z])"
)
_COMPARED = ("gpu", "family", "instance", "phantom_family", "unknown_gpu")
_OR = re.compile(
    r"\s*[,的]?\s*(?:(?<![a-z])(?:or|vs\.?|versus|against)(?![a-z])|还是|对比|和|与|跟|比)\s*"
    r"(?:the |an? |\d+\s?x\s?|\d\s?[张块卡]|用|直接上|买|选)?\s*"
)
# The same two names with words between them: "V100 for CFD, or go straight to the A100".
_OR_FAR = re.compile(r"[^.;?!。；？！\n]{0,20}(?:还是|(?<![a-z])or(?![a-z]))[^.;?!。；？！\n]{0,12}")
# A move from one card to another asks how the two compare: 从 A100 迁到 H20, "from A10 to L20".
_MOVE = re.compile(
    r"[^.;?!。；？！\n]{0,12}(?:迁移?|换|升级|降级|切换?|改用)(?:到|成|为|至)?\s*|"
    r"\s*(?:to|with|by)\s+(?:an?\s|the\s)?(?:\d\s?x?\s?)?"
)
_FROM = re.compile(
    r"(?:从|由|from|replac\w{1,6}|swap\w{0,6}|upgrad\w{1,6}|migrat\w{1,6}|mov\w{1,6})\s*(?:an?\s|the\s|my\s|our\s)?(?:\d\s?[x张块]?\s?)?$"
)
_EITHER = re.compile(r"(?<![a-z])(?:or|vs)(?![a-z])|还是|和")


def topics_of(rest: str, pasted: Pasted) -> list[str]:
    """Topic tags of a turn; `rest` is its text without model names ("gpt-oss" speaks of no storage)."""
    text = f"{rest}\n{pasted.errors.lower()}"
    return [name for name, pattern in tags("topics").items() if pattern.search(text)]


def quotes_error(words: Words, pasted: Pasted, names_model: bool) -> bool:
    """Whether a turn holds an error message in its own words, command-line flags or an error's name.

    Names of models ("SenseVoiceSmall") are written like names of errors, so beside one they do not count.
    """
    if pasted.errors or _QUOTED_ERROR.search(words.plain):
        return True
    return not names_model and bool(_ERROR_NAME.search(words.original))


def _alternatives(between: str) -> bool:
    return bool(_OR.fullmatch(between) or _OR_FAR.fullmatch(between))


def _moves(before: str, between: str) -> bool:
    return bool(_FROM.search(before) and _MOVE.fullmatch(between))


def set_against(words: Words, mentions: Sequence[Mention]) -> bool:
    """Whether two cards, families, types or architectures stand as alternatives: "L20 or A10"."""
    text = words.plain
    names = [mention for mention in mentions if mention.kind in _COMPARED]
    for one, other in itertools.pairwise(names):
        start = text.find(one.text.lower())
        end = text.find(other.text.lower(), start + len(one.text)) if start >= 0 else -1
        between = text[start + len(one.text) : end] if end > 0 else ""
        if end > 0 and one.name != other.name and (_alternatives(between) or _moves(text[:start], between)):
            return True
    return len(named_architectures(text)) >= 2 and bool(_EITHER.search(text))
