"""Prices of one type in one region: published rows, and figures derived by a published rule of billing."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from typing import cast, get_args

from knowledge.catalog import Catalog
from knowledge.live.rows import LivePrice
from knowledge.price_book import freshest
from knowledge.rows import RANKED_BASES, BillingRule, Instance, Price, Purchase
from tools.contracts.cost import PriceShown
from tools.cost.purchase import MONTH, PAYG

_PURCHASES = get_args(Purchase)
_CENT_OF_CENT = Decimal("0.0001")


def shown(row: Price) -> PriceShown:
    """A published or live row as reports carry it."""
    live = row if isinstance(row, LivePrice) else None
    at = live.checked_at if live else None
    return PriceShown(
        at=minute(at) if at else "",
        zone=live.zone_id if live else "",
        account_price=live.account_price if live else None,
        left_out="" if row.comparable else _left_out(row),
        purchase=row.purchase,
        amount=row.price,
        currency=row.currency,
        unit=row.unit,
        region=row.region_id,
        source=row.source,
        as_of=row.as_of,
        basis=_basis(row),
        confidence=row.confidence,
        note=row.note,
        instance_type=row.instance_type,
    )


def minute(at: datetime) -> str:
    """A moment as answers write it."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _left_out(row: Price) -> str:
    """Why a row may not be compared, the weightiest reason."""
    reasons = (
        (row.instance_type.endswith(".*"), "family_floor"),
        (row.product != "ecs", "other_product"),
        (row.includes_disk, "disk_inside"),
        (not row.region_id, "no_region"),
        (row.basis == "derived", "derived"),
        (row.confidence == "low", "low_confidence"),
        (row.basis not in RANKED_BASES, "not_list"),
    )
    return next((code for holds, code in reasons if holds), "other_unit")


def _basis(row: Price) -> str:
    """How the figure came about; a row of a whole family is its lowest price."""
    return "family-floor" if row.instance_type.endswith(".*") else row.basis


def published(catalog: Catalog, instance_type: str, region: str, currency: str) -> dict[str, PriceShown]:
    """The comparable price of every purchase option that has one in this region and currency."""
    rows = {
        purchase: catalog.price(instance_type, region, cast(Purchase, purchase), currency)
        for purchase in _PURCHASES
    }
    return {purchase: shown(row) for purchase, row in rows.items() if row is not None}


def other_published(catalog: Catalog, instance: Instance) -> tuple[PriceShown, ...]:
    """Rows of the type, and floors of its family, that are worth showing but never enter a ranking; of a
    type without any the rows of the other sizes in its family."""
    own = list(catalog.price_rows(instance.instance_type))
    rows = [row for row in own if not row.comparable]
    if not own:
        kin = (row.instance_type for row in catalog.in_family(instance.family))
        rows = [row for name in kin for row in catalog.price_rows(name) if not row.comparable]
    rows += catalog.price_rows(f"ecs.{instance.family}.*")
    return tuple(shown(row) for row in sorted(rows, key=lambda row: row.as_of, reverse=True))


def regional(catalog: Catalog, instance_type: str, purchase: str, currency: str) -> list[PriceShown]:
    """The freshest comparable price of each region, cheapest first."""
    by_region: dict[str, list[Price]] = {}
    for row in catalog.price_rows(instance_type):
        if row.comparable and row.purchase == purchase and row.currency == currency:
            by_region.setdefault(row.region_id, []).append(row)
    best = [row for row in map(freshest, by_region.values()) if row is not None]
    return [shown(row) for row in sorted(best, key=lambda row: (row.price, row.region_id))]


def derived_hour(catalog: Catalog, instance: Instance, region: str, currency: str) -> PriceShown | None:
    """GPU count x the price per GPU of another size with the same CPU per GPU, region and family.

    Holds where the family's priced sizes are linear in the GPU count (rule `linear_in_gpus`), and by analogy
    for three newer families (`linear_by_analogy`, error not known); single sizes are excepted.
    """
    rule, label = catalog.billing_rule("linear_in_gpus", instance.family), "derived-linear"
    if rule is None:
        rule, label = catalog.billing_rule("linear_by_analogy", instance.family), "derived-linear-analogy"
    if rule is None or instance.whole_gpus < 1 or _excepted(catalog, instance, region):
        return None
    bases = _priced_siblings(catalog, instance, region, currency)
    base = min(bases, key=lambda pair: abs(pair[0].whole_gpus - instance.whole_gpus), default=None)
    if base is None:
        return None
    sibling, price = base
    amount = price.price / sibling.whole_gpus * instance.whole_gpus
    return _derived(price, instance, amount, PAYG, "hour", label, rule)


def _priced_siblings(
    catalog: Catalog, instance: Instance, region: str, currency: str
) -> Iterable[tuple[Instance, Price]]:
    for sibling in catalog.in_family(instance.family):
        same_shape = sibling.whole_gpus >= 1 and (
            sibling.vcpu * instance.whole_gpus == instance.vcpu * sibling.whole_gpus
        )
        if sibling == instance or not same_shape or _excepted(catalog, sibling, region):
            continue
        price = catalog.price(sibling.instance_type, region, "payg", currency)
        if price is not None:
            yield sibling, price


def _excepted(catalog: Catalog, instance: Instance, region: str) -> bool:
    rule = catalog.billing_rule("not_linear", instance.instance_type, region)
    return rule is not None and rule.region_id == region


def derived_month(catalog: Catalog, instance: Instance, hour: PriceShown | None) -> PriceShown | None:
    """A list month: 288 or 480 hours of the list price, by family (rule `month_list_hours`)."""
    rule = catalog.billing_rule("month_list_hours", instance.instance_type) or catalog.billing_rule(
        "month_list_hours", instance.family
    )
    if rule is None or rule.value is None or hour is None or hour.unit != "hour":
        return None
    return hour.model_copy(
        update={
            "purchase": MONTH,
            "amount": (hour.amount * rule.value).quantize(_CENT_OF_CENT),
            "unit": "month",
            "basis": "derived-month",
            "derived_hours": float(rule.value),
            "note": f"{rule.value} x the hourly price; {rule.source}",
        }
    )


def _derived(
    base: Price, instance: Instance, amount: Decimal, purchase: str, unit: str, label: str, rule: BillingRule
) -> PriceShown:
    return PriceShown(
        purchase=purchase,
        amount=amount.quantize(_CENT_OF_CENT),
        currency=base.currency,
        unit=unit,
        region=base.region_id,
        source=base.source,
        as_of=base.as_of,
        basis=label,
        confidence=base.confidence,
        note=f"from {base.instance_type}; {rule.source}",
        derived_from=base.instance_type,
        instance_type=instance.instance_type,
    )
