"""The core: memory of one model under one plan on one engine, as plain floats, for callers in hot loops."""

from __future__ import annotations

from dataclasses import dataclass

from knowledge.rows import Model
from tools.memory.activation import Work, activation_gib, passing_peak_gib
from tools.memory.card import Card
from tools.memory.engines import CUDA_CONTEXT_GIB, Engine
from tools.memory.formats import BF16_KV, SIXTEEN_BIT, KvFormat, WeightFormat
from tools.memory.kv import expanded_layout, kv_layout
from tools.memory.lora import lora_slots_gib
from tools.memory.shape import shape_of
from tools.memory.weights import GIB, Plan, weight_bytes_per_gpu

UNBOUNDED = 10_000_000  # sequences of a model that keeps no cache
# Lost to rounding by allocators (2 MiB blocks, 20 MiB segments) and by blocks of the pool; a plan with less
# to spare does not fit.
ROUNDING_SHARE, POOL_ROUNDING_SHARE = 0.01, 0.0025
TIGHT_SHARE = 0.05  # "tight" is a margin below this share of the usable memory


@dataclass(frozen=True, slots=True)
class Load:
    """What the engine is asked to hold, and its start-up limits (None: the engine's defaults)."""

    context_tokens: int = 4096
    concurrency: int = 1
    output_tokens: int = 0  # of the context; the rest is prompt
    max_model_len: int | None = None
    max_num_seqs: int | None = None
    max_batched_tokens: int | None = None
    utilization: float | None = None
    eager: bool = False
    lora_rank: int = 0  # of the adapters that may be served; 0 for none
    max_loras: int = 1


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
    passing_peak: float  # needed for moments, beside the total
    loading: float  # 16-bit weights of a format that is made at start; 0 for files loaded as they are
    device: float  # what nvidia-smi shows of the process once it serves this load
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
    layout = kv_layout(model, kv) if engine.keeps_latents else expanded_layout(model, kv)
    work = _work(engine, plan, load, card)
    heads = layout.share(plan.tensor, plan.pipeline)
    per_sequence = layout.per_sequence(load.context_tokens, engine.keeps_windows) * heads
    longest = layout.per_sequence(load.max_model_len or 0, engine.keeps_windows) * heads / GIB
    slots = lora_slots_gib(shape, load.lora_rank, load.max_loras, plan)
    parts = _Parts(
        weights=weight_bytes_per_gpu(shape, weights, plan, engine.loading) / GIB + slots,
        activation=activation_gib(engine, shape, weights, work),
        libraries=engine.libraries_gib(plan.tensor, card),
        graphs=engine.graphs_gib(load.eager),
        graphs_in_share=engine.graphs_in_share_gib(load.eager),
    )
    kv_gib = per_sequence * load.concurrency / GIB
    share = load.utilization or engine.default_share(card, plan.gpus)
    passing = passing_peak_gib(engine, shape, work, kv_gib)
    loading = 0.0
    if weights.made_at_start and engine.preallocates:
        loading = weight_bytes_per_gpu(shape, SIXTEEN_BIT, plan, engine.loading) / GIB
    pool = margin = concurrency = capacity = None
    if card is not None:
        pool = _pool(engine, card, share, parts)
        # A pool of fixed size lies there whole, needed or not.
        idle = max(0.0, pool - kv_gib) if engine.allocation == "fixed" else 0.0
        room = _room(card, pool, parts.sum + passing + idle)
        start = pool - longest if engine.holds_full_length else room
        margin = min(room - kv_gib, start, card.usable - CUDA_CONTEXT_GIB - loading)
        if per_sequence > 0:
            capacity = int(max(pool, 0.0) * GIB / per_sequence * load.context_tokens)
        concurrency = _sequences(room, per_sequence)
    return MemoryPlan(
        weights=parts.weights,
        kv=kv_gib,
        activation=parts.activation,
        overhead=parts.libraries + parts.graphs,
        usable=card.usable if card else None,
        pool=pool,
        capacity_tokens=capacity,
        max_concurrency=concurrency,
        margin=margin,
        passing_peak=passing,
        loading=loading,
        device=CUDA_CONTEXT_GIB + parts.sum + passing + _held(engine, kv_gib, pool),
        sequences=work.sequences,
        batched_tokens=work.tokens,
        utilization=share,
    )


def _work(engine: Engine, plan: Plan, load: Load, card: Card | None) -> Work:
    """What one step prepares for, with the engine's defaults on this card."""
    return Work(
        sequences=load.max_num_seqs or engine.default_sequences(card),
        tokens=load.max_batched_tokens or engine.default_batched_tokens(card),
        context=load.context_tokens,
        concurrency=load.concurrency,
        prompt=max(1, load.context_tokens - load.output_tokens),
        tensor=plan.tensor,
    )


def _room(card: Card, pool: float, taken: float) -> float:
    """What the cache may fill: the pool, and what the card has beside everything `taken`, both less what
    rounding loses; GiB."""
    beside = card.usable - CUDA_CONTEXT_GIB - taken
    return min(pool - POOL_ROUNDING_SHARE * card.usable, beside - ROUNDING_SHARE * card.usable)


def _held(engine: Engine, kv_gib: float, pool: float | None) -> float:
    """The cache as the card shows it: of a server the whole pool, used or not."""
    return max(kv_gib, pool) if engine.preallocates and pool is not None else kv_gib


def _sequences(room: float, per_sequence: float) -> int:
    """How many sequences of `per_sequence` bytes the room holds."""
    if per_sequence <= 0:
        return UNBOUNDED
    return min(UNBOUNDED, int(max(room, 0.0) * GIB / per_sequence + 1e-9))


@dataclass(frozen=True, slots=True)
class _Parts:
    """Everything beside the KV cache, GiB per GPU."""

    weights: float
    activation: float
    libraries: float
    graphs: float
    graphs_in_share: float

    @property
    def sum(self) -> float:
        return self.weights + self.activation + self.libraries + self.graphs


def _pool(engine: Engine, card: Card, share: float, parts: _Parts) -> float:
    """What the engine gives to the KV cache, GiB. For vLLM share x visible - weights - activation - libraries
    (it prints these parts at its start; the sum holds to 0.1 GiB in the public logs that print them all)."""
    free = card.usable - CUDA_CONTEXT_GIB
    if engine.allocation == "demand":
        return free - parts.sum
    if engine.allocation == "static":
        return share * (free - parts.libraries) - parts.weights
    if engine.allocation == "fixed":
        return share * card.usable
    if engine.allocation == "rest":
        return share * (free - parts.sum)
    return share * card.usable - (parts.sum - parts.graphs + parts.graphs_in_share)
