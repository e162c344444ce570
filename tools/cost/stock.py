"""What was on the shelf when last asked, and where else a machine can be had when nothing is."""

from __future__ import annotations

from knowledge.catalog import Catalog
from knowledge.live.alternatives import in_stock_elsewhere
from knowledge.live.rows import Stock
from tools.contracts.cost import StockShown
from tools.cost.prices import minute

_ELSEWHERE_SHOWN = 4


def stock_of(catalog: Catalog, instance_type: str, region: str) -> StockShown | None:
    """Zones with and without stock; None where nobody asked in the last half hour: then it is unknown."""
    now = catalog.now
    found = catalog.live.stock(instance_type, region, now) if now is not None else None
    return None if found is None else _shown(found)


def elsewhere(catalog: Catalog, instance_type: str, region: str) -> tuple[StockShown, ...]:
    """Places that had the type, or its GPU, in the last half hour; nearest to the wish first."""
    now = catalog.now
    if now is None:
        return ()
    return tuple(_shown(row) for row in in_stock_elsewhere(catalog, instance_type, region, now))[
        :_ELSEWHERE_SHOWN
    ]


def _shown(row: Stock) -> StockShown:
    return StockShown(
        instance_type=row.instance_type,
        region=row.region_id,
        checked_at=minute(row.checked_at),
        zones=row.zones,
        sold_out_zones=row.sold_out_zones,
        closing=row.closing,
    )
