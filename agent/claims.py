"""Facts stated in prose as typed claims: names of instances and GPUs, money, memory, rates, times, counts."""

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


_GIB = 2.0**30
# Units by kind with their size in the kind's base unit; the first kind that fits takes a number.
_UNITS: dict[Kind, dict[str, float]] = {
    "compute": {"TFLOPS": 1, "TFLOP/s": 1, "PFLOPS": 1e3, "TOPS": 1},
    "bandwidth": {
        "TB/s": 1e3, "GB/s": 1, "GiB/s": _GIB / 1e9, "MB/s": 1e-3, "Gbit/s": 0.125, "Gbps": 0.125,
        "Mbit/s": 1.25e-4, "Mbps": 1.25e-4,
    },
    "token_rate": {
        "tokens/s": 1, "token/s": 1, "tok/s": 1, "tps": 1, "tokens per second": 1, "token/秒": 1,
        "tokens/秒": 1,
    },
    "memory": {
        "TiB": 1024, "GiB": 1, "MiB": 1 / 1024, "KiB": 1 / 1024**2, "TB": 1e12 / _GIB, "GB": 1e9 / _GIB,
        "MB": 1e6 / _GIB, "KB": 1e3 / _GIB, "G显存": 1, "G 显存": 1, "G内存": 1, "G 内存": 1,
    },
    "tokens": {"tokens": 1, "token": 1},
    "percent": {"%": 1, "％": 1, "percent": 1},
    "time": {
        "ms": 1e-3, "毫秒": 1e-3, "s": 1, "seconds": 1, "second": 1, "秒": 1, "minutes": 60, "minute": 60,
        "min": 60, "分钟": 60, "hours": 3600, "hour": 3600, "h": 3600, "小时": 3600, "days": 86400,
        "day": 86400, "天": 86400,
    },
    "cards": {
        "GPUs": 1, "GPU": 1, "cards": 1, "card": 1, "machines": 1, "machine": 1, "instances": 1, "nodes": 1,
        "张": 1, "卡": 1, "台": 1,
    },
}  # fmt: skip
_SCALES = {
    "k": 1e3, "千": 1e3, "thousand": 1e3, "万": 1e4, "w": 1e4, "百万": 1e6, "million": 1e6, "亿": 1e8,
    "billion": 1e9,
}  # fmt: skip


def _any(words: dict[str, float]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_NUMBER = r"(?P<n>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
_SCALED = rf"{_NUMBER}\s*(?:(?P<k>{_any(_SCALES)})(?![A-Za-z]))?"
_QUANTITIES = {
    kind: re.compile(
        rf"(?<![\w./]){_SCALED}\s*(?:[x×]\s*)?(?P<u>{_any(units)})(?![A-Za-z0-9/])", re.IGNORECASE
    )
    for kind, units in _UNITS.items()
}
_FACTORS = {kind: {unit.lower(): size for unit, size in units.items()} for kind, units in _UNITS.items()}
_DOLLARS = ("us$", "$", "usd", "dollar", "dollars", "美元", "美金")
_MONEY = (
    re.compile(rf"(?P<c>US\$|\$|¥|￥|CNY|RMB)\s*{_SCALED}", re.IGNORECASE),
    re.compile(
        rf"(?<![\w./]){_SCALED}\s*(?P<c>CNY|RMB|yuan|人民币|元|块钱|块(?=[/每，。 ])|USD|dollars?|美元|美金)",
        re.IGNORECASE,
    ),
)
_INSTANCE = re.compile(
    r"(?<![\w.])(?:ecs\.)?([a-z]{2,8}\d{1,2}[a-z]*(?:-[a-z0-9]+)*\.\d{0,3}x?large)(?!\w)", re.IGNORECASE
)
_FAMILY = re.compile(
    r"(?<![\w.\-])((?:ebm|scc|v|s)?gn\d{1,2}[a-z]{0,3}|ve\d)(?:-(?:vws|tee|tdx|wy|xr))?(?![\w.]*large|\w)",
    re.IGNORECASE,
)
_GPU = re.compile(
    r"(?<![A-Za-z0-9.\-])((?:(?:RTX|GTX|Tesla|GeForce|PRO) ?)*"
    r"(?:A(?:2|10G?|16|30|40|100X?|800)|B(?:100|200|300)|GB(?:200|300)|H(?:20|100|200|800)|L(?:2|4|20N?|40S?)"
    r"|T4|V100S?|P(?:4|40|100)|M40|K80|MI\d{3}X?|[2345]0[6789]0(?: ?Ti)?))"
    r"(?:[- ](?:SXM\d?|PCIe|NVL))*(?:[- ]?(\d{2,3}) ?G(?:i?B)?)?(?![A-Za-z0-9])"
)
_DATE = re.compile(r"(?<!\d)(20[12]\d-\d{2}(?:-\d{2})?)(?!\d)")


def claims_in(text: str) -> list[Claim]:
    """Every fact that the text states in a form that can be checked, code blocks and tables included."""
    found = [*_names(text), *_money(text)]
    taken = [match.span() for pattern in (_INSTANCE, _DATE, _GPU) for match in pattern.finditer(text)]
    for kind, pattern in _QUANTITIES.items():
        for match in pattern.finditer(text):
            if any(start <= match.start() < end for start, end in taken):
                continue
            taken.append(match.span())
            found.append(_claim(kind, match, _FACTORS[kind][match["u"].lower()]))
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
    for pattern in _MONEY:
        for match in pattern.finditer(text):
            claim = _claim("money", match, 1.0)
            currency = "USD" if match["c"].lower() in _DOLLARS else "CNY"
            yield Claim("money", claim.text, claim.value, claim.step, currency=currency)


def _claim(kind: Kind, match: re.Match[str], factor: float) -> Claim:
    """A figure with its step: 34.7 is known to 0.1, 25,400 to 100 (two digits at least are meant)."""
    digits = match["n"].replace(",", "")
    scale = _SCALES.get((match["k"] or "").lower(), 1.0)
    decimals = len(digits.partition(".")[2])
    zeros = 0 if decimals else min(len(digits) - len(digits.rstrip("0")), max(len(digits) - 2, 0))
    step = 10.0 ** (zeros - decimals)
    return Claim(kind, match[0].strip(), float(digits) * scale * factor, step * scale * factor)
