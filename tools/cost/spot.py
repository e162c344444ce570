"""Spot instances: the range that documents name, live averages, and what interruptions cost in work."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from knowledge.catalog import Catalog
from knowledge.errors import NotKnown
from knowledge.live.rows import SpotAdvice
from tools.contracts.base import Assumption
from tools.contracts.cost import CostRequest, SpotAverage, SpotOutlook

# Planning values, each stated as an assumption where it is used.
DEFAULT_CHECKPOINT_MINUTES = 30.0
DEFAULT_RESTART_MINUTES = 10.0  # a new machine, image and weights
DEFAULT_INTERRUPTIONS_PER_DAY = 1.0  # no document names a rate for GPU types
_LEAST_PROGRESS = 0.01  # of the time: below it the work practically stands still


@dataclass(frozen=True)
class SpotPlace:
    """Which machine is asked about, and what it costs: all machines, None where no price is known."""

    instance_type: str
    region: str
    payg_hourly: Decimal | None
    spot_hourly: Decimal | None


def spot_outlook(
    request: CostRequest, catalog: Catalog, place: SpotPlace, hours: float | None
) -> tuple[SpotOutlook, tuple[Assumption, ...]]:
    """Range, live averages and arithmetic of spot for a job of `hours` of work, with what was assumed.

    An interruption loses half a checkpoint interval on average (it comes at any moment of the interval)
    and the restart. With r interruptions per hour of running and a loss of d hours each, work of h hours
    runs h / (1 - r d) hours, so spot pays below (1 - r d) of the pay-as-you-go price.
    """
    advice = catalog.live.spot_advice(place.instance_type, place.region)
    averages = _averages(advice, place.payg_hourly)
    checkpoint, restart, daily, assumed = _terms(request, averages)
    lost_each = checkpoint / 2 + restart
    rate = daily / 24
    share = 1.0 - rate * lost_each / 60
    total = hours / share if hours is not None and share >= _LEAST_PROGRESS else None
    floor = _value(catalog, "spot_floor_percent")
    outlook = SpotOutlook(
        lowest_hourly=None if place.payg_hourly is None else place.payg_hourly * floor / 100,
        highest_hourly=place.payg_hourly,
        floor_percent=float(floor),
        notice_minutes=float(_value(catalog, "spot_notice")),
        averages=averages,
        checkpoint_minutes=checkpoint,
        restart_minutes=restart,
        interruptions_per_day=daily,
        rework_minutes=checkpoint / 2,
        loss_minutes=lost_each,
        expected_interruptions=None if total is None else total * rate,
        lost_hours=None if total is None or hours is None else total - hours,
        total_hours=total,
        expected_job=None
        if total is None or place.spot_hourly is None
        else (place.spot_hourly * Decimal(str(total))).quantize(Decimal("0.000001")),
        break_even_percent=max(0.0, 100 * share),
    )
    return outlook, assumed


def _averages(advice: tuple[SpotAdvice, ...], payg_hourly: Decimal | None) -> tuple[SpotAverage, ...]:
    """Live averages by zone, the cheapest first."""
    newest = {row.zone_id: row for row in sorted(advice, key=lambda row: row.as_of)}
    return tuple(
        SpotAverage(
            zone=row.zone_id,
            payg_percent=row.percent_of_payg,
            hourly=None if payg_hourly is None else payg_hourly * Decimal(str(row.percent_of_payg)) / 100,
            release_rate_percent=row.release_rate_percent,
            release_rate=row.release_rate,
            as_of=row.as_of,
        )
        for row in sorted(newest.values(), key=lambda row: (row.percent_of_payg, row.zone_id))
    )


def _terms(
    request: CostRequest, averages: tuple[SpotAverage, ...]
) -> tuple[float, float, float, tuple[Assumption, ...]]:
    """Minutes between checkpoints, minutes of a restart, interruptions a day; and what of it is assumed."""
    known = next((row.release_rate_percent for row in averages if row.release_rate_percent is not None), None)
    # The API names no period for its release rate; counted per day it is not too rosy.
    daily, reason = (
        (DEFAULT_INTERRUPTIONS_PER_DAY, "planning_value")
        if known is None
        else (known / 100, "release_rate_as_daily")
    )
    asked = (
        ("checkpoint_minutes", request.checkpoint_minutes, DEFAULT_CHECKPOINT_MINUTES, "planning_value"),
        ("restart_minutes", request.restart_minutes, DEFAULT_RESTART_MINUTES, "default_restart"),
        ("interruptions_per_day", request.interruptions_per_day, daily, reason),
    )
    values = [usual if given is None else given for _, given, usual, _ in asked]
    assumed = tuple(
        Assumption(field=field, value=usual, reason=why)
        for field, given, usual, why in asked
        if given is None
    )
    return values[0], values[1], values[2], assumed


def _value(catalog: Catalog, rule: str) -> Decimal:
    row = catalog.billing_rule(rule)
    if row is None or row.value is None:
        raise NotKnown("purchase", rule, f"the billing rule {rule} is not in the catalog")
    return row.value
