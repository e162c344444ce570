"""Finds spans of time: deadlines, how long a job runs, and the hours of a month that a machine is used."""

from __future__ import annotations

import re

from agent.reading.numerals import NUM, number
from agent.reading.words import Found, Words
from knowledge.calendar import (
    DAYS_PER_MONTH,
    HOURS_PER_DAY,
    HOURS_PER_MONTH,
    HOURS_PER_WEEK,
    HOURS_PER_YEAR,
    LONGEST_MONTH_HOURS,
    WEEKS_PER_MONTH,
    WORKDAYS_PER_MONTH,
)

_HOURS = {
    "hour": 1.0,
    "day": float(HOURS_PER_DAY),
    "week": float(HOURS_PER_WEEK),
    "month": float(HOURS_PER_MONTH),
    "year": float(HOURS_PER_YEAR),
}
_AMOUNT = (
    rf"(?P<n>{NUM}|half\san?|an?|半)\s*个?\s*"
    r"(?:(?P<hour>hours?|hrs?|h(?![a-z0-9])|小时|钟头)|(?P<day>days?|d(?![a-z0-9])|天|日(?!活|志|均))"
    r"|(?P<week>weeks?|wks?|周(?!末)|星期|礼拜)|(?P<month>months?|月(?!活))|(?P<year>years?|yrs?|年))"
)
_ABOUT = r"(?:about\s|around\s|the next\s|大概|大约|约|个){0,3}"
_DEADLINE = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?:within|in(?:\sless\sthan)?|deadline(?:\sis)?|finish\sin|done\sin|by|before|under|less than"
        rf"|takes? at most)\s{_ABOUT}{_AMOUNT}",
        rf"{_AMOUNT}\s*(?:之内|以内|内(?!存|网)|前(?=完成|交|跑)|搞定|跑完|训完|训练完|完成|要结果|deadline"
        r"|交付|出结果|上线)",
        rf"(?:限时|期限|deadline|必须在|要在|希望在|想)\s*{_AMOUNT}\s*(?:内|里|搞定|跑完|完成)?"
        r"(?=.{0,6}(?:内|搞定|跑完|训完|完成|$))",
        rf"{_AMOUNT}\s(?:deadline|from now|out\b|away)",
    )
)
_DURATION = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?:for|lasts?|takes?|run(?:s|ning)?|用|租|跑|训练?|持续|开|包|囤|连续|需要)\s*"
        rf"{_ABOUT}{_AMOUNT}(?!\s*(?:内|以内|之内|的?经验))",
        rf"{_AMOUNT}\s*的?\s*(?:run|job|training|of\s(?:usage|use|training|compute)|多少钱|费用|花费)",
    )
)
_BARE_SPAN = re.compile(rf"(?<![/\d]){_AMOUNT}")
_EACH = r"\s?(?:/|a|per|each|every)\s?"
_ONLY = r"(?:只|就|大概|大约|约|用|跑|开|需要|工作|运行|会|在|\s){0,4}"
_PER_DAY = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?:每天|1天|每日|日均|daily){_ONLY}(?:{NUM}\s*(?:-|~|到)\s*)?(?P<n>{NUM})\s*个?\s*"
        r"(?:小时|h(?![a-z])|hours?|钟头)",
        rf"(?P<n>{NUM})\s*(?:hours?|hrs?|h){_EACH}(?:day|d(?![a-z])|weekday|working day)",
        rf"(?P<n>{NUM})\s*个?\s*小时\s*(?:/|每)\s*[天日]",
    )
)
_PER_WEEK = re.compile(
    rf"(?P<n>{NUM}|a few|several)\s*(?:hours?|hrs?|h){_EACH}week|每周{_ONLY}(?P<zh>{NUM}|几)\s*个?\s*小时"
)
_PER_MONTH = re.compile(
    rf"(?P<n>{NUM})\s*(?:hours?|hrs?|h){_EACH}month|每月{_ONLY}(?P<zh>{NUM})\s*个?\s*小时"
)
_CLOCK = re.compile(
    r"(?<![\d.:])(\d{1,2})(?::\d\d)?\s*(?:am|点|时|h)?\s*(?:-|~|到|至|to)\s*(\d{1,2})(?::\d\d)?\s*"
    r"(pm|点|时|h\b|o'?clock)?(?![\d.:%]|\s*(?:元|块|张|个|b\b|gb|人|qps|并发|users?))"
)
_WEEKDAYS = re.compile(
    r"工作日|周[一1](?:到|至|-)周[五5]|weekdays?|working days?|business (?:hours|days)"
    r"|mon(?:day)?\s?(?:-|to)\s?fri|上班时间|work(?:ing)? hours|office hours"
)
_DAYTIME = re.compile(r"白天|daytime|上班时间|business hours|office hours|work(?:ing)? hours")
_ALWAYS = re.compile(
    r"24\s?[x*/]\s?7|7\s?[x*/]\s?24|24\s?小时(?!\s*(?:内|以内))|always[-\s]on|around the clock|全天候"
    r"|不停机|不关机|一直开|常开|non-?stop|24h(?![a-z])|全年无休|长期在线"
)
_WINDOW = re.compile(rf"(?P<n>{NUM})[-\s]?(?:h|hours?|小时)\s?的?\s*(?:(?:batch )?window|窗口|内跑完|时间窗)")
_AUDIO = re.compile(r"\s*的?\s*(?:音频|录音|audio|语音|视频|of\s)")
_WORKDAY_HOURS = 10  # of "weekdays" or "in daytime" without a clock
_FEW_HOURS = 5


