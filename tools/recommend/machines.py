"""The machines that a request's limits let in, grouped by silicon, and those that they keep out."""

from __future__ import annotations

from dataclasses import dataclass

from knowledge.catalog import Catalog
from knowledge.rows import Instance
from tools.contracts.base import Remark
from tools.recommend.limits import Limits
from tools.recommend.offers import Silicon, silicons
from tools.recommend.tariff import Tariff

Kinds = list[tuple[Silicon, list[Instance]]]


@dataclass(frozen=True, slots=True)
class Refused:
    """A type that may not be offered, whatever it computes."""

    instance: Instance
    reason: Remark


def machines(catalog: Catalog, limits: Limits, tariff: Tariff) -> tuple[Kinds, list[Refused]]:
    """Kinds of machines with their allowed types, and the refused types."""
    kept: Kinds = []
    refused: list[Refused] = []
    for silicon in silicons(catalog):
        allowed = []
        for instance in silicon.instances:
            reason = limits.refusal(instance, silicon, catalog.facts_of_family(instance.family))
            reason = reason or _sold_elsewhere(instance, limits, tariff)
            if reason is None:
                allowed.append(instance)
            else:
                refused.append(Refused(instance, reason))
        if allowed:
            kept.append((silicon, allowed))
    return kept, refused


def _sold_elsewhere(instance: Instance, limits: Limits, tariff: Tariff) -> Remark | None:
    """A type of other regions' price lists is not offered here, unless it is named."""
    elsewhere = None if tariff.quote(instance) else tariff.elsewhere(instance)
    if elsewhere is None or limits.names(instance):
        return None
    return Remark(
        code="not_priced_in_region",
        params={"priced_in": elsewhere.region, "hourly_cny": round(float(elsewhere.hourly), 4)},
    )


def widened(kinds: Kinds, tariff: Tariff) -> str | None:
    """Looks in all regions when the default one prices none of these machines; the region found, or None."""
    types = [instance for _, instances in kinds for instance in instances]
    if any(tariff.quote(instance) for instance in types):
        return None
    if not any(tariff.elsewhere(instance) for instance in types):
        return None
    tariff.widen()
    quotes = [quote for instance in types if (quote := tariff.quote(instance))]
    return min(quotes, key=lambda quote: quote.hourly).region
