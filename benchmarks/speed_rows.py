"""Published speed measurements as requests: what was asked of which plan, which figure, what was measured."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Machines of several PCIe cards where nvbandwidth found peer access.
_PEER_ACCESS = ("g2-standard",)
DATA_DIR = Path(__file__).parent / "data"
_MODEL_FILES = {
    "SmolLM-135M.Q4_K_M.gguf": "HuggingFaceTB/SmolLM2-135M-Instruct",
    "qwen1_5-0_5b-chat-q4_k_m.gguf": "Qwen/Qwen1.5-0.5B-Chat",
    "gemma-2b.Q4_K_M.gguf": "google/gemma-2b",
    "llama-7b.Q4_K_M.gguf": "huggyllama/llama-7b",
    "phi-4-q4.gguf": "microsoft/phi-4",
    "Llama-3.3-70B-Instruct-Q4_K_M.gguf": "meta-llama/Llama-3.3-70B-Instruct",
}


@dataclass(frozen=True, slots=True)
class SpeedRow:
    """One measured figure. `kind` is the line of the accuracy table that it counts in; `request` holds the
    fields of a `ThroughputRequest`; `figure` is the report's field that answers it."""

    kind: str
    row_id: str
    request: dict[str, object]
    figure: str
    value: float
    gpu: str
    precision: str
    engine: str
    phase: str  # decode, prefill, serving
    source: str


