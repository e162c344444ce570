"""What would make a plan fit (or hold more): one change at a time, each computed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from knowledge.catalog import Catalog
from knowledge.errors import AdvisorError
from tools.contracts.memory import FitOption
from tools.memory.formats import format_of, kv_format
from tools.memory.plan import MemoryPlan, plan_memory
from tools.memory.request import Resolved
from tools.memory.weights import Plan

_UNKNOWN_CARD = 9.0  # a memory class alone: any format is offered
_FP8_STORED = 8.0  # compute capabilities from which formats run, as the table of precisions has them
_INT8_COMPUTED = 7.5  # and AWQ
_GPTQ = 7.0
FEWEST_SEQUENCES = 16  # no server of ours is started for fewer sequences at once

HIGHEST_UTILIZATION = 0.95  # of the card: what people start an engine with when its default is short


def compute(resolved: Resolved) -> MemoryPlan:
    """The plan of a resolved request."""
    return plan_memory(
        resolved.model,
        resolved.weights,
        resolved.engine,
        resolved.plan,
        resolved.load,
        resolved.kv,
        resolved.card,
    )


def fit_options(resolved: Resolved, base: MemoryPlan, catalog: Catalog) -> tuple[FitOption, ...]:
    """Changes that were computed for a request that does not fit; those that fit come first."""
    if resolved.card is None or base.fits:
        return ()
    options = []
    for change, field, value, changed in _changes(resolved, base, catalog):
        try:
            plan = compute(changed)
        except AdvisorError:
            continue
        options.append(
            FitOption(
                change=change,
                field=field,
                value=value,
                total_gib_per_gpu=plan.total,
                fits=bool(plan.fits),
            )
        )
    return tuple(sorted(options, key=lambda option: not option.fits))


def _changes(
    resolved: Resolved, base: MemoryPlan, catalog: Catalog
) -> Iterator[tuple[str, str, str | int | float, Resolved]]:
    load = resolved.load
    if base.max_concurrency and base.max_concurrency < load.concurrency:
        fewer = base.max_concurrency
        yield "lower_concurrency", "concurrency", fewer, _with(resolved, concurrency=fewer)
    context = _context_that_fits(resolved, base)
    if context:
        yield "lower_context", "context_tokens", context, _of_length(resolved, context)
    capability = (resolved.card.capability if resolved.card else None) or _UNKNOWN_CARD
    if resolved.kv.bits > 8 and capability >= _FP8_STORED:
        yield "kv_fp8", "kv_precision", "fp8", replace(resolved, kv=kv_format(catalog.kv_precision("fp8")))
    if resolved.engine.preallocates and base.utilization < HIGHEST_UTILIZATION:
        share = HIGHEST_UTILIZATION
        yield "higher_utilization", "gpu_memory_utilization", share, _with(resolved, utilization=share)
    seqs = max(FEWEST_SEQUENCES, load.concurrency)
    if resolved.engine.preallocates and base.sequences > seqs:
        yield "lower_max_num_seqs", "max_num_seqs", seqs, _with(resolved, max_num_seqs=seqs)
    for name, code in _narrower(capability):
        if resolved.weights.bits > (8.5 if code == "weights_8bit" else 5):
            weights = format_of(catalog.precision(name), resolved.model)
            yield code, "weight_precision", name, replace(resolved, weights=weights)
    yield from _more_gpus(resolved)


def _narrower(capability: float) -> Iterator[tuple[str, str]]:
    """The formats of 8 and 4 bits that a card of this compute capability runs."""
    if capability >= _INT8_COMPUTED:
        yield ("fp8" if capability >= _FP8_STORED else "int8"), "weights_8bit"
        yield "awq-int4", "weights_4bit"
    elif capability >= _GPTQ:
        yield "gptq-int4", "weights_4bit"


def _more_gpus(resolved: Resolved) -> Iterator[tuple[str, str, str | int | float, Resolved]]:
    """The next power-of-two counts up to 64 GPUs; the first that fits ends the walk."""
    plan = resolved.plan
    for _ in range(6):
        if plan.gpus >= 64:
            return
        wider = resolved.engine.layer_split
        plan = (
            Plan(plan.tensor, plan.pipeline * 2, plan.expert)
            if wider or plan.tensor >= 8
            else Plan(plan.tensor * 2, plan.pipeline, plan.expert)
        )
        changed = replace(resolved, plan=plan, gpu_count=plan.gpus)
        if compute(changed).fits:
            yield "more_gpus", "gpu_count", plan.gpus, changed
            return


def _with(resolved: Resolved, **changes: int | float) -> Resolved:
    return replace(resolved, load=replace(resolved.load, **changes))  # type: ignore[arg-type]


def _of_length(resolved: Resolved, tokens: int) -> Resolved:
    """The request with no sequence, asked for or allowed, longer than `tokens`."""
    load = resolved.load
    longest = None if load.max_model_len is None else min(load.max_model_len, tokens)
    context = min(load.context_tokens, tokens)
    return replace(resolved, load=replace(load, context_tokens=context, max_model_len=longest))


def _context_that_fits(resolved: Resolved, base: MemoryPlan) -> int | None:
    """The longest context, in steps of 256 tokens, that fits at the asked concurrency."""
    longest = max(resolved.load.context_tokens, resolved.load.max_model_len or 0)
    if base.pool is None or base.pool <= 0 or longest <= 256:
        return None
    low, high = 0, longest // 256
    while low < high:
        middle = (low + high + 1) // 2
        if compute(_of_length(resolved, 256 * middle)).fits:
            low = middle
        else:
            high = middle - 1
    return 256 * low or None
