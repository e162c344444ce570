"""The price book: published, imported and live rows of each type, and which of several counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from knowledge.live.overlay import Overlay
from knowledge.rows import Price, Purchase

PricesByType = Mapping[str, Sequence[Price]]


@dataclass(frozen=True, slots=True)
class PriceBook:
    """Shipped prices by type, with the rows of an overlay beside them."""

    shipped: PricesByType
    live: Overlay

    def rows(self, instance_type: str) -> Sequence[Price]:
        """Every published, imported and live row of a type, comparable or not."""
        return [*self.shipped.get(instance_type, ()), *self.live.prices_of(instance_type)]

    def price(self, instance_type: str, region_id: str, purchase: Purchase, currency: str) -> Price | None:
        """The freshest comparable row of exactly this type, region, purchase and currency, or None."""
        return freshest(
            row
            for row in self.rows(instance_type)
            if row.region_id == region_id
            and row.purchase == purchase
            and row.currency == currency
            and row.comparable
        )


def by_type(rows: Iterable[Price]) -> PricesByType:
    """The rows of each instance type, in their order."""
    table: dict[str, list[Price]] = {}
    for row in rows:
        table.setdefault(row.instance_type, []).append(row)
    return table


def freshest(rows: Iterable[Price]) -> Price | None:
    """The row with the newest date; of two equally new a live one, the more trusted, then the lower price."""
    trust = {"high": 2, "medium": 1, "low": 0}

    def key(row: Price) -> tuple[str, bool, int, Decimal]:
        return row.as_of, row.basis == "live", trust[row.confidence], -row.price

    return max(rows, key=key, default=None)
