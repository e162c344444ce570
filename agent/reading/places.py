"""Finds regions by id or name in both languages, wide areas too, with slips of the pen."""

from __future__ import annotations

import re

from rapidfuzz import fuzz, process

from agent.reading.types import Mention
from agent.reading.words import Words
from knowledge.catalog import Catalog
from knowledge.derived import per_catalog

# Areas wider than a region, as the regions that the name may mean.
_AREAS = tuple(
    (re.compile(pattern), regions)
    for pattern, regions in (
        (r"内蒙古?|inner mongolia", ("cn-wulanchabu", "cn-huhehaote")),
        (
            r"美国|(?<![a-z])(?:usa|united states|america|the us|us regions?)(?![a-z])",
            ("us-east-1", "us-west-1"),
        ),
        (r"(?<![a-z])us[-\s]?east(?![-\w])|美东|美国东部", ("us-east-1",)),
        (r"(?<![a-z])us[-\s]?west(?![-\w])|美西|美国西部", ("us-west-1",)),
        (r"欧洲|(?<![a-z])europe(?![a-z])", ("eu-central-1", "eu-west-1")),
        (r"东南亚|south-?east asia", ("ap-southeast-1", "ap-southeast-3", "ap-southeast-5")),
        (r"华东", ("cn-hangzhou", "cn-shanghai")),
        (r"华北", ("cn-beijing", "cn-zhangjiakou")),
        (r"华南", ("cn-shenzhen", "cn-guangzhou")),
        (r"西部|西南", ("cn-chengdu",)),
    )
)
_SHORT = {"sg", "hk"}  # two letters are a region only beside a word of place
_PLACE_NEAR = re.compile(r"region|zone|地域|区|in\s(?:sg|hk)|节点|机房|部署在|datacenter")
_AFTER_PLACE_WORD = re.compile(r"(?:\b(?:in|region|at|from)\s|地域|region|在)\s*([a-z]{6,14})(?![a-z0-9])")
_NOT_BEFORE = re.compile(r"(?:不要|不在|除了|避开|not in|except|outside(?: of)?)\s*$")


@per_catalog
def _pattern(catalog: Catalog) -> tuple[re.Pattern[str], dict[str, str]]:
    names: dict[str, str] = {}
    for row in catalog.regions:
        for name in (row.region_id, row.name_zh, *row.aliases):
            names[name.lower().replace("（", "(").replace("）", ")")] = row.region_id
    parts = [
        re.escape(name) if not name.isascii() else rf"(?<![a-z]){re.escape(name)}(?![a-z0-9])"
        for name in sorted(names, key=len, reverse=True)
    ]
    return re.compile("|".join(parts)), names


def find_regions(words: Words, catalog: Catalog) -> list[tuple[int, Mention]]:
    """Region mentions of a turn in order; takes their words."""
    pattern, names = _pattern(catalog)
    found: list[tuple[int, Mention]] = []
    for match in pattern.finditer(words.free):
        near = words.plain[max(0, match.start() - 8) : match.end() + 8]
        if match[0] not in _SHORT or _PLACE_NEAR.search(near):
            found.append(_take(words, match.span(), names[match[0]]))
    for area, regions in _AREAS:
        if wide := area.search(words.free):
            found += [_take(words, wide.span(), region) for region in regions]
    return sorted(found or _misspelt(words, names), key=lambda item: item[0])


def _take(words: Words, span: tuple[int, int], region: str) -> tuple[int, Mention]:
    negated = bool(_NOT_BEFORE.search(words.plain[max(0, span[0] - 12) : span[0]]))
    words.take(*span)
    return span[0], Mention(kind="region", text=words.said(*span), name=region, negated=negated)


def _misspelt(words: Words, names: dict[str, str]) -> list[tuple[int, Mention]]:
    """Long Latin names with one slip ("hangzou", "singapor"), beside a word of place only."""
    known = [name for name in names if name.isascii() and len(name) >= 7 and "-" not in name]
    found: list[tuple[int, Mention]] = []
    for match in _AFTER_PLACE_WORD.finditer(words.free):
        best = process.extractOne(match[1], known, scorer=fuzz.ratio, score_cutoff=86)
        if best:
            found.append(_take(words, match.span(1), names[best[0]]))
    return found
