"""Hours of use per month from words such as "weekdays 9-18", "8x5", "每天6小时", "24x7"."""

from __future__ import annotations

import re

from knowledge.calendar import HOURS_PER_MONTH, LONGEST_MONTH_HOURS, WEEKS_PER_MONTH
from knowledge.errors import InputError

_ALWAYS = re.compile(r"24\s*[x×*/]\s*7|always|around the clock|全天|全时|不停|一直开")
_HOURS_BY_DAYS = re.compile(r"(\d+(?:\.\d+)?)\s*(?:h|hours?|小时)?\s*[x×*]\s*([1-7])\s*(?:d|days?|天)?")
_WEEKDAYS = re.compile(r"weekday|work(?:ing)? ?day|business|mon\w*\s*(?:-|to|–)\s*fri|工作日|周一[到至-]周五")
_WEEKEND = re.compile(r"weekend|周末")
_RANGE = re.compile(r"(\d{1,2})(?::(\d\d))?\s*(?:点|am|pm|h)?\s*(?:-|–|to|到|至|~)\s*(\d{1,2})(?::(\d\d))?")
_HOURS = re.compile(r"(\d+(?:\.\d+)?)\s*(?:h\b|hours?|hrs?|小时|个小时)")
_DAYS = re.compile(r"([1-7])\s*(?:days?|天)\s*(?:a|per|/|每)?\s*(?:week|周)")
_PER_WEEK = re.compile(r"(?:per|a|/|each)\s*week|每周|一周")
_PER_MONTH = re.compile(r"(?:per|a|/|each)\s*month|每月|每个月|一个月")


def hours_per_month(text: str) -> float:
    """Hours of use in a month of 730 hours (4.35 weeks). `InputError` for words without hours."""
    words = text.strip().lower()
    if _ALWAYS.search(words):
        return float(HOURS_PER_MONTH)
    if match := _HOURS_BY_DAYS.search(words):
        return _monthly(text, float(match[1]), int(match[2]))
    days = _days_per_week(words)
    if match := _RANGE.search(words):
        start, end = _clock(match[1], match[2]), _clock(match[3], match[4])
        return _monthly(text, end - start if end > start else end - start + 24, days)
    if match := _HOURS.search(words):
        hours = float(match[1])
        if _PER_MONTH.search(words):
            return _checked(text, hours)
        if _PER_WEEK.search(words) and not _DAYS.search(words):
            return _checked(text, hours * WEEKS_PER_MONTH)
        return _monthly(text, hours, days)
    raise InputError("schedule", text, 'hours of use, such as "weekdays 9-18", "8x5" or "5 hours a day"')


def _days_per_week(words: str) -> int:
    if match := _DAYS.search(words):
        return int(match[1])
    if _WEEKDAYS.search(words):
        return 5
    return 2 if _WEEKEND.search(words) else 7


def _clock(hour: str, minute: str | None) -> float:
    return int(hour) + int(minute or 0) / 60


def _monthly(text: str, hours_per_day: float, days: int) -> float:
    if not 0 < hours_per_day <= 24:
        raise InputError("schedule", text, "a day has 24 hours")
    return _checked(text, hours_per_day * days * WEEKS_PER_MONTH)


def _checked(text: str, hours: float) -> float:
    if not 0 < hours <= LONGEST_MONTH_HOURS:
        raise InputError("schedule", text, "more than 0 and at most 744 hours a month")
    return min(hours, float(HOURS_PER_MONTH))
