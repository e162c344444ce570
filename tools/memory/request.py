"""A memory request resolved: names to facts, defaults to stated assumptions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from knowledge.catalog import Catalog
from knowledge.errors import InputError
from knowledge.names import strip_quantization
from knowledge.rows import Model
from tools.contracts.memory import MemoryRequest
from tools.memory.card import Card, card_of, resolve_card
from tools.memory.engines import Engine, resolve_engine
from tools.memory.formats import KvFormat, WeightFormat, resolve_kv, resolve_weights
from tools.memory.plan import Load
from tools.memory.weights import Plan
from tools.notes import Notes

DEFAULT_CONTEXT = 4096
DEFAULT_CONCURRENCY = 1
DEFAULT_LORA_RANK = 16  # max_lora_rank of vLLM


@dataclass(frozen=True, slots=True)
class Resolved:
    """Everything `plan_memory` needs."""

    model: Model
    weights: WeightFormat
    kv: KvFormat
    engine: Engine
    plan: Plan
    load: Load
    card: Card | None
    gpu_count: int


def resolve(request: MemoryRequest, catalog: Catalog, notes: Notes) -> Resolved:
    """Names looked up and defaults filled in. Raises `InputError` or `NotKnown`."""
    model, tag = resolve_model(request.model, request.params_b, catalog, notes)
    card, instance_gpus = resolve_target(request.gpu, request.instance_type, catalog, notes)
    written = request.weight_precision or tag
    weights, reason = resolve_weights(_released(request.model, written), catalog, model)
    if not request.weight_precision and tag:
        reason = "precision_in_model_name"
    if reason:
        notes.assume("weight_precision", weights.name, reason)
    if card is not None and card.capability is not None and weights.name == "bf16" and card.capability < 8:
        weights, _ = resolve_weights("fp16", catalog, model)
        notes.assume("weight_precision", "fp16", "card_without_bf16")
    kv, reason = resolve_kv(request.kv_precision, catalog, weights)
    if reason:
        notes.assume("kv_precision", kv.name, reason)
    by_format = "llama.cpp" if weights.category == "gguf" else ""
    engine, reason = resolve_engine(request.engine or by_format, request.engine_version)
    if reason or (by_format and not request.engine):
        notes.assume("engine", engine.name, reason or "gguf_runs_in_llama_cpp")
    plan, gpu_count = _plan(request, instance_gpus, engine, notes)
    load = _load(request, model, engine, card, plan.gpus, notes)
    return Resolved(model, weights, kv, engine, plan, load, card, gpu_count)


def resolve_model(name: str, params_b: float | None, catalog: Catalog, notes: Notes) -> tuple[Model, str]:
    """The model and the precision tag that its name ends in ("" if none)."""
    if name:
        model = catalog.model(name)
        if model.model_id.lower() == name.strip().lower():
            return model, ""
        tag = strip_quantization(name)[1]
        return model, tag if _is_precision(tag, catalog) else ""
    if params_b is None:
        raise InputError("model", name, "a model name, or params_b")
    notes.assume("model", f"{params_b:g}B", "generic_shape")
    return generic_model(params_b), ""


def _released(model: str, precision: str) -> str:
    """Meta's own FP8 files follow the FBGEMM recipe: feed-forward matrices of the inner layers alone."""
    metas = model.lower().startswith("meta-llama/") and "fp8" in model.lower()
    return "fbgemm-fp8" if metas and precision.lower() == "fp8" else precision


def _is_precision(tag: str, catalog: Catalog) -> bool:
    if not tag:
        return False
    try:
        catalog.precision(tag)
    except InputError:
        return False
    return True