def find_hours_of_use(words: Words) -> Found | None:
    """Hours of a month that the machine runs: "每天8小时", "weekdays 9-18", "always on"."""
    text = words.plain
    weekdays = _WEEKDAYS.search(text)
    days = WORKDAYS_PER_MONTH if weekdays else DAYS_PER_MONTH
    for pattern in _PER_DAY:
        match = pattern.search(text)
        if match and 0 < number(match["n"]) <= 24 and not _AUDIO.match(text, match.end()):
            return _use(words, match, number(match["n"]) * days, 0.9)
    if match := _PER_WEEK.search(text):
        said = match["n"] or match["zh"]
        if said[0].isdigit():
            return _use(words, match, number(said) * WEEKS_PER_MONTH, 0.9)
        return _use(words, match, _FEW_HOURS * WEEKS_PER_MONTH, 0.5)
    if match := _PER_MONTH.search(text):
        return _use(words, match, number(match["n"] or match["zh"]), 0.95)
    clock = _CLOCK.search(text)
    if clock and (weekdays or clock[3] or _DAYTIME.search(text)):
        start, end = int(clock[1]), int(clock[2])
        end += 12 if clock[3] == "pm" and end < 12 else 0
        if start < 24 and 0 < end <= 24 and start != end:
            return _use(words, clock, ((end - start) % 24 or 24) * days, 0.85)
    if match := _ALWAYS.search(text):
        return Found("hours_per_month", float(HOURS_PER_MONTH), 0.9, words.said(*match.span()))
    match = weekdays or _DAYTIME.search(text)
    if match:
        return Found("hours_per_month", round(_WORKDAY_HOURS * days, 1), 0.5, words.said(*match.span()))
    return None


def _use(words: Words, match: re.Match[str], hours: float, sure: float) -> Found:
    words.take(*match.span())
    hours = round(min(max(hours, 0.1), LONGEST_MONTH_HOURS), 1)
    return Found("hours_per_month", hours, sure, words.said(*match.span()))


def find_deadline(words: Words) -> Found | None:
    """When the work must be done, in hours from the start."""
    for pattern in _DEADLINE:
        match = pattern.search(words.free)
        if match and _hours(match) > 0:
            words.take(*match.span())
            return Found("deadline_hours", _hours(match), 0.9, words.said(*match.span()))
    return None


def find_duration(words: Words, loose: bool) -> Found | None:
    """How long the machine is wanted; `loose` also takes a bare span ("上海 A10 一年")."""
    found = next((match for pattern in _DURATION if (match := pattern.search(words.free))), None)
    if found is None and loose:
        spans = _BARE_SPAN.finditer(words.free)
        found = next((match for match in spans if match["n"] not in ("a", "an")), None)
    if found is None or _hours(found) <= 0:
        return None
    words.take(*found.span())
    return Found("hours", _hours(found), 0.8, words.said(*found.span()))


def find_window(words: Words) -> Found | None:
    """A nightly or daily window for batch work, in hours."""
    match = _WINDOW.search(words.plain)
    return Found("window_hours", number(match["n"]), 0.8, words.said(*match.span())) if match else None


def _hours(match: re.Match[str]) -> float:
    said = match["n"]
    count = number(said) if said[0].isdigit() else 0.5 if said.startswith(("half", "半")) else 1.0
    return count * next(hours for unit, hours in _HOURS.items() if match[unit])
