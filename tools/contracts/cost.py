"""Contract of cost: `CostRequest` -> `CostReport`. Money is `Decimal` inside, a plain number in JSON."""

from __future__ import annotations

from datetime import date
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
    hours: float | None = Field(default=None, gt=0, le=10_000_000)
    months: float | None = Field(default=None, gt=0, le=100_000)
    hours_low: float | None = Field(default=None, gt=0, le=1e9)  # range of `hours`, where it is an estimate
    hours_high: float | None = Field(default=None, gt=0, le=1e9)
    work_per_hour: float | None = Field(default=None, ge=1e-9, le=1e18)  # units that all machines do an hour
    work_units: float = Field(default=1.0, gt=0, le=1e12)  # units to price
    schedule: str = ""  # "weekdays 9-18"
    hours_per_month: float | None = Field(default=None, gt=0, le=744)  # of use, where no schedule is given
    currency: str = "CNY"
    output_tokens_per_s: float | None = Field(default=None, ge=1e-6, le=1e15)
    total_tokens_per_s: float | None = Field(default=None, ge=1e-6, le=1e15)
    prefill_tokens_per_s: float | None = Field(default=None, ge=1e-6, le=1e15)  # of input alone, no decode
    allow_derived: bool = False
    cny_per_usd: Decimal | None = Field(
        default=None, ge=Decimal("0.01"), le=1000
    )  # for conversions that are shown as such
    today: date | None = None  # for the age of a price; else by the catalog's clock, or its newest price
    disk_gib: float | None = Field(default=None, ge=0, le=1e9)  # of one machine, ESSD PL1
    traffic_gb_per_month: float | None = Field(default=None, ge=0, le=1e12)
    base_count: int | None = Field(default=None, ge=0)  # of `count`: by the month; the rest by the hour
    checkpoint_minutes: float | None = Field(default=None, gt=0, le=1e6)
    interruptions_per_day: float | None = Field(default=None, ge=0, le=1000)
    restart_minutes: float | None = Field(default=None, ge=0, le=1e6)


class PriceShown(Report):
    """One price with what it is for, where it comes from and how old it is."""

    purchase: str
    amount: Money
    currency: str
    unit: str  # hour, month
    region: str
    source: str
    as_of: str
    basis: str = "list"  # list, live, quote, bill, console, third-party, family-floor, derived …
    confidence: str = ""
    note: str = ""
    instance_type: str = ""
    at: str = ""  # of a live price: the minute of the answer, "2026-11-30 12:00 UTC"
    zone: str = ""  # of a spot price
    account_price: Money | None = None  # of a live price: what the asking account pays; enters no sum
    derived_from: str = ""  # of a price derived from another size: that type
    derived_hours: float | None = None  # of a month derived from the hour: how many list hours it costs
    left_out: str = ""  # why it enters no ranking: disk_inside, no_region, not_list, family_floor …


class CostLine(Report):
    """One cost beside the instance: `code` is system_disk or public_traffic; per month, all machines."""

    code: str
    quantity: float
    unit: str
    monthly: Money
    currency: str
    source: str
    as_of: str


class Conversion(Report):
    """The figures in another currency at a stated rate: a help for budgets, never a list price."""

    currency: str
    cny_per_usd: Money
    rate_as_of: str
    rate_source: str
    hourly: Money | None = None
    monthly: Money | None = None
    job: Money | None = None


class SpotAverage(Report):
    """What spot machines of a type cost and how often they were taken back, 30 days' averages of a zone."""

    zone: str
    payg_percent: float  # of the pay-as-you-go price that was paid: 20 means 80 % off
    hourly: Money | None = None  # that share of the pay-as-you-go price, all machines
    release_rate_percent: float | None = None
    release_rate: str = ""  # as the API words it: "0-3%"
    as_of: str


class SpotOutlook(Report):
    """What spot can mean: the range that documents name and the arithmetic of interruptions."""

    lowest_hourly: Money | None = None  # pay-as-you-go x the lowest share that documents name
    highest_hourly: Money | None = None  # pay-as-you-go: the market price is capped there
    floor_percent: float
    notice_minutes: float
    averages: tuple[SpotAverage, ...] = ()  # live, cheapest zone first
    checkpoint_minutes: float | None = None  # of the arithmetic below, given or assumed
    restart_minutes: float | None = None
    interruptions_per_day: float | None = None
    rework_minutes: float | None = None  # half a checkpoint interval, lost by each interruption
    loss_minutes: float | None = None  # that and the restart
    expected_job: Money | None = None  # spot price x total_hours, where both are known
    expected_interruptions: float | None = None
    lost_hours: float | None = None  # work done again and restarts
    total_hours: float | None = None  # work and losses
    break_even_percent: float | None = None  # share of pay-as-you-go above which spot costs more


