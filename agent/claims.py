"""Facts stated in prose as typed claims: names, money, memory, rates, times, counts, bare numbers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from agent.claim_forms import (
    BARE,
    CONTACT,
    DATES,
    DOLLARS,
    FACTORS,
    FAMILY,
    GPU,
    HEADING_UNITS,
    INSTANCE,
    LIST_MARK,
    MODEL,
    MONEY,
    MONTHS,
    MULTIPLE,
    NUMBER,
    QUANTITIES,
    SCALES,
    Kind,
)
from agent.reading.numerals import digits_for_words
from agent.reading.words import MAX_CHARS, Words
from knowledge.names import normal_gpu

_SMALL = 12  # "two reasons", "step 3": what anybody may count without a source
_CELL = re.compile(rf"(?P<before>[*~≈约\s]*){NUMBER}(?P<after>[*\s]*)")
_RULE = re.compile(r"\s*\|?(?:\s*:?-{2,}:?\s*\|?)+\s*")
_SPELLED = re.compile(
    r"(?i)[一二两三四五六七八九十百千]|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen"
    r"|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|dozen)\b"
)


@dataclass(frozen=True)
class Claim:
    """One stated fact. `value` is in the base unit of its kind (CNY or USD, GiB, tokens/s, GB/s, TFLOPS, s,
    billions of parameters); `step` is the size of the last digit shown, in that unit; `name` holds names,
    dates and addresses. A GPU's `value` is the memory size in its name, 0 without one."""

    kind: Kind
    text: str
    value: float = 0.0
    step: float = 0.0
    name: str = ""
    currency: str = ""


def claims_in(text: str) -> list[Claim]:
    """Every fact that the text states in a form that can be checked: code blocks, tables (with the units of
    their headings) and numbers in words included."""
    text = _with_units(_plain_signs(text))
    return [*_written(text), *_spelled(text)]


def plain_name(name: str) -> str:
    """A model's name without blanks, signs and case, so that its spellings compare."""
    return re.sub(r"[\W_]", "", name.replace("通义千问", "qwen")).lower()


def _plain_signs(text: str) -> str:
    """Full-width forms and the digits of other scripts as ASCII."""
    text = unicodedata.normalize("NFKC", text)
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)


def _written(text: str) -> list[Claim]:
    found = [*_names(text), *_money(text)]
    patterns = (INSTANCE, GPU, MODEL, CONTACT, LIST_MARK, *DATES)
    taken = bytearray(len(text))  # 1 where a claim is: a look at a place, however many claims there are
    money = bytearray(len(text))
    for pattern in patterns:
        _mark(taken, pattern.finditer(text))
    for pattern in MONEY:
        _mark(money, pattern.finditer(text))
    for kind, pattern in QUANTITIES.items():
        for match in pattern.finditer(text):
            if not taken[match.start("n")]:
                _mark(taken, [match])
                found.append(_claim(kind, match, FACTORS[kind][match["u"].lower()]))
    for match in MULTIPLE.finditer(text):
        if not taken[match.start("n")]:
            _mark(taken, [match])
            found.append(_claim("ratio", match, 1.0))
    found += [
        claim
        for match in BARE.finditer(text)
        if not taken[match.start("n")] and not money[match.start("n")] and (claim := _bare(match))
    ]
    return found


def _mark(places: bytearray, matches: Iterable[re.Match[str]]) -> None:
    for match in matches:
        places[match.start() : match.end()] = b"\x01" * (match.end() - match.start())


def _names(text: str) -> Iterator[Claim]:
    for match in INSTANCE.finditer(text):
        yield Claim("instance", match[0], name=f"ecs.{match[1].lower()}")
    for match in FAMILY.finditer(text):
        yield Claim("family", match[0], name=match[0].lower())
    for match in GPU.finditer(text):
        yield Claim("gpu", match[0].strip(), value=float(match[2] or 0), name=normal_gpu(match[1]))
    for match in MODEL.finditer(text):
        yield Claim("model", match[0].strip(), name=plain_name(match[1]))
    for match in CONTACT.finditer(text):
        yield Claim("contact", match[0], name=match[0].lower())
    for pattern in DATES:
        for match in pattern.finditer(text):
            yield Claim("date", match[0].strip(), name=_iso(match))


def _iso(match: re.Match[str]) -> str:
    month = match["m"].lower()
    parts = [match["y"], f"{int(month) if month.isdigit() else MONTHS[month[:3]]:02d}"]
    return "-".join([*parts, f"{int(match['d']):02d}"] if match["d"] else parts)


def _money(text: str) -> Iterator[Claim]:
    for pattern in MONEY:
        for match in pattern.finditer(text):
            claim = _claim("money", match, 1.0)
            currency = "USD" if match["c"].lower() in DOLLARS else "CNY"
            yield Claim("money", claim.text, claim.value, claim.step, currency=currency)


def _bare(match: re.Match[str]) -> Claim | None:
    claim = _claim("number", match, 1.0)
    counts = claim.value <= _SMALL and claim.value.is_integer() and "." not in match["n"]
    return None if counts else claim


def _claim(kind: Kind, match: re.Match[str], factor: float) -> Claim:
    """A figure with its step: 34.7 is known to 0.1, 25,400 to 100 (two digits at least are meant)."""
    groups = match.groupdict()
    digits = match["n"].replace(",", "")
    scale = SCALES.get((groups.get("k") or "").lower(), 1.0)
    decimals = len(digits.partition(".")[2])
    zeros = 0 if decimals else min(len(digits) - len(digits.rstrip("0")), max(len(digits) - 2, 0))
    step = 10.0 ** (zeros - decimals)
    return Claim(kind, match[0].strip(), float(digits) * scale * factor, step * scale * factor)


def _with_units(text: str) -> str:
    """The text with the unit of its column or row behind each bare number of a Markdown table."""
    if "|" not in text:
        return text
    lines = text.split("\n")
    heads: list[str] = []
    for place, line in enumerate(lines):
        if line.count("|") < 2 and not heads:
            continue
        if "|" not in line:
            heads = []
        elif place + 1 < len(lines) and not heads and _RULE.fullmatch(lines[place + 1]):
            heads = [_unit(cell) for cell in line.strip().strip("|").split("|")]
        elif heads and not _RULE.fullmatch(line):
            cells = line.strip().strip("|").split("|")
            row = _unit(cells[0])
            units = [*heads, *[""] * len(cells)]
            shown = [
                _CELL.sub(rf"\g<before>\g<n> {units[column] or row}\g<after>", cell)
                if column and _CELL.fullmatch(cell)
                else cell
                for column, cell in enumerate(cells)
            ]
            lines[place] = "|" + "|".join(shown) + "|"
    return "\n".join(lines)


def _unit(heading: str) -> str:
    heading = GPU.sub("", heading)  # the size in a card's name is no unit of its column
    found = (pattern.search(heading) for pattern in HEADING_UNITS)
    unit = next((match[0] for match in found if match), "")
    return {"¥": "CNY", "￥": "CNY", "$": "USD"}.get(unit, unit)


def _spelled(text: str) -> Iterator[Claim]:
    """Figures written in words: "forty CNY", "每小时四十元". A word without a unit states nothing."""
    for line in text.splitlines():
        if not _SPELLED.search(line):
            continue
        words = Words.of(line[:MAX_CHARS])
        before = {(claim.kind, claim.value) for claim in _written(words.plain)}
        digits_for_words(words)
        for claim in _written(words.plain):
            if claim.kind != "number" and not claim.name and (claim.kind, claim.value) not in before:
                yield claim
