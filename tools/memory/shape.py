"""A model's parameters split by what happens to them: divided, copied, quantized or kept in 16 bit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from knowledge.errors import NotKnown
from knowledge.rows import Model

MAX_TOWER_SHARE = 0.4  # of what lies beside embedding and head; more is a decoder of another form


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """Parameter counts of one model by part, and the widths that memory formulas need.

    The parts sum to the published total: what the known layouts do not explain stands in `rest` (norms
    aside, all of it matrices of the decoder) or, for models with a second tower, in `tower`.
    """

    name: str
    total: float
    embedding: float
    head: float  # 0 where the head is the embedding (tied)
    query_output: float  # q and o projections, split over query heads
    key_value: float  # k and v projections, split over KV heads
    latent: float  # down projections of latent attention, copied on every tensor-parallel rank
    experts: float  # routed experts
    router: float
    rest: float  # dense and shared feed-forward, linear-attention mixers, everything else in the decoder
    tower: float  # vision or audio encoder and projector
    small: float  # norms and biases, copied on every rank
    image_patches: int  # of the largest image; 0 where it is not known
    tower_width: int
    audio_frames: int  # of the longest audio; 0 without

    layers: int
    attention_layers: int
    hidden: int
    vocab: int
    max_positions: int
    query_heads: int
    kv_heads: int
    head_dim: int
    ffn: int  # widest feed-forward that a token passes in one layer, experts of one token together
    expert_ffn: int  # width of one routed expert
    num_experts: int
    experts_per_token: int
    is_latent: bool
    latent_key: int  # widths of one head of latent attention: key from the latent, rotary key, value
    rotary_key: int
    latent_value: int
    tied: bool
    predicts_tokens: bool  # has an output head, tied or not
    known_layout: bool  # False: only the total is known, every split is an estimate

    @property
    def decoder_matrices(self) -> float:
        """Parameters of the matrices that a weight format covers."""
        return self.query_output + self.key_value + self.latent + self.experts + self.rest


@lru_cache(maxsize=2048)
def shape_of(model: Model) -> Shape:
    """The parts of a catalog model; `NotKnown` where not even the parameter count is known.

    Attention counts by heads (arXiv:1706.03762) or latent ranks (arXiv:2405.04434), a gated feed-forward
    3 h I (arXiv:2002.05202), so does each expert. The published total decides, so an unknown layout costs no
    parameters.
    """
    if not model.params_total_b:
        raise NotKnown("model", model.model_id, f"the parameter count of {model.model_id} is not known")
    hidden, layers, vocab = model.hidden_size or 0, model.num_layers or 0, model.vocab_size or 0
    heads = model.num_attention_heads or model.num_kv_heads or 1
    has_head = model.kind not in ("embedding", "reranker")
    tied = bool(model.tie_word_embeddings) or not has_head
    return Shape(
        name=model.model_id,
        total=model.params_total_b * 1e9,
        **_parts(model, model.params_total_b * 1e9, tied)._asdict(),
        image_patches=model.image_patches or 0,
        tower_width=model.tower_width or 0,
        audio_frames=model.audio_frames or 0,
        layers=layers or 1,
        attention_layers=_attention_layers(model),
        hidden=hidden,
        vocab=vocab,
        max_positions=model.max_position_embeddings or 0,
        query_heads=heads,
        kv_heads=model.num_kv_heads or heads,
        head_dim=model.head_dim or 0,
        ffn=_ffn_width(model),
        expert_ffn=(model.moe_intermediate_size or 0) if model.num_experts else 0,
        num_experts=model.num_experts or 0,
        experts_per_token=model.experts_per_token or 0,
        is_latent=model.attention == "mla" or model.kv_lora_rank is not None,
        latent_key=model.qk_nope_head_dim or 0,
        rotary_key=model.qk_rope_head_dim or 0,
        latent_value=model.v_head_dim or 0,
        tied=tied,
        predicts_tokens=has_head,
        known_layout=bool(hidden and layers and vocab),
    )


class _Parts(NamedTuple):
    """Parameters of a model by part, as in `Shape`; together they make the total."""

    embedding: float
    head: float
    tower: float
    experts: float
    router: float
    small: float
    query_output: float
    key_value: float
    latent: float
    rest: float


def _parts(model: Model, total: float, tied: bool) -> _Parts:
    """Divides the published total: each part takes what its formula counts, at most what is left."""
    hidden, layers, left = model.hidden_size or 0, model.num_layers or 0, total
    table = float((model.vocab_size or 0) * hidden)
    embedding = min(table, left)
    head = 0.0 if tied else min(table, left - embedding)
    left -= embedding + head
    tower = _tower(model, left)
    left -= tower
    experts, router = _experts(model, left)
    left -= experts + router
    small = min(2.0 * hidden * layers + hidden, left)
    left -= small
    heads = model.num_attention_heads or model.num_kv_heads or 1
    attention = _attention(
        model, _attention_layers(model), heads, model.num_kv_heads or heads, model.head_dim or 0
    )
    scale = min(1.0, left / sum(attention)) if sum(attention) > 0 else 1.0
    query_output, key_value, latent = (part * scale for part in attention)
    rest = max(0.0, left - query_output - key_value - latent)
    return _Parts(embedding, head, tower, experts, router, small, query_output, key_value, latent, rest)


def _attention_layers(model: Model) -> int:
    """Layers that hold softmax attention: all of them unless the row counts full, sliding or linear ones."""
    if model.full_attention_layers is not None or model.sliding_layers is not None:
        return (model.full_attention_layers or 0) + (model.sliding_layers or 0)
    return model.num_layers or 0


def _tower(model: Model, left: float) -> float:
    """Parameters outside the decoder of a multimodal model: as the catalog states them, else what
    the decoder's formula (as in `shape_of`, gated feed-forward) leaves of the published total."""
    if model.kind not in ("vlm", "asr", "tts") or not (model.num_layers and model.hidden_size):
        return 0.0
    if model.tower_params_b is not None:
        return min(model.tower_params_b * 1e9, left)
    if model.num_experts or model.attention in ("mla", "hybrid") or not model.intermediate_size:
        return 0.0
    heads, layers = model.num_attention_heads or 1, _attention_layers(model)
    attention = sum(_attention(model, layers, heads, model.num_kv_heads or heads, model.head_dim or 0))
    decoder = attention + 3.0 * model.hidden_size * model.intermediate_size * model.num_layers
    return max(0.0, left - decoder) if left - decoder < MAX_TOWER_SHARE * left else 0.0


