"""Checks over every row of every table: units, ranges, joins, dates, duplicates, wording."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date

from knowledge.cards import nominal_gib
from knowledge.catalog import Catalog
from knowledge.guides import shelf_faults
from knowledge.names import normal
from knowledge.rows import Row

TABLES = (
    "instances",
    "gpus",
    "models",
    "precisions",
    "prices",
    "regions",
    "availability",
    "claims",
    "advice",
    "compatibility",
)
# Largest plausible values; a figure above is a unit error (GB/s written as MB/s, MiB as GiB …).
_LIMITS = {
    "gpus": {"memory_gib": 400, "memory_bandwidth_gbs": 12_000, "fp16_tflops": 6_000, "nvlink_gbs": 4_000},
    "instances": {"vcpu": 512, "memory_gib": 4_096, "gpu_count": 16, "network_gbps": 3_200},
    "models": {"params_total_b": 4_000, "num_layers": 400, "hidden_size": 40_000, "vocab_size": 400_000},
    "precisions": {"block_bits": 32, "effective_bits": 32},
}
_HOURLY_CNY = (0.3, 1_000.0)  # per machine; the dearest known type lists below 1,000


def faults(catalog: Catalog) -> list[str]:
    """Every fault of the shipped facts, each naming table and row; empty when all is well."""
    checks: tuple[Callable[[Catalog], Iterator[str]], ...] = (
        _sources,
        _ranges,
        _duplicates,
        _joins,
        _instances,
        _prices,
        _models,
        _names,
    )
    found = [fault for check in checks for fault in check(catalog)]
    return found + [f"guides: {fault}" for fault in shelf_faults()]


def counts(catalog: Catalog) -> dict[str, int]:
    """Rows by table."""
    return {name: len(getattr(catalog, name)) for name in TABLES}


def _sources(catalog: Catalog) -> Iterator[str]:
    """A source is a title or an address a reader can follow; dates are real and not in the future."""
    for table in TABLES:
        rows: tuple[Row, ...] = getattr(catalog, table)
        for number, row in enumerate(rows, 2):
            where = f"{table}.csv, line {number}"
            if re.search(r"file ids?\b|look-up|stored (public|cop)", row.source):
                yield f"{where}: the source names a private copy: {row.source[:80]}"
            if row.as_of:
                parts = [int(part) for part in row.as_of.split("-")]
                try:
                    date(*[*parts, 1, 1][:3])
                except ValueError:
                    yield f"{where}: as_of {row.as_of} is no date"
                if parts[0] < 2015 or parts[0] > 2027:
                    yield f"{where}: as_of {row.as_of} is out of range"


def _ranges(catalog: Catalog) -> Iterator[str]:
    for table, limits in _LIMITS.items():
        for number, row in enumerate(getattr(catalog, table), 2):
            for field, limit in limits.items():
                value = getattr(row, field)
                if value is not None and not 0 <= value <= limit:
                    yield f"{table}.csv, line {number}: {field} {value} is outside 0..{limit}"


def _duplicates(catalog: Catalog) -> Iterator[str]:
    keys: dict[str, list[object]] = {
        "instances": [row.instance_type for row in catalog.instances],
        "gpus": [row.gpu_model for row in catalog.gpus],
        "models": [row.model_id for row in catalog.models],
        "precisions": [row.name for row in catalog.precisions],
        "regions": [row.region_id for row in catalog.regions],
        "claims": [row.claim_id for row in catalog.claims],
        "advice": [row.advice_id for row in catalog.advice],
        "prices": [
            (
                row.instance_type,
                row.region_id,
                row.purchase,
                row.currency,
                row.unit,
                row.as_of,
                row.source,
                row.note,
            )
            for row in catalog.prices
        ],
    }
    for table, values in keys.items():
        for value, times in Counter(values).items():
            if times > 1:
                yield f"{table}.csv: {value} stands {times} times"


def _joins(catalog: Catalog) -> Iterator[str]:
    gpus = {row.gpu_model for row in catalog.gpus}
    types = {row.instance_type for row in catalog.instances}
    families = set(catalog.families)
    for row in catalog.instances:
        if row.gpu_model not in gpus:
            yield f"instances.csv: {row.instance_type} has an unknown GPU {row.gpu_model}"
    for price in catalog.prices:
        floor = price.instance_type.endswith(".*")
        known = (
            price.instance_type.removeprefix("ecs.")[:-2] in families
            if floor
            else price.instance_type in types
        )
        if price.comparable and not known:
            yield f"prices.csv: {price.instance_type} is no known type"
        if price.region_id and price.region_id not in catalog.regions_by_id:
            yield f"prices.csv: {price.instance_type} has an unknown region {price.region_id}"
    for seen in catalog.availability:
        if seen.family_or_type not in types | families:
            yield f"availability.csv: {seen.family_or_type} is neither a type nor a family"
        if seen.region_id and seen.region_id not in catalog.regions_by_id:
            yield f"availability.csv: unknown region {seen.region_id}"
    yield from _joins_of_names(catalog)


def _joins_of_names(catalog: Catalog) -> Iterator[str]:
    gpus = {row.gpu_model for row in catalog.gpus}
    models = {row.model_id for row in catalog.models}
    for gpu in catalog.gpus:
        if gpu.same_chip_as and gpu.same_chip_as not in gpus:
            yield f"gpus.csv: {gpu.gpu_model} is the chip of an unknown GPU {gpu.same_chip_as}"
    for gpu_alias in catalog.gpu_aliases:
        for named in filter(None, (gpu_alias.gpu_model, gpu_alias.taken_as)):
            if named not in gpus:
                yield f"gpu_aliases.csv: {gpu_alias.alias} names an unknown GPU {named}"
    for alias in catalog.model_aliases:
        if alias.model_id and alias.model_id not in models:
            yield f"model_aliases.csv: {alias.alias} names an unknown model {alias.model_id}"


def _instances(catalog: Catalog) -> Iterator[str]:
    gpus = {row.gpu_model: row for row in catalog.gpus}
    for row in catalog.instances:
        gpu = gpus.get(row.gpu_model)
        if gpu is None or gpu.memory_gib is None or row.gpu_memory_gib is None or row.status == "unknown":
            continue  # of types seen only in the API it is not known whether a slice or a card is meant
        nominal = nominal_gib(gpu) * min(row.gpu_count, 1)
        if abs(row.gpu_memory_gib - nominal) > 0.05 * nominal + 0.5:
            yield (
                f"instances.csv: {row.instance_type} says {row.gpu_memory_gib:g} GiB a GPU, "
                f"{row.gpu_model} has {nominal:g}"
            )
        usable = gpu.usable_memory_mib
        if usable is not None and not 0.85 <= usable / 1024 / gpu.memory_gib <= 1.01:
            yield f"gpus.csv: {gpu.gpu_model}: usable {usable} MiB does not suit {gpu.memory_gib} GiB"
        if row.interconnect == "nvlink" and row.whole_gpus < 2:
            yield f"instances.csv: {row.instance_type} has NVLink with one GPU"


def _prices(catalog: Catalog) -> Iterator[str]:
    low, high = _HOURLY_CNY
    for number, row in enumerate(catalog.prices, 2):
        if (
            row.comparable
            and row.unit == "hour"
            and row.currency == "CNY"
            and not low <= float(row.price) <= high
        ):
            yield f"prices.csv, line {number}: {row.instance_type} {row.price} CNY an hour is out of range"
        if row.purchase.startswith("subscription") and row.unit == "hour":
            yield f"prices.csv, line {number}: a subscription has no hourly unit"


def _models(catalog: Catalog) -> Iterator[str]:
    """KV widths follow from heads for plain attention; totals agree with the computed count."""
    for row in catalog.models:
        plain = row.attention in ("mha", "gqa", "mqa") and not row.sliding_layers and not row.linear_layers
        plain = plain and row.kind != "asr" and "not " not in row.check  # cross attention, shared layers
        shape = (row.num_layers, row.num_kv_heads, row.head_dim, row.kv_bytes_per_token_bf16)
        if plain and all(shape) and not row.full_attention_layers:
            layers, heads, width, stated = (float(value or 0) for value in shape)
            if abs(2 * layers * heads * width * 2 - stated) > 1:
                yield f"models.csv: {row.model_id}: KV of {stated:g} bytes does not follow from its heads"
        if row.params_active_b and row.params_total_b and row.params_active_b > row.params_total_b:
            yield f"models.csv: {row.model_id}: more active than total parameters"


def _names(catalog: Catalog) -> Iterator[str]:
    owners: dict[str, str] = {}
    for row in catalog.models:
        for name in (row.model_id, row.display_name, *row.aliases):
            key = normal(name)
            if owners.setdefault(key, row.model_id) != row.model_id:
                yield f"models.csv: {name!r} names both {owners[key]} and {row.model_id}"
