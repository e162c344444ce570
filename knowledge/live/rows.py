"""Rows that only the overlay holds: quotes, stock by zone, spot advice, types as the API lists them."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Literal

from pydantic import Field

from knowledge.rows import Price, Row


class LivePrice(Price):
    """A price of the overlay: a quote of this account ("live"), or a row of an imported price file."""

    zone_id: str = ""  # spot prices differ by zone
    checked_at: datetime | None = None  # of a live row: when the market or the account was asked
    account_price: Decimal | None = None  # what the asking account pays; kept on wish only, enters no ranking


class LiveType(Row):
    """A GPU instance type as the API lists it; its list also holds retired and invitation-only types."""

    instance_type: str
    family: str
    vcpu: int
    memory_gib: float
    gpu_spec: str = ""  # the API's own word, at times an internal code
    gpu_count: float = 0


class LiveRegion(Row):
    """A region that this account may use."""

    region_id: str
    name: str = ""


class Stock(Row):
    """Zones of a region that had a type for pay-as-you-go at `checked_at`; a moment's answer, no promise."""

    instance_type: str
    region_id: str
    checked_at: datetime
    zones: tuple[str, ...] = ()  # could be bought
    sold_out_zones: tuple[str, ...] = ()
    closing: bool = False  # no zone gets new machines of this type any more

    @property
    def offered(self) -> bool:
        """Whether any zone of the region carries the type at all."""
        return bool(self.zones or self.sold_out_zones)


class SpotAdvice(Row):
    """What spot machines of a type cost and how often they were taken back in a zone, 30 days' averages."""

    instance_type: str
    region_id: str
    zone_id: str
    percent_of_payg: float  # of the pay-as-you-go price that was paid: 20 means 80 % off
    release_rate_percent: float | None = None
    release_rate: str = ""  # as the API words it: "0-3%"


class SavingsPlanRate(Row):
    """The share of the pay-as-you-go price that a savings plan leaves to pay for a family in a region."""

    family: str
    region_id: str
    plan: Literal["universal", "compute"]
    years: int
    upfront: Literal["none", "half", "all"]
    percent_of_payg: Decimal = Field(gt=0, le=100)
    checked_at: datetime
