"""What each peer is asked for a row: its own words for the model, the card and the precision."""

from __future__ import annotations

from benchmarks.memory_rows import MemoryRow
from knowledge.catalog import Catalog
from knowledge.errors import AdvisorError
from knowledge.rows import Model

Question = dict[str, object]
POOL, PER_TOKEN = "KV pool and KV tokens", "KV bytes per token"

_RIDGEPOINT_GPUS = {
    "H100-80GB": "h100-80gb",
    "A100-80GB": "a100-80gb",
    "A100-SXM4-80GB": "a100-80gb",
    "A100-40GB": "a100-40gb",
    "H200-141GB": "h200-141gb",
    "RTX 4090-24GB": "rtx4090-24gb",
}
_RIDGEPOINT_TYPES = {"bf16": "fp16", "fp16": "fp16", "fp8": "fp8", "fp8-block": "fp8", "awq-int4": "awq"}
_LLMFIT_QUANTS = {
    "bf16": "BF16",
    "fp16": "F16",
    "fp8": "FP8",
    "awq-int4": "AWQ-4bit",
    "gptq-int4": "GPTQ-Int4",
    "gptq-int8": "GPTQ-Int8",
    "gguf-q4_k_m": "Q4_K_M",
    "gguf-q8_0": "Q8_0",
    "gguf-q6_k": "Q6_K",
    "gguf-f16": "F16",
}


_ACCELERATE_TYPES = {
    "bf16": "float16",
    "fp16": "float16",
    "fp8": "int8",
    "gptq-int8": "int8",
    "int8 (w8a8)": "int8",
    "bnb-int8": "int8",
    "awq-int4": "int4",
    "gptq-int4": "int4",
    "bnb-nf4": "int4",
    "bnb-int4": "int4",
}
_SIXTEEN_BIT = ("", "bf16", "fp16", "f16")
# Model classes of Transformers by family of the catalog; families whose class needs more than dimensions
# (latent attention, windows, code from the hub) are not asked about.
_CLASSES = {
    "Qwen1.5": "qwen2",
    "Qwen2": "qwen2",
    "Qwen2.5": "qwen2",
    "Qwen3": "qwen3",
    "Llama 2": "llama",
    "Llama 3": "llama",
    "Llama 3.1": "llama",
    "Llama 3.2": "llama",
    "Llama 3.3": "llama",
    "Yi": "llama",
    "Mistral": "mistral",
}


def question(peer: str, row: MemoryRow, catalog: Catalog) -> Question | None:
    """The peer's request for a row, None where the peer has no word for its card, model or precision."""
    try:
        model = catalog.model(str(row.request["model"]))
    except AdvisorError:
        return None
    context = int(str(row.request.get("context_tokens") or row.request.get("max_model_len") or 4096))
    if peer == "llmfit":
        return _llmfit(row, model, context)
    if peer == "hf-mem":
        return _hf_mem(row, model, context)
    if peer == "accelerate":
        return _accelerate(row, model)
    return _ridgepoint(row, model, context)


def _gpus(row: MemoryRow) -> int:
    return int(str(row.request.get("gpu_count", 1)))


def _llmfit(row: MemoryRow, model: Model, context: int) -> Question | None:
    quant = _LLMFIT_QUANTS.get(row.precision)
    if quant is None or row.kind in (POOL, PER_TOKEN) or _gpus(row) > 1:
        return None
    return {"model": model.model_id, "context": context, "quant": quant}


def _ridgepoint(row: MemoryRow, model: Model, context: int) -> Question | None:
    gpu, dtype = _RIDGEPOINT_GPUS.get(row.gpu), _RIDGEPOINT_TYPES.get(row.precision)
    shape = _ridgepoint_shape(model)
    if gpu is None or dtype is None or shape is None or not row.engine.startswith("vllm"):
        return None
    return {
        "shape": shape, "gpu": gpu, "count": _gpus(row), "dtype": dtype, "kv": "fp16", "context": context,
    }  # fmt: skip


def _hf_mem(row: MemoryRow, model: Model, context: int) -> Question | None:
    """Its cache for any layout it can read from a config; its total where the files are plain 16 bit."""
    config = _config(model)
    plain = row.precision in ("bf16", "fp16") and _gpus(row) == 1
    if config is None or str(row.request.get("kv_precision", "")) not in _SIXTEEN_BIT:
        return None
    if row.kind != PER_TOKEN and not (plain and row.kind.startswith("Transformers peak")):
        return None
    return {
        "config": config,
        "parameters": int((model.params_total_b or 0.0) * 1e9),
        "dtype": "BF16",
        "kv": "BF16",
        "context": context,
        "batch": int(str(row.request.get("concurrency", 1))),
    }


def _accelerate(row: MemoryRow, model: Model) -> Question | None:
    config, dtype = _config(model), _ACCELERATE_TYPES.get(row.precision)
    kind = _CLASSES.get(model.family)
    if row.kind in (POOL, PER_TOKEN) or _gpus(row) > 1 or dtype is None or config is None or kind is None:
        return None
    return {"config": config | {"model_type": f"{kind}_moe" if model.num_experts else kind}, "dtype": dtype}


def _config(model: Model) -> Question | None:
    """The dimensions of a model under the keys of a config.json."""
    if not (model.num_layers and model.hidden_size and model.num_attention_heads and model.vocab_size):
        return None
    found: Question = {
        "hidden_size": model.hidden_size,
        "num_hidden_layers": model.num_layers,
        "num_attention_heads": model.num_attention_heads,
        "num_key_value_heads": model.num_kv_heads or model.num_attention_heads,
        "vocab_size": model.vocab_size,
        "tie_word_embeddings": bool(model.tie_word_embeddings),
        "torch_dtype": "bfloat16",
    }
    optional = {
        "head_dim": model.head_dim,
        "intermediate_size": model.intermediate_size,
        "num_experts": model.num_experts,
        "num_experts_per_tok": model.experts_per_token,
        "moe_intermediate_size": model.moe_intermediate_size,
        "sliding_window": model.sliding_window,
    }
    if model.full_attention_layers is not None:
        others = model.num_layers - model.full_attention_layers
        found["layer_types"] = ["full_attention"] * model.full_attention_layers + ["other"] * others
    return found | {key: value for key, value in optional.items() if value}


def _ridgepoint_shape(model: Model) -> list[object] | None:
    """The dimensions that ridgepoint's own hub adapter would fetch."""
    if not (model.num_layers and model.hidden_size and model.params_total_b and model.head_dim):
        return None
    total = int(model.params_total_b * 1e9)
    active = int((model.params_active_b or model.params_total_b) * 1e9)
    latent = model.attention == "mla"
    return [
        model.model_id,
        model.num_layers,
        model.full_attention_layers or model.num_layers,
        model.hidden_size,
        total,
        active,
        "mla" if latent else "gqa",
        model.head_dim,
        model.num_attention_heads or 0,
        model.num_kv_heads or 0,
        model.kv_lora_rank or 0,
        model.qk_rope_head_dim or 0,
    ]
