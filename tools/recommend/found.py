"""What a search gives: candidates on the cheapest equal machine, and misses with their reasons."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from knowledge.catalog import Catalog
from knowledge.rows import Instance
from tools.contracts.base import Remark
from tools.recommend.candidate import Candidate, Layout
from tools.recommend.limits import Limits
from tools.recommend.offers import Silicon, access_rank
from tools.recommend.tariff import Quote, Tariff


@dataclass(frozen=True, slots=True)
class Miss:
    """A kind of machine that does not do it, its best try and how far it was."""

    instance: Instance
    reason: Remark
    shortfall: float  # relative; 0 would do


@dataclass(slots=True)
class Found:
    """What a search gives: candidates, misses, and machines that carry a part of the load."""

    candidates: list[Candidate] = field(default_factory=list)
    misses: list[Miss] = field(default_factory=list)
    partial: list[Candidate] = field(default_factory=list)  # hold the model and some requests, not the load
    considered: int = 0


def priced(
    kind: Silicon,
    instances: list[Instance],
    machines: int,
    tariff: Tariff,
    limits: Limits,
    catalog: Catalog,
    *,
    precision: str,
    rung: int,
    layout: Layout,
    speed: float,
    hours: float | None = None,
    remarks: tuple[Remark, ...] = (),
    **extra: object,
) -> Candidate:
    """A candidate on the type of these that is cheapest: equal silicon differs in host and price only."""
    instance, quote = cheapest_type(instances, tariff, catalog)
    hourly = None if quote is None else quote.hourly * machines
    monthly = None if quote is None else tariff.monthly(instance, quote) * machines
    gpus = machines * kind.count
    elsewhere = tariff.elsewhere(instance) if quote is None else None
    if elsewhere is not None:
        params = {"region": elsewhere.region, "hourly_cny": round(float(elsewhere.hourly * machines), 4)}
        remarks = (*remarks, Remark(code="priced_elsewhere", params=params))
    return Candidate(
        silicon=kind,
        instance=instance,
        machines=machines,
        region=tariff.regions[0] if quote is None else quote.region,
        basis="" if quote is None else quote.basis,
        hourly=hourly,
        monthly=monthly,
        precision=precision,
        rung=rung,
        layout=layout,
        speed=speed,
        within_gpus=limits.allows_gpus(gpus),
        within_budget=limits.allows_cost(hourly, monthly, hours),
        hours=hours,
        access=access_rank(catalog.facts_of_family(instance.family)),
        remarks=remarks,
        **extra,  # type: ignore[arg-type]
    )


def cheapest_type(
    instances: list[Instance], tariff: Tariff, catalog: Catalog
) -> tuple[Instance, Quote | None]:
    """The cheapest priced type, virtual before bare metal at the same price; else the easiest to buy."""

    def key(instance: Instance) -> tuple[bool, Decimal, int, bool, bool, int]:
        quote = tariff.quote(instance)
        facts = catalog.facts_of_family(instance.family)
        cost = Decimal(0) if quote is None else quote.hourly
        slower_network = not (facts and facts.erdma)
        return quote is None, cost, access_rank(facts), instance.bare_metal, slower_network, instance.vcpu

    best = min(instances, key=key)
    return best, tariff.quote(best)
