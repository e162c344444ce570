"""Peer calculators on the same measurements: each in an environment of its own, results kept with versions.

`python -m benchmarks.peers` installs and runs them and rewrites `benchmarks/data/peers_memory.csv`; CI does
not. hf-mem reads safetensors headers from the hub, and accelerate's estimate-memory needs a model class and
PyTorch for each row: neither answers a row offline.
"""

from __future__ import annotations

import csv
import datetime
import json
import subprocess
import sys
import venv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.memory_rows import MemoryRow, memory_rows
from knowledge.catalog import Catalog, shipped_catalog
from knowledge.errors import AdvisorError
from knowledge.rows import Model

RESULTS = Path(__file__).parent / "data" / "peers_memory.csv"
ENVIRONMENTS = Path("build") / "peers"
KINDS = (
    "weights against logs",
    "KV pool and KV tokens",
    "Transformers peak, 16 bit",
    "Transformers peak, 4 bit",
)
GIB = 2**30

# Each script reads JSON requests from stdin and prints one JSON answer (or null) per line.
_RIDGEPOINT = """
import json, sys
from ridgepoint import _core
for line in sys.stdin:
    q = json.loads(line)
    try:
        answer = json.loads(_core.fit_shape(*q["shape"], q["gpu"], q["count"], "vllm", q["dtype"], q["kv"],
                                            q["context"], min(2048, q["context"]), True))
        print(json.dumps({"weights": answer["memory"]["weights_bytes"]["best"],
                          "pool": answer["memory"]["kv_pool_bytes"]["best"],
                          "per_token": answer["capacity"]["bytes_per_seq"] / q["context"]}))
    except Exception:
        print("null")
"""
_LLMFIT = """
import json, shutil, subprocess, sys, pathlib
tool = str(pathlib.Path(sys.executable).parent / "llmfit")
for line in sys.stdin:
    q = json.loads(line)
    command = [tool, "plan", q["model"], "--context", str(q["context"]), "--quant", q["quant"], "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        answer = json.loads(done.stdout)
        print(json.dumps({"weights": answer["disk_size_gb"] * 1e9,
                          "total": answer["minimum"]["vram_gb"] * 1e9}))
    except Exception:
        print("null")
"""
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


@dataclass(frozen=True, slots=True)
class Peer:
    """A calculator from PyPI."""

    name: str
    version: str
    script: str


PEERS = (Peer("ridgepoint", "0.1.2", _RIDGEPOINT), Peer("llmfit", "1.1.17", _LLMFIT))


@dataclass(frozen=True, slots=True)
class PeerAnswer:
    """What a peer said of a row, in the unit of the row."""

    peer: str
    version: str
    date: str
    row_id: str
    value: float


def kept_answers(path: Path = RESULTS) -> list[PeerAnswer]:
    """The results of the last run; none where it never ran."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [
            PeerAnswer(row["peer"], row["version"], row["date"], row["row_id"], float(row["value"]))
            for row in csv.DictReader(file)
        ]


def run(folder: Path = ENVIRONMENTS) -> list[PeerAnswer]:
    """Installs each peer under `folder` and asks it every row it applies to."""
    catalog, today = shipped_catalog(), datetime.datetime.now(datetime.UTC).date().isoformat()
    rows = [row for row in memory_rows() if row.calculator == "inference" and row.kind in KINDS]
    found: list[PeerAnswer] = []
    for peer in PEERS:
        python = environment(peer, folder)
        asked = [(row, question) for row in rows if (question := _question(peer, row, catalog))]
        lines = "".join(json.dumps(question) + "\n" for _row, question in asked)
        done = subprocess.run(
            [str(python), "-c", peer.script], input=lines, capture_output=True, text=True, check=True
        )
        for (row, _), line in zip(asked, done.stdout.splitlines(), strict=True):
            value = _value(row, json.loads(line))
            if value is not None:
                found.append(PeerAnswer(peer.name, peer.version, today, row.row_id, value))
    return found


def environment(peer: Peer, folder: Path) -> Path:
    place = (folder / peer.name).absolute()
    python = place / "bin" / "python"
    if not python.exists():
        venv.create(place, with_pip=True)
        package = f"{peer.name}=={peer.version}"
        subprocess.run([str(python), "-m", "pip", "install", "-q", package], check=True)
    return python


def _question(peer: Peer, row: MemoryRow, catalog: Catalog) -> dict[str, object] | None:
    """The peer's request for a row, None where the peer has no word for its card or precision."""
    try:
        model = catalog.model(str(row.request["model"]))
    except AdvisorError:
        return None
    context = int(str(row.request.get("context_tokens") or row.request.get("max_model_len") or 4096))
    if peer.name == "llmfit":
        quant = _LLMFIT_QUANTS.get(row.precision)
        pool = row.kind == "KV pool and KV tokens" or int(str(row.request.get("gpu_count", 1))) > 1
        return (
            None if quant is None or pool else {"model": model.model_id, "context": context, "quant": quant}
        )
    gpu, dtype = _RIDGEPOINT_GPUS.get(row.gpu), _RIDGEPOINT_TYPES.get(row.precision)
    shape = _ridgepoint_shape(model)
    if gpu is None or dtype is None or shape is None or not row.engine.startswith("vllm"):
        return None
    count = int(str(row.request.get("gpu_count", 1)))
    return {"shape": shape, "gpu": gpu, "count": count, "dtype": dtype, "kv": "fp16", "context": context}


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


def _value(row: MemoryRow, answer: dict[str, float] | None) -> float | None:
    """The answer in the row's unit."""
    if answer is None:
        return None
    count = int(str(row.request.get("gpu_count", 1)))
    if row.figure == "weights_gib":
        return answer["weights"] / GIB
    if row.figure == "weights_gib_per_gpu":
        return answer["weights"] / count / GIB
    if row.figure == "kv_pool_gib_per_gpu" and "pool" in answer:
        return answer["pool"] / count / GIB
    if row.figure == "kv_capacity_tokens" and "pool" in answer:
        return answer["pool"] / answer["per_token"]
    if row.figure == "total_gib_per_gpu" and "total" in answer:
        return answer["total"] / GIB
    return None


def _rows(answers: Sequence[PeerAnswer]) -> Iterator[dict[str, object]]:
    for found in answers:
        yield {
            "peer": found.peer,
            "version": found.version,
            "date": found.date,
            "row_id": found.row_id,
            "value": round(found.value, 4),
        }


def main() -> int:
    """Runs the peers and keeps what they said."""
    answers = run()
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ("peer", "version", "date", "row_id", "value"), lineterminator="\n")
        writer.writeheader()
        writer.writerows(_rows(answers))
    print(f"{len(answers)} answers of {len(PEERS)} peers kept")
    return 0


if __name__ == "__main__":
    sys.exit(main())
