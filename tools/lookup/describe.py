"""What one thing is: an instance type, a family, a GPU, a model, a precision, each with its sources."""

from __future__ import annotations

from knowledge.cards import nominal_gib
from knowledge.catalog import Catalog
from knowledge.errors import NotKnown
from knowledge.names import strip_quantization
from knowledge.rows import Gpu, Instance, Model, Row
from tools.contracts.base import Assumption, Remark, SourceRef
from tools.contracts.cost import CostRequest, PriceShown
from tools.contracts.lookup import (
    FamilyReport,
    GpuReport,
    InstanceReport,
    ModelReport,
    PrecisionReport,
    Support,
)
from tools.cost import estimate_cost
from tools.cost.prices import shown
from tools.lookup.name import decode_name
from tools.lookup.support import support_level
from tools.memory.card import card_of
from tools.memory.formats import format_of
from tools.memory.weights import GIB, weight_bytes

_SHOWN_PRECISIONS = ("fp32", "bf16", "fp16", "int8-w8a8", "fp8", "awq-int4", "nvfp4")
_WEIGHT_PRECISIONS = ("bf16", "fp8", "int8-w8a8", "awq-int4", "gguf-q4_k_m")
_STATUS_ORDER = {"current": 0, "legacy": 1, "unknown": 2}
_STAND_INS = 3


def sources_of(*rows: Row | None) -> tuple[SourceRef, ...]:
    """The sources of rows, each once."""
    return tuple(dict.fromkeys(SourceRef(title=row.source, as_of=row.as_of) for row in rows if row))


def describe_instance(name: str, catalog: Catalog, region: str = "") -> InstanceReport:
    """An instance type by name; `InputError` with near names for one that does not exist."""
    instance = catalog.instance(name)
    gpu = catalog.gpu_of(instance)
    facts = catalog.facts_of_family(instance.family)
    cost = estimate_cost(CostRequest(instance_type=instance.instance_type, region=region), catalog)
    usable, measured = _usable(gpu)
    total = None if gpu.memory_gib is None else gpu.memory_gib * max(1, instance.whole_gpus)
    return InstanceReport(
        instance=instance,
        gpu=gpu,
        total_gpu_memory_gib=total,
        usable_gib_per_gpu=usable,
        usable_measured=measured,
        facts=facts,
        cost=cost,
        regions=tuple(catalog.regions_of(instance)),
        regions_as_of=catalog.regions_as_of(instance),
        siblings=tuple(row.instance_type for row in catalog.in_family(instance.family) if row != instance),
        name=decode_name(instance.instance_type, catalog),
        assumptions=cost.assumptions,
        warnings=_status_remarks(instance) + cost.warnings,
        sources=sources_of(instance, gpu, facts) + cost.sources,
    )


def describe_family(name: str, catalog: Catalog, region: str = "") -> FamilyReport:
    """A family by name; `InputError` with near families for an unknown one."""
    rows = catalog.in_family(name)
    family = rows[0].family
    facts = catalog.facts_of_family(family)
    region_id = catalog.region_asked(region).region_id
    regions = sorted({found for row in rows for found in catalog.regions_of(row)})
    remarks = [remark for row in rows for remark in _status_remarks(row)]
    return FamilyReport(
        family=family,
        statuses=tuple(dict.fromkeys(row.status for row in rows)),
        gpu_models=tuple(dict.fromkeys(row.gpu_model for row in rows)),
        instances=rows,
        facts=facts,
        from_price=_from_price(catalog, rows, region_id),
        regions=tuple(regions),
        regions_as_of=max((catalog.regions_as_of(row) for row in rows), default=""),
        warnings=tuple(remarks),
        sources=sources_of(*rows, facts),
    )


def describe_gpu(name: str, catalog: Catalog, region: str = "") -> GpuReport:
    """A GPU by any of its names; `InputError` for an unknown one, `NotKnown` for a name of no certain card.

    A card that is not sold comes with the sold cards nearest in memory and bandwidth.
    """
    gpu, note = catalog.gpu_with_note(name)
    usable, measured = _usable(gpu)
    types = sorted(
        catalog.with_gpu(gpu.gpu_model), key=lambda row: (_STATUS_ORDER[row.status], row.gpu_count)
    )
    sold = any(row.status == "current" for row in types)
    region_id = catalog.region_asked(region).region_id
    whole = [row for row in types if row.status == "current" and row.whole_gpus >= 1]
    near = () if sold else stand_ins(gpu, catalog)
    return GpuReport(
        gpu=gpu,
        usable_gib=usable,
        usable_measured=measured,
        supports=tuple(
            Support(precision=each, level=support_level(gpu, catalog.precision(each)))
            for each in _SHOWN_PRECISIONS
        ),
        instances=tuple(types),
        from_price=_from_price(catalog, whole, region_id),
        stand_ins=near,
        stand_in_families=tuple(_family_of(each, catalog) for each in near),
        assumptions=(Assumption(field="gpu", value=gpu.gpu_model, reason=note),) if note else (),
        warnings=() if sold else (Remark(code="gpu_not_sold", params={"gpu": gpu.gpu_model}),),
        sources=sources_of(gpu, *types),
    )


