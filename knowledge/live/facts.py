"""Answers of the API as rows of the overlay; a figure that cannot be compared honestly becomes no row."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TypeVar, get_args

from pydantic import ValidationError

from knowledge.live.answers import (
    AdviceAnswer,
    DiscountAnswer,
    PriceAnswer,
    RegionPart,
    SpotAnswer,
    SpotPart,
    StockAnswer,
    SupportedPart,
    TypePart,
)
from knowledge.live.ecs import TERMS
from knowledge.live.faults import Fault
from knowledge.live.rows import LivePrice, LiveRegion, LiveType, SavingsPlanRate, SpotAdvice, Stock
from knowledge.rows import Currency, Row

RowT = TypeVar("RowT", bound=Row)

_WITH_STOCK = ("WithStock", "ClosedWithStock")
_REFILLED = ("", "WithStock", "WithoutStock")


def source_of(action: str, at: datetime, api: str = "ECS") -> str:
    """The source line of a live row: the action and the minute of the answer."""
    return f"live: {api} {action}, {at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def day_of(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d}"


def region_rows(parts: Iterable[RegionPart], at: datetime) -> list[LiveRegion]:
    """DescribeRegions as rows."""
    source, day = source_of("DescribeRegions", at), day_of(at)
    rows = [LiveRegion(region_id=part.region_id, name=part.name, source=source, as_of=day) for part in parts]
    return _some(rows, "no region in the list")


def type_rows(parts: Iterable[TypePart], at: datetime) -> list[LiveType]:
    """DescribeInstanceTypes as rows."""
    source, day = source_of("DescribeInstanceTypes", at), day_of(at)
    rows = [
        LiveType(
            instance_type=part.instance_type,
            family=part.family.removeprefix("ecs."),
            vcpu=part.vcpu,
            memory_gib=part.memory_gib,
            gpu_spec=part.gpu_spec or "",
            gpu_count=part.gpu_count or 0,
            source=source,
            as_of=day,
        )
        for part in parts
    ]
    return _some(rows, "no GPU type in the list")


def _some(rows: list[RowT], what: str) -> list[RowT]:
    """An empty list is a strange answer, not the news that all is retired."""
    if not rows:
        raise Fault("unusable", what)
    return rows


def price_row(
    answer: PriceAnswer,
    instance_type: str,
    region: str,
    purchase: str,
    at: datetime,
    account_prices: bool = False,
) -> LivePrice:
    """The list price of the instance alone, disk and image left out; with `account_prices` also what the
    asking account pays, where that differs.

    Raises `Fault` where the answer has no instance part, no list price or a currency that no answer of ours
    speaks.
    """
    price = answer.price_info.price
    part = next((row for row in price.details if row.resource.lower() == "instancetype"), None)
    if part is None:
        raise Fault("unusable", "no instance part in the price: the total has a disk inside")
    listed = part.original_price
    if listed is None or listed <= 0:
        raise Fault("unusable", "no list price in the instance part of the answer")
    paid = part.trade_price if account_prices and part.trade_price != listed else None
    return _live_price(
        instance_type=instance_type,
        region_id=region,
        purchase=purchase,
        currency=_currency(price.currency),
        price=listed,
        account_price=paid,
        checked_at=at,
        unit=TERMS[purchase].unit,
        as_of=day_of(at),
        source=source_of("DescribePrice", at),
        note="list price of the instance alone (no disk, traffic, image)",
    )


def spot_rows(pages: Iterable[SpotAnswer], instance_type: str, region: str, at: datetime) -> list[LivePrice]:
    """The newest market price of each zone."""
    newest: dict[str, tuple[SpotPart, str]] = {}
    for page in pages:
        for part in page.prices:
            known = newest.get(part.zone_id)
            if part.instance_type != instance_type or part.network_type.lower() != "vpc":
                continue
            if known is None or part.timestamp > known[0].timestamp:
                newest[part.zone_id] = part, page.currency
    return [
        _live_price(
            instance_type=instance_type,
            region_id=region,
            zone_id=zone,
            purchase="spot",
            currency=_currency(currency),
            price=part.spot_price,
            checked_at=part.timestamp,
            unit="hour",
            as_of=day_of(part.timestamp),
            source=source_of("DescribeSpotPriceHistory", at),
            note=f"spot price in {zone} at {part.timestamp:%Y-%m-%d %H:%M} UTC, one protected hour",
        )
        for zone, (part, currency) in sorted(newest.items())
    ]


def _live_price(**values: object) -> LivePrice:
    """A live row of ECS, with no disk inside; an amount that is no price is a `Fault`."""
    fixed = {"product": "ecs", "basis": "live", "includes_disk": False, "confidence": "high"}
    try:
        return LivePrice.model_validate({**fixed, **values})
    except ValidationError as error:
        raise Fault("unusable", f"{error.errors()[0]['loc'][0]}: {error.errors()[0]['msg']}") from None


def _currency(currency: str) -> str:
    if currency not in get_args(Currency):
        raise Fault("unusable", "a price in neither CNY nor USD")
    return currency


def advice_rows(answer: AdviceAnswer, region: str, at: datetime) -> list[SpotAdvice]:
    """DescribeSpotAdvice as rows, one a type and zone."""
    source, day = source_of("DescribeSpotAdvice", at), day_of(at)
    return [
        SpotAdvice(
            instance_type=part.instance_type,
            region_id=region,
            zone_id=zone.zone_id,
            percent_of_payg=part.average_spot_discount,
            release_rate_percent=part.interruption_rate,
            release_rate=part.interruption_text,
            source=source,
            as_of=day,
        )
        for zone in answer.zones
        for part in zone.resources
    ]


def stock_row(answer: StockAnswer, instance_type: str, region: str, at: datetime) -> Stock:
    """Every zone of the region that carries the type, with or without stock."""
    has: dict[str, bool] = {}
    refilled = False
    for zone in answer.zones:
        for part in (part for resource in zone.resources for part in resource.supported):
            if part.value == instance_type:
                has[zone.zone_id] = has.get(zone.zone_id, False) or _has_stock(part)
                refilled = refilled or part.category in _REFILLED
    return Stock(
        instance_type=instance_type,
        region_id=region,
        checked_at=at,
        zones=tuple(sorted(zone for zone, stocked in has.items() if stocked)),
        sold_out_zones=tuple(sorted(zone for zone, stocked in has.items() if not stocked)),
        closing=bool(has) and not refilled,
        source=source_of("DescribeAvailableResource", at),
        as_of=day_of(at),
    )


def _has_stock(part: SupportedPart) -> bool:
    return part.status == "Available" and (not part.category or part.category in _WITH_STOCK)


def savings_rows(
    answer: DiscountAnswer, family: str, region: str, plan: str, years: int, upfront: str, at: datetime
) -> list[SavingsPlanRate]:
    """The rate of one savings plan; none where the family is not covered. `Fault` for what is no share."""
    if not answer.data.items:
        return []
    try:
        return [
            SavingsPlanRate.model_validate(
                {
                    "family": family,
                    "region_id": region,
                    "plan": plan,
                    "years": years,
                    "upfront": upfront,
                    "percent_of_payg": max(part.rate for part in answer.data.items) * 100,
                    "checked_at": at,
                    "source": source_of("QuerySavingsPlansDiscount", at, "billing"),
                    "as_of": day_of(at),
                }
            )
        ]
    except ValidationError:
        raise Fault("unusable", "QuerySavingsPlansDiscount: a rate that is no share of a price") from None
