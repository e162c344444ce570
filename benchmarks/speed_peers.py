"""Open planners on the same silicon rows: each in an environment of its own, results kept with versions.

`python -m benchmarks.speed_peers` installs and runs them on every eighth row and rewrites
`benchmarks/data/peers_speed.csv`; CI does not. aiconfigurator interpolates a database of measured kernels;
genz-llm and llm-analysis are rooflines of a batch, so that their time to first token is that of one prompt
alone. Each is asked what it has words for: genz-llm its own Llama-3.1-70B, llm-analysis dense models.
"""

from __future__ import annotations

import csv
import datetime
import json
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers import ENVIRONMENTS, Peer, environment
from benchmarks.speed_rows import table
from knowledge.catalog import Catalog, shipped_catalog

RESULTS = Path(__file__).parent / "data" / "peers_speed.csv"
EVERY = 8
_COLUMNS = ("peer", "version", "date", "row_id", "ttft_ms", "tpot_ms")

# Each script reads JSON requests from stdin and prints one JSON answer (or null) per line, after a mark.
_MARK = "=>"
_AICONFIGURATOR = """
import json, logging, sys, warnings
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
from aiconfigurator.cli.api import cli_estimate
for line in sys.stdin:
    q = json.loads(line)
    try:
        found = cli_estimate(q.pop("model"), q.pop("system"), **q)
        print("=>", json.dumps([found.ttft, found.tpot]))
    except Exception:
        print("=>", "null")
"""
_GENZ = """
import json, sys, warnings
warnings.simplefilter("ignore")
from GenZ import decode_moddeling, prefill_moddeling
for line in sys.stdin:
    q = json.loads(line)
    shared = dict(model=q["model"], system_name=q["system"], bits=q["bits"], tensor_parallel=q["tensor"])
    try:
        first = prefill_moddeling(batch_size=1, input_tokens=q["inputs"], **shared)["Latency"]
        step = decode_moddeling(batch_size=q["batch"], input_tokens=q["inputs"], Bb=1,
                                output_tokens=q["outputs"] // 2, **shared)["Latency"]
        print("=>", json.dumps([first, step]))
    except Exception:
        print("=>", "null")
"""
_LLM_ANALYSIS = """
import json, logging, sys
logging.disable(logging.CRITICAL)
from llm_analysis.analysis import LLMAnalysis
from llm_analysis.config import GPUConfig, ModelConfig, ParallelismConfig, get_dtype_config_by_name
for line in sys.stdin:
    q = json.loads(line)
    try:
        tool = LLMAnalysis(ModelConfig(**q["model"]), GPUConfig(**q["gpu"]),
                           get_dtype_config_by_name(q["dtype"]), ParallelismConfig(tp_size=q["tensor"]))
        sizes = dict(seq_len=q["inputs"], num_tokens_to_generate=q["outputs"])
        first = tool.inference(batch_size_per_gpu=1, **sizes)["prefill_latency"]
        step = tool.inference(batch_size_per_gpu=q["batch"], **sizes)["decode_latency"]
        print("=>", json.dumps([1e3 * first, 1e3 * step]))
    except Exception:
        print("=>", "null")
"""
PEERS = (
    Peer("aiconfigurator", "0.12.0", _AICONFIGURATOR),
    Peer("genz-llm", "0.0.16", _GENZ),
    Peer("llm-analysis", "0.2.2", _LLM_ANALYSIS),
)
_SYSTEMS = {"H100": "h100_sxm", "H200": "h200_sxm", "B200": "b200_sxm", "B300": "b300_sxm"}
_BACKENDS = {"vLLM": "vllm", "SGLang": "sglang", "TensorRT-LLM": "trtllm"}
_THEIR_NAMES = {
    "meta-llama/Llama-3.1-70B": "meta-llama/Meta-Llama-3.1-70B",
    "meta-llama/Llama-3.1-70B-Instruct": "meta-llama/Meta-Llama-3.1-70B",
}
_BITS = {"bf16": 16, "fp16": 16, "fp8": 8}


