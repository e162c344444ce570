"""A serving workload: model, precisions to try, and load, with every default stated."""

from __future__ import annotations

import math
from dataclasses import dataclass

from knowledge.catalog import Catalog
from knowledge.errors import AdvisorError
from knowledge.names import normal
from knowledge.resolve_precision import UNQUANTIZED
from knowledge.rows import Gpu, Model, Precision
from tools.contracts.sizing import SizingRequest
from tools.lookup.support import Level, support_level
from tools.memory.engines import Engine as MemoryEngine
from tools.memory.engines import resolve_engine
from tools.memory.formats import KvFormat, native_format, resolve_kv, resolve_weights
from tools.memory.request import DEFAULT_CONTEXT, resolve_model
from tools.notes import Notes
from tools.throughput.coefficients import Engine as SpeedEngine
from tools.throughput.engines import find_engine
from tools.throughput.model_shape import ModelShape
from tools.throughput.model_shape import shape_of as speed_shape

PLANNED_CONCURRENCY = 4  # of a service whose load is not said; one estimate alone counts one request
MOST_OUTPUT = 512  # tokens of an answer where the request names none
# Of users who have the assistant open, those who wait for an answer at the same moment at the peak.
BUSY_USERS = 0.15
_LEAST_BUSY = 2
_LEAST_SEQUENCES = 16
_MOST_SET_SEQUENCES = 64  # a larger load takes the engine's default


@dataclass(frozen=True, slots=True)
class Rung:
    """One step of the precision ladder: `names` are tried in turn until the card runs one."""

    names: tuple[str, ...]
    levels: tuple[Level, ...]  # ways of running that this step accepts


@dataclass(frozen=True, slots=True)
class Workload:
    """What is served, at which load. Tokens are of one request."""

    model: Model
    shape: ModelShape
    ladder: tuple[Rung, ...]
    kv: KvFormat | None  # None: follows the weights
    memory_engine: MemoryEngine
    speed_engine: SpeedEngine
    context_tokens: int
    input_tokens: int
    output_tokens: int
    concurrency: int
    max_num_seqs: int | None  # start limit of an engine that reserves memory for it; None: its default
    requests_per_s: float | None
    ttft_ms: float | None
    tpot_ms: float | None


def resolve_workload(request: SizingRequest, catalog: Catalog, notes: Notes) -> Workload:
    """The workload of an inference request. Raises `InputError` and `NotKnown` for its names."""
    found = Notes()
    model, tag = resolve_model(request.model, request.params_b, catalog, found)
    for assumption in found.assumptions:
        notes.assume(assumption.field, assumption.value, assumption.reason)
    precision = request.precision or tag
    if tag and not request.precision:
        notes.assume("precision", tag, "from_model_name")
    engine_name = request.engine or ("llama.cpp" if _is_gguf(precision, catalog) else "")
    memory_engine, reason = resolve_engine(engine_name)
    if reason or not request.engine:
        notes.assume("engine", memory_engine.name, reason or "gguf_file")
    context, inputs, outputs = _tokens(request, model, notes)
    concurrency = _concurrency(request, notes)
    return Workload(
        model=model,
        shape=speed_shape(model),
        ladder=_ladder(precision, request, model, catalog, memory_engine, notes),
        kv=_kv(request, catalog, model),
        memory_engine=memory_engine,
        speed_engine=_speed_engine(engine_name or memory_engine.name),
        context_tokens=context,
        input_tokens=inputs,
        output_tokens=outputs,
        concurrency=concurrency,
        max_num_seqs=_start_limit(memory_engine, concurrency, request),
        requests_per_s=request.requests_per_second,
        ttft_ms=request.ttft_ms,
        tpot_ms=request.tpot_ms,
    )


def _is_gguf(precision: str, catalog: Catalog) -> bool:
    if not precision:
        return False
    try:
        return catalog.precision(precision).category == "gguf"
    except AdvisorError:
        return normal(precision).startswith("gguf")


def _speed_engine(name: str) -> SpeedEngine:
    return find_engine(name)[0]


def _kv(request: SizingRequest, catalog: Catalog, model: Model) -> KvFormat | None:
    if not request.kv_precision:
        return None
    return resolve_kv(request.kv_precision, catalog, native_format(catalog, model)[0])[0]


