"""A model from its config.json: the fields of a catalog row, with what is unknown said and bounded.

A config is data: at most 1 MiB of JSON, no code, nothing fetched that it points to.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from knowledge.config_fields import MAX_WIDTH, ConfigFields, whole
from knowledge.errors import InputError
from knowledge.model_files import gguf_header
from knowledge.rows import Model

MAX_BYTES = 2**20
MODEL_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")  # as model hubs write it

_PLAIN_FFN = frozenset(
    "gpt2 gpt_neo gpt_neox gptj opt bloom falcon mpt phi starcoder2 gpt_bigcode bert roberta".split()
)
_LINEAR_LAYERS = frozenset({"linear_attention", "mamba", "mamba2", "recurrent", "conv", "lightning"})
_WINDOW_LAYERS = frozenset({"sliding_attention", "chunked_attention", "local_attention", "local"})
_GGUF_KINDS = {
    "qwen2moe": "qwen2_moe",
    "qwen3moe": "qwen3_moe",
    "deepseek2": "deepseek_v2",
    "gptoss": "gpt_oss",
}
# llama.cpp's numbers of file types (`general.file_type`), as far as the catalog has them.
_GGUF_FILE_TYPES = {
    0: "fp32", 1: "fp16", 2: "gguf-q4_0", 3: "gguf-q4_1", 7: "gguf-q8_0", 8: "gguf-q5_0", 9: "gguf-q5_1",
    10: "gguf-q2_k", 11: "gguf-q3_k_s", 12: "gguf-q3_k_m", 13: "gguf-q3_k_l", 14: "gguf-q4_k_s",
    15: "gguf-q4_k_m", 16: "gguf-q5_k_s", 17: "gguf-q5_k_m", 18: "gguf-q6_k", 19: "gguf-iq2_xxs",
    20: "gguf-iq2_xs", 21: "gguf-q2_k_s", 22: "gguf-iq3_xs", 23: "gguf-iq3_xxs", 24: "gguf-iq1_s",
    25: "gguf-iq4_nl", 26: "gguf-iq3_s", 27: "gguf-iq3_m", 28: "gguf-iq2_s", 29: "gguf-iq2_m",
    30: "gguf-iq4_xs", 31: "gguf-iq1_m", 32: "bf16",
}  # fmt: skip
_FILE_FORMATS = frozenset(_GGUF_FILE_TYPES.values())
_MIXER_KEYS = ("ssm_cfg", "mamba_d_state", "hybrid_override_pattern", "attn_layer_period", "state_size")
_KNOWN = _PLAIN_FFN | frozenset(
    "llama mistral mixtral qwen2 qwen2_moe qwen3 qwen3_moe qwen3_next gemma gemma2 gemma3 gemma3_text phi3 "
    "deepseek_v2 deepseek_v3 gpt_oss chatglm glm glm4 glm4_moe internlm2 baichuan stablelm cohere cohere2 "
    "olmo olmo2 granite granitemoe minicpm minicpm3 exaone nemotron yi dbrx jamba llama4_text qwen2_vl "
    "qwen2_5_vl qwen3_vl qwen mimo ernie4_5 ernie4_5_moe hunyuan seed_oss smollm3 kimi_k2".split()
)


@dataclass(frozen=True, slots=True)
class ImportedModel:
    """A model read from a file. `unknown` names what the reader could not place; the figures then bound the
    truth from above (every layer as full attention, the published file size where one was given)."""

    model: Model
    unknown: tuple[str, ...] = ()
    weight_bytes: int | None = None  # exact, from a safetensors or GGUF header


def model_from_config(data: bytes | str | Mapping[str, object], name: str) -> ImportedModel:
    """The model of a config.json. Raises `InputError` naming the key that is missing, of a wrong type, out of
    bounds or in contradiction with another."""
    config = _parsed(data)
    unknown: list[str] = []
    text = _decoder_part(config)
    fields = ConfigFields(text)
    kind = str(text.get("model_type", config.get("model_type", ""))) or "not stated"
    if kind.lower() not in _KNOWN:
        unknown.append(f"model_type {kind}")
    tied = _flag(text, config, "tie_word_embeddings", kind.lower().startswith("gemma"))
    layout = _layout(text, fields, kind.lower(), tied)
    full, sliding, linear = _layer_kinds(text, layout.layers, unknown)
    per_token, window_bytes = _cache(text, layout, full, sliding, fields.optional("window"))
    state = _state(text, linear, unknown)
    file = _file_part(config)
    total = file.get("parameters") or _parameters(layout)
    model = Model(
        model_id=name,
        display_name=name,
        kind="moe-llm" if layout.experts else "llm",
        params_total_b=round(total / 1e9, 6),
        num_layers=layout.layers,
        hidden_size=layout.hidden,
        intermediate_size=layout.ffn,
        num_attention_heads=layout.heads,
        num_kv_heads=layout.kv_heads,
        head_dim=layout.head_dim,
        vocab_size=layout.vocab,
        tie_word_embeddings=tied,
        attention=layout.attention(linear),
        sliding_window=fields.optional("window") if sliding else None,
        full_attention_layers=full if (sliding or linear) else None,
        sliding_layers=sliding or None,
        linear_layers=linear or None,
        max_position_embeddings=fields.optional("positions"),
        native_dtype=str(file.get("format") or _native(config, text)),
        kv_bytes_per_token_bf16=per_token,
        kv_window_bytes_per_seq_bf16=window_bytes or None,
        linear_state_bytes_per_seq_fp32=state or None,
        source=f"config.json given by the user ({name})",
        **layout.latent,
        **layout.experts,
    )
    return ImportedModel(model, tuple(unknown), file.get("tensor_bytes") or None)


@dataclass(frozen=True, slots=True)
class _Layout:
    """What a config says of the widths of a decoder."""

    hidden: int
    layers: int
    vocab: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int | None  # None only for a mixture of experts
    tied: bool
    gated: bool  # the feed-forward has three matrices, else two
    latent: Mapping[str, int]  # ranks of latent attention, empty without
    experts: Mapping[str, int]  # of a mixture, empty for a dense model

    def attention(self, linear_layers: int) -> Literal["mla", "hybrid", "gqa", "mha"]:
        if self.latent:
            return "mla"
        if linear_layers:
            return "hybrid"
        return "gqa" if self.kv_heads < self.heads else "mha"


def _layout(text: Mapping[str, object], fields: ConfigFields, kind: str, tied: bool) -> _Layout:
    hidden, layers, heads = (fields.required(key) for key in ("hidden", "layers", "heads"))
    vocab = fields.required("vocab")
    kv_heads = fields.optional("kv_heads") or _old_kv_heads(text, heads)
    head_dim = fields.optional("head_dim") or _head_dim(hidden, heads)
    _check(heads, kv_heads, text)
    latent, experts = _latent(text), _experts(fields)
    ffn = fields.optional("ffn") or (4 * hidden if kind in _PLAIN_FFN else None)
    if ffn is None and not experts:
        raise InputError("intermediate_size", None, "the width of the feed-forward layers is needed")
    gated = kind not in _PLAIN_FFN
    return _Layout(hidden, layers, vocab, heads, kv_heads, head_dim, ffn, tied, gated, latent, experts)


def _parsed(data: bytes | str | Mapping[str, object]) -> Mapping[str, object]:
    if isinstance(data, Mapping):
        return data
    raw = data.encode() if isinstance(data, str) else data
    if len(raw) > MAX_BYTES:
        raise InputError("config.json", f"{len(raw)} bytes", f"at most {MAX_BYTES} bytes")
    try:
        config = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise InputError("config.json", str(error)[:80], "valid JSON") from None
    if not isinstance(config, dict):
        raise InputError("config.json", type(config).__name__, "a JSON object")
    return config


def _file_part(config: Mapping[str, object]) -> dict[str, Any]:
    """What the head of a model file states of its tensors, beside the layout: bytes, parameters, format."""
    part = config.get("_file")
    if not isinstance(part, dict):
        return {}
    found: dict[str, Any] = {
        key: whole(f"_file.{key}", part[key], 10**16)
        for key in ("tensor_bytes", "parameters")
        if part.get(key)
    }
    return {**found, "format": str(part.get("format", "")) if part.get("format") in _FILE_FORMATS else ""}


def _decoder_part(config: Mapping[str, object]) -> Mapping[str, object]:
    """The text decoder's section of a multimodal config, else the config itself."""
    for key in ("text_config", "llm_config", "language_config", "language_model_config", "thinker_config"):
        part = config.get(key)
        if isinstance(part, dict):
            return _decoder_part(part) if "text_config" in part else part
    return config


