"""Costs beside the instance (disk, traffic), the mixed plan, and figures in another currency."""

from __future__ import annotations

from decimal import Decimal

from knowledge.calendar import HOURS_PER_MONTH
from knowledge.catalog import Catalog
from knowledge.errors import NotKnown
from tools.contracts.cost import Conversion, CostLine, CostRequest, MixedPlan, PriceShown

_MICRO = Decimal("0.000001")


# Billing rule, code of the line, and the unit that its rule counts.
_DISK = ("disk_essd_pl1", "system_disk", "GiB")
_TRAFFIC = ("traffic_out", "public_traffic", "GB")
_RATE_OF = 100  # GiB or GB: the amount that a rate is told for


def lines(request: CostRequest, catalog: Catalog, region: str) -> tuple[CostLine, ...]:
    """Disk and traffic of all machines per month, where a figure for the region is known (mainland)."""
    disk = (request.disk_gib or 0) * request.count
    wanted = ((_DISK, disk), (_TRAFFIC, request.traffic_gb_per_month or 0))
    found = (_line(catalog, region, what, quantity) for what, quantity in wanted if quantity)
    return tuple(line for line in found if line is not None)


def rates(catalog: Catalog, region: str) -> tuple[CostLine, ...]:
    """What 100 GiB of disk and 100 GB of outgoing traffic cost a month, where known."""
    found = (_line(catalog, region, what, _RATE_OF) for what in (_DISK, _TRAFFIC))
    return tuple(line for line in found if line is not None)


def with_lines(monthly: Decimal | None, currency: str, extra: tuple[CostLine, ...]) -> Decimal | None:
    """The month with disk and traffic; None without them, or where they count another currency."""
    if monthly is None or not extra or any(line.currency != currency for line in extra):
        return None
    return monthly + sum((line.monthly for line in extra), Decimal(0))


def _line(catalog: Catalog, region: str, what: tuple[str, str, str], quantity: float) -> CostLine | None:
    rule_name, code, unit = what
    rule = catalog.billing_rule(rule_name, "", region)
    if rule is None or rule.value is None:
        return None
    return CostLine(
        code=code,
        quantity=quantity,
        unit=unit,
        monthly=rule.value * Decimal(str(quantity)),
        currency="CNY",
        source=rule.source,
        as_of=rule.as_of,
    )


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
