"""Numbers as an answer writes them: scale words, ranges, separators, and the units that follow."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_MARKS = re.compile(r"\*+|`+|\\(?=\W)")
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s)\]>，。]+|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b")
_TYPE_NAME = re.compile(
    r"\becs\.[\w.\-]+|[A-Za-z][A-Za-z0-9\-]*(?:\.[A-Za-z0-9\-]+)*\.\d*x?large\b", re.IGNORECASE
)
_DATE = re.compile(
    r"(?<!\d)(?:19|20)\d\d\s*(?:[-/.]\s*(?:0?[1-9]|1[0-2])(?:\s*[-/.]\s*\d{1,2})?(?![\d.])|年(?:\s*\d{1,2}\s*月)?(?:\s*\d{1,2}\s*日)?)"
)
_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_POWER = r"[eE][+-]?\d+(?![\w.])|\s*[x×*]\s*10\s*(?:\^\s*|(?=[⁰¹²³⁴⁵⁶⁷⁸⁹]))(?:\d+|[⁰¹²³⁴⁵⁶⁷⁸⁹]+)"
_FIND = re.compile(rf"(?<![A-Za-z\d])(?<!\d[.,])({_NUMBER})({_POWER})?")
_RANGE = re.compile(rf"\s*(?:[-–—~～至到]|to|or|或)\s*(?:{_NUMBER})(?P<tail>.{{0,16}})", re.DOTALL)
_SCALES = (
    (re.compile(r"\s*(?:百万|million)", re.IGNORECASE), 1e6),
    (re.compile(r"\s*billion", re.IGNORECASE), 1e9),
    (re.compile(r"\s*亿"), 1e8),
    (re.compile(r"\s*万"), 1e4),
    (re.compile(r"\s*千(?!卡)"), 1e3),
    (re.compile(r"\s?M(?![A-Za-z])"), 1e6),
    (re.compile(r"\s?[kK](?![A-Za-z])"), 1e3),
    (re.compile(r"[wW](?![A-Za-z])"), 1e4),
)
_FLOP = re.compile(r"\s*([KMGTPEZ])FLOP", re.IGNORECASE)
_FLOP_SCALE = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18, "Z": 1e21}
_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")

_MEMORY = r"gib|gb|g(?![a-z])"
_HOUR = r"(?:小?时|h(?:ou)?rs?\b|h\b|hour)"
# How the units of the set stand behind a number; a unit that is not listed is looked for as written.
_UNITS = {
    "GB": _MEMORY,
    "GiB": _MEMORY,
    "KiB": r"kib|kb",
    "MiB": r"mib|mb",
    "TB": r"tib|tb",
    "GB/s": r"gb/s|gb/秒|gbs",
    "MB/s": r"mb/s",
    "CNY": r"(?:cny|rmb|yuan|元|块)",
    "CNY/h": rf"(?:cny|rmb|yuan|元|块)\s*(?:/|每|per|an?)?\s*{_HOUR}",
    "USD": r"(?:usd|美元|dollars?)",
    "1e4 CNY": r"万\s*(?:元|cny)?|w(?![a-z])",
    "h": rf"(?:gpu[- ·]?)?(?:个?小时|{_HOUR})",
    "d": r"(?:days?|天|d\b)",
    "s": r"(?:seconds?|秒|s\b)",
    "ms": r"(?:ms|毫秒|milliseconds?)",
    "tok/s": r"(?:tok(?:en)?s?|t)\s*(?:/|每|per)\s*(?:s|秒)|个?\s*token\s*(?:/|每)\s*秒",
    "x": r"(?:x\b|×|倍|times)",
    "FLOP": r"[kmgtpez]?flop",
    "TFLOPS": r"tflop",
    "%": r"[%％]",
    "fps": r"(?:fps|帧\s*/\s*秒|frames?\s*(?:/|per)\s*s)",
    "/s": r"(?:(?:页|张|pages?|images?|请求|requests?)\s*)?(?:/|每|per)\s*(?:秒|s)",
    "px": r"(?:px|pixels?|像素)",
    "vCPU": r"(?:vcpus?|核|cores?)",
    "GPU": r"(?:gpus?|张|卡|cards?)",
}
_HOURLY = re.compile(r"每小时|每时|元/时|hourly|(?:per|an|/)\s*h(?:our)?\b|/小?时", re.IGNORECASE)
_HOURLY_BEFORE = re.compile(r"(?:每小时|每时|hourly)[^\d]*$", re.IGNORECASE)  # "每小时 9.53 元"
_BEFORE = {"CNY": r"[¥￥]\s*|(?:cny|rmb)\s*", "CNY/h": r"[¥￥]\s*|(?:cny|rmb)\s*", "USD": r"[$]\s*|usd\s*"}


@dataclass(frozen=True)
class Number:
    """A number found in a text: its digits, every reading of it, and where it stands."""

    digits: str
    readings: tuple[float, ...]
    start: int
    end: int


@dataclass(frozen=True)
class NumberText:
    """A text cleared of names, addresses and dates, with the numbers that stand in it."""

    text: str
    numbers: tuple[Number, ...]

    def unit_follows(self, number: Number, unit: str) -> bool:
        """Whether the unit stands right after the number, or before it for a currency sign; the first of a
        range takes the unit of the second."""
        after = self.text[number.end : number.end + 40]
        span = _RANGE.match(after)
        tails = [after] if span is None else [after, span["tail"]]
        pattern = re.compile(
            rf"\s*(?:k|千|万|M|百万|亿)?\s*(?:{_UNITS.get(unit, re.escape(unit))})", re.IGNORECASE
        )
        if any(pattern.match(tail) for tail in tails):
            return True
        if unit == "CNY/h" and _HOURLY_BEFORE.search(self.text[max(0, number.start - 14) : number.start]):
            return self.unit_follows(number, "CNY")
        before = _BEFORE.get(unit)
        return bool(
            before and re.search(rf"(?:{before})$", self.text[max(0, number.start - 8) : number.start], re.I)
        )


def unit_named(text: str, unit: str) -> bool:
    """Whether the unit stands anywhere in a passage (a table names it in its head)."""
    if unit == "CNY/h":
        return unit_named(text, "CNY") and _HOURLY.search(text) is not None
    pattern = _UNITS.get(unit, re.escape(unit))
    return re.search(rf"(?:{pattern})", text, re.IGNORECASE) is not None or (
        unit in _BEFORE and re.search(_BEFORE[unit], text, re.IGNORECASE) is not None
    )


def read_numbers(text: str) -> NumberText:
    """All numbers of an answer; type names, addresses and dates are taken out first, marks ignored."""
    clear = _MARKS.sub("", text)
    for pattern in (_ADDRESS, _TYPE_NAME, _DATE):
        clear = pattern.sub(lambda match: " " * len(match[0]), clear)
    return NumberText(clear, tuple(_number(clear, match) for match in _FIND.finditer(clear)))


def _number(text: str, match: re.Match[str]) -> Number:
    digits = match[1].replace(",", "")
    value = float(digits)
    readings = [value]
    if match[2]:
        value *= 10 ** _exponent(match[2])
    after = text[match.end() : match.end() + 40]
    span = _RANGE.match(after)
    readings.append(value)
    for tail in [after] if span is None else [after, span["tail"]]:
        readings += [value * factor for factor in _factors(tail)]
    return Number(digits, tuple(dict.fromkeys(readings)), match.start(), match.end())


def _exponent(written: str) -> int:
    written = written.strip()
    if written[0] in "eE":
        return int(written[1:])
    return int(re.sub(r"^[x×*]\s*10\s*\^?\s*", "", written).translate(_SUPERSCRIPT))


def _factors(tail: str) -> list[float]:
    flop = _FLOP.match(tail)
    if flop:
        return [_FLOP_SCALE[flop[1].upper()]]
    return [factor for pattern, factor in _SCALES if pattern.match(tail)][:1]


def close(readings: Iterable[float], targets: Sequence[float], tol: float) -> bool:
    """Whether a reading lies within the relative tolerance of a target."""
    return any(
        abs(reading - target) <= tol * abs(target) + 1e-12 for reading in readings for target in targets
    )