def table(name: str) -> list[dict[str, str]]:
    """The rows of `benchmarks/data/<name>.csv.gz`."""
    with gzip.open(DATA_DIR / f"{name}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(io.StringIO(file.read())))


def speed_rows() -> list[SpeedRow]:
    """All measurements whose lengths and load are stated and that no review marked as doubtful."""
    return [*silicon_rows(), *serving_rows(), *published_rows(), *llamacpp_rows()]


def silicon_rows() -> Iterator[SpeedRow]:
    """Latencies by engine, plan and concurrency (ai-dynamo/aiconfigurator, Apache-2.0)."""
    for row in table("silicon"):
        if row["flag"] or not row["concurrency"] or row["gpu_count"] == "0":
            continue
        request = _present(
            model=row["model_id"],
            gpu=row["gpu_model"],
            gpu_count=_int(row["gpu_count"]),
            tensor_parallel=_int(row["tensor_parallel"]),
            pipeline_parallel=_int(row["pipeline_parallel"]),
            attention_data_parallel=_int(row["attention_data_parallel"]),
            expert_parallel=_int(row["moe_expert_parallel"]),
            weight_precision="fp8-block" if row["moe_quant"] == "fp8_block" else row["weight_precision"],
            engine=row["engine"],
            engine_version=row["engine_version"],
            input_tokens=_int(row["input_tokens"]),
            output_tokens=_int(row["output_tokens"]),
            concurrency=_int(row["concurrency"]),
        )
        for figure, phase in (("tpot_ms", "decode"), ("ttft_ms", "prefill")):
            yield _row("silicon", row["id"], request, figure, float(row[figure]), phase, row["source"])


def serving_rows() -> Iterator[SpeedRow]:
    """vLLM under a measured number of requests in flight (SpareCores, CC BY-SA 4.0)."""
    for row in table("vllm_serving"):
        if row["quality"] != "ok":
            continue
        request = _present(
            model=row["model_id"],
            gpu=row["gpu_model"],
            gpu_count=_int(row["n_gpus"]),
            tensor_parallel=_int(row["tensor_parallel"]),
            pipeline_parallel=_int(row["pipeline_parallel"]),
            interconnect="pcie-p2p" if row["instance_type"].startswith(_PEER_ACCESS) else "",
            weight_precision="nf4" if row["weight_precision"].startswith("bnb") else row["weight_precision"],
            kv_precision=row["kv_precision"],
            engine=row["engine"],
            engine_version=row["engine_version"],
            input_tokens=_int(row["input_tokens_mean"]),
            output_tokens=_int(row["output_tokens_mean"]),
            concurrency=max(1, round(float(row["concurrency_mean"]))),
            arrival="paced" if row["strategy"] == "constant" else "closed",
        )
        for figure, column, phase in (
            ("output_tokens_per_s", "output_tokens_per_s", "serving"),
            ("tpot_ms", "itl_ms_median", "decode"),
            ("ttft_ms", "ttft_ms_median", "prefill"),
        ):
            yield _row("vllm serving", row["id"], request, figure, float(row[column]), phase, row["source"])


def published_rows() -> Iterator[SpeedRow]:
    """Figures of many published tables, engines and years."""
    for row in table("throughput"):
        if row["flag"]:
            continue
        inputs, outputs = _int(row["input_tokens"]), _int(row["output_tokens"])
        if inputs is None and outputs is None:
            continue
        concurrency: object = _int(row["concurrency_or_batch"]) or "max"
        metric = row["metric"]
        one_user = concurrency == 1 or metric == "single_stream_tokens_per_s"
        if metric == "single_stream_tokens_per_s":
            concurrency = 1
        value = float(row["value"])
        if row["scope"] == "per gpu" and metric in ("output_tokens_per_s", "total_tokens_per_s"):
            value *= float(row["n_gpus"])
        figure = "prefill_tokens_per_s" if metric == "total_tokens_per_s" and not outputs else metric
        phase = (
            "prefill"
            if figure in ("ttft_ms", "prefill_tokens_per_s")
            else "decode"
            if one_user
            else "serving"
        )
        kind = "one user" if one_user else "saturated"
        request = _present(
            model=row["model_id"],
            gpu=row["gpu_model"],
            gpu_count=_int(row["n_gpus"]),
            tensor_parallel=_int(row["tensor_parallel"]),
            pipeline_parallel=_int(row["pipeline_parallel"]),
            data_parallel=_int(row["data_parallel"]),
            interconnect=row["interconnect"],
            weight_precision=row["weight_precision"],
            kv_precision=row["kv_precision"],
            engine=row["engine"],
            engine_version=row["engine_version"],
            input_tokens=inputs,
            output_tokens=outputs or 0,
            concurrency=concurrency,
        )
        if phase == "prefill":
            kind = f"{kind}, first token"
        yield _row(kind, row["id"], request, figure, value, phase, row["source"])


def llamacpp_rows() -> Iterator[SpeedRow]:
    """llama-bench with all layers on the GPU, one request (SpareCores, CC BY-SA 4.0)."""
    for index, row in enumerate(table("llamacpp")):
        if row["used_gpu"] != "yes":
            continue
        tokens = int(row["tokens"])
        prompt = row["phase"] == "prompt"
        request = _present(
            model=_MODEL_FILES[row["model_file"]],
            gpu=row["gpu_model"],
            gpu_count=_int(row["n_gpus"]),
            weight_precision="gguf-q4_k_m",
            engine="llama.cpp",
            input_tokens=tokens if prompt else 0,
            output_tokens=1 if prompt else tokens,
            concurrency=1,
        )
        own = row["vendor"] == "alicloud"
        kind = f"llama.cpp {'prompt' if prompt else 'generation'}{' on Alibaba Cloud' if own else ''}"
        figure = "prefill_tokens_per_s" if prompt else "single_stream_tokens_per_s"
        yield _row(
            kind, f"llamacpp-{index}", request, figure, float(row["tokens_per_second"]),
            "prefill" if prompt else "decode", row["source"],
        )  # fmt: skip


def _row(
    kind: str, row_id: str, request: dict[str, object], figure: str, value: float, phase: str, source: str
) -> SpeedRow:
    return SpeedRow(
        kind,
        row_id,
        request,
        figure,
        value,
        str(request["gpu"]),
        str(request.get("weight_precision", "")),
        str(request.get("engine", "")),
        phase,
        source,
    )


def _present(**values: object) -> dict[str, object]:
    return {key: value for key, value in values.items() if value not in (None, "")}


def _int(text: str) -> int | None:
    return round(float(text)) if text not in ("", None) else None
