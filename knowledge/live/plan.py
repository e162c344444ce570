"""What a refresh asks: the wish of its user, cut into steps that can be answered and kept one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from knowledge.catalog import Catalog
from knowledge.errors import InputError
from knowledge.live.ecs import PLAN_YEARS, SAVINGS_PLANS, TERMS, TYPES_PER_ADVICE, UPFRONT
from knowledge.live.overlay import Snapshot
from knowledge.names import near
from knowledge.rows import HOME_REGION

USUAL_PARTS = ("types", "prices", "spot", "stock")
PARTS = (*USUAL_PARTS, "plans")  # plans: another interface, with a permission of its own
PURCHASES = tuple(TERMS)
EVERY_REGION = "all"
# How long an answer stays good: asking sooner costs calls of a shared limit and brings nothing. These are
# also the actions that a RAM policy has to allow; docs/live-refresh.md has it ready to paste.
GOOD_FOR = {
    "DescribeRegions": timedelta(days=1),
    "DescribeInstanceTypes": timedelta(days=1),
    "DescribePrice": timedelta(days=1),
    "DescribeSpotAdvice": timedelta(days=1),
    "DescribeSpotPriceHistory": timedelta(minutes=30),
    "DescribeAvailableResource": timedelta(minutes=5),
    "QuerySavingsPlansDiscount": timedelta(days=1),
}
_LIKE_AN_ID = re.compile(r"[a-z]{2}-[a-z]+(-[a-z0-9]+)*")
_WORLDWIDE = ("DescribeRegions", "DescribeInstanceTypes")


@dataclass(frozen=True)
class Wish:
    """Regions (ids, or `all`), families (none: every current type), parts and purchase options to refresh."""

    regions: tuple[str, ...]
    families: tuple[str, ...] = ()
    parts: tuple[str, ...] = USUAL_PARTS
    purchases: tuple[str, ...] = PURCHASES


@dataclass(frozen=True)
class Step:
    """One question: an action, the region it goes to, and what it is about."""

    action: str
    region: str
    instance_types: tuple[str, ...] = ()
    purchase: str = ""
    family: str = ""
    plan: tuple[str, int, str] | None = None  # savings plan: kind, years, upfront

    @property
    def key(self) -> str:
        """The name under which the answer is kept."""
        region = "" if self.action in _WORLDWIDE else self.region
        if self.plan is not None:
            return "|".join((self.action, region, self.family, *map(str, self.plan)))
        return "|".join((self.action, region, ",".join(self.instance_types), self.purchase)).rstrip("|")


def wish_of(
    catalog: Catalog,
    regions: Sequence[str],
    families: Sequence[str] = (),
    parts: Sequence[str] = (),
    purchases: Sequence[str] = (),
) -> Wish:
    """A wish from the words of a user. Raises `InputError` with near matches for words nobody knows."""
    return Wish(
        regions=tuple(dict.fromkeys(_region_id(catalog, name) for name in regions)),
        families=tuple(name.strip().lower().removeprefix("ecs.") for name in families),
        parts=_chosen("only", parts, PARTS, USUAL_PARTS),
        purchases=_chosen("purchase", purchases, PURCHASES, PURCHASES),
    )


def _region_id(catalog: Catalog, name: str) -> str:
    if name == EVERY_REGION:
        return name
    try:
        return catalog.region(name).region_id
    except InputError:
        if _LIKE_AN_ID.fullmatch(name):  # maybe newer than our table: the API will say
            return name
        raise


def _chosen(
    field: str, given: Sequence[str], allowed: Sequence[str], usual: Sequence[str]
) -> tuple[str, ...]:
    for word in given:
        if word not in allowed:
            raise InputError(field, word, f"one of {', '.join(allowed)}", near(word, allowed))
    return tuple(word for word in allowed if word in given) or tuple(usual)


def first_steps(wish: Wish, catalog: Catalog) -> list[Step]:
    """What the rest is planned from: open regions and the list of types, asked of a host that exists."""
    home = next((region for region in wish.regions if region in catalog.regions_by_id), HOME_REGION)
    steps = [Step("DescribeRegions", home)]
    return [*steps, Step("DescribeInstanceTypes", home)] if "types" in wish.parts else steps


def closed_regions(wish: Wish, live: Snapshot) -> tuple[str, ...]:
    """Wished regions that the API does not list for this account."""
    open_regions = {row.region_id for row in live.regions} | {EVERY_REGION}
    return tuple(region for region in wish.regions if live.regions and region not in open_regions)


def next_steps(wish: Wish, catalog: Catalog, live: Snapshot) -> Iterator[Step]:
    """Prices, stock and spot of every wished type in every wished open region, the cheapest to know first.

    Raises `InputError` for a family that neither the catalog nor the API knows.
    """
    regions = [region for region in wish.regions if region not in closed_regions(wish, live)]
    if EVERY_REGION in regions:
        regions = sorted(
            {row.region_id for row in live.regions} or {row.region_id for row in catalog.regions}
        )
    types = _wished_types(wish, catalog, live)
    for region in regions:
        if "prices" in wish.parts:
            for purchase in wish.purchases:
                yield from (Step("DescribePrice", region, (name,), purchase) for name in types)
        if "stock" in wish.parts:
            yield from (Step("DescribeAvailableResource", region, (name,)) for name in types)
        if "spot" in wish.parts:
            yield from (Step("DescribeSpotPriceHistory", region, (name,)) for name in types)
            for start in range(0, len(types), TYPES_PER_ADVICE):
                yield Step("DescribeSpotAdvice", region, tuple(types[start : start + TYPES_PER_ADVICE]))
        if "plans" in wish.parts:
            yield from _plan_steps(region, types, catalog)


def _plan_steps(region: str, types: Sequence[str], catalog: Catalog) -> Iterator[Step]:
    """Every savings plan of the families of some types: kind, term and upfront share."""
    families = dict.fromkeys(catalog.family_of(name) for name in types)
    for family in families:
        for plan in SAVINGS_PLANS:
            for years in PLAN_YEARS:
                for upfront in UPFRONT:
                    if family:
                        yield Step(
                            "QuerySavingsPlansDiscount", region, family=family, plan=(plan, years, upfront)
                        )


def _wished_types(wish: Wish, catalog: Catalog, live: Snapshot) -> list[str]:
    """Without families every type sold today; a named family with all its types, new ones included."""
    if not wish.families:
        return [row.instance_type for row in catalog.instances if row.status == "current"]
    found: dict[str, None] = {}
    for family in wish.families:
        listed = [row.instance_type for row in live.types if row.family == family]
        known = [row.instance_type for row in catalog.instances if row.family == family]
        if not listed and not known:
            catalog.in_family(family)  # raises, with near families
        found |= dict.fromkeys([*known, *listed])
    return list(found)
