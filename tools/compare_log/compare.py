"""A log beside the estimate: part by part, the part that differs, and the flag that changes it."""

from __future__ import annotations

from collections.abc import Iterable

from knowledge.catalog import Catalog
from knowledge.errors import AdvisorError, InputError
from knowledge.names import strip_quantization
from tools.compare_log.parse import ParsedLog, parse_log
from tools.contracts.base import Remark
from tools.contracts.compare import CompareLogReport, CompareLogRequest, PartDifference
from tools.contracts.memory import MemoryReport, MemoryRequest
from tools.memory import estimate_memory
from tools.memory.what_if import flag_effects

DIFFERS = 0.05  # relative difference from which a part counts as different
SMALL_GIB = 0.15  # parts below this differ by rounding
# The flag of each engine that changes a part.
_FLAGS = {
    "vllm": {
        "weights": "quantization",
        "activation": "max_num_seqs",
        "libraries": "tensor_parallel_size",
        "graphs": "enforce_eager",
        "kv_pool": "gpu_memory_utilization",
        "kv_tokens": "kv_cache_dtype",
    },
    "sglang": {
        "weights": "quantization",
        "graphs": "cuda_graph_max_bs",
        "kv_pool": "mem_fraction_static",
        "kv_tokens": "kv_cache_dtype",
        "libraries": "tp_size",
    },
    "llama.cpp": {
        "weights": "n_gpu_layers",
        "activation": "ubatch_size",
        "kv_cache": "ctx_size",
        "kv_pool": "ctx_size",
    },
}
_ESTIMATES = {
    "weights": "weights_gib_per_gpu",
    "activation": "activation_gib_per_gpu",
    "kv_pool": "kv_pool_gib_per_gpu",
    "kv_tokens": "kv_capacity_tokens",
    "kv_cache": "kv_cache_gib_per_gpu",
    "total": "total_gib_per_gpu",
}
_MEASURED_ONLY = ("libraries", "graphs", "tried_to_allocate", "free", "in_use", "allocated", "usable")


def compare_log(request: CompareLogRequest, catalog: Catalog) -> CompareLogReport:
    """The log's figures beside those of the calculator. Raises `InputError` for a text that is no known log;
    a log without a model or a card is still read, and the report says what is missing."""
    parsed = parse_log(request.text)
    warnings: list[Remark] = []
    memory_request = _memory_request(parsed, request, catalog, warnings)
    estimate = None
    if memory_request is not None:
        try:
            estimate = estimate_memory(memory_request, catalog)
        except AdvisorError as error:
            warnings.append(Remark(code="no_estimate", params={"reason": str(error)}))
            memory_request = None
    parts = _parts(parsed, estimate)
    effects = flag_effects(memory_request, catalog) if memory_request is not None and estimate else ()
    return CompareLogReport(
        kind=parsed.kind,
        engine=parsed.engine,
        engine_version=parsed.version,
        read={**parsed.flags, **{f"{name}_gib": round(value, 4) for name, value in parsed.parts.items()}},
        parts=parts,
        cause=_cause(parsed, parts),
        effects=effects,
        estimate=estimate,
        assumptions=estimate.assumptions if estimate else (),
        warnings=tuple(warnings),
    )


def _memory_request(
    parsed: ParsedLog, request: CompareLogRequest, catalog: Catalog, warnings: list[Remark]
) -> MemoryRequest | None:
    """The estimate's request: what the log states, then what the user gave. None without a known model."""
    name = _known_model(parsed, request, catalog)
    if not name:
        warnings.append(Remark(code="model_not_stated", params={"read": str(parsed.flags.get("model", ""))}))
        return None
    gpu = request.gpu or str(parsed.flags.get("gpu", ""))
    if not gpu:
        warnings.append(Remark(code="card_not_stated"))
    flags = {key: parsed.flags.get(key) for key in (
        "tensor_parallel", "pipeline_parallel", "max_batched_tokens", "gpu_memory_utilization")}  # fmt: skip
    fields: dict[str, object] = {
        **flags,
        "model": name,
        "gpu": gpu,
        "gpu_count": request.gpu_count,
        "engine": parsed.engine,
        "engine_version": parsed.version,
        "weight_precision": request.weight_precision or _precision(parsed, catalog),
        "kv_precision": request.kv_precision or _kv_precision(parsed),
        "max_model_len": parsed.flags.get("max_model_len") or request.max_model_len,
        "max_num_seqs": parsed.flags.get("max_num_seqs") or request.max_num_seqs,
        "enforce_eager": str(parsed.flags.get("enforce_eager", "")) == "True" or None,
    }
    return MemoryRequest.model_validate({key: value for key, value in fields.items() if value is not None})


