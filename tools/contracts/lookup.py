"""Contracts of look-ups: what an instance type, family, GPU, model or precision is; comparisons; names."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from knowledge.rows import Family, Gpu, Instance, Model, Precision, Status
from tools.contracts.base import Assumption, Remark, Report, Request, Scalar, SourceRef
from tools.contracts.cost import CostReport, PriceShown

Kind = Literal["instance", "family", "gpu", "model", "precision"]


class NameRequest(Request):
    """A name to look up: an instance type, a GPU or a model, however it is written."""

    name: str = Field(min_length=1, max_length=300)
    region: str = ""


class NameReport(Report):
    """An instance-type name read part by part, and what the catalog says against it."""

    given: str
    instance_type: str  # in full form; whether it exists is `exists`
    exists: bool
    family: str = ""
    family_exists: bool = False
    prefix: Literal["", "ebm", "scc"] = ""
    line: str = ""  # gn, vgn, sgn, ga …
    generation: int | None = None
    suffix: str = ""
    vcpu_per_gpu: int | None = None  # of a `cNg1` part: a ratio, never a total
    gpu_count_part: int | None = None  # of a `-4x` part
    vgpu_memory_gib: int | None = None  # of an `-m8` part
    edition: str = ""  # vws, tee, tdx
    size: str = ""
    vcpu_by_name: int | None = None
    gpus_by_name: float | None = None
    vcpu: int | None = None  # by the catalog
    gpus: float | None = None
    remarks: tuple[Remark, ...] = ()
    suggestions: tuple[str, ...] = ()
    sources: tuple[SourceRef, ...] = ()


class InstanceReport(Report):
    """An instance type with its GPU, price, regions of the price lists, and the rest of its family."""

    instance: Instance
    gpu: Gpu  # as its user sees it: the slice of a vGPU type
    total_gpu_memory_gib: float | None
    usable_gib_per_gpu: float | None
    usable_measured: bool
    facts: Family | None = None
    cost: CostReport
    regions: tuple[str, ...] = ()
    regions_as_of: str = ""  # the newest date of the lists behind `regions`
    siblings: tuple[str, ...] = ()
    name: NameReport
    assumptions: tuple[Assumption, ...] = ()
    warnings: tuple[Remark, ...] = ()
    sources: tuple[SourceRef, ...] = ()


class FamilyReport(Report):
    """A family: its types, what the documents say of it, and its cheapest price."""

    family: str
    statuses: tuple[Status, ...]
    gpu_models: tuple[str, ...]
    instances: tuple[Instance, ...]
    facts: Family | None = None
    from_price: PriceShown | None = None  # lowest comparable pay-as-you-go price in the region
    regions: tuple[str, ...] = ()
    regions_as_of: str = ""
    warnings: tuple[Remark, ...] = ()
    sources: tuple[SourceRef, ...] = ()


class Support(Report):
    """How a GPU runs a precision: natively, by unpacking weights, in another 16-bit type, or not at all."""

    precision: str
    level: Literal["native", "weight-only", "falls-back", "no", "unknown"]


class GpuReport(Report):
    """A GPU model, what it computes, the types that carry it, and stand-ins where it is not sold."""

    gpu: Gpu
    usable_gib: float | None
    usable_measured: bool
    supports: tuple[Support, ...] = ()
    instances: tuple[Instance, ...] = ()  # current ones first
    from_price: PriceShown | None = None
    stand_ins: tuple[str, ...] = ()  # sold GPUs nearest in memory and bandwidth, for a card not sold
    stand_in_families: tuple[str, ...] = ()  # the smallest whole-GPU family of each, in the same order
    assumptions: tuple[Assumption, ...] = ()
    warnings: tuple[Remark, ...] = ()
    sources: tuple[SourceRef, ...] = ()


class ModelReport(Report):
    """A model's architecture with the size of its weights by precision and of its KV cache."""

    model: Model
    weights_gib: dict[str, float] = {}
    kv_kib_per_token: float | None = None  # 16 bit
    kv_gib_per_8k: float | None = None
    assumptions: tuple[Assumption, ...] = ()
    warnings: tuple[Remark, ...] = ()
    sources: tuple[SourceRef, ...] = ()


class PrecisionReport(Report):
    """A weight or KV format and the sold GPUs that run it."""

    precision: Precision
    native_on: tuple[str, ...] = ()
    weight_only_on: tuple[str, ...] = ()
    not_on: tuple[str, ...] = ()
    sources: tuple[SourceRef, ...] = ()


class ComparisonRow(Report):
    """One property of all compared things; `best` is the index of the best value where one is."""

    field: str
    unit: str = ""
    values: tuple[Scalar, ...]
    best: int | None = None


class Comparison(Report):
    """Things of one kind side by side."""

    kind: Kind
    names: tuple[str, ...]
    rows: tuple[ComparisonRow, ...]
    assumptions: tuple[Assumption, ...] = ()
    warnings: tuple[Remark, ...] = ()
    sources: tuple[SourceRef, ...] = ()


class FindRequest(Request):
    """Which types to find; every given limit must hold."""

    gpu: str = ""
    gpu_count: int | None = Field(default=None, ge=1, le=64)
    min_gpu_memory_gib: float | None = Field(default=None, gt=0)  # nominal, one GPU
    min_total_gpu_memory_gib: float | None = Field(default=None, gt=0)
    min_vcpu: int | None = Field(default=None, ge=1)
    min_memory_gib: float | None = Field(default=None, gt=0)
    min_network_gbps: float | None = Field(default=None, gt=0)
    nvlink: bool | None = None
    rdma: bool | None = None
    bare_metal: bool | None = None
    vgpu: bool | None = None
    max_hourly_cny: float | None = Field(default=None, gt=0)
    region: str = ""
    status: Literal["current", "legacy", "unknown", "any"] = "current"
    order: Literal["price", "memory", "vcpu"] = "price"
    limit: int = Field(default=20, ge=1, le=300)


class FoundInstance(Report):
    """One type found, with its list price in the region or None."""

    instance: Instance
    price: PriceShown | None = None


class FindReport(Report):
    """Types that hold all limits, best of the order first; unpriced ones after priced ones by price."""

    region: str
    found: tuple[FoundInstance, ...]
    total: int
    assumptions: tuple[Assumption, ...] = ()
    sources: tuple[SourceRef, ...] = ()
