"""Where else a machine can be had when a type is out of stock: the same type or GPU, here or elsewhere."""

from __future__ import annotations

from datetime import datetime

from knowledge.catalog import Catalog
from knowledge.live.rows import Stock


def in_stock_elsewhere(
    catalog: Catalog, instance_type: str, region_id: str, now: datetime
) -> tuple[Stock, ...]:
    """Stock rows of the last half hour, nearest to the wish first: the type in other regions, types with the
    same GPU and no fewer of them in this region, then those in other regions; of these the fewest GPUs first.

    Empty where nothing is known to be in stock, which is not the same as sold out. Raises `InputError` for
    an unknown type.
    """
    wanted = catalog.instance(instance_type)
    siblings = {
        row.instance_type: row.gpu_count
        for row in catalog.with_gpu(wanted.gpu_model)
        if row.gpu_count >= wanted.gpu_count
    }

    def nearness(row: Stock) -> tuple[bool, bool, float, str, str]:
        other_type, other_region = row.instance_type != wanted.instance_type, row.region_id != region_id
        return other_type, other_region, siblings[row.instance_type], row.instance_type, row.region_id

    found = [
        row
        for row in catalog.live.snapshot.stock
        if row.instance_type in siblings
        and (row.instance_type, row.region_id) != (wanted.instance_type, region_id)
        and row.zones
        and catalog.live.stock(row.instance_type, row.region_id, now) is not None
    ]
    return tuple(sorted(found, key=nearness))
