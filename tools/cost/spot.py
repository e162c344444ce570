"""Spot instances: the range that documents name and what interruptions cost in work done twice."""

from __future__ import annotations

from decimal import Decimal

from knowledge.catalog import Catalog
from knowledge.errors import NotKnown
from tools.contracts.cost import CostRequest, SpotOutlook

DEFAULT_RESTART_MINUTES = 10.0  # a new machine, image and weights; an assumption that is stated


def spot_outlook(
    request: CostRequest, catalog: Catalog, payg_hourly: Decimal | None, hours: float | None
) -> SpotOutlook:
    """Range and arithmetic of spot for a job of `hours` of work.

    An interruption loses half a checkpoint interval on average (it comes at any moment of the interval)
    and the restart. With r interruptions per hour of running and a loss of d hours each, work of h hours
    runs h / (1 - r d) hours, so spot pays below (1 - r d) of the pay-as-you-go price.
    """
    floor = _value(catalog, "spot_floor_percent")
    lost_per_interruption = rate = None
    if request.interruptions_per_day is not None and request.checkpoint_minutes is not None:
        restart = DEFAULT_RESTART_MINUTES if request.restart_minutes is None else request.restart_minutes
        lost_per_interruption = (request.checkpoint_minutes / 2 + restart) / 60
        rate = request.interruptions_per_day / 24
    share = (
        1.0 - rate * lost_per_interruption if rate is not None and lost_per_interruption is not None else None
    )
    useful = share is not None and share > 0
    total = hours / share if useful and hours is not None and share is not None else None
    return SpotOutlook(
        lowest_hourly=None if payg_hourly is None else payg_hourly * floor / 100,
        floor_percent=float(floor),
        notice_minutes=float(_value(catalog, "spot_notice")),
        expected_interruptions=None if total is None or rate is None else total * rate,
        lost_hours=None if total is None or hours is None else total - hours,
        total_hours=total,
        break_even_percent=None if share is None else max(0.0, 100 * share),
    )


def _value(catalog: Catalog, rule: str) -> Decimal:
    row = catalog.billing_rule(rule)
    if row is None or row.value is None:
        raise NotKnown("purchase", rule, f"the billing rule {rule} is not in the catalog")
    return row.value
