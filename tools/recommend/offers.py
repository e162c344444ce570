"""What is on sale, grouped by silicon: machines with the same GPUs and link differ only in price and host."""

from __future__ import annotations

from dataclasses import dataclass

from knowledge.catalog import Catalog
from knowledge.derived import per_catalog
from knowledge.errors import NotKnown
from knowledge.rows import Family, Gpu, Instance
from tools.memory.card import Card, card_of
from tools.throughput.gpu_shape import GpuShape, gpu_shape_of

_ACCESS = {"open": 0, "contact-sales": 1, "ticket": 2, "invitation": 3, "retired": 4}


@dataclass(frozen=True, slots=True, eq=False)
class Silicon:
    """The GPUs of one machine and their link. `shape` is None where the card's rates are not published."""

    gpu: Gpu  # as its user sees it: a slice for vGPU types
    model: str  # gpu_model of the whole card
    count: int  # GPUs of one machine; 1 for a slice
    link: str  # nvlink, pcie; "" for one GPU
    vgpu: bool
    card: Card | None
    shape: GpuShape | None
    instances: tuple[Instance, ...]


@per_catalog
def silicons(catalog: Catalog) -> tuple[Silicon, ...]:
    """Every kind of machine in the catalog, whatever its status; worked out once per catalog."""
    groups: dict[tuple[str, float, float | None, str, bool], list[Instance]] = {}
    for row in catalog.instances:
        link = row.interconnect if row.interconnect in ("nvlink", "pcie") and row.whole_gpus > 1 else ""
        key = (row.gpu_model, row.gpu_count, row.gpu_memory_gib, link, row.category == "vgpu")
        groups.setdefault(key, []).append(row)
    return tuple(_silicon(catalog, rows, link, vgpu) for (_, _, _, link, vgpu), rows in groups.items())


def _silicon(catalog: Catalog, rows: list[Instance], link: str, vgpu: bool) -> Silicon:
    gpu = catalog.gpu_of(rows[0])
    return Silicon(
        gpu=gpu,
        model=rows[0].gpu_model,
        count=max(1, rows[0].whole_gpus),
        link=link,
        vgpu=vgpu,
        card=_card(gpu),
        shape=_shape(gpu),
        instances=tuple(rows),
    )


def _card(gpu: Gpu) -> Card | None:
    try:
        return card_of(gpu)
    except NotKnown:
        return None


def _shape(gpu: Gpu) -> GpuShape | None:
    try:
        return gpu_shape_of(gpu)
    except NotKnown:
        return None


def access_rank(facts: Family | None) -> int:
    """How easily a family is bought: 0 open … 4 retired; families that no document names come last."""
    return 5 if facts is None else _ACCESS[facts.access]
