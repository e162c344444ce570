"""Contract of cost: `CostRequest` -> `CostReport`. Money is `Decimal` inside, a plain number in JSON."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import Field, PlainSerializer

from tools.contracts.base import Assumption, Remark, Report, Request, SourceRef

Money = Annotated[Decimal, PlainSerializer(float, return_type=float, when_used="json")]


class CostRequest(Request):
    """What to buy: `count` machines of a type for `hours` or `months`."""

    instance_type: str
    count: int = Field(default=1, ge=1, le=100_000)
    region: str = ""
    purchase: str = ""  # payg, spot, subscription_1m …, or the words people use
    hours: float | None = Field(default=None, gt=0)
    months: float | None = Field(default=None, gt=0)
    schedule: str = ""  # "weekdays 9-18"
    currency: str = "CNY"
    output_tokens_per_s: float | None = Field(default=None, gt=0)
    total_tokens_per_s: float | None = Field(default=None, gt=0)
    allow_derived: bool = False


class PriceShown(Report):
    """One price with what it is for, where it comes from and how old it is."""

    purchase: str
    amount: Money
    currency: str
    unit: str  # hour, month
    region: str
    source: str
    as_of: str
    basis: str = "list"  # list, quote, derived-linear, derived-month, live
    confidence: str = ""


class BreakEven(Report):
    """Hours in a month above which `cheaper_above` costs less than `than`."""

    cheaper_above: str
    than: str
    hours_per_month: float


class CostReport(Report):
    """Costs of `count` machines in `currency`; fields are None where no price is known."""

    instance_type: str
    count: int
    region: str
    purchase: str
    currency: str
    price: PriceShown | None = None
    hourly: Money | None = None  # effective per hour of use, all machines
    monthly: Money | None = None  # 730 hours for hourly options
    job: Money | None = None
    per_million_output_tokens: Money | None = None
    per_million_total_tokens: Money | None = None
    hours: float | None = None
    options: tuple[PriceShown, ...] = ()  # every purchase option with a known price in the region
    cheaper_regions: tuple[PriceShown, ...] = ()
    break_evens: tuple[BreakEven, ...] = ()
    not_included: tuple[str, ...] = ()  # stable codes: system_disk, public_traffic, image, snapshots
    stale_days: int | None = None  # age of the price at the catalog's date; None when undated

    assumptions: tuple[Assumption, ...] = ()
    warnings: tuple[Remark, ...] = ()
    sources: tuple[SourceRef, ...] = ()