def _tokens(request: SizingRequest, model: Model, notes: Notes) -> tuple[int, int, int]:
    """Context that memory must hold per request, and prompt and answer that speed is computed for."""
    context = request.context_tokens
    if context is None and (request.input_tokens is not None or request.output_tokens is not None):
        context = max(1, (request.input_tokens or 0) + (request.output_tokens or MOST_OUTPUT))
        notes.assume("context_tokens", context, "input_plus_output")
    if context is None:
        context = min(DEFAULT_CONTEXT, model.max_position_embeddings or DEFAULT_CONTEXT)
        notes.assume("context_tokens", context, "default_context")
    stated = (request.input_tokens or 0) + (request.output_tokens or 0)
    if stated > context:
        notes.warn("context_below_prompt_and_answer", context_tokens=context, needed=stated)
        context = stated
    limit = model.max_position_embeddings
    if limit and context > limit:
        notes.warn("context_above_model_limit", context_tokens=context, limit=limit)
    outputs = request.output_tokens
    if outputs is None:
        outputs = max(1, min(MOST_OUTPUT, context // 4, context - (request.input_tokens or 0)))
        notes.assume("output_tokens", outputs, "default_output")
    inputs = request.input_tokens
    if inputs is None:
        inputs = max(1, min(context // 2, context - outputs))
        notes.assume("input_tokens", inputs, "half_of_context")
    return context, inputs, outputs


def busy_users(users: int) -> int:
    """Requests in flight of so many users at the peak."""
    return min(users, max(_LEAST_BUSY, math.ceil(BUSY_USERS * users)))


def _concurrency(request: SizingRequest, notes: Notes) -> int:
    if request.concurrency is not None:
        return request.concurrency
    if request.users is not None and request.requests_per_second is None:
        busy = busy_users(request.users)
        notes.assume("concurrency", busy, "share_of_users")
        return busy
    if request.requests_per_second is not None:
        return 1  # the rate decides; each plan gets the concurrency that reaches it
    # Hardware that is given is asked what it can do, so one request at a time is the fair question.
    default = 1 if request.gpu_count is not None or request.instance_wanted else PLANNED_CONCURRENCY
    notes.assume("concurrency", default, "default_concurrency")
    return default


def _start_limit(engine: MemoryEngine, concurrency: int, request: SizingRequest) -> int | None:
    """`max_num_seqs` for the load: engines reserve sampler memory for their default of 256 and more."""
    if not engine.preallocates or request.requests_per_second is not None:
        return None
    return max(_LEAST_SEQUENCES, 2 * concurrency) if concurrency <= _MOST_SET_SEQUENCES else None


def _ladder(
    precision: str, request: SizingRequest, model: Model, catalog: Catalog, engine: MemoryEngine, notes: Notes
) -> tuple[Rung, ...]:
    """The precisions to try, best quality first.

    A named precision is the only one. Otherwise the released precision; then fp8 where the card computes
    it, then 4 bit, each only where limits forbid the step above.
    """
    anyway: tuple[Level, ...] = ("native", "weight-only")
    if precision:
        name = resolve_weights(precision, catalog, model)[0].name
        levels: tuple[Level, ...] = (*anyway, "falls-back") if name == "fp16" else anyway
        return (Rung((name, *_WEIGHT_ONLY.get(name, ())), levels),)
    native = native_format(catalog, model)[0].name
    notes.assume("precision", native, "released_precision")
    sixteen = native in UNQUANTIZED
    rungs = [Rung(("bf16", "fp16") if sixteen else (native, *_WEIGHT_ONLY.get(native, ())), anyway)]
    if not request.allow_quantization:
        return tuple(rungs)
    if engine.layer_split and engine.name == "llama.cpp":
        return (*rungs, Rung(("gguf-q8_0",), anyway), Rung(("gguf-q4_k_m",), anyway))
    if sixteen:
        rungs.append(Rung(("fp8",), ("native",)))
    if sixteen or native.startswith("fp8") or native == "int8-w8a8":
        rungs.append(Rung(("awq-int4", "gptq-int4"), anyway))
    return tuple(rungs)


_WEIGHT_ONLY = {"fp8-block": ("fp8-w8a16",), "fp8": ("fp8-w8a16",)}


def precision_on(rung: Rung, gpu: Gpu, catalog: Catalog) -> Precision | None:
    """The precision of a rung that a card runs, or None."""
    for name in rung.names:
        row = catalog.precision(name)
        # A format that has a weight-only twin runs natively or as that twin.
        levels: tuple[Level, ...] = ("native",) if name in _WEIGHT_ONLY else rung.levels
        if support_level(gpu, row) in levels:
            return row
    return None