@dataclass(frozen=True, slots=True)
class PeerSpeed:
    """What a peer said of a row: time to first token and time per output token, in ms."""

    peer: str
    version: str
    date: str
    row_id: str
    ttft_ms: float
    tpot_ms: float


def silicon_sample() -> list[dict[str, str]]:
    """Every eighth silicon row that no review marked."""
    rows = [row for row in table("silicon") if not row["flag"] and row["concurrency"]]
    return [row for row in rows if row["gpu_count"] != "0"][::EVERY]


def kept() -> list[PeerSpeed]:
    """The answers of the last run."""
    with RESULTS.open(encoding="utf-8", newline="") as file:
        return [
            PeerSpeed(
                row["peer"], row["version"], row["date"], row["row_id"],
                float(row["ttft_ms"]), float(row["tpot_ms"]),
            )
            for row in csv.DictReader(file)
        ]  # fmt: skip


def run(folder: Path = ENVIRONMENTS) -> list[PeerSpeed]:
    """Installs each peer under `folder` and asks it every row it has words for."""
    catalog, today = shipped_catalog(), datetime.datetime.now(datetime.UTC).date().isoformat()
    found: list[PeerSpeed] = []
    for peer in PEERS:
        python = environment(peer, folder)
        asked = [(row, question) for row in silicon_sample() if (question := _question(peer, row, catalog))]
        lines = "".join(json.dumps(question) + "\n" for _row, question in asked)
        done = subprocess.run(
            [str(python), "-c", peer.script], input=lines, capture_output=True, text=True, check=True
        )
        said = [line.removeprefix(_MARK) for line in done.stdout.splitlines() if line.startswith(_MARK)]
        for (row, _), line in zip(asked, said, strict=True):
            answer = json.loads(line)
            if answer and min(answer) > 0:
                found.append(PeerSpeed(peer.name, peer.version, today, row["id"], *answer))
    return found


def _question(peer: Peer, row: dict[str, str], catalog: Catalog) -> dict[str, object] | None:
    if peer.name == "aiconfigurator":
        return _for_database(row)
    bits = _BITS.get(row["weight_precision"])
    model = catalog.model(row["model_id"])
    if bits is None or model.num_experts or int(row["pipeline_parallel"] or 1) > 1:
        return None
    gpu = catalog.gpu(row["gpu_model"])
    load = {
        "inputs": int(row["input_tokens"]), "outputs": int(row["output_tokens"]),
        "batch": int(row["concurrency"]), "tensor": int(row["tensor_parallel"] or 1),
    }  # fmt: skip
    if peer.name == "genz-llm":
        if "Llama-3.1-70B" not in row["model_id"]:
            return None
        system = {
            "Flops": gpu.bf16_tflops, "Memory_size": gpu.memory_gib, "Memory_BW": gpu.memory_bandwidth_gbs,
            "ICN": (gpu.nvlink_gbs or 0.0) / 2, "real_values": True,
        }  # fmt: skip
        word = "fp8" if bits == 8 else "bf16"
        return {"model": "meta-llama/Llama-3.1-70B", "system": system, "bits": word, **load}
    # It counts two matrices of a feed-forward layer; three of a gated one are one and a half times the width.
    width = 1.5 * (model.intermediate_size or 0)
    sizes = {
        "name": row["model_id"], "num_layers": model.num_layers, "n_head": model.num_attention_heads,
        "hidden_dim": model.hidden_size, "vocab_size": model.vocab_size, "max_seq_len": 1_000_000,
        "num_key_value_heads": model.num_kv_heads, "ffn_embed_dim": int(width),
        "expansion_ratio": width / (model.hidden_size or 1), "model_type": "llama",
    }  # fmt: skip
    card = {
        "name": row["gpu_model"], "mem_per_GPU_in_GB": gpu.memory_gib,
        "hbm_bandwidth_in_GB_per_sec": gpu.memory_bandwidth_gbs,
        "intra_node_bandwidth_in_GB_per_sec": (gpu.nvlink_gbs or 0.0) / 2,
        "intra_node_min_message_latency": 8e-6, "peak_fp16_TFLOPS": gpu.bf16_tflops,
        "peak_i8_TFLOPS": gpu.int8_tops or gpu.fp8_tflops, "peak_i4_TFLOPS": gpu.fp4_tflops or 0.0,
        "inter_node_bandwidth_in_GB_per_sec": 50.0,
    }  # fmt: skip
    return {"model": sizes, "gpu": card, "dtype": f"w{bits}a{bits}e16", **load}


