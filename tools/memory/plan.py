"""The core: memory of one model under one plan on one engine, as plain floats, for callers in hot loops."""

from __future__ import annotations

import math
from dataclasses import dataclass

from knowledge.rows import Model
from tools.memory.card import Card
from tools.memory.engines import CUDA_CONTEXT_GIB, Engine
from tools.memory.formats import BF16_KV, KvFormat, WeightFormat
from tools.memory.kv import kv_layout
from tools.memory.shape import shape_of
from tools.memory.weights import GIB, Plan, weight_bytes_per_gpu

TIGHT_SHARE = 0.05  # "tight" is a margin below this share of the usable memory


@dataclass(frozen=True, slots=True)
class Load:
    """What the engine is asked to hold, and its start-up limits (None: the engine's defaults)."""

    context_tokens: int = 4096
    concurrency: int = 1
    max_model_len: int | None = None
    max_num_seqs: int | None = None
    max_batched_tokens: int | None = None
    utilization: float | None = None
    eager: bool = False


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """Parts of the fullest GPU in GiB. The four parts sum to `total`; pool figures need a card."""

    weights: float
    kv: float
    activation: float
    overhead: float
    usable: float | None
    pool: float | None  # KV pool per GPU
    capacity_tokens: int | None  # tokens of `context_tokens`-long sequences the pool holds, one replica
    max_concurrency: int | None
    margin: float | None
    sequences: int
    batched_tokens: int
    utilization: float

    @property
    def total(self) -> float:
        return self.weights + self.kv + self.activation + self.overhead

    @property
    def fits(self) -> bool | None:
        return None if self.margin is None else self.margin >= 0

    @property
    def tight(self) -> bool:
        return bool(self.fits) and (self.margin or 0.0) < TIGHT_SHARE * (self.usable or 0.0)


def plan_memory(
    model: Model,
    weights: WeightFormat,
    engine: Engine,
    plan: Plan,
    load: Load,
    kv: KvFormat = BF16_KV,
    card: Card | None = None,
) -> MemoryPlan:
    """Memory per GPU of one replica. Raises `NotKnown` where the catalog lacks the model's layout."""
    shape = shape_of(model)
    layout = kv_layout(model, kv)
    sequences = load.max_num_seqs or max(engine.default_sequences(card), 1)
    tokens = load.max_batched_tokens or engine.default_batched_tokens(card)
    share = layout.share(plan.tensor, plan.pipeline)
    per_sequence = layout.per_sequence(load.context_tokens, engine.keeps_windows) * share
    weight_gib = weight_bytes_per_gpu(shape, weights, plan) / GIB
    if engine.host_embedding:
        weight_gib -= shape.embedding * weights.bits / 8 / plan.tensor / GIB
    activation = engine.activation_gib(shape, sequences, tokens, plan.tensor)
    graphs = engine.graphs_gib(load.eager)
    overhead = engine.overhead_gib(plan.tensor) + graphs
    kv_gib = per_sequence * load.concurrency / GIB
    utilization = load.utilization or engine.utilization
    if card is None:
        return MemoryPlan(weight_gib, kv_gib, activation, overhead, None, None, None, None, None,
                          sequences, tokens, utilization)  # fmt: skip
    pool = _pool(engine, card, utilization, weight_gib, activation, overhead, graphs)
    held = max(pool, 0.0) * GIB / per_sequence if per_sequence > 0 else math.inf
    concurrency = min(int(held), 10_000_000)
    capacity = min(int(held * load.context_tokens), 10**15) if per_sequence > 0 else None
    return MemoryPlan(
        weights=weight_gib,
        kv=kv_gib,
        activation=activation,
        overhead=overhead,
        usable=card.usable,
        pool=pool,
        capacity_tokens=capacity,
        max_concurrency=concurrency,
        margin=pool - kv_gib,
        sequences=sequences,
        batched_tokens=tokens,
        utilization=utilization,
    )


def _pool(
    engine: Engine,
    card: Card,
    utilization: float,
    weight_gib: float,
    activation: float,
    overhead: float,
    graphs: float,
) -> float:
    """What is left for the KV cache: the engine's share of the card less everything else (section 2 of the
    measurement notes; holds to 0.1 GiB in every vLLM log that prints all parts)."""
    if not engine.preallocates:
        return card.usable - CUDA_CONTEXT_GIB - weight_gib - activation - overhead
    inside = overhead if engine.graphs_inside_share() else overhead - graphs
    in_share = utilization * card.usable - weight_gib - activation - inside
    in_card = card.usable - CUDA_CONTEXT_GIB - weight_gib - activation - overhead
    return min(in_share, in_card)
