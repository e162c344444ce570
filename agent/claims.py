"""Facts stated in prose, as typed claims: names of instances and GPUs, money, memory, rates, times, counts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from knowledge.names import normal_gpu

Kind = Literal[
    "instance", "family", "gpu", "money", "memory", "token_rate", "bandwidth", "compute", "time", "percent",
    "tokens", "cards", "date",
]  # fmt: skip


@dataclass(frozen=True)
class Claim:
    """One stated fact. `value` is in the base unit of its kind (CNY or USD, GiB, tokens/s, GB/s, TFLOPS, s);
    `step` is the size of the last digit shown, in that unit; `name` holds names and dates. A GPU's `value` is
    the memory size in its name, 0 without one."""

    kind: Kind
    text: str
    value: float = 0.0
    step: float = 0.0
    name: str = ""
    currency: str = ""


_NUMBER = r"(?P<n>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
_SCALE = r"\s*(?P<k>k|K|千|万|w|W|百万|亿|million|billion|thousand)?"
_GIB = 2.0**30
_UNITS: tuple[tuple[Kind, str, dict[str, float]], ...] = (
    ("compute", r"(?P<u>[PT]FLOPS|[PT]FLOP/s|TOPS)", {"tflops": 1, "tflop/s": 1, "pflops": 1e3, "pflop/s": 1e3, "tops": 1}),
    ("bandwidth", r"(?P<u>TB/s|GB/s|GiB/s|MB/s|Gbit/s|Gbps|Mbit/s|Mbps)", {"tb/s": 1e3, "gb/s": 1, "gib/s": 1.0737, "mb/s": 1e-3, "gbit/s": 0.125, "gbps": 0.125, "mbit/s": 1.25e-4, "mbps": 1.25e-4}),
    ("token_rate", r"(?:output |total |个 ?)?(?P<u>tokens?/s(?:ec(?:ond)?)?|tok/s|tps|tokens? per second|token/秒|tokens/秒|词元/秒)", {}),
    ("memory", r"(?P<u>TiB|GiB|MiB|KiB|TB|GB|MB|KB|G(?=\s*(?:显存|内存|VRAM|memory)))", {"tib": 1024, "gib": 1, "mib": 1 / 1024, "kib": 1 / 1024**2, "tb": 1e12 / _GIB, "gb": 1e9 / _GIB, "mb": 1e6 / _GIB, "kb": 1e3 / _GIB, "g": 1}),
    ("tokens", r"(?P<u>tokens?(?!/| per second)|词元(?!/))", {}),
    ("percent", r"(?P<u>%|％|percent)", {}),
    ("time", r"(?P<u>ms|毫秒|hours?|hrs?|小时|days?|天|minutes?|mins?|分钟|seconds?|秒|(?<=\d )s|(?<=\d)s|(?<=\d )h|(?<=\d)h)(?![a-zA-Z])", {"ms": 1e-3, "毫秒": 1e-3, "hour": 3600, "hr": 3600, "小时": 3600, "day": 86400, "天": 86400, "minute": 60, "min": 60, "分钟": 60, "second": 1, "秒": 1, "s": 1, "h": 3600}),
    ("cards", r"(?:[x×*]\s*)?(?P<u>GPUs?|cards?|machines?|instances?|nodes?|张|卡|台|块(?=[A-Z]))", {}),
)  # fmt: skip
_QUANTITIES = tuple(
    (kind, re.compile(rf"(?<![\w.]){_NUMBER}{_SCALE}\s*{unit}", re.IGNORECASE), factors)
    for kind, unit, factors in _UNITS
)
_MONEY_BEFORE = re.compile(rf"(?P<c>US\$|\$|USD|¥|￥|CNY|RMB)\s*{_NUMBER}{_SCALE}", re.IGNORECASE)
_MONEY_AFTER = re.compile(
    rf"(?<![\w.]){_NUMBER}{_SCALE}\s*(?P<c>CNY|RMB|yuan|人民币|元|块钱|块(?=[/每，。 ])|USD|dollars?|美元|美金)",
    re.IGNORECASE,
)
_INSTANCE = re.compile(
    r"(?<![\w.])(?:ecs\.)?([a-z]{2,8}\d{1,2}[a-z]*(?:-[a-z0-9]+)*\.(?:\d{0,3}x?large))(?![\w])", re.I
)
_FAMILY = re.compile(
    r"(?<![\w.\-])((?:ebm|scc|v|s)?gn\d{1,2}[a-z]{0,3}|ve\d)(?:-(?:vws|tee|tdx|wy|xr))?(?![\w.]*large|[\w])",
    re.I,
)
_GPU = re.compile(
    r"(?<![A-Za-z0-9.\-])((?:(?:RTX|GTX|Tesla|GeForce|PRO) ?)*"
    r"(?:A(?:2|10G?|16|30|40|100X?|800)|B(?:100|200|300)|GB(?:200|300)|H(?:20|100|200|800)|L(?:2|4|20N?|40S?)|T4|V100S?"
    r"|P(?:4|40|100)|M40|K80|MI\d{3}X?|[2345]0[6789]0(?: ?Ti)?))"
    r"(?:[- ](?:SXM\d?|PCIe|NVL))*(?:[- ]?(\d{2,3}) ?G(?:i?B)?)?(?![A-Za-z0-9])"
)
_DATE = re.compile(r"(?<!\d)(20[12]\d-\d{2}(?:-\d{2})?)(?!\d)")
_SCALES = {
    "k": 1e3, "千": 1e3, "thousand": 1e3, "万": 1e4, "w": 1e4, "百万": 1e6, "million": 1e6, "亿": 1e8,
    "billion": 1e9,
}  # fmt: skip


def claims_in(text: str) -> list[Claim]:
    """Every fact that the text states in a form that can be checked. Links and code fences count too."""
    found = [*_names(text), *_money(text)]
    taken = [match.span() for pattern in (_INSTANCE, _DATE, _GPU) for match in pattern.finditer(text)]
    for kind, pattern, factors in _QUANTITIES:
        for match in pattern.finditer(text):
            if any(start <= match.start() < end for start, end in taken):
                continue
            taken.append(match.span())
            unit = (
                match["u"].lower().rstrip("s")
                if kind == "time" and len(match["u"]) > 2
                else match["u"].lower()
            )
            found.append(_claim(kind, match, factors.get(unit, 1.0)))
    return found


def _names(text: str) -> Iterator[Claim]:
    for match in _INSTANCE.finditer(text):
        yield Claim("instance", match[0], name=f"ecs.{match[1].lower()}")
    for match in _FAMILY.finditer(text):
        yield Claim("family", match[0], name=match[0].lower())
    for match in _GPU.finditer(text):
        yield Claim("gpu", match[0].strip(), value=float(match[2] or 0), name=normal_gpu(match[1]))
    for match in _DATE.finditer(text):
        yield Claim("date", match[0], name=match[1])


def _money(text: str) -> Iterator[Claim]:
    for pattern in (_MONEY_BEFORE, _MONEY_AFTER):
        for match in pattern.finditer(text):
            dollars = match["c"].lower() in ("us$", "$", "usd", "dollar", "dollars", "美元", "美金")
            claim = _claim("money", match, 1.0)
            yield Claim("money", claim.text, claim.value, claim.step, currency="USD" if dollars else "CNY")


def _claim(kind: Kind, match: re.Match[str], factor: float) -> Claim:
    digits = match["n"].replace(",", "")
    scale = _SCALES.get((match["k"] or "").lower(), 1.0)
    decimals = len(digits.partition(".")[2])
    trailing = len(digits) - len(digits.rstrip("0")) if not decimals else 0
    step = 10.0 ** (min(trailing, max(len(digits) - 2, 0)) - decimals)
    return Claim(kind, match[0].strip(), float(digits) * scale * factor, step * scale * factor)
