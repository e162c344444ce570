"""Finds spans of time: deadlines, how long a job runs, and the hours of a month that a machine is used."""

from __future__ import annotations

import re

from agent.reading.numerals import NUM
from agent.reading.words import Found, Words

_HOURS = {"hour": 1.0, "day": 24.0, "week": 168.0, "month": 730.0, "year": 8760.0}
_UNIT = (
    r"(?:(?P<hour>hours?|hrs?|h(?![a-z0-9])|个?小时|个?钟头)|(?P<day>days?|d(?![a-z0-9])|天|日(?!活|志|均))"
    r"|(?P<week>weeks?|wks?|周(?!末)|个?星期|个?礼拜)"
    r"|(?P<month>months?|个月|月(?!活))|(?P<year>years?|yrs?|年))"
)
_AMOUNT = rf"(?P<n>{NUM}|half\san?|an?|半)\s*(?:个)?\s*{_UNIT}"
_DEADLINE = (
    re.compile(
        rf"(?:within|in(?:\sless\sthan)?|deadline(?:\sis)?|finish\sin|done\sin|by|before|under"
        rf"|less than|takes? at most)\s(?:about\s|the next\s)?{_AMOUNT}"
    ),
    re.compile(
        rf"{_AMOUNT}\s*(?:之内|以内|内(?!存|网)|前(?=完成|交|跑)|搞定|跑完|训完|训练完|完成|要结果|deadline"
        rf"|交付|出结果|上线)"
    ),
    re.compile(
        rf"(?:限时|期限|deadline|必须在|要在|希望在|想)\s*{_AMOUNT}\s*(?:内|里|搞定|跑完"
        rf"|完成)?(?=.{{0,6}}(?:内|搞定|跑完|训完|完成|$))"
    ),
    re.compile(rf"{_AMOUNT}\s(?:deadline|from now|out\b|away)"),
)
_DURATION = (
    re.compile(
        rf"(?:for|lasts?|takes?|run(?:s|ning)?|用|租|跑|训练?|持续|开|包|囤|连续|需要)\s*(?:about\s"
        rf"|around\s|大概"
        rf"|大约|约|个)*{_AMOUNT}(?!\s*(?:内|以内|之内|的?经验))"
    ),
    re.compile(
        rf"{_AMOUNT}\s*(?:的)?\s*(?:run|job|training|of\s(?:usage|use|training|compute)|多少钱|费用|花费)"
    ),
)
_ONLY = re.compile(rf"(?<![/\d]){_AMOUNT}")
_PER_DAY = (
    re.compile(
        rf"(?:每天|1天|每日|一天|日均|daily)\s*(?:只|就|大概|大约|约|用|跑|开|需要|工作|运行|会"
        rf"|在)*\s*(?:{NUM}\s*(?:-|~"
        rf"|到)\s*)?(?P<n>{NUM})\s*(?:个)?\s*(?:小时|h(?![a-z])|hours?|钟头)"
    ),
    re.compile(
        rf"(?P<n>{NUM})\s*(?:hours?|hrs?|h)\s?(?:/|a|per|each|every)\s?(?:day|d(?![a-z])|weekday|working day)"
    ),
    re.compile(rf"(?P<n>{NUM})\s*(?:个)?\s*小时\s*(?:/|每)\s*(?:天|日)"),
)
_PER_WEEK = re.compile(
    rf"(?:(?P<n>{NUM}|a few|several)\s*(?:hours?|hrs?|h)\s?(?:/|a|per|each|every)\s?week"
    rf"|每周\s*(?:只|用|跑|大概|大约)*\s*(?P<zh>{NUM}|几)\s*(?:个)?\s*小时)"
)
_PER_MONTH = re.compile(
    rf"(?:(?P<n>{NUM})\s*(?:hours?|hrs?|h)\s?(?:/|a|per|each|every)\s?month|每月\s*(?:只|用|跑|大概|大约"
    rf"|约)*\s*(?P<zh>{NUM})\s*(?:个)?\s*小时)"
)
_CLOCK = re.compile(
    r"(?<![\d.:])(\d{1,2})(?::\d\d)?\s*(?:am|点|时|h)?\s*(?:-|~|到|至|to)\s*(\d{1,2})(?::\d\d)?\s*(pm"
    r"|点|时|h\b|o'?clock)?(?![\d.:%]|\s*(?:元|块|张|个|b\b|gb|人|qps|并发|users?))"
)
_WEEKDAYS = re.compile(
    r"工作日|周一(?:到|至|-)周五|weekdays?|working days?|business (?:hours|days)|mon(?:day)?\s?(?:-"
    r"|to)\s?fri|上班时间|work(?:ing)? hours|office hours"
)
_DAYTIME = re.compile(r"白天|daytime|上班时间|business hours|office hours|work(?:ing)? hours")
_NIGHT = re.compile(r"夜里|晚上|夜间|at night|overnight|每晚|nightly")
_ALWAYS = re.compile(
    r"24\s?[x*/]\s?7|7\s?[x*/]\s?24|24\s?(?:小时)(?!\s*(?:内|以内))|always[-\s]on|around the clock|全天候"
    r"|不停机|不关机|一直开|常开|non-?stop|24h(?![a-z])|7x24|全年无休|长期在线"
)
_WINDOW = re.compile(
    rf"(?P<n>{NUM})[-\s]?(?:h|hours?|小时)\s?(?:的)?\s*(?:window|窗口|batch window|内跑完|时间窗)"
)
_WORKDAYS = 21.7  # a month's average: 365.25 x 5 / 7 / 12
_DAYS = 30.4


