"""Bytes of weights: the whole model, and the heaviest GPU of a parallel plan."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from knowledge.rows import Model
from tools.memory.formats import WeightFormat
from tools.memory.shape import Shape, shape_of

GIB = float(2**30)
VOCAB_PADDING = 64  # vocabulary rows are padded to a multiple of this per rank (vLLM, Megatron)


@dataclass(frozen=True, slots=True)
class Plan:
    """How one replica is divided. `layer_split` puts whole layers on each GPU without pipelining."""

    tensor: int = 1
    pipeline: int = 1
    expert: int = 1

    @property
    def gpus(self) -> int:
        return self.tensor * self.pipeline


def weight_bytes(model: Model, weights: WeightFormat) -> float:
    """Bytes of all weights of the model in this format (section 1: covered tensors x bits, others 16 bit)."""
    return _total(shape_of(model), weights)


@lru_cache(maxsize=4096)
def _total(shape: Shape, weights: WeightFormat) -> float:
    return weight_bytes_per_gpu(shape, weights, Plan())


def weight_bytes_per_gpu(shape: Shape, weights: WeightFormat, plan: Plan) -> float:
    """Bytes of weights on the GPU of the plan that holds most.

    Tensor parallel divides projections by heads, feed-forward by width, embedding and head by vocabulary;
    norms, routers and latent down projections are copied; KV projections are copied where there are more
    ranks than KV heads (section 8 of the memory formulas). Pipeline stages hold whole layers; the first
    also the embedding, the last the head.
    """
    t = plan.tensor
    matrix, expert, other = _bytes_per_parameter(shape, weights)
    heads = -(-shape.query_heads // t) / shape.query_heads
    kv_share = 1 / min(t, shape.kv_heads) if shape.kv_heads else 1 / t
    expert_ranks = max(plan.expert, t)
    per_layer = (
        matrix * (shape.query_output * heads + shape.key_value * kv_share + shape.latent + shape.rest / t)
        + expert * shape.experts / expert_ranks
        + other * (shape.router + shape.small)
    )
    stage = per_layer * (-(-shape.layers // plan.pipeline) / shape.layers)
    table = _vocabulary_share(shape, t) * other if weights.scope != "file" else matrix / t
    ends = (shape.embedding, shape.head)
    ends_bytes = (sum(ends) if plan.pipeline == 1 else max(ends)) * table
    return stage + ends_bytes + other * shape.tower / t


def _bytes_per_parameter(shape: Shape, weights: WeightFormat) -> tuple[float, float, float]:
    """Bytes per parameter of decoder matrices, routed experts, and tensors that stay wide."""
    covered, wide = weights.bits / 8, weights.other_bits / 8
    if weights.scope in ("all", "file"):
        return covered, covered, covered
    if weights.scope == "experts" and shape.experts:
        return wide, covered, wide
    return covered, covered, wide


def _vocabulary_share(shape: Shape, t: int) -> float:
    if not shape.vocab or t == 1:
        return 1 / t
    rows = -(-shape.vocab // (VOCAB_PADDING * t)) * VOCAB_PADDING
    return rows / shape.vocab