def _for_database(row: dict[str, str]) -> dict[str, object] | None:
    """The request of a row to the kernel-database planner, in its own words for formats and degrees."""
    system, backend = _SYSTEMS.get(row["gpu_model"]), _BACKENDS.get(row["engine"])
    if system is None or backend is None:
        return None
    question: dict[str, object] = {
        "model": _THEIR_NAMES.get(row["model_id"], row["model_id"]), "system": system,
        "backend_name": backend, "isl": int(row["input_tokens"]), "osl": int(row["output_tokens"]),
        "batch_size": int(row["batch_size_per_rank"] or row["concurrency"]),
        "tp_size": int(row["tensor_parallel"] or 1), "pp_size": int(row["pipeline_parallel"] or 1),
        "attention_dp_size": int(row["attention_data_parallel"] or 1),
    }  # fmt: skip
    if row["gemm_quant"]:
        question["gemm_quant_mode"] = row["gemm_quant"]
    if row["moe_tensor_parallel"] and "Llama" not in row["model_id"] and "32B" not in row["model_id"]:
        question["moe_tp_size"] = int(row["moe_tensor_parallel"])
        question["moe_ep_size"] = int(row["moe_expert_parallel"] or 1)
        if row["moe_quant"]:
            question["moe_quant_mode"] = row["moe_quant"]
    return question


def comparison(ours: dict[tuple[str, str], float]) -> str:
    """A Markdown table of the peers' errors beside ours on the same rows; `ours` holds the errors by row and
    figure (estimated over measured, minus one)."""
    measured = {row["id"]: row for row in silicon_sample()}
    groups: dict[tuple[str, str, str, str], list[tuple[float, float]]] = defaultdict(list)
    for item in kept():
        for figure in ("tpot_ms", "ttft_ms"):
            if (item.row_id, figure) in ours:
                error = getattr(item, figure) / float(measured[item.row_id][figure]) - 1
                key = item.peer, item.version, item.date, figure
                groups[key].append((abs(error), abs(ours[item.row_id, figure])))
    lines = [
        f"Open planners on every {EVERY}th silicon row, each in an environment of its own (`make peers`). All"
        " three install. aiconfigurator interpolates measured kernels of H100, H200, B200, B300 and answers"
        " all but the rows whose kernels it lacks; genz-llm knows Llama-3.1-70B of these models, llm-analysis"
        " dense models alone, and both give a roofline of one prompt and one batch. None has the cards and"
        " engines of the llama.cpp and cloud-serving rows.",
        "",
        "| silicon rows, figure | planner | run on | rows | its median / p90 | ours, all rows in the fit |",
        f"|{'---|' * 6}",
    ]
    names = {"tpot_ms": "time per output token", "ttft_ms": "time to first token"}
    for (peer, version, day, figure), pairs in sorted(groups.items()):
        lines.append(
            f"| {names[figure]} | {peer} {version} | {day} | {len(pairs)} |"
            f" {_median_p90(theirs for theirs, _ in pairs)} | {_median_p90(mine for _, mine in pairs)} |"
        )
    return "\n".join(lines)


def _median_p90(errors: Iterable[float]) -> str:
    sizes = sorted(errors)
    tail = sizes[min(len(sizes) - 1, int(0.9 * len(sizes)))]
    return f"{100 * statistics.median(sizes):.1f} / {100 * tail:.1f} %"


def _write(answers: Sequence[PeerSpeed]) -> None:
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_COLUMNS)
        for item in answers:
            values = (round(item.ttft_ms, 3), round(item.tpot_ms, 4))
            writer.writerow((item.peer, item.version, item.date, item.row_id, *values))


def main() -> int:
    """Runs the planners and keeps what they said."""
    answers = run()
    _write(answers)
    print(f"{len(answers)} answers of {len(PEERS)} planners kept")
    return 0


if __name__ == "__main__":
    sys.exit(main())