def _known_model(parsed: ParsedLog, request: CompareLogRequest, catalog: Catalog) -> str:
    """The first name the catalog knows: the user's (an error if it is unknown), then the log's."""
    if request.model:
        return request.model
    written = str(parsed.flags.get("model", ""))
    for name in (written, written.rstrip("/").rsplit("/", 1)[-1]):
        if name and catalog.find_model(name) is not None:
            return name
    return ""


def _precision(parsed: ParsedLog, catalog: Catalog) -> str:
    """The weight format of the log's quantization, file type or dtype; "" where the model's own counts. The
    dtype of a quantized model is that of its activations and says nothing of the weights."""
    quantization = str(parsed.flags.get("weight_precision", "")).lower()
    if quantization not in ("", "none", "auto"):
        # "awq_marlin" is AWQ run by other kernels; "compressed-tensors" leaves it to the model's name
        tag = strip_quantization(str(parsed.flags.get("model", "")))[1]
        return _known_format((quantization, quantization.split("_")[0], tag), catalog)
    for key in ("file_type", "dtype"):
        written = str(parsed.flags.get(key, "")).split(" - ")[0].strip().lower()
        if key == "file_type" and written:
            written = (
                f"gguf-{str(parsed.flags[key]).lower().replace(' - medium', '_m').replace(' - small', '_s')}"
            )
        if written not in ("", "none", "auto") and (found := _known_format((written,), catalog)):
            return found
    return ""


def _known_format(names: Iterable[str], catalog: Catalog) -> str:
    """The first of some names that is a weight format, canonical; "" without one."""
    for name in filter(None, names):
        try:
            return catalog.precision(name).name
        except InputError:
            continue
    return ""


def _kv_precision(parsed: ParsedLog) -> str:
    written = str(parsed.flags.get("kv_precision", "")).lower()
    return "" if written in ("auto", "none") else written


def _parts(parsed: ParsedLog, estimate: MemoryReport | None) -> tuple[PartDifference, ...]:
    flags = _FLAGS.get(parsed.engine, {})
    found = []
    for name, measured in parsed.parts.items():
        if name not in _ESTIMATES and name not in _MEASURED_ONLY:
            continue
        estimated = _estimated(name, parsed, estimate)
        relative = None if estimated is None or not measured else estimated / measured - 1
        gap = abs(measured - estimated) if estimated is not None else 0.0
        differs = (
            relative is not None and abs(relative) > DIFFERS and (name == "kv_tokens" or gap > SMALL_GIB)
        )
        found.append(
            PartDifference(
                part=name,
                unit="tokens" if name == "kv_tokens" else "GiB",
                measured=measured,
                estimated=estimated,
                relative=relative,
                differs=differs,
                flag=flags.get(name, "") if differs else "",
            )
        )
    return tuple(found)


def _estimated(name: str, parsed: ParsedLog, estimate: MemoryReport | None) -> float | None:
    if estimate is None or name not in _ESTIMATES:
        return None
    value = getattr(estimate, _ESTIMATES[name])
    if value is None:
        return None
    # llama.cpp's buffers are summed over its GPUs
    several = estimate.pipeline_parallel if parsed.kind == "llama.cpp" else 1
    return float(value) * (several if name in ("weights", "kv_cache") else 1)


def _cause(parsed: ParsedLog, parts: tuple[PartDifference, ...]) -> str:
    """The failure the log states, a fragmented allocator, or the part that differs most."""
    unused = parsed.parts.get("reserved_unallocated", 0.0)
    if parsed.failure == "out_of_memory" and unused > 0.1 * parsed.parts.get("usable", 80.0):
        return "fragmented_allocator"
    if parsed.failure:
        return parsed.failure
    differing = [part for part in parts if part.differs and part.relative is not None]
    if not differing:
        return ""
    worst = max(
        differing, key=lambda part: abs(part.measured - (part.estimated or 0.0)) * (part.unit == "GiB")
    )
    return f"{worst.part}_differs"
