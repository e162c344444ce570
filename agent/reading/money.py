"""Finds the budget (amount, currency, period) and how the machine is to be bought."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from agent.reading.numerals import NUM, SCALE, number
from agent.reading.words import Words
from tools.contracts.sizing import Budget

_CNY = (
    r"元人民币|元|块钱|块(?!\s*(?:[a-z]{1,4}\d|\d{4}\s|显卡|卡|gpu|ssd|盘|硬盘|云盘))|人民币|rmb|cny|yuan|¥"
)
_USD = r"us\$|usd|美元|美金|刀|dollars?|bucks|\$"
_PERIOD = {
    "hour": r"hourly|hours?|hrs?|h|小时|钟头|时",
    "day": r"daily|days?|d|天|日",
    "month": r"monthly|months?|mo|mth|m|个?月",
    "year": r"yearly|annual(?:ly)?|annum|years?|yrs?|y|年",
}
_PER = "|".join(f"(?P<{name}>{words})" for name, words in _PERIOD.items())
_AMOUNT = re.compile(
    rf"(?:(?P<pre>{_CNY}|{_USD})\s*)?(?P<low>{NUM})\s*(?:(?P<low_scale>{SCALE})\s*)?(?:(?:-|~|到|至"
    rf"|to)\s*(?P<high>{NUM})\s*)?"
    rf"(?:(?P<scale>{SCALE})\s*)?(?P<post>{_CNY}|{_USD})?"
)
_AFTER = re.compile(
    rf"\s*(?:的?预算|budget|max|左右|以内|以下|max\.?)?\s*(?:/|per\s|每|an?\s|1\s?|each\s|every\s"
    rf"|(?=monthly|hourly|yearly|daily|annually))\s*(?:{_PER})(?![a-z])"
)
_BEFORE = re.compile(
    r"(?:每个?|一个?|1个?|per\s|an?\s|(?<![一-鿿\d])|单)(?:(?P<hour>小时|钟头|hour(?:ly)?)|(?P<day>天|日|day"
    r"|daily)|(?P<month>个?月度?|month(?:ly)?)|(?P<year>年度?|year(?:ly)?|annual))"
    r"\s*(?:的|总)?\s*(?:租金|费用|成本|花费|预算|budget|cost)?(?:\s*(?:is|of|大概|大约|约|只有|有|在|不超过|不能超过|最多|控制在"
    r"|under|below|up to|max|:|=|给|批|就|差不多))*\s*$"
)
_CUE = re.compile(
    r"预算|budget|以内|之内|以下|不超过|不能超|不要超|封顶|上限|ceiling|cap\b|under|below|less than|no more than|up to"
    r"|at most|max|within|limit|最多|至多|控制在|只有|就(?=\d)|批了|≤|<="
    r"|afford|spend|花|掏|拿出|内(?![存部网容])|can(?:'t| not)? exceed|cheaper than|stay under"
    r"|keep .{0,10}under|总共|一共|有没有|出得起|经费|补贴|拨"
)
_TOTAL = re.compile(
    r"总共|一共|总预算|总计|合计|in total|total budget|overall|altogether|one[- ]off|一次性|全部|poc|毕设|经费"
)
_BARE = re.compile(
    rf"(?:预算|budget|经费|ceiling|上限|封顶|cap)(?:\s*(?:is|of|:|=|大概|大约|约|只有|有|在|不超过|最多|控制在|就|给|到|at"
    rf"|about|around|max|limit|翻到|提到|改成|变成|每个?(?:小时|天|月|年)|一个?月"
    rf"|每))*\s*(?P<low>{NUM})\s*(?P<scale>{SCALE})?(?!\s*(?:ms|s\b|sec|秒|g\b|gb|tokens?|[x*张块卡台%]"
    rf"|gpus?|个?(?:小时|天|月))(?![a-z/]))"
    rf"|(?P<low2>{NUM})\s*(?P<scale2>{SCALE})?\s*(?:的|年|月)?\s*(?:预算|budget)"
    rf"|(?P<low3>{NUM})\s*(?P<scale3>万|w|千|k)\s*(?=(?:/|每|1)\s*个?(?:月|年|mo|month|yr|year))"
)
_FACTOR = (
    (re.compile(
        r"(?:预算|budget)[^.,;!?]{0,16}?(?:翻倍|翻一番|加倍|doubles?|doubled|twice|两倍|2\s?倍|2x)|double (?:the "
        r"|my |our )?budget|twice the budget"), 2.0),
    (re.compile(
        r"(?:预算|budget)[^.,;!?]{0,16}?(?:减半|砍半|对半|砍一半|halves|halved|half|一半)|hal(?:f|ve) (?:the |my "
        r"|our )?budget"), 0.5),
    (re.compile(r"(?:预算|budget)[^.,;!?]{0,16}?(?:三倍|3\s?倍|triples?|3x)|triple (?:the |my )?budget"), 3.0),
)  # fmt: skip
_PURCHASE = (
    ("spot", r"抢占式?|竞价|spot(?![a-z])|preempt"),
    ("reserved",
        r"预留实例|预留券|预留(?!显存|内存|空间|余量|gpu\s?mem)|reserved\sinstances?|reservations?"
        r"|(?<![a-z])ri(?![a-z])"),
    ("savings_plan", r"节省计划|savings?\splans?"),
    ("subscription_3y", r"包?\s?3\s?年(?:付|包年|预付)|3[-\s]?years?\s(?:subscription|term|commit)|包3年"),
    ("subscription_1y",
        r"包年(?!包月)|年付|包\s?1?\s?年|囤1年|(?:1[-\s]year|yearly|annual)\s(?:subscription|term|plan|commit"
        r"|prepay)|租\s?1\s?年"),
    ("subscription_1m", r"包月|包年包月|月付|monthly\s(?:subscription|plan|prepaid)|subscription|预付费|prepaid"),
    ("payg", r"按量|按需|按小时付|pay[-\s]?as[-\s]?you[-\s]?go|payg|on[-\s]?demand|后付费"),
)  # fmt: skip
_PURCHASE_PATTERNS = tuple((name, re.compile(pattern)) for name, pattern in _PURCHASE)


_NUMBERS = ("low", "low2", "low3")


@dataclass(frozen=True)
class Amount:
    """Money as said: `period` is "" where none was said; `cue` tells that it is a limit, not a price."""

    amount: Decimal
    currency: str
    period: str
    cue: bool
    text: str
    sure: float


def find_amounts(words: Words) -> list[Amount]:
    """Sums of money of a turn in order; takes their words. "1块A100" counts cards and is none."""
    found: list[Amount] = []
    for match in _AMOUNT.finditer(words.free):
        unit = match["pre"] or match["post"]
        if not unit or (match["post"] == "块" and _counts_cards(words)):
            continue
        found.append(
            _amount(words, match, unit, match["high"] or match["low"], match["scale"] or match["low_scale"])
        )
    if not found and (match := _BARE.search(words.free)):
        digits = match["low"] or match["low2"] or match["low3"]
        scale = match["scale"] or match["scale2"] or match["scale3"]
        found.append(_amount(words, match, "", digits, scale))
    return found


def _counts_cards(words: Words) -> bool:
    return bool(re.search(r"\d\s*块\s*(?:[a-z]{1,2}\d|[2345]0[5-9]0|卡|显卡|gpu)", words.plain))


def _amount(words: Words, match: re.Match[str], unit: str, digits: str, scale: str | None) -> Amount:
    text = words.plain
    value = Decimal(f"{number(digits, scale):.4f}".rstrip("0").rstrip("."))
    end = match.end()
    after = _AFTER.match(text, end)
    begin = (
        match.start()
        if match.groupdict().get("pre")
        else match.start(next(name for name in _NUMBERS if match.groupdict().get(name)))
    )
    head = text[max(0, begin - 18) : begin]
    before = None if after else _BEFORE.search(head)
    period = next((name for name in _PERIOD if (after or before) and (after or before)[name]), "")  # type: ignore[index]
    if not period and (
        word := re.search(r"^\s*(?:budget\s)?(hourly|daily|monthly|yearly)", text[end : end + 24])
    ):
        period = {"hourly": "hour", "daily": "day", "monthly": "month", "yearly": "year"}[word[1]]
    if not period and (word := re.search(r"(hour|dai|month|year)ly\s(?:budget|cost|spend)", text[:end])):
        period = {"hour": "hour", "dai": "day", "month": "month", "year": "year"}[word[1]]
    if after:
        end = after.end()
    elif not period and _TOTAL.search(text):
        period = "total"
    around = text[max(0, match.start() - 22) : end + 14]
    words.take(match.start(), end)
    return Amount(
        amount=max(value, Decimal("0.0001")),
        currency="USD" if re.fullmatch(_USD, unit or "-") else "CNY",
        period=period,
        cue=bool(_CUE.search(around)),
        text=words.said(match.start(), end),
        sure=0.95 if unit else 0.7,
    )


def as_budget(amount: Amount, job: bool) -> tuple[Budget, float]:
    """The amount as a budget and its confidence. Without a period: a job's whole cost, or by its size the
    hour (up to 200 CNY, more than any single-GPU type asks) or the month."""
    period, sure = amount.period, amount.sure
    if not period:
        sure = 0.55
        small = float(amount.amount) * (7.2 if amount.currency == "USD" else 1) <= 200
        period = "total" if job else "hour" if small else "month"
    return Budget.model_validate(
        {"amount": amount.amount, "currency": amount.currency, "period": period}
    ), sure


def budget_factor(words: Words) -> float | None:
    """By how much a turn changes the budget: "what if it doubles", 预算减半."""
    return next((factor for pattern, factor in _FACTOR if pattern.search(words.plain)), None)


def find_purchases(words: Words) -> list[str]:
    """The ways to buy that a turn names, in the order of the text."""
    places = [
        (match.start(), name)
        for name, pattern in _PURCHASE_PATTERNS
        if (match := pattern.search(words.plain))
    ]
    return [name for _, name in sorted(places)]
