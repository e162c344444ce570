"""Numbers of a config.json by meaning: the names under which architectures write them, types and bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping

from knowledge.errors import InputError

MAX_LAYERS, MAX_WIDTH, MAX_VOCABULARY, MAX_EXPERTS = 1000, 262_144, 4_000_000, 65_536
_ABSENT = object()

# The names under which architectures write the same quantity; the first that is present counts.
_NAMES: dict[str, tuple[str, ...]] = {
    "hidden": ("hidden_size", "n_embd", "d_model", "model_dim", "dim"),
    "layers": ("num_hidden_layers", "n_layer", "num_layers", "n_layers"),
    "heads": ("num_attention_heads", "n_head", "n_heads", "num_heads"),
    "kv_heads": ("num_key_value_heads", "n_head_kv", "multi_query_group_num", "num_kv_heads", "n_kv_heads"),
    "head_dim": ("head_dim", "kv_channels", "attention_head_dim"),
    "ffn": ("intermediate_size", "ffn_hidden_size", "n_inner", "ffn_dim", "mlp_hidden_size"),
    "vocab": ("vocab_size", "padded_vocab_size", "n_vocab"),
    "positions": ("max_position_embeddings", "n_positions", "seq_length", "max_seq_len", "n_ctx"),
    "experts": ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"),
    "experts_per_token": ("num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_k"),
    "expert_ffn": ("moe_intermediate_size", "expert_ffn_hidden_size"),
    "shared_experts": ("n_shared_experts", "num_shared_experts", "moe_num_shared_experts"),
    "dense_layers": ("first_k_dense_replace", "num_dense_layers"),
    "window": ("sliding_window", "sliding_window_size", "attention_chunk_size"),
}
_BOUNDS = {
    "hidden": MAX_WIDTH,
    "layers": MAX_LAYERS,
    "heads": MAX_WIDTH,
    "kv_heads": MAX_WIDTH,
    "head_dim": 8192,
    "ffn": 16 * MAX_WIDTH,
    "vocab": MAX_VOCABULARY,
    "positions": 2**31,
    "experts": MAX_EXPERTS,
    "experts_per_token": MAX_EXPERTS,
    "expert_ffn": 16 * MAX_WIDTH,
    "shared_experts": MAX_EXPERTS,
    "dense_layers": MAX_LAYERS,
    "window": 2**31,
}
_MAY_BE_ZERO = frozenset({"dense_layers", "shared_experts"})


class ConfigFields:
    """Numbers of a config by meaning, checked for type and bounds."""

    def __init__(self, config: Mapping[str, object]) -> None:
        self._config = config

    def required(self, meaning: str) -> int:
        value = self.optional(meaning)
        if value is None:
            raise InputError(_NAMES[meaning][0], None, f"needed; written as {', '.join(_NAMES[meaning])}")
        return value

    def optional(self, meaning: str) -> int | None:
        for key in _NAMES[meaning]:
            value = self._config.get(key, _ABSENT)
            if value is not _ABSENT and value is not None:
                return whole(key, value, _BOUNDS[meaning], zero=meaning in _MAY_BE_ZERO)
        return None


def whole(key: str, value: object, most: int, zero: bool = False) -> int:
    """A whole number of a config within its bounds, or `InputError` naming the key."""
    allowed = f"a whole number from {0 if zero else 1} to {most}"
    if isinstance(value, list):
        raise InputError(key, "a list per layer", f"{allowed}; layers that differ are not read")
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise InputError(key, value, allowed)
    if math.isinf(value) or value != int(value) or not (0 if zero else 1) <= value <= most:
        raise InputError(key, value, allowed)
    return int(value)
