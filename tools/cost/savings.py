"""What a savings plan leaves to pay: live rates of a family in a region, applied to the hourly price."""

from __future__ import annotations

from decimal import Decimal

from knowledge.calendar import HOURS_PER_MONTH
from knowledge.catalog import Catalog
from tools.contracts.cost import SavingsRate
from tools.cost.prices import minute

_MICRO = Decimal("0.000001")


def savings_rates(
    catalog: Catalog, family: str, region: str, payg_hourly: Decimal | None
) -> tuple[SavingsRate, ...]:
    """Live rates, the lowest first. The plan is due for every hour, so a month counts 730 of them;
    `payg_hourly` is of all machines and may be None."""
    found = []
    for row in catalog.live.savings_rates(family, region):
        hourly = None
        if payg_hourly is not None:
            hourly = (payg_hourly * row.percent_of_payg / 100).quantize(_MICRO)
        found.append(
            SavingsRate(
                plan=row.plan,
                years=row.years,
                upfront=row.upfront,
                payg_percent=float(row.percent_of_payg),
                hourly=hourly,
                monthly=None if hourly is None else hourly * HOURS_PER_MONTH,
                break_even_hours=round(float(row.percent_of_payg) / 100 * HOURS_PER_MONTH, 1),
                source=row.source,
                as_of=row.as_of,
                at=minute(row.checked_at),
            )
        )
    return tuple(sorted(found, key=lambda rate: (rate.payg_percent, rate.years)))
