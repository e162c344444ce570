"""What a piece of work costs on a machine of a known rate, and what the range of a job's hours costs."""

from __future__ import annotations

from decimal import Decimal, localcontext

from tools.contracts.cost import CostRequest, PriceShown, WorkCost

_PRECISION = Decimal("0.000001")


def work_cost(
    request: CostRequest, hourly: Decimal | None, others: tuple[PriceShown, ...]
) -> WorkCost | None:
    """Cost of `work_units` at `work_per_hour`: hourly price x units / rate; of the range of hours likewise.

    Without a list price the first published hourly quote stands in, and its place in `others` is told.
    """
    rate = request.work_per_hour
    quote = None
    if hourly is None:
        quote = next((item for item in others if item.unit == "hour" and item.basis == "quote"), None)
    price = hourly if quote is None else quote.amount * request.count
    if rate is None or price is None:
        return None

    def of(hours: float | None) -> Decimal | None:
        return None if hours is None else _rounded(price * Decimal(str(hours)))

    return WorkCost(
        units=request.work_units,
        unit_cost=_rounded(price * Decimal(str(request.work_units)) / Decimal(str(rate))),
        hourly=price,
        currency=request.currency if quote is None else quote.currency,
        job_low=of(request.hours_low),
        job_high=of(request.hours_high),
        quote=quote,
    )


def _rounded(amount: Decimal) -> Decimal:
    """To millionths, however large: absurd rates give sums of more digits than the usual context holds."""
    with localcontext(prec=60):
        return amount.quantize(_PRECISION)
