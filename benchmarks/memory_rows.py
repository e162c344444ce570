"""Published memory measurements as requests: what was asked, which figure answers it, what was measured."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.speed_rows import table

# Figures of `vram_inference` and the field of `MemoryReport` that answers each.
_INFERENCE = {
    "weights_gib_total": "weights_gib",
    "weights_gib_per_gpu": "weights_gib_per_gpu",
    "kv_bytes_per_token_total": "kv_bytes_per_token",
    "kv_cache_gib_per_gpu": "kv_pool_gib_per_gpu",
    "kv_cache_tokens_total": "kv_capacity_tokens",
    "activation_peak_gib": "activation_gib_per_gpu",
    "total_used_gib_per_gpu": "total_gib_per_gpu",
    "fits": "fits",
    "oom": "fits",
}
_LIBRARIES = ("transformers", "autoawq", "autogptq", "gptq-for-llama", "accelerate")
_MEASURED = re.compile(r"measured=(engine_log|torch_\w+|nvidia_smi|vendor_table|user_report)")
_STEP = re.compile(r"(?:n_ubatch|max_num_batched_tokens) (\d+)")
_EAGER = re.compile(r"(?:^|;)(?:enforce-)?eager(?:;|$)")
_GENERATED = re.compile(r"prompt \d+ tokens \+ (\d+) generated|(\d+) generated tokens")


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """One measured figure. `kind` is the line of the accuracy table; `calculator` names the request type."""

    kind: str
    row_id: str
    calculator: str  # inference, training, other
    request: dict[str, object]
    figure: str
    value: float
    engine: str
    precision: str
    gpu: str
    source: str


def memory_rows() -> list[MemoryRow]:
    """All measurements whose deciding fields are stated and that no review marked as doubtful."""
    doubtful = {(row["file"], row["id"]) for row in table("vram_suspicious")}
    rows = [*inference_rows(), *start_rows(), *training_rows(), *other_rows()]
    names = {"inference": "vram_inference_dev", "training": "vram_training_dev", "other": "vram_other_dev"}
    return [row for row in rows if (names[row.calculator], row.row_id) not in doubtful]


def inference_rows() -> Iterator[MemoryRow]:
    """Start-up logs, allocator figures and outcomes of inference runs."""
    for row in table("vram_inference"):
        kind = _inference_kind(row)
        figure = _INFERENCE.get(row["metric"])
        if kind and figure:
            yield MemoryRow(
                kind=kind,
                row_id=row["id"],
                calculator="inference",
                request=inference_request(row),
                figure="device_gib_per_gpu" if "by nvidia-smi" in kind else figure,
                value=_measured(row),
                engine=row["engine"] or "not stated",
                precision=row["weight_precision"],
                gpu=row["gpu_model"] or "not stated",
                source=row["source"],
            )


def inference_request(row: dict[str, str]) -> dict[str, object]:
    """The `MemoryRequest` fields of a row: `batch_or_seqs` is max_num_seqs of a vLLM log, else the batch."""
    generated = _GENERATED.search(row["note"])
    step = _STEP.search(row["note"])
    batch = "max_num_seqs" if row["engine"].startswith("vllm") else "concurrency"
    return _stated(
        model=row["model_id"],
        gpu=row["gpu_model"],
        gpu_count=row["n_gpus"],
        tensor_parallel=row["tensor_parallel"],
        pipeline_parallel=row["pipeline_parallel"],
        weight_precision=row["weight_precision"],
        kv_precision=row["kv_precision"],
        engine=row["engine"],
        engine_version=row["engine_version"],
        max_model_len=row["max_model_len"],
        gpu_memory_utilization=row["gpu_memory_utilization"],
        context_tokens=row["context_tokens"],
        output_tokens=(generated[1] or generated[2]) if generated else "",
        max_batched_tokens=step[1] if step else "",
        enforce_eager=_EAGER.search(row["note"]) is not None or "",
        **{batch: row["batch_or_seqs"]},
    )


def start_rows() -> Iterator[MemoryRow]:
    """vLLM servers that started on cloud GPUs (SpareCores/sc-inspector-data, CC BY-SA 4.0): each must fit."""
    for index, row in enumerate(table("vllm_memory")):
        if row["outcome"] != "started":
            continue
        yield MemoryRow(
            kind="vLLM starts on cloud GPUs",
            row_id=f"vm{index:04d}",
            calculator="inference",
            request=_stated(
                model=row["model_id"],
                gpu=row["gpu"],
                gpu_count=row["n_gpus"],
                tensor_parallel=row["tensor_parallel"],
                pipeline_parallel=row["pipeline_parallel"],
                weight_precision="nf4" if "bnb-4bit" in row["model_id"] else "bf16",
                engine="vllm",
                engine_version=row["engine_version"].removeprefix("vLLM "),
                max_model_len=row["max_model_len"],
                gpu_memory_utilization=row["gpu_memory_utilization"],
            ),
            figure="fits",
            value=1.0,
            engine="vllm",
            precision="bf16",
            gpu=row["gpu"],
            source=row["source"],
        )


def training_rows() -> Iterator[MemoryRow]:
    """Peaks and outcomes of training runs; peaks only where length, batch and GPUs are stated."""
    for row in table("vram_training"):
        complete = all(
            row[name] for name in ("sequence_length", "micro_batch", "grad_checkpointing", "n_gpus")
        )
        if row["metric"] == "peak_gib_per_gpu" and complete:
            kind = "training peak"
        elif row["metric"] in ("fits", "oom") and row["gpu_model"]:
            kind = "training fits or not"
        else:
            continue
        yield MemoryRow(
            kind=kind,
            row_id=row["id"],
            calculator="training",
            request=training_request(row),
            figure="peak_gib_per_gpu" if kind == "training peak" else "fits",
            value=_measured(row),
            engine=row["framework"] or "not stated",
            precision=row["precision"],
            gpu=row["gpu_model"] or "not stated",
            source=row["source"],
        )


def training_request(row: dict[str, str]) -> dict[str, object]:
    """The `TrainingMemoryRequest` fields of a row."""
    return _stated(
        model=row["model_id"],
        gpu=row["gpu_model"],
        gpu_count=row["n_gpus"],
        method=row["method"],
        precision=row["precision"],
        optimizer=row["optimizer"],
        lora_rank=row["lora_rank"],
        sequence_length=row["sequence_length"],
        micro_batch=row["micro_batch"],
        gradient_checkpointing=row["grad_checkpointing"],
        parallelism=row["parallelism"],
        framework=row["framework"],
        lora_targets="all linear, embedding, lm_head" if "embedding and lm_head" in row["note"] else "",
    )


def other_rows() -> Iterator[MemoryRow]:
    """Peaks and outcomes of diffusion, video, speech, encoder and vision runs."""
    for row in table("vram_other"):
        if row["metric"] not in ("peak_gib_per_gpu", "fits", "oom"):
            continue
        peak = row["metric"] == "peak_gib_per_gpu"
        if not peak and not row["gpu_model"]:
            continue
        yield MemoryRow(
            kind="diffusion, video, speech, vision peak" if peak else "diffusion and video fits or not",
            row_id=row["id"],
            calculator="other",
            request=other_request(row),
            figure="peak_gib_per_gpu" if peak else "fits",
            value=_measured(row),
            engine=row["framework"] or "not stated",
            precision=row["precision"],
            gpu=row["gpu_model"] or "not stated",
            source=row["source"],
        )


def other_request(row: dict[str, str]) -> dict[str, object]:
    """The `OtherMemoryRequest` fields of a row; recomputation stands in the note."""
    stated = re.search(r"checkpointing=([^;]+)", row["note"])
    checkpointing = stated[1] if stated else "yes" if "gradient checkpointing" in row["note"] else ""
    return _stated(
        model=row["model_id"],
        task=row["task"],
        gpu=row["gpu_model"],
        gpu_count=row["n_gpus"],
        mode=row["mode"],
        resolution=row["resolution"],
        frames_or_duration=row["frames_or_duration"],
        batch=row["batch"],
        precision=row["precision"],
        offload=row["offload"],
        framework=row["framework"],
        gradient_checkpointing=checkpointing,
    )


def _inference_kind(row: dict[str, str]) -> str:
    """The line of the accuracy table, "" for rows that decide nothing (card or share not stated, a failed
    start, a plain requirement)."""
    metric, engine = row["metric"], row["engine"]
    if metric in ("weights_gib_total", "weights_gib_per_gpu"):
        return "weights against logs"
    if metric == "kv_bytes_per_token_total":
        return "KV bytes per token"
    if metric in ("kv_cache_gib_per_gpu", "kv_cache_tokens_total"):
        stated = row["gpu_model"] and row["gpu_memory_utilization"] and float(row["value"]) > 0
        # What an engine keeps beside the pool differs by its generation, so the version is a deciding field.
        versioned = row["engine_version"] or not engine.startswith("vllm")
        return ("KV pool and KV tokens" if versioned else "KV pool, version not stated") if stated else ""
    if metric == "activation_peak_gib":
        return "activation at start, vLLM" if engine.startswith("vllm") else "activation, other engines"
    if metric in ("fits", "oom"):
        return "inference fits or not" if row["gpu_model"] else ""
    if not _MEASURED.search(row["note"]) or not row["context_tokens"]:
        return "llama.cpp total" if engine == "llama.cpp" and metric.startswith("total") else ""
    if engine.startswith(_LIBRARIES):
        precision = row["weight_precision"]
        width = "16 bit" if precision in ("bf16", "fp16") else "8 bit" if "8" in precision else "4 bit"
        by_allocator = "measured=torch_" in row["note"]
        return f"Transformers peak, {width}" if by_allocator else f"Transformers by nvidia-smi, {width}"
    return "llama.cpp total" if engine == "llama.cpp" else ""


def _measured(row: dict[str, str]) -> float:
    """The value; for outcomes 1 = fits, 0 = out of memory."""
    if row["metric"] in ("fits", "oom"):
        return 1.0 if row["metric"] == "fits" else 0.0
    return float(row["value"])


_TEXT = ("model", "engine_version", "resolution", "frames_or_duration", "precision")


def _stated(**cells: str | bool) -> dict[str, object]:
    """The cells that are not empty, numbers as numbers."""
    return {
        name: cell if name in _TEXT or isinstance(cell, bool) else _number(cell)
        for name, cell in cells.items()
        if cell
    }


def _number(cell: str) -> str | int | float:
    if not re.fullmatch(r"\d+(\.\d+)?", cell):
        return cell
    return int(float(cell)) if float(cell).is_integer() else float(cell)