def _old_kv_heads(config: Mapping[str, object], heads: int) -> int:
    """Falcon and StarCoder write one KV head as `multi_query`."""
    if config.get("multi_query") is True and not config.get("new_decoder_architecture"):
        return 1
    return heads


def _head_dim(hidden: int, heads: int) -> int:
    if hidden % heads:
        raise InputError("head_dim", None, f"needed: hidden_size {hidden} is no multiple of {heads} heads")
    return hidden // heads


def _check(heads: int, kv_heads: int, config: Mapping[str, object]) -> None:
    if kv_heads > heads or heads % kv_heads:
        raise InputError("num_key_value_heads", kv_heads, f"a divisor of the {heads} query heads")
    if config.get("is_encoder_decoder") is True:
        raise InputError("is_encoder_decoder", True, "a decoder-only model")


def _latent(config: Mapping[str, object]) -> dict[str, int]:
    """The ranks of latent attention, empty without."""
    if config.get("kv_lora_rank") is None:
        return {}
    keys = ("kv_lora_rank", "q_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim")
    found = {key: whole(key, config[key], MAX_WIDTH) for key in keys if config.get(key) is not None}
    for key in ("qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim"):
        if key not in found:
            raise InputError(key, None, "needed beside kv_lora_rank")
    return found


def _layer_kinds(config: Mapping[str, object], layers: int, unknown: list[str]) -> tuple[int, int, int]:
    """(full, sliding, linear) attention layers. Kinds that are not known count as full: the upper bound."""
    kinds = config.get("layer_types")
    if isinstance(kinds, list):
        if len(kinds) != layers:
            raise InputError("layer_types", f"{len(kinds)} entries", f"one entry for each of {layers} layers")
        names = [str(kind) for kind in kinds]
        sliding = sum(name in _WINDOW_LAYERS for name in names)
        linear = sum(name in _LINEAR_LAYERS for name in names)
        strange = sorted(set(names) - _WINDOW_LAYERS - _LINEAR_LAYERS - {"full_attention", "attention"})
        unknown.extend(f"layer type {name}" for name in strange)
        return layers - sliding - linear, sliding, linear
    interval = config.get("full_attention_interval")
    if interval is not None:
        full = layers // whole("full_attention_interval", interval, layers)
        return full, 0, layers - full
    pattern = config.get("sliding_window_pattern")
    if pattern is not None and config.get("sliding_window") is not None:
        full = layers // whole("sliding_window_pattern", pattern, layers)
        return full, layers - full, 0
    unknown.extend(key for key in _MIXER_KEYS if config.get(key) is not None)
    everywhere = config.get("sliding_window") is not None and config.get("use_sliding_window") is not False
    if everywhere and str(config.get("model_type")) == "mistral":
        return 0, layers, 0
    return layers, 0, 0


