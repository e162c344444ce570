"""When one way to pay costs less than another, in hours of a month or months of a term."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal

from knowledge.calendar import HOURS_PER_MONTH
from tools.contracts.cost import BreakEven, CostRequest, PriceShown, TermBreakEven, WayTotal
from tools.cost.purchase import MONTH, PAYG, THREE_YEARS, YEAR

MONTHS_OF = {MONTH: 1, YEAR: 12, THREE_YEARS: 36}
_MICRO = Decimal("0.000001")


def per_month(price: PriceShown) -> Decimal:
    """A month of a term paid ahead, one machine. `price` must be of a subscription."""
    return (price.amount / MONTHS_OF[price.purchase]).quantize(_MICRO)


def break_evens(prices: Mapping[str, PriceShown]) -> tuple[BreakEven, ...]:
    """Hours of use in a month above which a subscription costs less than the hour; shorter terms first."""
    payg = prices.get(PAYG)
    if payg is None:
        return ()
    return tuple(
        BreakEven(
            cheaper_above=term,
            than=PAYG,
            hours_per_month=round(float(prices[term].amount / MONTHS_OF[term] / payg.amount), 2),
        )
        for term in MONTHS_OF
        if term in prices
    )


def term_break_evens(prices: Mapping[str, PriceShown]) -> tuple[TermBreakEven, ...]:
    """Months of use of a long term above which it costs less than paying month by month."""
    month = prices.get(MONTH)
    if month is None:
        return ()
    return tuple(
        TermBreakEven(
            cheaper_above=term, than=MONTH, months=round(float(prices[term].amount / month.amount), 2)
        )
        for term in (YEAR, THREE_YEARS)
        if term in prices
    )


def totals(
    request: CostRequest, prices: Mapping[str, PriceShown], use_hours: Decimal
) -> tuple[WayTotal, ...]:
    """The cost of the hours or months of `request` by the hour and in whole terms, the cheapest first; spot
    is left out, because its price holds for a moment. Empty where no time was given."""
    hours, months = request.hours, request.months
    if hours is None and months is None:
        return ()
    found = []
    for price in prices.values():
        each = price.amount * request.count
        if price.purchase == PAYG:
            used = Decimal(str(hours)) if hours is not None else use_hours * Decimal(str(months))
            found.append(WayTotal(purchase=PAYG, job=(each * used).quantize(_MICRO), basis=price.basis))
        elif price.purchase in MONTHS_OF:
            needed = months if months is not None else (hours or 0) / HOURS_PER_MONTH
            # Hours of a year and months of 730 hours are the same time: no term is added for the rounding.
            terms = math.ceil(round(needed / MONTHS_OF[price.purchase], 6))
            found.append(WayTotal(purchase=price.purchase, job=each * terms, basis=price.basis))
    return tuple(sorted(found, key=lambda way: way.job))
