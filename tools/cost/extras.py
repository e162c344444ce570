"""Costs beside the instance (disk, traffic), the mixed plan, and figures in another currency."""

from __future__ import annotations

from decimal import Decimal

from knowledge.catalog import Catalog
from knowledge.errors import NotKnown
from tools.contracts.cost import Conversion, CostLine, CostRequest, MixedPlan, PriceShown
from tools.cost.schedule import HOURS_PER_MONTH

_MICRO = Decimal("0.000001")


def lines(request: CostRequest, catalog: Catalog, region: str) -> tuple[CostLine, ...]:
    """Disk and traffic of all machines per month, where a figure for the region is known (mainland)."""
    wanted = (
        ("disk_essd_pl1", "system_disk", "GiB", request.disk_gib, request.count),
        ("traffic_out", "public_traffic", "GB", request.traffic_gb_per_month, 1),
    )
    found = []
    for rule_name, code, unit, quantity, times in wanted:
        rule = catalog.billing_rule(rule_name, "", region)
        if not quantity or rule is None or rule.value is None:
            continue
        found.append(
            CostLine(
                code=code,
                quantity=quantity * times,
                unit=unit,
                monthly=rule.value * Decimal(str(quantity)) * times,
                currency="CNY",
                source=rule.source,
                as_of=rule.as_of,
            )
        )
    return tuple(found)


def mixed_plan(
    request: CostRequest, payg: PriceShown | None, month: PriceShown | None, use_hours: Decimal
) -> MixedPlan | None:
    """`base_count` machines by the month all the time, the rest by the hour while the schedule runs."""
    if request.base_count is None or payg is None or month is None:
        return None
    base, peak = request.base_count, request.count - request.base_count
    base_cost = month.amount * base
    peak_cost = (payg.amount * peak * use_hours).quantize(_MICRO)
    # The base runs all month, whichever way it is paid.
    all_payg = (payg.amount * base * HOURS_PER_MONTH).quantize(_MICRO) + peak_cost
    return MixedPlan(
        base_count=base,
        peak_count=peak,
        peak_hours_per_month=float(use_hours),
        base_monthly=base_cost,
        peak_monthly=peak_cost,
        monthly=base_cost + peak_cost,
        all_payg_monthly=all_payg,
        all_subscription_monthly=month.amount * request.count,
    )


def cny_per_usd(catalog: Catalog, given: Decimal | None) -> tuple[Decimal, str, str]:
    """The rate for conversions with its date and source: the given one, else the planning value."""
    if given is not None:
        return given, "", "given with the request"
    rule = catalog.billing_rule("exchange_rate", "USD")
    if rule is None or rule.value is None:
        raise NotKnown("cny_per_usd", None, "no exchange rate is configured")
    return rule.value, rule.as_of, rule.source


def conversion(
    request: CostRequest,
    catalog: Catalog,
    currency: str,
    hourly: Decimal | None,
    monthly: Decimal | None,
    job: Decimal | None,
) -> Conversion | None:
    """The figures in USD where USD was asked for and only a CNY price is known."""
    if request.currency.strip().upper() != "USD" or currency != "CNY":
        return None
    rate, as_of, source = cny_per_usd(catalog, request.cny_per_usd)

    def to_usd(amount: Decimal | None) -> Decimal | None:
        return None if amount is None else (amount / rate).quantize(_MICRO)

    return Conversion(
        currency="USD",
        cny_per_usd=rate,
        rate_as_of=as_of,
        rate_source=source,
        hourly=to_usd(hourly),
        monthly=to_usd(monthly),
        job=to_usd(job),
    )
