"""Peer calculators on the same measurements: each in an environment of its own, results kept with versions.

`python -m benchmarks.peers` installs and runs them and rewrites `benchmarks/data/peers_memory.csv`; CI does
not. hf-mem and accelerate's estimate-memory look models up on the hub; here they get the catalog's dimensions
as local files (`benchmarks/peer_scripts.py`) and are asked only what does not depend on the real files.
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
from benchmarks.peer_questions import PER_TOKEN, question
from benchmarks.peer_scripts import ACCELERATE, HF_MEM, LLMFIT, RIDGEPOINT
from knowledge.catalog import shipped_catalog

RESULTS = Path(__file__).parent / "data" / "peers_memory.csv"
ENVIRONMENTS = Path("build") / "peers"
KINDS = (
    "weights against logs",
    "KV pool and KV tokens",
    "Transformers peak, 16 bit",
    "Transformers peak, 4 bit",
    PER_TOKEN,
)
GIB = 2**30


@dataclass(frozen=True, slots=True)
class Peer:
    """A calculator from PyPI."""

    name: str
    version: str
    script: str
    beside: tuple[str, ...] = ()  # packages it needs but does not bring


PEERS = (
    Peer("ridgepoint", "0.1.2", RIDGEPOINT),
    Peer("llmfit", "1.1.17", LLMFIT),
    Peer("hf-mem", "0.5.6", HF_MEM),
    Peer("accelerate", "1.15.0", ACCELERATE, ("torch==2.14.1", "transformers==5.24.0")),
)


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
        asked = [(row, each) for row in rows if (each := question(peer.name, row, catalog))]
        lines = "".join(json.dumps(each) + "\n" for _row, each in asked)
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
        packages = [f"{peer.name}=={peer.version}", *peer.beside]
        subprocess.run([str(python), "-m", "pip", "install", "-q", *packages], check=True)
    return python


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
    if row.figure == "kv_bytes_per_token" and "per_token" in answer:
        return answer["per_token"]
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
