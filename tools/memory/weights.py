"""Bytes of weights: the whole model, and the heaviest GPU of a parallel plan."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from knowledge.rows import Model
from tools.memory.formats import WeightFormat
from tools.memory.shape import Shape, shape_of

GIB = float(2**30)
VOCAB_PADDING = 64  # vocabulary rows are padded to a multiple of this per rank (vLLM, Megatron)


MXFP4_EXPERT_MULTIPLE = 256  # vLLM pads the width of MXFP4 experts to this multiple per rank


@dataclass(frozen=True, slots=True)
class Plan:
    """How one replica is divided over GPUs."""

    tensor: int = 1
    pipeline: int = 1
    expert: int = 1

    @property
    def gpus(self) -> int:
        return self.tensor * self.pipeline


@dataclass(frozen=True, slots=True)
class Loading:
    """What an engine does to the published tensors when it loads them."""

    pads_mxfp4: bool = False
    copies_tied_fp8_head: bool = False  # keeps a 16-bit head beside the embedding of tied fp8 models
    copies_fused_qkv: bool = False  # keeps the fused q, k, v beside the originals
    host_embedding: bool = False  # the token embedding stays in host memory
    drops_tower: bool = False  # a GGUF file has no vision tower; it comes as a file of its own


AS_PUBLISHED = Loading()


def weight_bytes(model: Model, weights: WeightFormat) -> float:
    """Bytes of all weights of the model in this format (covered tensors x bits, others 16 bit)."""
    return _total(shape_of(model), weights)


@lru_cache(maxsize=4096)
def _total(shape: Shape, weights: WeightFormat) -> float:
    return weight_bytes_per_gpu(shape, weights, Plan())


def weight_bytes_per_gpu(
    shape: Shape, weights: WeightFormat, plan: Plan, loading: Loading = AS_PUBLISHED
) -> float:
    """Bytes of weights on the GPU of the plan that holds most.

    Tensor parallel divides projections by heads, feed-forward by width, embedding and head by vocabulary;
    norms, routers and latent down projections are copied; KV projections are copied where there are more
    ranks than KV heads (no engine divides a head). Pipeline stages hold whole layers; the first also the
    embedding, the last the head.
    """
    t = plan.tensor
    attention, expert, feed_forward, wide = _bytes_per_parameter(shape, weights)
    heads = -(-shape.query_heads // t) / shape.query_heads
    kv_share = 1 / min(t, shape.kv_heads) if shape.kv_heads else 1 / t
    qkv_copies = _fused_copy(shape) if loading.copies_fused_qkv else 0.0
    per_layer = (
        attention * (shape.query_output * heads + shape.key_value * kv_share + shape.latent + qkv_copies / t)
        + expert * shape.experts * _expert_share(shape, weights, plan, loading)
        + feed_forward * shape.rest / t
        + wide * (shape.router + shape.small)
    )
    stage = per_layer * (-(-shape.layers // plan.pipeline) / shape.layers)
    tower = 0.0 if loading.drops_tower and weights.scope == "file" else 2.0 * shape.tower / t
    return stage + _tables(shape, weights, plan, loading) + tower


def _tables(shape: Shape, weights: WeightFormat, plan: Plan, loading: Loading) -> float:
    """Embedding and head on the fullest stage; a tied model has one table, in the type of the head."""
    share = _vocabulary_share(shape, plan.tensor)
    embedding = shape.embedding * (weights.head_bits if shape.tied else weights.table_bits) / 8
    head = shape.head * weights.head_bits / 8
    if shape.tied and loading.copies_tied_fp8_head and weights.name.startswith("fp8"):
        head = shape.embedding * 2.0
    if loading.host_embedding:
        # a tied table is read on the GPU as the head and on the host as the embedding
        head, embedding = (embedding, 0.0) if shape.tied else (head, 0.0)
    if plan.pipeline > 1 and shape.tied:
        return max(embedding, head) * share
    return (embedding + head if plan.pipeline == 1 else max(embedding, head)) * share


def _bytes_per_parameter(shape: Shape, weights: WeightFormat) -> tuple[float, float, float, float]:
    """Bytes per parameter of attention, routed experts, feed-forward and the rest, and of what stays wide."""
    covered, wide = weights.bits / 8, weights.other_bits / 8
    if weights.scope == "experts" and shape.experts:
        return wide, covered, wide, wide
    if weights.scope == "feed_forward":
        inner = max(0.0, (shape.layers - 2) / shape.layers)
        return wide, covered, covered * inner + wide * (1 - inner), wide
    return covered, covered, covered, covered if weights.scope == "all" else wide


def _expert_share(shape: Shape, weights: WeightFormat, plan: Plan, loading: Loading) -> float:
    ranks = max(plan.expert, plan.tensor)
    if not (loading.pads_mxfp4 and weights.name == "mxfp4" and shape.expert_ffn) or plan.expert > 1:
        return 1 / ranks
    width = -(-shape.expert_ffn // ranks)
    padded = -(-width // MXFP4_EXPERT_MULTIPLE) * MXFP4_EXPERT_MULTIPLE
    return padded / shape.expert_ffn


def _fused_copy(shape: Shape) -> float:
    """q, k and v once more: half of q and o, all of k and v."""
    return shape.query_output / 2 + shape.key_value


def _vocabulary_share(shape: Shape, t: int) -> float:
    if not shape.vocab or t == 1:
        return 1 / t
    rows = -(-shape.vocab // (VOCAB_PADDING * t)) * VOCAB_PADDING
    return rows / shape.vocab
