"""`estimate_cost`: cost per hour, month, job and million tokens, and when another way is cheaper."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from knowledge.calendar import HOURS_PER_MONTH
from knowledge.catalog import Catalog
from knowledge.errors import InputError
from knowledge.rows import Instance
from tools.contracts.base import Assumption, Remark, SourceRef
from tools.contracts.cost import CostReport, CostRequest, PriceShown
from tools.cost.breakeven import MONTHS_OF, break_evens, term_break_evens, totals
from tools.cost.extras import conversion, lines, mixed_plan, rates, with_lines
from tools.cost.prices import derived_hour, derived_month, other_published, published, regional
from tools.cost.purchase import MONTH, PAYG, RESERVED, SAVINGS_PLAN, SPOT, purchase_of
from tools.cost.savings import savings_rates
from tools.cost.schedule import hours_per_month
from tools.cost.spot import SpotPlace, spot_outlook
from tools.cost.stock import elsewhere, stock_of
from tools.cost.tokens import per_million, token_cost
from tools.cost.work import work_cost

STALE_AFTER_DAYS = 180
_NOT_INCLUDED = ("system_disk", "public_traffic", "image_fee", "snapshots")
_REGIONS_SHOWN = 3
_MICRO = Decimal("0.000001")
_LEAST_HOURS = 0.0001  # of use a month; a subscription's price per hour of use needs some


@dataclass(frozen=True)
class _Ask:
    """The request with its names resolved and its defaults taken."""

    request: CostRequest
    instance: Instance
    region: str
    purchase: str
    currency: str
    use_hours: Decimal  # of use per month
    assumptions: tuple[Assumption, ...]


def estimate_cost(request: CostRequest, catalog: Catalog) -> CostReport:
    """The cost of `count` machines of one type, as `Decimal` in `currency`; None where no price is known.

    An hourly price counts 730 hours a month or those of `schedule`; a subscription is paid for whole months.
    Raises `InputError` for unknown names, words or a schedule that cannot be read.
    """
    ask = _resolve(request, catalog)
    prices = published(catalog, ask.instance.instance_type, ask.region, ask.currency)
    derived = _derived(ask, catalog, prices)
    price = prices.get(ask.purchase)
    if price is None and request.allow_derived:
        price = derived.get(ask.purchase)
    hourly, monthly, job = _amounts(ask, price)
    payg = prices.get(PAYG) or (derived.get(PAYG) if request.allow_derived else None)
    month = prices.get(MONTH) or derived.get(MONTH)
    each = None if payg is None else payg.amount * request.count
    ways = {**prices, **{price.purchase: price for price in (payg, month) if price is not None}}
    everywhere = regional(catalog, ask.instance.instance_type, ask.purchase, ask.currency)
    hours = request.hours or (float(ask.use_hours) * request.months if request.months else None)
    spot, assumed = None, ask.assumptions
    if ask.purchase == SPOT or request.interruptions_per_day is not None:
        spot_price = prices.get(SPOT)
        place = SpotPlace(
            ask.instance.instance_type,
            ask.region,
            each,
            None if spot_price is None else spot_price.amount * request.count,
        )
        spot, of_spot = spot_outlook(request, catalog, place, hours)
        assumed += of_spot
    extra = lines(request, catalog, ask.region)
    others = other_published(catalog, ask.instance)
    stock = stock_of(catalog, ask.instance.instance_type, ask.region)
    return CostReport(
        instance_type=ask.instance.instance_type,
        count=request.count,
        region=ask.region,
        purchase=ask.purchase,
        currency=ask.currency,
        price=price,
        hourly=hourly,
        monthly=monthly,
        job=job,
        per_million_output_tokens=per_million(hourly, request.output_tokens_per_s),
        per_million_total_tokens=per_million(hourly, request.total_tokens_per_s),
        tokens=token_cost(request, hourly),
        work=work_cost(request, hourly, others),
        hours=request.hours,
        months=request.months,
        hours_per_month=float(ask.use_hours),
        options=tuple(prices.values()),
        derived=tuple(derived.values()),
        other_published=others,
        cheaper_regions=tuple(row for row in everywhere if price is None or row.amount < price.amount)[
            :_REGIONS_SHOWN
        ],
        lines=extra,
        all_in_monthly=with_lines(monthly, ask.currency, extra),
        rates=rates(catalog, ask.region),
        savings=savings_rates(catalog, ask.instance.family, ask.region, each),
        stock=stock,
        in_stock_elsewhere=elsewhere(catalog, ask.instance.instance_type, ask.region)
        if stock is not None and not stock.zones
        else (),
        conversion=conversion(request, catalog, ask.currency, hourly, monthly, job),
        spot=spot,
        mixed=mixed_plan(request, payg, month, ask.use_hours),
        break_evens=break_evens(ways),
        term_break_evens=term_break_evens(ways),
        totals=totals(request, ways, ask.use_hours),
        not_included=_NOT_INCLUDED,
        stale_days=_age_days(price, catalog, request.today),
        assumptions=assumed,
        warnings=_warnings(ask, catalog, price, derived),
        sources=_sources(price, prices),
    )


def _resolve(request: CostRequest, catalog: Catalog) -> _Ask:
    assumptions = []
    region = catalog.region_asked(request.region).region_id
    if not request.region:
        assumptions.append(Assumption(field="region", value=region, reason="default_region"))
    purchase = purchase_of(request.purchase) if request.purchase else PAYG
    if not request.purchase:
        assumptions.append(Assumption(field="purchase", value=PAYG, reason="default_purchase"))
    if request.schedule:
        use_hours = hours_per_month(request.schedule)
    elif request.hours_per_month is not None:
        use_hours = min(request.hours_per_month, float(HOURS_PER_MONTH))
    else:
        use_hours = float(HOURS_PER_MONTH)
        assumptions.append(Assumption(field="hours_per_month", value=HOURS_PER_MONTH, reason="always_on"))
    if request.base_count is not None and request.base_count > request.count:
        raise InputError("base_count", request.base_count, f"at most count ({request.count})")
    instance = catalog.instance(request.instance_type)
    currency = request.currency.strip().upper()
    if currency not in ("CNY", "USD"):
        raise InputError("currency", request.currency, "CNY or USD")
    if currency == "USD" and not published(catalog, instance.instance_type, region, "USD").get(purchase):
        currency = "CNY"  # the USD list of this type is not known; the report converts and says so
    return _Ask(
        request,
        instance,
        region,
        purchase,
        currency,
        Decimal(str(max(round(use_hours, 4), _LEAST_HOURS))),
        tuple(assumptions),
    )


def _derived(ask: _Ask, catalog: Catalog, prices: dict[str, PriceShown]) -> dict[str, PriceShown]:
    """Figures by rule for the options that have no published price here."""
    found = {}
    hour = prices.get(PAYG)
    if hour is None and (hour := derived_hour(catalog, ask.instance, ask.region, ask.currency)):
        found[PAYG] = hour
    if MONTH not in prices and (month := derived_month(catalog, ask.instance, hour)):
        found[MONTH] = month
    return found


def _amounts(ask: _Ask, price: PriceShown | None) -> tuple[Decimal | None, Decimal | None, Decimal | None]:
    """Hourly, monthly and job cost of all machines; a subscription is paid whole months ahead."""
    if price is None:
        return None, None, None
    amount = price.amount * ask.request.count
    hours, months = ask.request.hours, ask.request.months
    if price.unit == "hour":
        monthly = (amount * ask.use_hours).quantize(_MICRO)
        job = None if months is None else monthly * Decimal(str(months))
        return amount, monthly, job if hours is None else amount * Decimal(str(hours))
    term = MONTHS_OF[price.purchase]
    per_month = (amount / term).quantize(_MICRO)
    needed = months if months is not None else (None if hours is None else hours / HOURS_PER_MONTH)
    terms = None if needed is None else math.ceil(needed / term)
    return (per_month / ask.use_hours).quantize(_MICRO), per_month, None if terms is None else amount * terms


def _age_days(price: PriceShown | None, catalog: Catalog, today: date | None) -> int | None:
    if price is None or not price.as_of:
        return None
    if today is None and catalog.now is not None:
        today = catalog.now.date()
    if today is None:
        today = _day(max((row.as_of for row in catalog.prices if row.as_of), default=price.as_of))
    return max(0, (today - _day(price.as_of)).days)


def _day(as_of: str) -> date:
    """The first day of a partial date: the oldest that the price can be."""
    return date.fromisoformat((as_of + "-01-01")[:10] if len(as_of) == 4 else (as_of + "-01")[:10])


def _warnings(
    ask: _Ask,
    catalog: Catalog,
    price: PriceShown | None,
    derived: dict[str, PriceShown],
) -> tuple[Remark, ...]:
    found = []
    if ask.instance.status != "current":
        found.append(Remark(code=f"{ask.instance.status}_type", params={"status": ask.instance.status}))
    if price is None:
        if ask.purchase != SAVINGS_PLAN or not catalog.live.savings_rates(ask.instance.family, ask.region):
            found.append(_why_no_price(ask, catalog))
        if ask.purchase in derived:
            found.append(
                Remark(
                    code="derived_price_exists",
                    params={
                        "amount": float(derived[ask.purchase].amount),
                        "unit": derived[ask.purchase].unit,
                    },
                )
            )
    elif price.basis.startswith("derived"):
        found.append(Remark(code="derived_price_used", params={"basis": price.basis, "note": price.note}))
    age = _age_days(price, catalog, ask.request.today)
    if age is not None and age > STALE_AFTER_DAYS and price is not None:
        found.append(Remark(code="price_old", params={"as_of": price.as_of, "days": age}))
    if price is not None and not price.as_of:
        found.append(Remark(code="price_undated", params={}))
    if ask.purchase == SPOT:
        found.append(Remark(code="spot_price_floats", params={}))
    if ask.request.currency.strip().upper() == "USD" and ask.currency == "CNY":
        found.append(Remark(code="no_usd_list_price", params={"instance_type": ask.instance.instance_type}))
    part_time = ask.use_hours < HOURS_PER_MONTH
    if part_time and ask.purchase == PAYG:
        stops = catalog.billing_rule("no_economical_mode", ask.instance.family) is None
        code = "stopping_needs_economical_mode" if stops else "no_economical_mode"
        found.append(Remark(code=code, params={"family": ask.instance.family}))
    return tuple(found)


def _why_no_price(ask: _Ask, catalog: Catalog) -> Remark:
    if ask.purchase == SAVINGS_PLAN:
        rule = catalog.billing_rule("savings_plan_max_percent_off")
        most = None if rule is None or rule.value is None else float(rule.value)
        return Remark(code="no_published_savings_plan_rate", params={"max_percent_off": most})
    if ask.purchase == RESERVED:
        eligible = catalog.billing_rule("reserved_instance_eligible", ask.instance.family) is not None
        return Remark(code="no_published_reserved_rate", params={"eligible_in_2021": eligible})
    if ask.purchase == SPOT:
        return Remark(code="no_spot_price_known", params={"instance_type": ask.instance.instance_type})
    return Remark(
        code="no_list_price",
        params={
            "instance_type": ask.instance.instance_type,
            "region": ask.region,
            "purchase": ask.purchase,
            "currency": ask.currency,
        },
    )


def _sources(price: PriceShown | None, prices: dict[str, PriceShown]) -> tuple[SourceRef, ...]:
    rows = [*([price] if price else []), *prices.values()]
    refs = [SourceRef(title=row.source, as_of=row.as_of) for row in rows]
    return tuple(dict.fromkeys(refs))
