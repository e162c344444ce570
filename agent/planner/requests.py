"""Arguments of tool calls made from a reading: only what the user said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from agent.reading.types import Mention, Reading
from agent.steps import Call
from knowledge.catalog import Catalog
from knowledge.errors import AdvisorError
from tools.contracts.sizing import SizingRequest
from tools.lookup import support_level
from tools.recommend.workload import busy_users

_TRAINING_TASKS = frozenset({"finetune", "pretrain"})
_PRECISIONS = ("fp8", "awq-int4")  # shown beside the released one
_METHODS = ("full", "lora", "qlora")
_GGUF = ("gguf-q4_k_m", "gguf-q8_0", "bf16")
_CARDS = re.compile(
    r"(?<![\d.])(\d{1,2})\s*(?:张|块(?!钱)|卡|片|x\s|×|-?\s?gpus?(?![a-z])|cards?(?![a-z])"
    r"|of (?:them|these|those))",
    re.IGNORECASE,
)
_MOST_CARDS = 16
_FIRST_TOKEN_SHARE = 0.15  # of an end-to-end limit
# Tasks, and kinds of models of the same names, that other calculators than those of text serve.
_OTHER_WORK = frozenset({"diffusion", "video", "asr", "tts", "vision", "embedding", "reranker"})


def sizing_args(request: SizingRequest, **changes: Any) -> dict[str, Any]:
    """The fields of a sizing request that are set, as JSON values, with changes; None takes a field out.

    Under a budget only types with a published price are asked for: the others cannot be held against it.
    """
    values = request.model_dump(mode="json", exclude_defaults=True)
    values["task"] = request.task
    if request.budget is not None:
        values["include_unpriced"] = False
    values.update(changes)
    return {key: value for key, value in values.items() if value is not None}


def latency_targets(reading: Reading) -> dict[str, float]:
    """An end-to-end limit as targets: a share for the first token, the rest over the other tokens."""
    request, limit = reading.request, reading.latency_ms
    if not limit or not request.output_tokens or request.ttft_ms or request.tpot_ms:
        return {}
    first = round(limit * _FIRST_TOKEN_SHARE, 1)
    return {"ttft_ms": first, "tpot_ms": round((limit - first) / request.output_tokens, 2)}


def mentioned(reading: Reading, *kinds: str) -> list[Mention]:
    """The names of some kinds that the user wants, in order, each once; negated ones are left out."""
    found: dict[str, Mention] = {}
    for mention in reading.mentions:
        if mention.kind in kinds and not mention.negated:
            found.setdefault(mention.name, mention)
    return list(found.values())


def models(reading: Reading) -> list[str]:
    """The models of the question, the one of the request first."""
    names = [mention.name for mention in mentioned(reading, "model")]
    wanted = reading.request.model
    return list(dict.fromkeys(([wanted] if wanted else []) + names))


def is_training(reading: Reading) -> bool:
    return reading.request.task in _TRAINING_TASKS


def is_other(name: str, catalog: Catalog, task: str = "") -> bool:
    """Whether a model is no text decoder, so that the calculator of other models serves it."""
    found = catalog.find_model(name) if name else None
    return found.kind in _OTHER_WORK if found is not None else task in _OTHER_WORK


def _set(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value not in (None, "", 0)}


def target(reading: Reading, by_memory: bool = True) -> list[dict[str, Any]]:
    """The cards or instance types to calculate for: those named, or one empty target. `by_memory`: a memory
    size alone makes a target, as is enough to say what fits."""
    request = reading.request
    types = [{"instance_type": mention.name} for mention in mentioned(reading, "instance")]
    if types:
        return types
    gpus = request.gpu_wanted or tuple(mention.name for mention in mentioned(reading, "gpu"))
    if not gpus and reading.vram_gb and by_memory:
        gpus = (f"{reading.vram_gb:g}GB",)  # a card named by its memory only
    return [_set(gpu=gpu, gpu_count=request.gpu_count) for gpu in gpus] or [{}]


def memory_call(
    reading: Reading, model: str, where: dict[str, Any], catalog: Catalog
) -> tuple[str, dict[str, Any]]:
    """Tool name and arguments of the memory calculator that fits the model and the task."""
    request = reading.request
    named = _set(model=model) if model else _set(params_b=request.params_b)
    if is_other(model, catalog, request.task):
        mode = (
            "train-lora"
            if request.method in ("lora", "qlora")
            else "train-full"
            if is_training(reading)
            else ""
        )
        args = _set(
            **named, mode=mode, resolution=request.resolution, frames=request.frames,
            batch=request.batch or request.micro_batch, precision=request.precision, **where,
        )  # fmt: skip
        return "estimate_other_memory", args
    if is_training(reading):
        args = _set(
            **named, method=request.method or ("pretrain" if request.task == "pretrain" else ""),
            precision=request.precision, lora_rank=request.lora_rank, sequence_length=request.sequence_length,
            micro_batch=request.micro_batch, objective=request.training_objective, **where,
        )  # fmt: skip
        return "estimate_training_memory", args
    args = _set(
        **named, weight_precision=request.precision, kv_precision=request.kv_precision, engine=request.engine,
        context_tokens=context_said(request), concurrency=at_once(request), **where,
    )  # fmt: skip
    return "estimate_memory", args


def speed_args(reading: Reading, model: str, where: dict[str, Any]) -> dict[str, Any]:
    """Arguments of the serving-speed calculator."""
    request = reading.request
    return _set(
        model=model, params_b=None if model else request.params_b, weight_precision=request.precision,
        kv_precision=request.kv_precision, engine=request.engine,
        input_tokens=request.input_tokens or request.context_tokens, output_tokens=request.output_tokens,
        concurrency="max" if full_load(reading) else at_once(request), **where,
    )  # fmt: skip


def at_once(request: SizingRequest) -> int | None:
    """Requests in flight: as said, or of the users those who ask at the same moment."""
    if request.concurrency is None and request.users is not None and request.requests_per_second is None:
        return busy_users(request.users)
    return request.concurrency


def context_said(request: SizingRequest) -> int | None:
    """Tokens that one request holds: as said, or prompt and answer where both were."""
    if request.context_tokens is None and request.input_tokens and request.output_tokens:
        return request.input_tokens + request.output_tokens
    return request.context_tokens


def full_load(reading: Reading) -> bool:
    """Whether the most that a card serves is asked for, and no number of requests."""
    request = reading.request
    unsaid = request.concurrency is None and request.users is None
    return unsaid and ("full_load" in reading.topics or reading.token_price)


def training_args(reading: Reading, model: str, where: dict[str, Any]) -> dict[str, Any]:
    """Arguments of the training-time calculator."""
    request = reading.request
    epochs = request.epochs or 1
    tokens = request.dataset_tokens * epochs if request.dataset_tokens else None
    return _set(
        model=model, params_b=None if model else request.params_b,
        method=request.method or ("pretrain" if request.task == "pretrain" else ""),
        precision=request.precision, lora_rank=request.lora_rank, sequence_length=request.sequence_length,
        micro_batch=request.micro_batch, objective=request.training_objective, tokens=tokens,
        samples=request.dataset_samples,
        epochs=request.epochs if request.dataset_samples else None, **where,
    )  # fmt: skip


def other_sizes(reading: Reading, catalog: Catalog) -> list[str]:
    """Cards on sale of the same name in another memory size, where the user gave no size: "two A100"."""
    found = []
    for mention in mentioned(reading, "gpu"):
        stem = mention.name.split("-")[0]
        kin = [
            row
            for row in catalog.gpus
            if row.gpu_model.split("-")[0] == stem and catalog.with_gpu(row.gpu_model, "current")
        ]
        said = any(
            re.search(rf"(?<!\d){row.memory_gib:g}\s?g", reading.question, re.IGNORECASE)
            for row in kin
            if row.memory_gib
        )
        if not said:
            found += [row.gpu_model for row in kin if row.gpu_model != mention.name]
    return list(dict.fromkeys(found))


def counts_said(reading: Reading) -> list[int]:
    """Numbers of cards that a question names, in order, where it asks for more than one of them."""
    counts = [int(match[1]) for match in _CARDS.finditer(reading.question)]
    named = mentioned(reading, "gpu")
    if counts and len(named) == 1 and named[0].count:
        counts.insert(0, named[0].count)
    return [count for count in dict.fromkeys(counts) if 0 < count <= _MOST_CARDS]


def variants(call: Call, catalog: Catalog) -> list[dict[str, Any]]:
    """The other precisions (that the card runs) or methods that a reader wants beside a memory call when
    none was said."""
    tool, args = call.name, call.args
    if tool == "estimate_memory" and str(args.get("weight_precision", "")).startswith("gguf"):
        return [{"weight_precision": name} for name in _GGUF if name != args["weight_precision"]]
    if tool == "estimate_memory" and "weight_precision" not in args:
        return [{"weight_precision": name} for name in _PRECISIONS if _runs(args, name, catalog)]
    if tool == "estimate_training_memory":
        said = args.get("method")
        # Another method takes its own usual precision: "8-bit" of a QLoRA is none of LoRA.
        other = [{"method": name, "precision": ""} for name in _METHODS if name != (said or "full")]
        return other if said != "pretrain" else []
    return []


def zero_stages(call: Call, topics: Sequence[str]) -> list[Call]:
    """The same training under ZeRO-2 and ZeRO-3, where the question is about them and several cards share."""
    several = call.args.get("gpu_count", 1) > 1 or "instance_type" in call.args
    if call.name != "estimate_training_memory" or "zero" not in topics or not several:
        return []
    if call.args.get("method") in ("lora", "qlora"):
        return []
    return [Call(call.name, {**call.args, "zero_stage": stage}, "zero") for stage in (2, 3)]


def _runs(args: dict[str, Any], precision: str, catalog: Catalog) -> bool:
    """Whether the card of a target runs a precision; without a card anything may run."""
    try:
        if "instance_type" in args:
            gpu = catalog.gpu_of(catalog.instance(args["instance_type"]))
        elif "gpu" in args:
            gpu = catalog.gpu(args["gpu"])
        else:
            return True
    except AdvisorError:
        return True
    return support_level(gpu, catalog.precision(precision)) != "no"
