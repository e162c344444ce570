"""Finds quantities that cannot be meant as written: below zero, zero where things are counted, too large."""

from __future__ import annotations

import re

from agent.reading.words import Words

_COUNTED = (
    r"\w{0,12}\s?(?:users?|people|employees|customers)(?![a-z])|concurrent|concurrency|requests?|reqs?|qps|rps"
    r"|gpus?(?![a-z])|cards?(?![a-z])|nodes?(?![a-z])|machines?|tokens?|samples|epochs?|images?"
    r"|[个路名位]?\s?(?:人|用户|并发|请求|同事|员工)|张|块|卡|台|条|轮"
)
_SIZE = r"b(?![a-z0-9])"
_SPAN = r"(?:gb|gib|hours?|hrs?|days?|weeks?|months?|小时|天|周|个?月|k(?![a-z0-9]))"
_MONEY = r"元|块钱|人民币|rmb|cny|yuan|usd|美元|美金|dollars?|bucks"
_CARD = r"(?:x\s?)?[a-z]{1,3}\d{1,4}(?![a-z0-9])"
_SCALE = r"(?:\s?(?:万|亿|百万|千万|k(?![a-z])|million|billion))?"
# "30-50", "Llama-3-8B" and "gn7i-8x" have a character right before the dash; "- 5 users" is a list item.
_MINUS = r"(?:(?<=[\s(:=,$¥])|^|(?<=预算)|(?<=用户)|(?<=并发))-(?=[\d$¥])|(?<![a-z])(?:minus|negative)\s|负"
_NEGATIVE = re.compile(
    rf"(?P<sign>[$¥]?(?:{_MINUS}))[$¥]?\d[\d,.]{{0,20}}{_SCALE}\s?(?P<unit>{_COUNTED}|{_SIZE}|{_SPAN}|{_MONEY}|{_CARD})?"
)
_MONEY_BEFORE = re.compile(r"(?:budget|预算|[$¥])(?:\s|is|of|:|=|是|为|about|大概){0,4}$")
_PLAIN_NUMBER_BEFORE = re.compile(r"(?<![a-z0-9.])\d[\d.,]*\s*$|\n$")
_NOTHING = re.compile(rf"(?<![\d.,a-z:-])0\s?(?:{_COUNTED}|{_SIZE})(?!\w)")
_TOO_LONG = re.compile(rf"(?<![\d.a-z-])\d{{16,60}}(?![\d.])\s?(?:{_COUNTED}|{_MONEY})")
_TOO_BIG_A_MODEL = re.compile(
    rf"(?<![\d.a-z-])(?:\d{{5,20}}|[5-9]\d{{3}})\s?{_SIZE}(?!\s*(?:个|of)?\s*(?:tokens?|字))"
)


def find_unusable(words: Words) -> list[str]:
    """The words of such quantities, in order by kind; takes them, so that no other value is read of them."""
    found: list[str] = []
    for match in _NEGATIVE.finditer(words.free):
        before = words.free[max(0, match.start() - 24) : match.start()]
        sign = match["sign"].strip("-")
        money = "$" in match[0] or "¥" in match[0] or _MONEY_BEFORE.search(before + sign)
        if not (match["unit"] or money) or _PLAIN_NUMBER_BEFORE.search(before):
            continue
        found.append(_taken(words, match))
    for pattern in (_NOTHING, _TOO_LONG, _TOO_BIG_A_MODEL):
        found += [_taken(words, match) for match in pattern.finditer(words.free)]
    return found


def _taken(words: Words, match: re.Match[str]) -> str:
    words.take(*match.span())
    return words.said(*match.span())
