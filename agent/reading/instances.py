"""Finds instance types and families, real ones and ones that do not exist, with near names."""

from __future__ import annotations

import re

from agent.reading.types import Mention
from agent.reading.words import Words
from knowledge.catalog import Catalog
from knowledge.names import near

# A type name in any of the ways people spell it: ecs. missing, blanks, commas or hyphens for dots.
_TYPE = re.compile(
    r"(?<![a-z0-9.])(?:ecs[.\-\s]{1,2})?(?P<family>[a-z]{1,6}\d{1,2}[a-z]{0,4})"
    r"(?P<middle>(?:(?:-|[_ .](?=[a-z]{0,4}\d))(?!\d*x?l(?:arge)?\b)[a-z0-9]{1,8}){0,4})"
    r"[-_ .,]{1,2}(?P<size>\d{0,3}\s?(?:xlarge|large|xl|x\s?large|xlager|xlarg|medium|small))(?![a-z0-9])"
)
_FAMILY = re.compile(
    r"(?<![a-z0-9.])(?:ecs[.\-\s])?(?P<family>(?:[a-z]{1,4})?g[nap]\d{1,2}[a-z]{0,4}(?:-(?:vws"
    r"|tee|tdx|xr))?)(?![a-z0-9])"
)
# Families of other kinds (g7, c7, r8 ...) count where the question speaks of families or the cloud's naming.
_OTHER_FAMILY = re.compile(
    r"(?<![a-z0-9.-])(?P<family>(?:[gcrhiu]\d[a-z]{0,2}|ve\d{1,2}|g\d{1,2}[nex]|f\d[a-z]?|ga\d"
    r"|av8m))(?![a-z0-9.])"
)
_FAMILY_WORDS = re.compile(
    r"famil|系列|规格族|实例|机型|型号|instance|series|ecs|阿里云|alibaba|机器|gpu|弹性|渲染|render|gaming"
    r"|云游戏|graphics|图形"
)
_AMOUNT = re.compile(r"\s*(?:gb|g|tb|倍)(?![a-z])")
_SHARE = re.compile(r"\s*(?:的)?\s*1/([1-9]\d?)(?!\d)")
_SAME_SHARE = 0.005
_NOT_FAMILIES = {"h2o", "i18n", "u2", "c4", "h264", "h265", "f16", "f32", "f8", "f64", "f1", "r1", "c10d"}


def find_instances(words: Words, catalog: Catalog) -> list[tuple[int, Mention]]:
    """Types first, then families; takes their words. Near names come with what does not exist."""
    found = _types(words, catalog)
    found += _families(words, catalog)
    return sorted(found, key=lambda item: item[0])


def _types(words: Words, catalog: Catalog) -> list[tuple[int, Mention]]:
    known = {row.instance_type for row in catalog.instances}
    found: list[tuple[int, Mention]] = []
    for match in _TYPE.finditer(words.free):
        name = _canonical(match)
        if name not in known and not _looks_like_ecs(match, catalog):
            continue
        said = words.said(*match.span())
        if name in known:
            mention = Mention(kind="instance", text=said, name=name)
        else:
            mention = Mention(
                kind="phantom_instance", text=said, name=name, near=tuple(catalog.near_instances(name))
            )
        found.append((match.start(), mention))
        words.take(*match.span())
    return found


def _canonical(match: re.Match[str]) -> str:
    size = re.sub(r"\s", "", match["size"])
    size = re.sub(r"(?:xlarge|xl|xlager|xlarg)$", "xlarge", size)
    middle = re.sub(r"[_ ]", "-", match["middle"])
    return f"ecs.{match['family']}{middle}.{size}"


def _looks_like_ecs(match: re.Match[str], catalog: Catalog) -> bool:
    family = match["family"]
    return (
        match[0].startswith("ecs") or catalog.family_of(family) is not None or bool(_FAMILY.fullmatch(family))
    )


def _families(words: Words, catalog: Catalog) -> list[tuple[int, Mention]]:
    found: list[tuple[int, Mention]] = []
    of_clouds = bool(_FAMILY_WORDS.search(words.plain))
    for pattern in (_FAMILY, _OTHER_FAMILY) if of_clouds else (_FAMILY,):
        for match in pattern.finditer(words.free):
            family = match["family"]
            if family in _NOT_FAMILIES or _AMOUNT.match(words.free, match.end()):
                continue
            mention = _family(family, words.said(*match.span()), catalog)
            share = _SHARE.match(words.plain, match.end())
            found.append((match.start(), _slice(mention, share, catalog) if share else mention))
            words.take(*match.span())
    return found


def _slice(mention: Mention, share: re.Match[str], catalog: Catalog) -> Mention:
    """The smallest type of a vGPU family with this share of a card; the family itself without one."""
    wanted = 1 / int(share[1])
    rows = [row for row in catalog.in_family(mention.name) if abs(row.gpu_count - wanted) < _SAME_SHARE]
    if not rows:
        return mention
    smallest = min(rows, key=lambda row: (row.vcpu, row.memory_gib))
    return Mention(kind="instance", text=mention.text, name=smallest.instance_type)


def _family(family: str, said: str, catalog: Catalog) -> Mention:
    if family in catalog.families:
        return Mention(kind="family", text=said, name=family)
    longer = [name for name in catalog.families if name.startswith(f"{family}-")]
    if longer:
        return Mention(kind="family", text=said, name=longer[0])
    return Mention(
        kind="phantom_family", text=said, name=family, near=tuple(near(family, catalog.families, 4))
    )