def _experts(fields: ConfigFields) -> dict[str, int]:
    """The routed experts of a mixture, empty for a dense model."""
    count = fields.optional("experts")
    if not count or count == 1:
        return {}
    width = fields.optional("expert_ffn") or fields.required("ffn")
    used = fields.optional("experts_per_token")
    if used is None or used > count:
        raise InputError("num_experts_per_tok", used, f"a whole number up to the {count} experts")
    found = {"num_experts": count, "experts_per_token": used, "moe_intermediate_size": width}
    for meaning, field in (("shared_experts", "num_shared_experts"), ("dense_layers", "dense_layers")):
        value = fields.optional(meaning)
        if value:
            found[field] = value
    return found


def _cache(
    config: Mapping[str, object], layout: _Layout, full: int, sliding: int, window: int | None
) -> tuple[float, float]:
    """(growing bytes per token, bytes of full windows per sequence) in 16 bit."""
    if layout.latent:
        return 2.0 * full * (layout.latent["kv_lora_rank"] + layout.latent["qk_rope_head_dim"]), 0.0
    layer = 4.0 * layout.kv_heads * layout.head_dim
    if sliding and window is None:
        raise InputError("sliding_window", config.get("sliding_window"), "needed where layers have a window")
    return layer * full, layer * sliding * (window or 0)


def _state(config: Mapping[str, object], linear: int, unknown: list[str]) -> float:
    """Recurrent state of Gated DeltaNet layers per sequence: fp32 state and 16-bit convolution."""
    if not linear:
        return 0.0
    keys = ("linear_num_value_heads", "linear_key_head_dim", "linear_value_head_dim", "linear_num_key_heads")
    if any(config.get(key) is None for key in keys):
        unknown.append("size of the recurrent state")
        return 0.0
    value_heads, key_dim, value_dim, key_heads = (whole(key, config[key], MAX_WIDTH) for key in keys)
    kernel = whole("linear_conv_kernel_dim", config.get("linear_conv_kernel_dim", 4), 64)
    convolution = (kernel - 1) * (2 * key_heads * key_dim + value_heads * value_dim) * 2
    return float(linear * (value_heads * key_dim * value_dim * 4 + convolution))


def _parameters(layout: _Layout) -> float:
    """The parameter count by the decoder formula (embedding, head, attention, feed-forward, norms)."""
    hidden, experts = layout.hidden, layout.experts
    dense = (3 if layout.gated else 2) * hidden * (layout.ffn or 0)
    body = layout.layers * (_attention_parameters(layout) + 2 * hidden)
    if experts:
        width, shared = experts["moe_intermediate_size"], experts.get("num_shared_experts", 0)
        mixture = 3 * hidden * width * (experts["num_experts"] + shared) + hidden * experts["num_experts"]
        first = min(experts.get("dense_layers", 0), layout.layers)
        body += first * dense + (layout.layers - first) * mixture
    else:
        body += layout.layers * dense
    return float(body + layout.vocab * hidden * (1 if layout.tied else 2) + hidden)


