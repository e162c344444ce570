"""What a question says of the money side beside its request: schedule, disk, traffic, checkpoints, mix."""

from __future__ import annotations

import re
from typing import Any

from agent.reading.types import Reading

_N = r"(\d+(?:\.\d+)?)"
_SPAN = r"\s*(min(?:ute)?s?|分钟|h(?:ours?|rs?)?|小时)(?![a-z])"
_CHECKPOINT = tuple(
    re.compile(pattern)
    for pattern in (
        rf"checkpoint\w*\D{{0,12}}(?:every|each)\s*{_N}{_SPAN}",
        rf"(?:every|each)\s*{_N}{_SPAN}\D{{0,16}}checkpoint",
        rf"每(?:隔)?\s*{_N}\s*个?{_SPAN}\D{{0,8}}(?:检查点|checkpoint|存|保存)",
        rf"(?:检查点|checkpoint)\D{{0,6}}{_N}\s*个?{_SPAN}",
    )
)
_INTERRUPTIONS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_N}\s*(?:interruptions?|reclaims?)\s*(?:a|per|each)\s*day",
        rf"(?:interrupted|reclaimed)\s*{_N}\s*times?\s*(?:a|per|each)\s*day",
        rf"每天\D{{0,4}}{_N}\s*次(?:中断|回收|释放)",
        rf"每天\D{{0,4}}(?:中断|回收|释放)\D{{0,2}}{_N}\s*次",
    )
)
_DISK_WORD = r"(?:系统盘|数据盘|云盘|硬盘|essd|(?:system |data |cloud )?disks?(?![a-z]))"
_SIZE = rf"{_N}\s*([gt])i?b?"
_DISK = re.compile(rf"{_SIZE}\s*的?\s*(?:of\s)?{_DISK_WORD}|{_DISK_WORD}\s*(?:of\s)?{_SIZE}(?![a-z])")
_TRAFFIC_WORD = r"(?:流量|traffic|egress|outbound)"
_TRAFFIC = re.compile(
    rf"{_SIZE}\s*的?\s*(?:of\s)?(?:公网|外网|public |internet )?\s*(?:流出)?{_TRAFFIC_WORD}"
    rf"|{_TRAFFIC_WORD}[^\d,，。;]{{0,8}}{_SIZE}(?![a-z])"
)
_MIXED = re.compile(
    r"(\d+)\s*(?:台|个)[^,，。;]{0,24}?(?:包月|常开|常驻|打底)[^。;]{0,16}?(?:再加|另加|加|高峰)\D{0,8}(\d+)\s*(?:台|个)"
    r"|(\d+)\s[^,.;]{0,40}?(?:by the month|always on|all month|subscription|as a base)"
    r"[^.;]{0,24}?(\d+)\s(?:more|extra|additional|others?)"
)
_DOLLARS = re.compile(r"美元|美金|us\$|(?<![a-z])(?:usd|(?:us )?dollars?)(?![a-z])")


def money_args(reading: Reading) -> dict[str, Any]:
    """Arguments of the cost calculator that the question's own words give."""
    text = reading.question.lower()
    asks_share = "spot" in reading.topics and not reading.request.purchase and "折" in text
    spot = {"purchase": "spot"} if asks_share else {}
    dollars = {"currency": "USD"} if _DOLLARS.search(text) else {}
    return {**_time(reading), **_extras(text), **_spot(text), **_mix(text), **spot, **dollars}


def prices_traffic(reading: Reading) -> bool:
    """Whether an amount of data in the question is traffic to pay for, not data to move."""
    return bool(_TRAFFIC.search(reading.question.lower()))


def asks_interruptions(reading: Reading) -> bool:
    """Whether the work lost on spot can be reckoned from what the question says."""
    return reading.request.purchase == "spot" and bool(_spot(reading.question.lower()))


def machines_of(reading: Reading) -> int | None:
    """How many machines are meant, where the question says so; of a mix those by the month."""
    return _mix(reading.question.lower()).get("base_count") or reading.count


def _time(reading: Reading) -> dict[str, Any]:
    """Hours of use; whole months of a schedule count as months."""
    hours, schedule = reading.hours, reading.request.hours_per_month
    if schedule is None or hours is None:
        return {"hours": hours, "hours_per_month": schedule}
    months = round(hours / schedule, 2)
    if months != int(months):
        return {"hours": hours, "hours_per_month": schedule}
    return {"months": months if months > 1 else None, "hours_per_month": schedule}


def _extras(text: str) -> dict[str, float]:
    """GiB of disk of one machine and GB of traffic a month."""
    disk = sum(_sized(match, 1024.0) for match in _DISK.finditer(text))
    traffic = sum(_sized(match, 1000.0) for match in _TRAFFIC.finditer(text))
    return {"disk_gib": disk, "traffic_gb_per_month": traffic}


def _sized(match: re.Match[str], giga_of_tera: float) -> float:
    number, unit = (part for part in match.groups() if part)
    return float(number) * (giga_of_tera if unit == "t" else 1.0)


def _spot(text: str) -> dict[str, float]:
    """Minutes between checkpoints, and interruptions a day."""
    found: dict[str, float] = {}
    for pattern in _CHECKPOINT:
        if "checkpoint_minutes" not in found and (match := pattern.search(text)):
            by_hour = match[2].startswith(("h", "小"))
            found["checkpoint_minutes"] = float(match[1]) * (60 if by_hour else 1)
    for pattern in _INTERRUPTIONS:
        if "interruptions_per_day" not in found and (match := pattern.search(text)):
            found["interruptions_per_day"] = float(match[1])
    return found


def _mix(text: str) -> dict[str, Any]:
    """Machines by the month and, beside them, by the hour."""
    match = _MIXED.search(text)
    if match is None:
        return {}
    base, peak = (int(part) for part in match.groups() if part)
    return {"base_count": base, "count": base + peak, "purchase": "payg"}
