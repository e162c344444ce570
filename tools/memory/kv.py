"""The KV cache: bytes that grow with every token, and bytes per sequence that stop growing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from knowledge.errors import NotKnown
from knowledge.rows import TEXT_KINDS, Model
from tools.memory.formats import BF16_KV, KvFormat
from tools.memory.shape import Shape, shape_of

# FlashMLA's fp8 cache: 512 fp8 + 16 scale + 128 bf16 RoPE bytes for the 576 values of DeepSeek's latent.
_LATENT_FP8_BYTES = 656 / 1152


@dataclass(frozen=True, slots=True, eq=False)
class KvLayout:
    """KV bytes of one model in one format, whole model, one copy.

    `per_token` grows for ever, `window` bytes per token grow up to `window_tokens` of context, `state`
    is fixed per sequence (recurrent layers).
    """

    per_token: float
    window_per_token: float
    window_tokens: int
    state: float
    is_latent: bool
    kv_heads: int
    layers: int
    is_bound: bool = False  # the exact layout is not known: every layer counted as full attention

    def per_sequence(self, tokens: float, keep_windows: bool = True) -> float:
        """Bytes of one sequence of `tokens`; `keep_windows` False where an engine stores full length."""
        windowed = min(tokens, self.window_tokens) if keep_windows else tokens
        return self.per_token * tokens + self.window_per_token * windowed + self.state

    def fixed(self) -> float:
        """Bytes per sequence that no longer grow once the window is full."""
        return self.window_per_token * self.window_tokens + self.state

    def share(self, tensor: int, pipeline: int) -> float:
        """The part of the cache on one GPU: KV heads divide up to their number, a latent not at all."""
        heads = 1.0 if self.is_latent else -(-self.kv_heads // tensor) / max(self.kv_heads, 1)
        return heads * (-(-self.layers // pipeline) / self.layers)


def kv_bytes_per_token(model: Model, kv: KvFormat = BF16_KV) -> float:
    """Growing KV bytes of one token over the whole model (no copies of tensor parallel)."""
    return kv_layout(model, kv).per_token


@lru_cache(maxsize=4096)
def kv_layout(model: Model, kv: KvFormat = BF16_KV) -> KvLayout:
    """The KV layout of a model; where the catalog does not state it, the bound of full attention in every
    layer; `NotKnown` without layers and heads.

    The 16-bit columns of the catalog carry each attention kind exactly: keys and values of every KV head
    (grouped-query attention, arXiv:2305.13245), or one latent and its rotary part (DeepSeek-V2,
    arXiv:2405.04434). Other formats scale them, with their scales per head.
    """
    shape = shape_of(model)
    per_token, is_bound = model.kv_bytes_per_token_bf16, False
    if per_token is None:
        per_token, is_bound = _bound(model), True
    factor = _factor(shape, kv)
    window = model.sliding_window or 0
    window_total = model.kv_window_bytes_per_seq_bf16 or 0.0
    return KvLayout(
        per_token=per_token * factor,
        window_per_token=window_total * factor / window if window else 0.0,
        window_tokens=window,
        state=model.linear_state_bytes_per_seq_fp32 or 0.0,
        is_latent=shape.is_latent,
        kv_heads=max(shape.kv_heads, 1),
        layers=shape.layers,
        is_bound=is_bound,
    )


def _bound(model: Model) -> float:
    """16-bit bytes per token if every layer held full attention; encoders keep no cache."""
    if model.kind in ("embedding", "reranker"):
        return 0.0
    if model.kind not in TEXT_KINDS or not (model.num_layers and model.num_kv_heads and model.head_dim):
        raise NotKnown("model", model.model_id, f"the KV cache layout of {model.model_id} is not known")
    return 4.0 * model.num_layers * model.num_kv_heads * model.head_dim


@lru_cache(maxsize=512)
def expanded_layout(model: Model, kv: KvFormat = BF16_KV) -> KvLayout:
    """The cache of an engine that knows no latent attention: keys and values of every head at key width
    (vLLM before 0.7 with DeepSeek models)."""
    shape, latent = shape_of(model), kv_layout(model, kv)
    if model.attention != "mla":
        return latent
    width = (model.qk_nope_head_dim or 0) + (model.qk_rope_head_dim or 0)
    per_token = 2.0 * shape.layers * shape.query_heads * width * 2.0 * _factor(shape, kv)
    return replace(latent, per_token=per_token, is_latent=False, kv_heads=shape.query_heads)


def _factor(shape: Shape, kv: KvFormat) -> float:
    """Bytes in this format over bytes in 16 bit."""
    if kv.name == "mla-fp8" and shape.is_latent:
        return _LATENT_FP8_BYTES
    width = shape.head_dim or 128
    return kv.bits / 16 + kv.scale_bytes / (2 * width)