def _experts(model: Model, left: float) -> tuple[float, float]:
    """Routed experts and routers. Experts with a gate hold three matrices; where three exceed the published
    total they hold two (squared-ReLU experts of the Nemotron line)."""
    if not (model.num_experts and model.moe_intermediate_size and model.hidden_size and model.num_layers):
        return 0.0, 0.0
    mixers = (model.full_attention_layers or 0) + (model.sliding_layers or 0) + (model.linear_layers or 0)
    separate = model.linear_layers and mixers < model.num_layers  # layers are mixer or experts, not both
    layers = model.num_layers - mixers if separate else model.num_layers - (model.dense_layers or 0)
    one_matrix = float(model.num_experts * model.moe_intermediate_size * model.hidden_size * layers)
    matrices = 3 if 3 * one_matrix <= left else 2
    router = min(float(model.num_experts * model.hidden_size * layers), left)
    return max(0.0, min(matrices * one_matrix, left - router)), router


def _attention(
    model: Model, layers: int, heads: int, kv_heads: int, head_dim: int
) -> tuple[float, float, float]:
    """(q and o, k and v, latent down projections) over all attention layers."""
    hidden = model.hidden_size or 0
    if model.kv_lora_rank and model.attention != "gqa":
        rope, nope = model.qk_rope_head_dim or 0, model.qk_nope_head_dim or 0
        value = model.v_head_dim or head_dim
        query_rank = model.q_lora_rank or 0
        down = hidden * (model.kv_lora_rank + rope) + hidden * query_rank
        up_query = (query_rank or hidden) * heads * (nope + rope)
        up_value = model.kv_lora_rank * heads * (nope + value)
        out = heads * value * hidden
        return float((up_query + up_value + out) * layers), 0.0, float(down * layers)
    return (
        float(2 * hidden * heads * head_dim * layers),
        float(2 * hidden * kv_heads * head_dim * layers),
        0.0,
    )


def _ffn_width(model: Model) -> int:
    dense = model.intermediate_size or 4 * (model.hidden_size or 0)
    if not (model.num_experts and model.moe_intermediate_size):
        return dense
    per_token = (model.experts_per_token or 1) + (model.num_shared_experts or 0)
    return per_token * model.moe_intermediate_size
