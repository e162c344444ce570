"""What of a model decides its speed: parameters by how often they are read, KV bytes, attention work."""

from __future__ import annotations

from dataclasses import dataclass

from knowledge.errors import NotKnown
from knowledge.rows import Model

_TEXT_KINDS = ("llm", "moe-llm", "vlm")


@dataclass(frozen=True, slots=True)
class ModelShape:
    """A decoder as the speed model sees it. Parameters are plain counts, KV sizes are elements."""

    name: str
    layers: int
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
    decode_attention_flops: float  # the same in decode (latent attention works in its latent width)
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


def shape_of(model: Model) -> ModelShape:
    """The shape of a catalog row; `NotKnown` for a kind without token generation or a missing size."""
    if model.kind not in _TEXT_KINDS:
        raise NotKnown(
            "model", model.model_id, f"{model.display_name} generates no text tokens ({model.kind})"
        )
    total = model.params_total_b or model.computed_params_b
    layers, hidden, vocab = model.num_layers, model.hidden_size, model.vocab_size
    if not total or not layers or not hidden:
        raise NotKnown(
            "model", model.model_id, f"the layer count, width or size of {model.display_name} is not known"
        )
    heads = model.num_attention_heads or max(1, hidden // 128)
    head_dim = model.head_dim or hidden // heads
    kv_heads = model.num_kv_heads or heads
    table = float((vocab or 0) * hidden)
    tied = bool(model.tie_word_embeddings)
    moe_layers, experts, top_k, expert = _experts(model, total, layers, hidden)
    stored_tables = table if tied else 2 * table
    dense = max(total * 1e9 - stored_tables - moe_layers * experts * expert, 0.02 * total * 1e9)
    full_layers = layers if model.full_attention_layers is None else model.full_attention_layers
    latent = model.attention == "mla"
    kv_bytes = model.kv_bytes_per_token_bf16
    if kv_bytes is None:
        kv_bytes = 4.0 * full_layers * kv_heads * head_dim
    prefill_width, decode_width = 2 * head_dim, 2 * head_dim
    if latent:
        rope = model.qk_rope_head_dim or 64
        rank = model.kv_lora_rank or 512
        prefill_width = (model.qk_nope_head_dim or 128) + rope + (model.v_head_dim or 128)
        decode_width = 2 * rank + rope
    return ModelShape(
        name=model.model_id,
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=1 if latent else kv_heads,
        dense_params=dense,
        head_params=table,
        embed_params=0.0 if tied else table,
        moe_layers=moe_layers,
        experts=experts,
        top_k=top_k,
        expert_params=expert,
        kv_elements_per_token=kv_bytes / 2,
        window_elements=(model.kv_window_bytes_per_seq_bf16 or 0.0) / 2,
        window_tokens=model.sliding_window or 0,
        state_bytes=model.linear_state_bytes_per_seq_fp32 or 0.0,
        attention_flops=2.0 * heads * prefill_width * full_layers,
        decode_attention_flops=2.0 * heads * decode_width * full_layers,
        is_latent=latent,
    )


def _experts(model: Model, total_b: float, layers: int, hidden: int) -> tuple[int, int, int, float]:
    """MoE layers, experts per layer, experts per token, parameters of one expert; zeros for a dense model.

    The published active count, where there is one, decides the parameters of an expert (layers of a hybrid
    model are not all MoE layers): total - active = layers x (experts - chosen) x one expert.
    """
    experts, chosen = model.num_experts or 0, model.experts_per_token or 0
    if experts == 0 or chosen == 0 or chosen >= experts:
        return 0, 0, 0, 0.0
    moe_layers = layers - (model.dense_layers or 0)
    active_b = model.computed_active_b or model.params_active_b
    if active_b:
        return moe_layers, experts, chosen, (total_b - active_b) * 1e9 / (moe_layers * (experts - chosen))
    width = model.moe_intermediate_size or model.intermediate_size
    if not width:
        raise NotKnown("model", model.model_id, f"the expert width of {model.display_name} is not known")
    expert = min(3.0 * hidden * width, 0.98 * total_b * 1e9 / (moe_layers * experts))
    return moe_layers, experts, chosen, expert


def generic_shape(params_b: float) -> ModelShape:
    """A dense decoder of `params_b` x 1e9 parameters with grouped heads, for models known by size alone.

    Depth and width follow the Llama and Qwen line: 7-8B has 32 layers, 32B 64, 70B 80, and
    parameters = 12.5 x layers x hidden^2.
    """
    body = params_b * 1e9 * (0.98 if params_b > 20 else 0.9)
    layers = max(8, round(32 * (params_b / 7.5) ** 0.42))
    hidden = max(128, 128 * round((body / (12.5 * layers)) ** 0.5 / 128))
    heads = hidden // 128
    kv_heads = min(8, heads)
    table = min(128_000.0 * hidden, 0.05 * params_b * 1e9)
    return ModelShape(
        name=f"{params_b:g}B dense model",
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=kv_heads,
        dense_params=params_b * 1e9 - 2 * table,
        head_params=table,
        embed_params=table,
        moe_layers=0,
        experts=0,
        top_k=0,
        expert_params=0.0,
        kv_elements_per_token=2.0 * layers * kv_heads * 128,
        window_elements=0.0,
        window_tokens=0,
        state_bytes=0.0,
        attention_flops=4.0 * heads * 128 * layers,
        decode_attention_flops=4.0 * heads * 128 * layers,
        is_latent=False,
    )
