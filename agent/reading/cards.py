"""Cards at home and elsewhere: which one that the cloud rents comes nearest."""

from __future__ import annotations

import math

from knowledge.catalog import Catalog
from knowledge.derived import per_catalog
from knowledge.rows import Gpu

_MEMORY_WEIGHT = 3.0  # a card is chosen by its memory first


@per_catalog
def rentable(catalog: Catalog, gpu_model: str) -> str:
    """The GPU itself where some type carries it, else the nearest current one; "" where nothing is known."""
    gpu = catalog.gpu(gpu_model)
    if gpu.sold_on_alibaba_ecs != "no" and any(row.gpu_model == gpu_model for row in catalog.instances):
        return gpu.gpu_model
    whole = {row.gpu_model for row in catalog.instances if row.status == "current" and row.gpu_count >= 1}
    candidates = [
        row for row in catalog.gpus if row.gpu_model in whole and row.fp16_tflops and row.memory_gib
    ]
    if not candidates or not gpu.memory_gib:
        return ""
    return min(candidates, key=lambda row: _distance(gpu, row)).gpu_model


def _distance(one: Gpu, other: Gpu) -> float:
    """How far two cards lie apart: octaves of memory, bandwidth and 16-bit rate; one where unknown."""
    pairs = (
        (one.memory_gib, other.memory_gib, _MEMORY_WEIGHT),
        (one.memory_bandwidth_gbs, other.memory_bandwidth_gbs, 1.0),
        (one.fp16_tflops, other.fp16_tflops, 1.0),
    )
    return sum(weight * (abs(math.log2(a / b)) if a and b else 1.0) for a, b, weight in pairs)


def is_consumer(catalog: Catalog, gpu_model: str) -> bool:
    """Whether a GPU is sold for desktops and games; a name that the table lacks is none."""
    return any(row.consumer and row.gpu_model == gpu_model for row in catalog.gpus)