def _attention_parameters(layout: _Layout) -> int:
    """Parameters of the attention of one layer: by heads, or by the ranks of latent attention."""
    hidden, heads, latent = layout.hidden, layout.heads, layout.latent
    if not latent:
        return 2 * hidden * (heads + layout.kv_heads) * layout.head_dim
    rank, query_rank = latent["kv_lora_rank"], latent.get("q_lora_rank", 0)
    rope, nope, value = (latent[key] for key in ("qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim"))
    return (
        hidden * query_rank
        + (query_rank or hidden) * heads * (nope + rope)
        + hidden * (rank + rope)
        + rank * heads * (nope + value)
        + heads * value * hidden
    )


def _flag(text: Mapping[str, object], config: Mapping[str, object], key: str, default: bool) -> bool:
    value = text.get(key, config.get(key, default))
    if not isinstance(value, bool):
        raise InputError(key, value, "true or false")
    return value


def _native(config: Mapping[str, object], text: Mapping[str, object]) -> str:
    """The format of the released files, from quantization_config and torch_dtype."""
    quantization = config.get("quantization_config") or text.get("quantization_config")
    if isinstance(quantization, dict):
        method = str(quantization.get("quant_method", "")).lower()
        bits = quantization.get("bits", quantization.get("w_bit", 4))
        named = {"fp8": "fp8", "mxfp4": "mxfp4", "awq": "awq-int4", "fbgemm_fp8": "fp8"}
        if method in named:
            return named[method]
        if method == "gptq":
            return "gptq-int8" if bits == 8 else "gptq-int4"
    dtype = str(text.get("torch_dtype", text.get("dtype", config.get("torch_dtype", "bfloat16")))).lower()
    return {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32"}.get(
        dtype.removeprefix("torch."), "bf16"
    )


def model_from_gguf(data: bytes, name: str) -> ImportedModel:
    """The model of a GGUF file's head: layout from its metadata, size from its tensor list."""
    return model_from_config(config_of_gguf(data), name)


def config_of_gguf(data: bytes) -> dict[str, object]:
    """The head of a GGUF file in the words of a config.json; what its tensors are stands under `_file`."""
    weights = gguf_header(data)
    kind = str(weights.metadata.get("general.architecture", ""))
    if not kind:
        raise InputError("gguf", "no general.architecture", "a GGUF model file")
    values = {key.removeprefix(f"{kind}."): value for key, value in weights.metadata.items()}
    written = weights.metadata.get("general.file_type")
    config = {
        "model_type": _GGUF_KINDS.get(kind, kind),
        "hidden_size": values.get("embedding_length"),
        "num_hidden_layers": values.get("block_count"),
        "num_attention_heads": values.get("attention.head_count"),
        "num_key_value_heads": values.get("attention.head_count_kv"),
        "head_dim": values.get("attention.key_length"),
        "intermediate_size": values.get("feed_forward_length"),
        "vocab_size": values.get("vocab_size", values.get("tokenizer.ggml.tokens")),
        "max_position_embeddings": values.get("context_length"),
        "num_experts": values.get("expert_count"),
        "num_experts_per_tok": values.get("expert_used_count"),
        "moe_intermediate_size": values.get("expert_feed_forward_length"),
        "n_shared_experts": values.get("expert_shared_count"),
        "first_k_dense_replace": values.get("leading_dense_block_count"),
        "general.name": weights.metadata.get("general.name"),
        "_file": {
            "tensor_bytes": weights.tensor_bytes,
            "parameters": weights.parameters,
            "format": _GGUF_FILE_TYPES.get(written if isinstance(written, int) else -1, ""),
        },
        **_gguf_latent(values),
    }
    return {key: value for key, value in config.items() if value is not None}


def _gguf_latent(values: Mapping[str, object]) -> dict[str, object]:
    """The ranks of latent attention as llama.cpp writes them: the key width holds both of its parts."""
    rank, rope = values.get("attention.kv_lora_rank"), values.get("rope.dimension_count")
    key = values.get("attention.key_length_mla", values.get("attention.key_length"))
    if rank is None or not isinstance(rope, int) or not isinstance(key, int):
        return {}
    return {
        "kv_lora_rank": rank,
        "q_lora_rank": values.get("attention.q_lora_rank"),
        "qk_rope_head_dim": rope,
        "qk_nope_head_dim": key - rope,
        "v_head_dim": values.get("attention.value_length_mla", values.get("attention.value_length")),
    }
