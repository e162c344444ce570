"""What engine flags change: the KV pool and the tokens it holds, one flag at a time."""

from __future__ import annotations

from dataclasses import replace

from knowledge.catalog import Catalog
from tools.contracts.compare import FlagEffect
from tools.contracts.memory import MemoryRequest
from tools.memory.formats import kv_format
from tools.memory.limits import compute
from tools.memory.plan import MemoryPlan
from tools.memory.request import DEFAULT_LORA_RANK, Resolved, resolve
from tools.notes import Notes


def flag_effects(request: MemoryRequest, catalog: Catalog) -> tuple[FlagEffect, ...]:
    """The effect of each flag on a pre-allocating engine with a known card; nothing for others."""
    resolved = resolve(request, catalog, Notes())
    base = compute(resolved)
    if base.pool is None or not resolved.engine.preallocates:
        return ()
    return tuple(
        _effect(flag, value, compute(changed), base)
        for flag, value, changed in _variants(resolved, base, catalog)
    )


def _variants(
    resolved: Resolved, base: MemoryPlan, catalog: Catalog
) -> list[tuple[str, str | int | float | bool, Resolved]]:
    load = resolved.load
    seqs, tokens = max(1, base.sequences // 2), max(256, base.batched_tokens // 2)
    share = 0.95 if base.utilization < 0.95 else 0.85
    context = max(256, load.context_tokens // 2)
    loras = load.max_loras * 2 if load.lora_rank else 4
    adapted = replace(load, lora_rank=load.lora_rank or DEFAULT_LORA_RANK, max_loras=loras)
    # Swap space is host memory: the row says that it buys no token on the card.
    swap = [("swap_space", 8, resolved)] if resolved.engine.name == "vllm" else []
    return [
        ("max_num_seqs", seqs, replace(resolved, load=replace(load, max_num_seqs=seqs))),
        ("max_num_batched_tokens", tokens, replace(resolved, load=replace(load, max_batched_tokens=tokens))),
        ("max_model_len", context, replace(resolved, load=replace(load, context_tokens=context))),
        ("gpu_memory_utilization", share, replace(resolved, load=replace(load, utilization=share))),
        ("kv_cache_dtype", "fp8", replace(resolved, kv=kv_format(catalog.kv_precision("fp8")))),
        ("enforce_eager", not load.eager, replace(resolved, load=replace(load, eager=not load.eager))),
        ("max_loras", loras, replace(resolved, load=adapted)),
        *swap,
    ]


def _effect(flag: str, value: str | int | float | bool, plan: MemoryPlan, base: MemoryPlan) -> FlagEffect:
    before, after = base.capacity_tokens, plan.capacity_tokens
    return FlagEffect(
        flag=flag,
        value=value,
        kv_pool_gib_per_gpu=plan.pool or 0.0,
        kv_pool_change_gib=(plan.pool or 0.0) - (base.pool or 0.0),
        kv_capacity_tokens=after,
        kv_capacity_change=None if after is None or before is None else after - before,
        total_gib_per_gpu=plan.total,
    )
