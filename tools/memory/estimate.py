"""The calculator of inference memory: `MemoryRequest` to `MemoryReport`."""

from __future__ import annotations

from dataclasses import replace

from knowledge.catalog import Catalog
from tools.contracts.base import SourceRef, Verdict
from tools.contracts.memory import MemoryReport, MemoryRequest
from tools.memory.engines import CUDA_CONTEXT_GIB, Engine
from tools.memory.kv import kv_layout
from tools.memory.limits import FEWEST_SEQUENCES, compute, fit_options
from tools.memory.plan import MemoryPlan
from tools.memory.request import Resolved, resolve
from tools.memory.shape import shape_of
from tools.memory.weights import GIB, weight_bytes
from tools.notes import Notes

LIBRARY_LOW, LIBRARY_HIGH = 0.95, 1.05
DEVICE_LOW, DEVICE_HIGH = 0.95, 1.15


def estimate_memory(request: MemoryRequest, catalog: Catalog) -> MemoryReport:
    """GPU memory of an inference deployment, per GPU of one replica, in GiB.

    Weights by format (`weights`), KV cache by layout (`kv`), activation peak by engine (`activation`) and
    its libraries (`engines`), each with its source there, against the memory that CUDA can allocate on the
    card. Raises `InputError` for values and names that cannot be used, `NotKnown` for facts that the catalog
    lacks.
    """
    notes = Notes()
    resolved = resolve(request, catalog, notes)
    resolved, plan = _started_to_fit(request, resolved, notes)
    layout = kv_layout(resolved.model, resolved.kv)
    _remark(plan, resolved, notes)
    low, high = _range(plan, resolved.engine)
    device_low, device_high = _device_range(plan, resolved)
    card = resolved.card
    weights_gib = weight_bytes(resolved.model, resolved.weights) / GIB
    usable = plan.usable * resolved.gpu_count if plan.usable is not None else None
    return MemoryReport(
        model=resolved.model.model_id,
        gpu=card.name if card else "",
        gpu_count=resolved.gpu_count,
        tensor_parallel=resolved.plan.tensor,
        pipeline_parallel=resolved.plan.pipeline,
        weight_precision=resolved.weights.name,
        kv_precision=resolved.kv.name,
        engine=resolved.engine.name,
        context_tokens=resolved.load.context_tokens,
        concurrency=resolved.load.concurrency,
        weights_gib=weights_gib,
        weights_gib_per_gpu=plan.weights,
        kv_bytes_per_token=layout.per_token,
        kv_bytes_per_sequence_fixed=layout.fixed(),
        kv_cache_gib_per_gpu=plan.kv,
        activation_gib_per_gpu=plan.activation,
        overhead_gib_per_gpu=plan.overhead,
        total_gib_per_gpu=plan.total,
        total_gib_per_gpu_low=low,
        total_gib_per_gpu_high=high,
        device_gib_per_gpu=plan.device,
        device_gib_per_gpu_low=device_low,
        device_gib_per_gpu_high=device_high,
        usable_gib_per_gpu=plan.usable,
        nominal_gib_per_gpu=card.nominal if card else None,
        nominal_gib=card.nominal * resolved.gpu_count if card else None,
        usable_gib=usable,
        beside_weights_gib=usable - weights_gib if usable is not None else None,
        usable_measured=bool(card and card.measured),
        kv_pool_gib_per_gpu=plan.pool,
        kv_capacity_tokens=plan.capacity_tokens,
        max_concurrency=plan.max_concurrency,
        fits=plan.fits,
        verdict=_verdict(plan),
        margin_gib=plan.margin,
        limits=fit_options(resolved, plan, catalog),
        assumptions=tuple(notes.assumptions),
        warnings=tuple(notes.warnings),
        sources=_sources(resolved),
    )