def _family_of(gpu_model: str, catalog: Catalog) -> str:
    """The family of the smallest type on sale with a whole card of this model."""
    whole = [row for row in catalog.with_gpu(gpu_model, "current") if row.whole_gpus]
    return min(
        whole, key=lambda row: (row.category == "vgpu", row.gpu_count, len(row.family), row.vcpu)
    ).family


def stand_ins(gpu: Gpu, catalog: Catalog) -> tuple[str, ...]:
    """Sold GPUs nearest to a card by memory first (at least as much, if any has it), then bandwidth."""
    sold = [
        row
        for row in catalog.gpus
        if row.gpu_model != gpu.gpu_model
        and row.memory_gib
        and row.memory_bandwidth_gbs
        and any(
            item.whole_gpus and item.category != "vgpu" for item in catalog.with_gpu(row.gpu_model, "current")
        )
    ]
    if gpu.memory_gib is None:
        return ()
    wanted, bandwidth = gpu.memory_gib, gpu.memory_bandwidth_gbs or 0.0

    def distance(row: Gpu) -> tuple[bool, float, float]:
        size, speed = row.memory_gib or 0.0, row.memory_bandwidth_gbs or 0.0
        return size < wanted, abs(size - wanted), abs(speed - bandwidth)

    return tuple(row.gpu_model for row in sorted(sold, key=distance)[:_STAND_INS])


def describe_model(name: str, catalog: Catalog) -> ModelReport:
    """A model by id, alias or file name, with weights by precision and KV cache at 16 bit."""
    model = catalog.model(name)
    tag = strip_quantization(name)[1]
    kv = model.kv_bytes_per_token_bf16
    return ModelReport(
        model=model,
        weights_gib=_weights(model, catalog),
        kv_kib_per_token=None if kv is None else kv / 1024,
        kv_gib_per_8k=None if kv is None else kv * 8192 / GIB,
        assumptions=(Assumption(field="precision", value=tag, reason="from_model_name"),) if tag else (),
        warnings=(Remark(code="model_note", params={"note": model.note}),) if model.note else (),
        sources=sources_of(model),
    )


def _weights(model: Model, catalog: Catalog) -> dict[str, float]:
    """GiB of all weights; models whose layers are unknown are counted at the bits of every parameter."""
    found = {}
    for name in _WEIGHT_PRECISIONS:
        row = catalog.precision(name)
        try:
            found[name] = weight_bytes(model, format_of(row, model)) / GIB
        except NotKnown:
            bits = row.effective_bits or row.block_bits
            if model.params_total_b and bits and bits >= 16:
                found[name] = model.params_total_b * 1e9 * bits / 8 / GIB
    return found


def describe_precision(name: str, catalog: Catalog) -> PrecisionReport:
    """A weight precision by name, and which currently sold GPUs run it and how."""
    precision = catalog.precision(name)
    levels: dict[str, list[str]] = {}
    for gpu in catalog.gpus:
        if gpu.sold_on_alibaba_ecs == "current":
            levels.setdefault(support_level(gpu, precision), []).append(gpu.gpu_model)
    return PrecisionReport(
        precision=precision,
        native_on=tuple(levels.get("native", ())),
        weight_only_on=tuple(levels.get("weight-only", ())),
        not_on=tuple(levels.get("no", []) + levels.get("falls-back", [])),
        sources=sources_of(precision),
    )


def _usable(gpu: Gpu) -> tuple[float | None, bool]:
    try:
        nominal_gib(gpu)
    except NotKnown:
        return None, False
    card = card_of(gpu)  # what CUDA sees, as the calculators count
    return card.usable, card.measured


def _from_price(
    catalog: Catalog, rows: list[Instance] | tuple[Instance, ...], region: str
) -> PriceShown | None:
    prices = [catalog.price(row.instance_type, region) for row in rows]
    lowest = min((row for row in prices if row), key=lambda row: row.price, default=None)
    return None if lowest is None else shown(lowest)


def _status_remarks(instance: Instance) -> tuple[Remark, ...]:
    if instance.status == "current":
        return ()
    return (Remark(code=f"{instance.status}_type", params={"instance_type": instance.instance_type}),)
