"""The card a job must fit: usable memory per GPU, from a GPU name, a memory class or an instance type."""

from __future__ import annotations

import re
from dataclasses import dataclass

from knowledge.cards import USABLE_RATIO, nominal_gib, usable_gib
from knowledge.catalog import Catalog
from knowledge.errors import InputError, NotKnown
from knowledge.rows import Gpu

# What the driver keeps for itself: nvidia-smi's total less the total that CUDA reports. Median of A10G, L4,
# L40S, H100, H100 NVL, H200, RTX 4090 and H20 (0.35 to 0.60); A100 and V100 keep 0.1 to 0.25.
DRIVER_RESERVE_GIB = 0.45
# Cards of this size and more carry HBM, whose ECC takes no capacity: A100, H100, H20 and H200 show 0.99.
HBM_FROM_GB, HBM_RATIO = 80.0, 0.985

_CLASS = re.compile(
    r"^(\d+(?:\.\d+)?) ?g(?:i?b)?(?: class)?\b(?:.*?\((\d+(?:\.\d+)?) (?:gib|gb usable)\))?", re.I
)


@dataclass(frozen=True, slots=True, eq=False)
class Card:
    """One GPU as memory: `usable` is what CUDA can allocate, GiB."""

    name: str
    usable: float
    measured: bool
    nominal: float
    capability: float | None = None
    architecture: str = ""
    nvlink_gbs: float = 0.0

    @property
    def has_multicast(self) -> bool:
        """Whether NCCL lays out its NVLink multicast buffers: NVLink of Hopper and newer."""
        return self.nvlink_gbs > 0 and (self.capability or 0.0) >= 9

    @property
    def large_not_a100(self) -> bool:
        """Whether vLLM takes its large-card defaults (70 GiB and more, name without "a100"); a card known
        by its memory class alone is not taken for one."""
        return self.nominal >= 70 and not re.search("A100|class", self.name, re.IGNORECASE)


def card_of(gpu: Gpu) -> Card:
    """The card of a GPU row; `NotKnown` without a published memory size."""
    usable, measured = usable_gib(gpu)
    if gpu.cuda_visible_gib is not None:
        usable, measured = gpu.cuda_visible_gib, True
    elif measured:
        usable -= min(DRIVER_RESERVE_GIB, 0.02 * usable)
    return Card(
        name=gpu.gpu_model,
        usable=usable,
        measured=measured,
        nominal=nominal_gib(gpu),
        capability=gpu.compute_capability,
        architecture=gpu.architecture,
        nvlink_gbs=gpu.nvlink_gbs or 0.0,
    )


def resolve_card(name: str, catalog: Catalog) -> tuple[Card, str]:
    """The card of a GPU name and the note on how the name was taken. A memory class ("24GB class", "24GB")
    is a card of that memory alone. Raises `InputError` with near matches for unknown names."""
    try:
        gpu, note = catalog.gpu_with_note(name)
    except (InputError, NotKnown):
        match = _CLASS.match(name.strip())
        if match is None:
            raise
        nominal = float(match[1])
        ratio = HBM_RATIO if nominal >= HBM_FROM_GB else USABLE_RATIO
        usable = float(match[2]) if match[2] else nominal * ratio
        return Card(f"{nominal:g}GB class", usable, bool(match[2]), nominal), "memory_class"
    return card_of(gpu), note