class MixedPlan(Report):
    """Base machines by the month and the rest by the hour, per month."""

    base_count: int
    peak_count: int
    peak_hours_per_month: float
    base_monthly: Money
    peak_monthly: Money
    monthly: Money
    all_payg_monthly: Money
    all_subscription_monthly: Money


class BreakEven(Report):
    """Hours in a month above which `cheaper_above` costs less than `than`."""

    cheaper_above: str
    than: str
    hours_per_month: float


class TermBreakEven(Report):
    """Whole months of use above which one long term costs less than paying month by month."""

    cheaper_above: str
    than: str
    months: float


class WayTotal(Report):
    """What the whole time of use costs in one way to pay, all machines; terms are paid in full."""

    purchase: str
    job: Money
    basis: str  # of the price behind it


class TokenCost(Report):
    """Cost per million input and per million output tokens at one load: each part pays for its own time
    on the GPU, so that both together are the whole price."""

    input_price: Money
    output_price: Money
    output_only_price: Money  # the whole price over the output tokens alone
    input_tokens_per_s: float
    output_tokens_per_s: float
    prefill_percent: float  # of the time


class SavingsRate(Report):
    """What a savings plan leaves to pay of the pay-as-you-go price; due for every hour, used or not."""

    plan: str  # universal, compute
    years: int
    upfront: str  # none, half, all
    payg_percent: float  # of the pay-as-you-go price that is still paid
    hourly: Money | None = None  # all machines
    monthly: Money | None = None  # 730 hours
    break_even_hours: float  # of use a month, above which it costs less than pay-as-you-go
    source: str
    as_of: str
    at: str = ""


class StockShown(Report):
    """Zones that had a type for pay-as-you-go at one moment; no promise for the next."""

    instance_type: str
    region: str
    checked_at: str  # "2026-11-30 12:00 UTC"
    zones: tuple[str, ...] = ()
    sold_out_zones: tuple[str, ...] = ()
    closing: bool = False  # no zone gets new machines of this type


class WorkCost(Report):
    """What `units` of work cost at the rate asked about, and the range of the job's cost."""

    units: float
    unit_cost: Money  # of `units`
    hourly: Money
    currency: str
    job_low: Money | None = None
    job_high: Money | None = None
    quote: PriceShown | None = None  # the price reckoned with where no list has one


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
    tokens: TokenCost | None = None
    work: WorkCost | None = None
    hours: float | None = None
    months: float | None = None
    hours_per_month: float | None = None  # of use, by the schedule or 730
    options: tuple[PriceShown, ...] = ()  # every purchase option with a known price in the region
    cheaper_regions: tuple[PriceShown, ...] = ()
    derived: tuple[PriceShown, ...] = ()  # by a published rule; apart from what was published
    other_published: tuple[PriceShown, ...] = ()  # quotes and floors that never enter a ranking
    lines: tuple[CostLine, ...] = ()
    all_in_monthly: Money | None = None  # `monthly` and the lines, where both count one currency
    rates: tuple[CostLine, ...] = ()  # what 100 GiB of disk or 100 GB of traffic cost, where known
    savings: tuple[SavingsRate, ...] = ()  # live rates of savings plans
    stock: StockShown | None = None  # None: not known, which is not the same as sold out
    in_stock_elsewhere: tuple[StockShown, ...] = ()  # where `stock` names no zone
    conversion: Conversion | None = None
    spot: SpotOutlook | None = None
    mixed: MixedPlan | None = None
    break_evens: tuple[BreakEven, ...] = ()
    term_break_evens: tuple[TermBreakEven, ...] = ()
    totals: tuple[WayTotal, ...] = ()  # of the time of use asked about, the cheapest first
    not_included: tuple[str, ...] = ()  # stable codes: system_disk, public_traffic, image, snapshots
    stale_days: int | None = None  # age of the price on the day of asking; None when undated

    assumptions: tuple[Assumption, ...] = ()
    warnings: tuple[Remark, ...] = ()
    sources: tuple[SourceRef, ...] = ()