def _started_to_fit(request: MemoryRequest, resolved: Resolved, notes: Notes) -> tuple[Resolved, MemoryPlan]:
    """The plan of the request. Where no engine was named its settings are ours: a server that lacks only the
    room for its default number of sequences is then started with fewer, and the report says so."""
    plan = compute(resolved)
    fewer = max(FEWEST_SEQUENCES, resolved.load.concurrency)
    ours = not request.engine and request.max_num_seqs is None and resolved.engine.preallocates
    if plan.fits is not False or not ours or fewer >= plan.sequences:
        return resolved, plan
    changed = replace(resolved, load=replace(resolved.load, max_num_seqs=fewer))
    smaller = compute(changed)
    if not smaller.fits:
        return resolved, plan
    notes.assumptions[:] = [item for item in notes.assumptions if item.field != "max_num_seqs"]
    notes.assume("max_num_seqs", fewer, "lowered_to_fit")
    return changed, smaller


def _range(plan: MemoryPlan, engine: Engine) -> tuple[float, float]:
    """The range that holds 90 % of measurements of the kind (benchmarks/memory): 3 % of weights and cache
    and a third of the rest for servers; for libraries what passes beside the total and the context."""
    if engine.preallocates:
        spread = 0.03 * (plan.weights + plan.kv) + 0.33 * (plan.activation + plan.overhead)
        return max(0.0, plan.total - spread), plan.total + spread
    return LIBRARY_LOW * plan.total, LIBRARY_HIGH * plan.total + plan.passing_peak + CUDA_CONTEXT_GIB


def _device_range(plan: MemoryPlan, resolved: Resolved) -> tuple[float, float]:
    """The range of what nvidia-smi shows, which holds 90 % of the published tables. A server's share is
    certain to 5 %. A library shows little more than it allocated, or cached blocks beside the copies, and
    the 16-bit logits of a whole prompt where the model's code comes with its checkpoint."""
    if resolved.engine.preallocates:
        return 0.95 * plan.device, 1.05 * plan.device
    shape, load = shape_of(resolved.model), resolved.load
    prompt = (load.context_tokens - load.output_tokens) * load.concurrency
    logits = 2.0 * prompt * shape.vocab / GIB if resolved.engine.name == "transformers" else 0.0
    return DEVICE_LOW * plan.total, DEVICE_HIGH * plan.device + logits


def _remark(plan: MemoryPlan, resolved: Resolved, notes: Notes) -> None:
    """Warnings that need the computed plan."""
    if kv_layout(resolved.model, resolved.kv).is_bound:
        notes.warn("kv_upper_bound", model=resolved.model.model_id)
    if plan.loading:
        notes.warn("loads_16_bit_first", gib=round(plan.loading, 2))
    if plan.passing_peak > 0.1:
        gib, device = round(plan.passing_peak, 2), round(plan.device, 2)
        notes.warn("passing_peak_beside_total", gib=gib, device_gib=device)
    limit = resolved.load.max_model_len or resolved.model.max_position_embeddings
    capacity = plan.capacity_tokens
    if resolved.engine.preallocates and limit and capacity is not None and capacity < limit:
        notes.warn("pool_below_max_model_len", kv_capacity_tokens=capacity, max_model_len=limit)
    heads, t = shape_of(resolved.model), resolved.plan.tensor
    if heads.query_heads % t or (heads.kv_heads % t and t % heads.kv_heads):
        notes.warn("heads_do_not_divide", tensor_parallel=t, heads=heads.query_heads, kv_heads=heads.kv_heads)
    card, floor = resolved.card, resolved.weights.min_capability
    if card and card.capability and floor and card.capability < floor:
        notes.warn("precision_needs_newer_card", precision=resolved.weights.name, capability=floor)


def _verdict(plan: MemoryPlan) -> Verdict | None:
    if plan.fits is None:
        return None
    if not plan.fits:
        return "does_not_fit"
    return "tight" if plan.tight else "fits"


def _sources(resolved: Resolved) -> tuple[SourceRef, ...]:
    return (SourceRef(title=resolved.model.source, as_of=resolved.model.as_of),)
