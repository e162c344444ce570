"""What a machine costs where: the cheapest of the asked regions, by list price and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from knowledge.calendar import HOURS_PER_MONTH
from knowledge.catalog import Catalog
from knowledge.derived import per_catalog
from knowledge.rows import Instance, Purchase
from tools.cost.prices import derived_hour

_Table = dict[tuple[str, str], Decimal]


@dataclass(frozen=True, slots=True)
class Quote:
    """The hourly price of one machine in CNY, its region, and how the price came about."""

    hourly: Decimal
    region: str
    basis: str  # list, derived-linear …


@per_catalog
def _table(catalog: Catalog, purchase: Purchase) -> _Table:
    """(type, region) -> the freshest comparable CNY price; worked out once per state of the catalog."""
    keys = {(row.instance_type, row.region_id) for row in catalog.prices if row.purchase == purchase}
    found = {(name, region): catalog.price(name, region, purchase) for name, region in keys}
    return {key: row.price for key, row in found.items() if row is not None}


@per_catalog
def _cheapest_by_side(catalog: Catalog) -> dict[tuple[str, bool], Quote]:
    """(type, mainland) -> the cheapest list price on that side of the border."""
    found: dict[tuple[str, bool], Quote] = {}
    for (name, region), price in sorted(_table(catalog, "payg").items()):
        key = name, catalog.regions_by_id[region].mainland
        if key not in found or price < found[key].hourly:
            found[key] = Quote(price, region, "list")
    return found


@dataclass(slots=True)
class Tariff:
    """Prices for one request. Ranking is by the pay-as-you-go list price in CNY of the asked regions."""

    catalog: Catalog
    regions: tuple[str, ...]
    hours_per_month: Decimal
    by_month: bool = False  # subscription asked: where a list month is known it counts for monthly limits
    allow_derived: bool = False
    _known: dict[str, Quote | None] = field(default_factory=dict)

    def quote(self, instance: Instance) -> Quote | None:
        """The cheapest price of a type in the asked regions, or None; derived only where allowed."""
        name = instance.instance_type
        if name not in self._known:
            self._known[name] = self._cheapest(instance)
        return self._known[name]

    def widen(self) -> None:
        """Looks in every region from now on: for what the default region does not sell."""
        self.regions = tuple(sorted({region for _, region in _table(self.catalog, "payg")}))
        self._known.clear()

    def _cheapest(self, instance: Instance) -> Quote | None:
        table = _table(self.catalog, "payg")
        quotes = [
            Quote(table[instance.instance_type, region], region, "list")
            for region in self.regions
            if (instance.instance_type, region) in table
        ]
        if not quotes and self.allow_derived:
            derived = (derived_hour(self.catalog, instance, region, "CNY") for region in self.regions)
            quotes = [Quote(row.amount, row.region, row.basis) for row in derived if row is not None]
        return min(quotes, key=lambda quote: quote.hourly, default=None)

    def derivable(self, instance: Instance) -> bool:
        """Whether a rule that holds exactly gives a figure for a type without a list price."""
        rows = (derived_hour(self.catalog, instance, region, "CNY") for region in self.regions)
        return any(row is not None and row.basis == "derived-linear" for row in rows)

    def monthly(self, instance: Instance, quote: Quote) -> Decimal:
        """CNY per month of use of one machine: the list month where one was asked and is known."""
        if self.by_month:
            month = _table(self.catalog, "subscription_1m").get((instance.instance_type, quote.region))
            if month is not None:
                return month
        return quote.hourly * self.hours_per_month

    def elsewhere(self, instance: Instance) -> Quote | None:
        """The cheapest list price of a type in any region; on the asked side of the border if any is."""
        table, name = _cheapest_by_side(self.catalog), instance.instance_type
        side = self.catalog.regions_by_id[self.regions[0]].mainland
        return table.get((name, side)) or table.get((name, not side))


def always_on() -> Decimal:
    """Hours of a month without a schedule."""
    return Decimal(HOURS_PER_MONTH)