@lru_cache(maxsize=512)
def generic_model(params_b: float) -> Model:
    """A dense decoder of this size in the proportions of the Llama and Qwen lines: about 13 h^2 parameters
    a layer, h / 110 layers, heads of 128 of which 8 hold KV, a vocabulary of 128,256. From 2,048 on h is a
    multiple of 1,024, as in those lines: the heads divide among 2, 4 and 8 GPUs."""
    vocab, tied = 128_256, params_b <= 4
    width = (params_b * 1e9 * 110 / 13) ** (1 / 3)
    step = 1024 if width >= 2048 else 128
    hidden = max(256, round(width / step) * step)
    tables = vocab * hidden * (1 if tied else 2)
    layers = max(2, round(max(params_b * 1e9 - tables, 0.3 * params_b * 1e9) / (13.0 * hidden**2)))
    heads = max(1, hidden // 128)
    return Model(
        model_id=f"generic-{params_b:g}B",
        display_name=f"generic {params_b:g}B",
        kind="llm",
        params_total_b=params_b,
        num_layers=layers,
        hidden_size=hidden,
        intermediate_size=int(3.5 * hidden),
        num_attention_heads=heads,
        num_kv_heads=min(8, heads),
        head_dim=128,
        vocab_size=vocab,
        tie_word_embeddings=tied,
        attention="gqa",
        native_dtype="bf16",
        kv_bytes_per_token_bf16=float(2 * layers * min(8, heads) * 128 * 2),
        source="generic shape in the proportions of the Llama and Qwen lines",
    )


def resolve_target(
    gpu: str, instance_type: str, catalog: Catalog, notes: Notes
) -> tuple[Card | None, int | None]:
    """The card to fit and the GPU count of the instance type, if one is named."""
    if instance_type:
        row = catalog.instance(instance_type)
        card = card_of(catalog.gpu_of(row))
        if gpu:
            named, _ = resolve_card(gpu, catalog)
            if named.name != card.name:
                raise InputError("gpu", gpu, f"{row.instance_type} has {row.gpu_model}", [row.gpu_model])
        return card, max(1, row.whole_gpus)
    if not gpu:
        return None, None
    card, note = resolve_card(gpu, catalog)
    if note:
        notes.assume("gpu", card.name, note if note == "memory_class" else "gpu_name_short")
    return card, None


def _plan(
    request: MemoryRequest, instance_gpus: int | None, engine: Engine, notes: Notes
) -> tuple[Plan, int]:
    tensor, pipeline = request.tensor_parallel, request.pipeline_parallel
    count = request.gpu_count or instance_gpus
    if count is None:
        count = (tensor or 1) * (pipeline or 1)
    if tensor is None and pipeline is None:
        tensor, pipeline = (1, count) if engine.layer_split else (count, 1)
        if count > 1:
            notes.assume("tensor_parallel", tensor, "layer_split" if engine.layer_split else "all_gpus")
    tensor = tensor or max(1, count // (pipeline or 1))
    pipeline = pipeline or 1
    if request.gpu_count and tensor * pipeline > count:
        raise InputError("gpu_count", count, f"at least tensor x pipeline parallel = {tensor * pipeline}")
    if count // (tensor * pipeline) > 1:
        notes.assume("data_parallel", count // (tensor * pipeline), "gpus_beyond_one_replica")
    return Plan(tensor, pipeline, request.expert_parallel or 1), count


def _is_a_start(request: MemoryRequest) -> bool:
    """Whether the request describes one start of an engine: then flags left out are the engine's own."""
    return bool(
        request.engine_version
        or request.gpu_memory_utilization
        or request.max_num_seqs
        or request.max_batched_tokens
    )


def _load(
    request: MemoryRequest, model: Model, engine: Engine, card: Card | None, gpus: int, notes: Notes
) -> Load:
    context = request.context_tokens or request.max_model_len
    if context is None and _is_a_start(request) and engine.holds_full_length:
        context = model.max_position_embeddings
        if context:
            notes.assume("context_tokens", context, "engine_default")
    if context is None:
        context = min(DEFAULT_CONTEXT, model.max_position_embeddings or DEFAULT_CONTEXT)
        notes.assume("context_tokens", context, "default_context")
    concurrency = request.concurrency
    if concurrency is None:
        concurrency = DEFAULT_CONCURRENCY
        notes.assume("concurrency", concurrency, "default_concurrency")
    limit = model.max_position_embeddings
    if limit and context > limit:
        notes.warn("context_above_model_limit", context_tokens=context, limit=limit)
    if engine.preallocates:
        if request.max_num_seqs is None:
            notes.assume("max_num_seqs", engine.default_sequences(card), "engine_default")
        if request.max_batched_tokens is None:
            notes.assume("max_batched_tokens", engine.default_batched_tokens(card), "engine_default")
        if request.gpu_memory_utilization is None:
            notes.assume(
                "gpu_memory_utilization", round(engine.default_share(card, gpus), 4), "engine_default"
            )
    rank = request.lora_rank or (DEFAULT_LORA_RANK if request.max_loras else 0)
    if rank and not request.lora_rank:
        notes.assume("lora_rank", rank, "engine_default")
    return Load(
        context_tokens=context,
        concurrency=concurrency,
        output_tokens=min(request.output_tokens or 0, context - 1),
        max_model_len=request.max_model_len,
        max_num_seqs=request.max_num_seqs,
        max_batched_tokens=request.max_batched_tokens,
        utilization=request.gpu_memory_utilization,
        eager=bool(request.enforce_eager),
        lora_rank=rank,
        max_loras=request.max_loras or 1,
    )
