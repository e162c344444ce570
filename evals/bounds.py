"""Bounds on the memory of a serving load, worked out from catalog rows alone: the oracle's own arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from knowledge.cards import usable_gib
from knowledge.catalog import Catalog
from knowledge.errors import AdvisorError
from knowledge.rows import Instance, Model, Precision

GIB = 2**30
# Upper bounds. Scales, padding and buffers of weights beyond the bits of their format.
WEIGHTS_SLACK = 1.06
KV_SLACK = 1.1  # block rounding
RUNTIME_GIB = 3.0  # CUDA context, graphs, communication buffers of one GPU
UTILISATION = 0.9  # of the visible memory, the engines' own default
# vLLM's start profile takes about 9.7 x max_num_seqs x vocabulary x 4 bytes; 1024 sequences on big cards.
PROFILE_BYTES_PER_LOGIT = 9.7 * 4
_KV_BYTES = {"fp8": 1.0, "kv-fp8": 1.0, "int8": 1.0, "kv-int8": 1.0, "fp32": 4.0, "kv-int4": 0.5, "int4": 0.5}

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Load:
    """A model in a precision, with the tokens and sequences that are in memory at once."""

    model: Model
    params_b: float
    precision: Precision
    kv_bytes_each: float  # of one cache element
    context_tokens: int
    concurrency: int


def for_less(option: Values) -> bool:
    """Whether an option is offered for less than the asked load: what a budget buys, by its own report."""
    return any(remark["code"] == "budget_buys_smaller_load" for remark in option.get("why", ()))


def load_of(option: Values, request: Values, catalog: Catalog) -> Load | None:
    """The load of a serving option as its own report names it; None for other work or unknown models."""
    memory: Values | None = option["memory"]
    if request["task"] != "inference" or not memory or "kv_bytes_per_token" not in memory:
        return None
    try:
        model = catalog.model(str(request["model"] or memory["model"]))
        precision = catalog.precision(str(option["precision"]))
    except AdvisorError:
        return None
    if model.params_total_b is None or (precision.block_bits is None and precision.effective_bits is None):
        return None
    asked: Values = {"context_tokens": None, "concurrency": None} if for_less(option) else request
    context = asked["context_tokens"] or memory["context_tokens"]
    # A report counts one replica; the request, where it says so, all of them.
    concurrency = asked["concurrency"] or int(memory["concurrency"]) * int(option["plan"]["data_parallel"])
    kv_each = _KV_BYTES.get(str(memory["kv_precision"]), 2.0)
    return Load(model, model.params_total_b, precision, kv_each, int(context), int(concurrency))


def weights_gib_at_least(load: Load) -> float:
    """Weights if every tensor were in the format's bits, GiB of one replica."""
    bits = min(
        value for value in (load.precision.block_bits, load.precision.effective_bits) if value is not None
    )
    return load.params_b * 1e9 * bits / 8 / GIB


def weights_gib_at_most(load: Load) -> float:
    """Weights with embedding and head in 16 bit beside the format's own bits, GiB of one replica."""
    bits = max(
        value for value in (load.precision.block_bits, load.precision.effective_bits) if value is not None
    )
    in_16_bit = 2 * 2 * (load.model.vocab_size or 0) * (load.model.hidden_size or 0) if bits < 16 else 0
    return (load.params_b * 1e9 * bits / 8 * WEIGHTS_SLACK + in_16_bit) / GIB


def kv_bytes(load: Load, sequences: int) -> float:
    """KV cache of `sequences` full contexts in bytes of one replica, from layers and heads; windows are cut
    at their width. 0 where the architecture is not known, which keeps the bound a lower one."""
    model = load.model
    layers = model.num_layers or 0
    if model.attention == "mla":
        per_layer = float((model.kv_lora_rank or 0) + (model.qk_rope_head_dim or 0))
    else:
        head_dim = model.head_dim or (model.hidden_size or 0) // (model.num_attention_heads or 1)
        per_layer = 2.0 * (model.num_kv_heads or 0) * head_dim
    if model.full_attention_layers is not None:
        window = model.sliding_window or load.context_tokens
        sliding = (model.sliding_layers or 0) * min(window, load.context_tokens)
        layer_tokens = model.full_attention_layers * load.context_tokens + sliding
    else:
        layer_tokens = layers * load.context_tokens
    return layer_tokens * per_layer * load.kv_bytes_each * sequences


def fits_surely(load: Load, instance: Instance, catalog: Catalog) -> bool:
    """Whether one machine of a type holds the load even by the upper bounds, tensor parallel over all of its
    GPUs with the KV heads repeated where there are fewer of them than GPUs."""
    gpus = instance.whole_gpus
    heads = load.model.num_attention_heads
    if gpus < 1 or not heads or heads % gpus or not load.model.vocab_size or not load.model.num_layers:
        return False
    if load.model.attention in ("", "hybrid"):
        return False
    gpu = catalog.gpu_of(instance)
    try:
        usable = usable_gib(gpu)[0]
    except AdvisorError:
        return False
    kv_heads = 1 if load.model.attention == "mla" else load.model.num_kv_heads or 1
    repeats = max(1.0, gpus / kv_heads)
    sequences = 1024 if (gpu.memory_gib or 0) >= 70 else 256
    profile = PROFILE_BYTES_PER_LOGIT * sequences * load.model.vocab_size / GIB
    need = (
        weights_gib_at_most(load) / gpus
        + kv_bytes(load, load.concurrency) * KV_SLACK * repeats / gpus / GIB
        + profile
        + RUNTIME_GIB
    )
    return need <= UTILISATION * usable
