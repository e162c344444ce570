"""What of a model decides its speed: parameters by how often they are read, KV bytes, attention work."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from knowledge.errors import NotKnown
from knowledge.rows import TEXT_KINDS, Model
from tools.memory.request import generic_model
from tools.memory.shape import Shape
from tools.memory.shape import shape_of as memory_shape_of

# Work of the softmax of one pair in units of head width: narrow heads reach a lower share of the peak.
SOFTMAX_WIDTH = 64


@dataclass(frozen=True, slots=True)
class ModelShape:
    """A decoder as the speed model sees it. Parameters are plain counts, KV sizes are elements."""

    name: str
    layers: float  # blocks of attention (or another mixer) and feed-forward
    hidden: int
    heads: int
    kv_heads: int  # over which tensor parallelism can divide the cache; 1 for latent attention
    dense_params: float  # read by every token: attention, dense FFN, shared experts, norms
    head_params: float  # output projection, computed for sampled tokens only
    embed_params: float  # input table where it is stored apart from the head; looked up, not read
    moe_layers: int
    experts: int
    top_k: int
    expert_params: float  # one expert of one layer
    kv_elements_per_token: float  # in layers whose cache grows with the context
    window_elements: float  # of one sequence whose windows are full
    window_tokens: int
    state_bytes: float  # recurrent state of one sequence
    attention_flops: float  # per pair of query and key position, all full-attention layers, prefill
    window_flops: float  # the same of sliding layers, whose pairs end at the window
    decode_attention_flops: float  # full layers in decode (latent attention works in its latent width)
    is_latent: bool  # latent attention (MLA)

    @property
    def total_params(self) -> float:
        routed = self.moe_layers * self.experts * self.expert_params
        return self.dense_params + self.head_params + self.embed_params + routed

    @property
    def active_params(self) -> float:
        """Parameters that one generated token is multiplied with, the output head included."""
        return self.prefill_params + self.head_params

    @property
    def prefill_params(self) -> float:
        """Parameters that one prompt token is multiplied with (no output head)."""
        return self.dense_params + self.moe_layers * self.top_k * self.expert_params

    def experts_hit(self, tokens: float) -> float:
        """Expected number of distinct experts of a layer that `tokens` tokens route to (uniform routing)."""
        if self.experts == 0:
            return 0.0
        missed: float = (1.0 - self.top_k / self.experts) ** tokens
        return self.experts * (1.0 - missed)


@lru_cache(maxsize=2048)
def shape_of(model: Model) -> ModelShape:
    """The shape of a catalog row; `NotKnown` for a kind without token generation or a missing size."""
    if model.kind not in TEXT_KINDS:
        raise NotKnown(
            "model", model.model_id, f"{model.display_name} generates no text tokens ({model.kind})"
        )
    if not model.num_layers or not model.hidden_size:
        raise NotKnown(
            "model", model.model_id, f"the layer count and width of {model.display_name} are not known"
        )
    parts = memory_shape_of(model)
    layers = model.num_layers
    head_dim = parts.head_dim or parts.hidden // parts.query_heads
    mixers = parts.attention_layers + (model.linear_layers or 0)
    # A hybrid may count mixers and feed-forward blocks as layers of their own (Nemotron, Jamba).
    apart = bool(model.linear_layers) and mixers < layers
    moe_layers = layers - mixers if apart else layers - (model.dense_layers or 0)
    sliding = model.sliding_layers or 0
    full = parts.attention_layers - sliding
    expert, routed = _expert(model, parts, moe_layers)
    prefill_width, decode_width = 2 * head_dim + SOFTMAX_WIDTH, 2 * head_dim
    if parts.is_latent:
        rope, rank = model.qk_rope_head_dim or 64, model.kv_lora_rank or 512
        prefill_width = (model.qk_nope_head_dim or 128) + rope + (model.v_head_dim or 128) + SOFTMAX_WIDTH
        decode_width = 2 * rank + rope
    kv_bytes = model.kv_bytes_per_token_bf16
    if kv_bytes is None:
        kv_bytes = 4.0 * full * parts.kv_heads * head_dim
    decoder = parts.total - parts.embedding - parts.head - parts.tower
    return ModelShape(
        name=model.model_id,
        layers=layers / 2 if apart else layers,
        hidden=parts.hidden,
        heads=parts.query_heads,
        kv_heads=1 if parts.is_latent else max(1, parts.kv_heads),
        dense_params=max(decoder - routed, 0.02 * decoder),
        head_params=parts.head or parts.embedding,
        embed_params=parts.embedding if parts.head else 0.0,
        moe_layers=moe_layers if expert else 0,
        experts=parts.num_experts if expert else 0,
        top_k=parts.experts_per_token if expert else 0,
        expert_params=expert,
        kv_elements_per_token=kv_bytes / 2,
        window_elements=(model.kv_window_bytes_per_seq_bf16 or 0.0) / 2,
        window_tokens=model.sliding_window or 0,
        state_bytes=model.linear_state_bytes_per_seq_fp32 or 0.0,
        attention_flops=2.0 * parts.query_heads * prefill_width * full,
        window_flops=2.0 * parts.query_heads * prefill_width * sliding,
        decode_attention_flops=2.0 * parts.query_heads * decode_width * full,
        is_latent=parts.is_latent,
    )


def _expert(model: Model, parts: Shape, moe_layers: int) -> tuple[float, float]:
    """(parameters of one expert of one layer, of all routed experts); zeros for a dense model.

    Where the expert width is not published, the active count decides:
    total - active = layers x (experts - chosen) x one expert.
    """
    experts, chosen = parts.num_experts, parts.experts_per_token
    if not experts or not chosen or chosen >= experts or moe_layers < 1:
        return 0.0, 0.0
    routed = parts.experts
    active_b = model.computed_active_b or model.params_active_b
    if not routed and active_b:
        routed = (parts.total - active_b * 1e9) * experts / (experts - chosen)
    if not routed:
        raise NotKnown("model", model.model_id, f"the expert width of {model.display_name} is not known")
    return routed / (moe_layers * experts), routed


def generic_shape(params_b: float) -> ModelShape:
    """A dense decoder of `params_b` x 1e9 parameters, for models known by size alone."""
    return shape_of(generic_model(params_b))
