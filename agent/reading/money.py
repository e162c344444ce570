"""Finds the budget (amount, currency, period) and how the machine is to be bought."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from agent.reading.numerals import NUM, SCALE, number
from agent.reading.phrases import tags
from agent.reading.words import Words
from tools.contracts.sizing import Budget

Period = Literal["hour", "day", "month", "year", "total"]

# "块" counts cards before a card's name, and is money elsewhere.
_BLOCK = r"块(?!\s*(?:[a-z]{1,4}\d|\d{4}\s|显卡|卡|gpu|ssd|盘|硬盘|云盘))"
_CNY = rf"元人民币|元|块钱|{_BLOCK}|人民币|rmb|cny|yuan|¥"
_USD = r"us\$|usd|美元|美金|刀|dollars?|bucks|\$"
_AMOUNT = re.compile(
    rf"(?:(?P<pre>{_CNY}|{_USD})\s*)?(?P<low>{NUM})\s*(?:(?P<low_scale>{SCALE})\s*)?"
    rf"(?:(?:-|~|到|至|to)\s*(?P<high>{NUM})\s*)?(?:(?P<scale>{SCALE})\s*)?(?P<post>{_CNY}|{_USD})?"
)
_CARDS_BY_BLOCK = re.compile(r"\d\s*块\s*(?:[a-z]{1,2}\d|[2345]0[5-9]0|卡|显卡|gpu)")
# Sums without a currency: "预算 5 万", "budget of 500", "20 万预算", "2w/月".
_FILLER = (
    r"(?:\s|is|of|:|=|大概|大约|约|只有|有|在|不超过|最多|控制在|就|给|到|at|about|around|max|limit|翻到|提到"
    r"|改成|变成|每个?(?:小时|天|月|年)|一个?月|每){0,6}"
)
_FROM = rf"(?:{NUM}\s*(?:{SCALE})?\s*(?:-|~|到|至|to)\s*)?"  # of a range the upper end counts
_NO_MONEY = r"(?!\s*(?:ms|s\b|sec|秒|g\b|gb|tokens?|[x*张块卡台%]|gpus?|个?(?:小时|天|月))(?![a-z/]))"
_BARE = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?:预算|budget|经费|ceiling|上限|封顶"
        rf"|cap){_FILLER}{_FROM}(?P<low>{NUM})\s*(?P<scale>{SCALE})?{_NO_MONEY}",
        rf"(?P<low>{NUM})\s*(?P<scale>{SCALE})?\s*[的年月]?\s*(?:预算|budget)",
        rf"(?P<low>{NUM})\s*(?P<scale>万|w|千|k)\s*(?=(?:/|每|1)\s*个?(?:月|年|mo|month|yr|year))",
        rf"(?:每个?|1个?)(?:月|年|小时|天)\s*(?:就|只有?|最多|不超过|控制在)?\s*(?P<low>{NUM})\s*(?P<scale>{SCALE})?\s*"
        r"(?=以内|之内|以下|封顶|左右|内(?![存网])|不到)",
        r"(?:under|below|at most|max(?:imum)?|up to|no more than|within)\s"
        rf"(?P<low>{NUM})\s?(?P<scale>{SCALE})?"
        r"(?=\s?(?:/|per|an?)\s?(?:month|year|hour|mo|hr|day)(?![a-z]))",
    )
)
_PERIODS: tuple[tuple[Period, str], ...] = (
    ("hour", r"hourly|hours?|hrs?|h|小时|钟头|时"),
    ("day", r"daily|days?|d|天|日"),
    ("month", r"monthly|months?|mo|mth|m|个?月"),
    ("year", r"yearly|annual(?:ly)?|annum|years?|yrs?|y|年"),
)
_UNITS = "|".join(f"(?P<{name}>{words})" for name, words in _PERIODS)
_AFTER = re.compile(
    r"\s*(?:的?预算|budget|max\.?|左右|以内|以下)?\s*"
    rf"(?:/|per\s|每|an?\s|1\s?|each\s|every\s|(?=monthly|hourly|yearly|daily"
    rf"|annually))\s*(?:{_UNITS})(?![a-z])"
)
_BEFORE = re.compile(
    r"(?:每个?|一个?|1个?|per\s|an?\s|(?<![一-鿿\d])|单)"
    r"(?:(?P<hour>小时|钟头|hour(?:ly)?)|(?P<day>天|日|day|daily)|(?P<month>个?月度?|month(?:ly)?)"
    r"|(?P<year>年度?|year(?:ly)?|annual))\s*(?:的|总)?\s*(?:租金|费用|成本|花费|预算|budget|cost)?"
    r"(?:\s|is|of|大概|大约|约|只有|有|在|不超过|不能超过|最多|控制在|under|below|up to|max|:|=|给|批|就"
    r"|差不多){0,6}$"
)
_NAMED_PERIOD = re.compile(
    r"(hour|dai|month|year)ly\s(?:budget|cost|spend)|(?:budget|cost)\s(hour|dai|month|year)ly"
)
_PERIOD_STEMS: dict[str, Period] = {"hour": "hour", "dai": "day", "month": "month", "year": "year"}
# Up to here a sum without a period is taken as the hour's: the dearest single-GPU type is far below it.
_HOURLY_UP_TO = {"CNY": 200, "USD": 28}
_MOST_AMOUNTS = 40  # of a turn; more are a list of prices, and each is looked at in the whole turn


@dataclass(frozen=True)
class Amount:
    """Money as said: `period` is None where none was said; `cue` tells that it is a limit, not a price."""

    amount: Decimal
    currency: Literal["CNY", "USD"]
    period: Period | None
    cue: bool
    text: str
    sure: float


def find_amounts(words: Words) -> list[Amount]:
    """Sums of money of a turn in order; takes their words. "1块A100" counts cards and is none."""
    found: list[Amount] = []
    cards_by_block = _CARDS_BY_BLOCK.search(words.plain) is not None
    for match in _AMOUNT.finditer(words.free):
        unit = match["pre"] or match["post"]
        if not unit or (match["post"] == "块" and cards_by_block):
            continue
        digits, scale = match["high"] or match["low"], match["scale"] or match["low_scale"]
        begin = match.start() if match["pre"] else match.start("low")
        found.append(_amount(words, match, begin, unit, number(digits, scale)))
        if len(found) == _MOST_AMOUNTS:
            break
    if found:
        return found
    for pattern in _BARE:
        if bare := pattern.search(words.free):
            value = number(bare["low"], bare["scale"])
            return [_amount(words, bare, bare.start("low"), "", value)]
    return []


def _amount(words: Words, match: re.Match[str], begin: int, unit: str, value: float) -> Amount:
    text, end = words.plain, match.end()
    after = _AFTER.match(text, end)
    before = None if after else _BEFORE.search(text[max(0, begin - 18) : begin])
    end = after.end() if after else end
    said = words.said(match.start(), end)
    around = text[max(0, match.start() - 22) : end + 14]
    words.take(match.start(), end)
    return Amount(
        amount=Decimal(f"{max(value, 0.0001):.4f}".rstrip("0").rstrip(".")),
        currency="USD" if re.fullmatch(_USD, unit) else "CNY",
        period=_period(after or before, text),
        cue=bool(tags("money")["limit"].search(around)),
        text=said,
        sure=0.95 if unit else 0.7,
    )


def _period(match: re.Match[str] | None, text: str) -> Period | None:
    if match:
        return next(name for name, _ in _PERIODS if match[name])
    if named := _NAMED_PERIOD.search(text):
        return _PERIOD_STEMS[named[1] or named[2]]
    return "total" if tags("money")["in_all"].search(text) else None


def as_budget(amount: Amount, job: bool) -> tuple[Budget, float]:
    """The amount as a budget and its confidence. Without a period: a job's whole cost, else by its size
    the hour's or the month's."""
    if amount.period:
        return Budget(amount=amount.amount, currency=amount.currency, period=amount.period), amount.sure
    hourly = amount.amount <= _HOURLY_UP_TO[amount.currency]
    period: Period = "total" if job else "hour" if hourly else "month"
    return Budget(amount=amount.amount, currency=amount.currency, period=period), 0.55


def budget_factor(words: Words) -> float | None:
    """By how much a turn changes the budget: "what if it doubles", 预算减半."""
    factors = {"doubled": 2.0, "halved": 0.5, "tripled": 3.0}
    return next((by for name, by in factors.items() if tags("money")[name].search(words.plain)), None)


def find_purchases(words: Words) -> list[str]:
    """The ways to buy that a turn names, each once, in the order of the text."""
    places = [
        (match.start(), name)
        for name, pattern in tags("purchases").items()
        if (match := pattern.search(words.plain))
    ]
    return [name for _, name in sorted(places)]