def find_hours_of_use(words: Words) -> Found | None:
    """Hours of a month that the machine runs: "每天8小时", "weekdays 9-18", "always on"."""
    text = words.plain
    weekdays = _WEEKDAYS.search(text)
    days = _WORKDAYS if weekdays else _DAYS
    for pattern in _PER_DAY:
        match = pattern.search(text)
        if match and 0 < float(match["n"]) <= 24 and not _describes_audio(text, match):
            return _use(words, match, float(match["n"]) * days, 0.9)
    if match := _PER_WEEK.search(text):
        said = match["n"] or match["zh"]
        vague = said in ("a few", "several", "几")
        return _use(words, match, (5.0 if vague else float(said)) * _DAYS / 7, 0.5 if vague else 0.9)
    if match := _PER_MONTH.search(text):
        return _use(words, match, min(float(match["n"] or match["zh"]), 744.0), 0.95)
    clock = _CLOCK.search(text)
    if clock and (weekdays or clock[3] or _DAYTIME.search(text)):
        start, end = int(clock[1]), int(clock[2])
        end += 12 if clock[3] == "pm" and end < 12 else 0
        if 0 <= start < 24 and 0 < end <= 24 and start != end:
            return _use(words, clock, ((end - start) % 24 or 24) * days, 0.85)
    if match := _ALWAYS.search(text):
        return Found("hours_per_month", 730.0, 0.9, words.said(*match.span()))
    if weekdays:
        return Found("hours_per_month", round(10 * _WORKDAYS, 1), 0.5, words.said(*weekdays.span()))
    if match := _DAYTIME.search(text):
        return Found("hours_per_month", round(10 * _DAYS, 1), 0.4, words.said(*match.span()))
    return None


def _describes_audio(text: str, match: re.Match[str]) -> bool:
    return bool(re.match(r"\s*(?:的)?\s*(?:音频|录音|audio|语音|视频|of\s)", text[match.end() :]))


def _use(words: Words, match: re.Match[str], hours: float, sure: float) -> Found:
    words.take(*match.span())
    return Found("hours_per_month", round(min(max(hours, 0.1), 744.0), 1), sure, words.said(*match.span()))


def find_deadline(words: Words) -> Found | None:
    """When the work must be done, in hours from the start."""
    for pattern in _DEADLINE:
        if match := pattern.search(words.free):
            words.take(*match.span())
            return Found("deadline_hours", _hours(match), 0.9, words.said(*match.span()))
    return None


def find_duration(words: Words, loose: bool) -> Found | None:
    """How long the machine is wanted; `loose` also takes a bare span ("上海 A10 一年")."""
    for pattern in (*_DURATION, *((_ONLY,) if loose else ())):
        for match in pattern.finditer(words.free):
            if (_hours(match) > 0 and match["n"] not in ("a", "an")) or pattern is not _ONLY:
                words.take(*match.span())
                return Found("hours", _hours(match), 0.8, words.said(*match.span()))
    return None


def find_window(words: Words) -> Found | None:
    """A nightly or daily window for batch work, in hours."""
    match = _WINDOW.search(words.plain)
    return Found("window_hours", float(match["n"]), 0.8, words.said(*match.span())) if match else None


def _hours(match: re.Match[str]) -> float:
    said = match["n"]
    count = (
        0.5
        if said.startswith("half") or said == "半"
        else 1.0
        if said in ("a", "an")
        else float(said.replace(",", ""))
    )
    return count * next(hours for unit, hours in _HOURS.items() if match[unit])
