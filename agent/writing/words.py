"""Numbers, money, dates and names as each language writes them."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from agent.reading.types import Language

Number = int | float | Decimal

_PURCHASES = {
    "payg": ("pay-as-you-go", "按量付费"),
    "spot": ("spot", "抢占式"),
    "subscription_1m": ("monthly subscription", "包月"),
    "subscription_1y": ("1-year subscription", "包年（1 年）"),
    "subscription_3y": ("3-year subscription", "包年（3 年）"),
    "reserved_instance": ("reserved instance", "预留实例券"),
    "savings_plan": ("savings plan", "节省计划"),
    "savings_plan_universal": ("savings plan", "节省计划"),
}
_SCALES_EN = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))
_SCALES_ZH = ((1e12, "万亿"), (1e8, "亿"), (1e4, "万"))
_UNITS = {
    "hour": ("h", "小时"),
    "day": ("day", "天"),
    "month": ("month", "月"),
    "year": ("year", "年"),
    "3 years": ("3 years", "3 年"),
    "hour_equivalent_730": ("h (a month ÷ 730)", "小时（月价 ÷ 730）"),
}


def plain(value: Number, significant: int = 3) -> str:
    """A number to some significant digits, with thousands separators and no exponent."""
    number = float(value)
    if number == 0:
        return "0"
    whole_digits = len(str(int(abs(number)))) if abs(number) >= 1 else 0
    decimals = max(0, significant - whole_digits)
    if abs(number) < 1:
        decimals = significant if abs(number) >= 0.01 else significant + 2
    text = f"{number:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


class Words:
    """One language's way to write things; calling it picks the text of that language."""

    def __init__(self, language: Language) -> None:
        self.language: Language = language
        self._zh = language == "zh"

    def __call__(self, english: str, chinese: str) -> str:
        return chinese if self._zh else english

    # Numbers

    def num(self, value: Number, significant: int = 3) -> str:
        return plain(value, significant)

    def count(self, value: Number) -> str:
        """A whole number: 81,920."""
        return f"{round(float(value)):,}"

    def gib(self, value: Number) -> str:
        number = float(value)
        return f"{number:,.{0 if abs(number) >= 1000 else 1 if abs(number) >= 1 else 2}f} GiB"

    def big(self, value: Number) -> str:
        """A large count in scale words: 6.14 million / 614 万."""
        number = float(value)
        for size, word in _SCALES_ZH if self._zh else _SCALES_EN:
            if abs(number) >= size:
                return f"{plain(number / size)} {word}"
        return self.count(number)

    def percent(self, share: Number) -> str:
        return f"{float(share) * 100:.0f}%"

    def ms(self, value: Number) -> str:
        number = float(value)
        return (
            f"{plain(number, 2)} ms"
            if number < 1000
            else self(f"{plain(number / 1000, 2)} s", f"{plain(number / 1000, 2)} 秒")
        )

    def hours(self, value: Number) -> str:
        """A duration: hours, with days beside them from two days on."""
        number = float(value)
        text = self(f"{plain(number)} h", f"{plain(number)} 小时")
        if number >= 48:
            days = plain(number / 24, 2)
            text += self(f" ({days} days)", f"（{days} 天）")
        return text

    def span(self, low: Number, high: Number, significant: int = 2) -> str:
        """A range between two numbers, without unit."""
        first, last = plain(low, significant), plain(high, significant)
        return first if first == last else f"{first}–{last}"

    # Money

    def money(self, amount: Number, currency: str = "CNY", decimals: int = 2) -> str:
        """34.74 CNY / 34.74 元; USD as US$ and 美元."""
        text = f"{float(amount):,.{decimals}f}"
        if currency == "USD":
            return self(f"US${text}", f"{text} 美元")
        return self(f"{text} {currency}", f"{text} 元" if currency == "CNY" else f"{text} {currency}")

    def price(self, amount: Number, unit: str = "hour", currency: str = "CNY") -> str:
        """A price per unit: hourly ones as exact as the list (up to three decimals), longer ones rounded."""
        if unit == "percent_of_payg":
            return self(f"{float(amount):g}% of pay-as-you-go", f"按量价的 {float(amount):g}%")
        decimals = 3 if unit.startswith("hour") else 0 if float(amount) >= 100 else 2
        text = f"{float(amount):,.{decimals}f}"
        if decimals == 3 and text.endswith("0"):
            text = text[:-1]
        english, chinese = _UNITS.get(unit, (unit, unit))
        if currency == "USD":
            return self(f"US${text}/{english}", f"{text} 美元/{chinese}")
        return self(f"{text} {currency}/{english}", f"{text} 元/{chinese}")

    def unit(self, period: str) -> str:
        """A period of time: hour / 小时."""
        english, chinese = _UNITS.get(period, (period, period))
        return self(english, chinese)

    # Names

    def date(self, as_of: str) -> str:
        return as_of or self("undated", "无日期")

    def purchase(self, code: str) -> str:
        english, chinese = _PURCHASES.get(code, (code, code))
        return self(english, chinese)

    def card(self, name: str) -> str:
        """A card's name; one known by its memory alone ("24GB class") as "a 24 GB card"."""
        size = name.removesuffix("GB class")
        return name if size == name else self(f"a {size} GB card", f"{size} GB 显卡")

    def precision(self, name: str) -> str:
        """A precision as people say it: `awq-int4` is 4-bit (AWQ)."""
        if "+" in name:
            return " + ".join(self.precision(part) for part in name.split("+"))
        bits = next((bits for bits in ("4", "8") if f"int{bits}" in name), "")
        if not bits:
            return name.upper() if name.startswith("gguf") else name
        kind = name.replace(f"int{bits}", "").strip("-").upper()
        return self(f"{bits}-bit", f"{bits} 比特") + (f" ({kind})" if kind else "")

    # Text

    def listed(self, items: Iterable[str]) -> str:
        return self(", ", "、").join(items)

    def sentences(self, items: Iterable[str]) -> str:
        return self(" ", "").join(item for item in items if item)


def short_model(name: str) -> str:
    """A model's name without its owner; a generic shape by its size."""
    return name.rsplit("/", 1)[-1].removeprefix("generic-")


def quoted(text: str, limit: int = 80) -> str:
    """The user's own text for showing: one short line without markup that a page could act on."""
    line = " ".join(text.split())[:limit]
    return line.translate(_MARKUP)


_MARKUP = str.maketrans({"<": "‹", ">": "›", "`": "'", "|": "/", "[": "(", "]": ")", "*": "", "_": " "})


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table; a bar inside a cell would split it and is replaced."""
    head = [cell.replace("|", "/") for cell in header]
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += [
        "| " + " | ".join(cell.replace("|", "/").replace("\n", " ") for cell in row) + " |" for row in rows
    ]
    return "\n".join(lines)


def bullets(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)
