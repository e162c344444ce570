"""Accuracy of serving and training speed against published measurements: tables by kind, card and engine."""

from __future__ import annotations

import re
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import speed_left_out, speed_peers
from benchmarks.other_speed import OTHER_TITLE, other_tables
from benchmarks.speed_rows import SpeedRow, speed_rows
from benchmarks.training_rows import training_rows
from knowledge.catalog import Catalog, shipped_catalog
from knowledge.errors import AdvisorError
from tools.contracts.base import Report, parse_request
from tools.contracts.throughput import ThroughputRequest
from tools.contracts.training import TrainingTimeRequest
from tools.throughput import estimate_throughput
from tools.training_time import estimate_training_time

ACCURACY_PAGE = Path(__file__).parent.parent / "docs" / "accuracy.md"
_FIGURES = {
    "output_tokens_per_s": "output rate",
    "total_tokens_per_s": "token rate",
    "single_stream_tokens_per_s": "one stream",
    "prefill_tokens_per_s": "prompt rate",
    "tokens_per_s_per_gpu": "tokens/s per GPU",
    "tflops_per_gpu": "TFLOPS per GPU",
    "tpot_ms": "time per output token",
    "ttft_ms": "time to first token",
    "mfu": "MFU",
}

_REMARKS = """Where the largest errors come from:

- Saturated token rates are 17 rows of one report: Llama-3.1-405B in FP8 on 8 × H100 under a vLLM of 2024.
  Its rate stops growing at some tens of requests though memory holds more, and its prompts take several
  times their arithmetic. The model has no term for that; the rows stay in.
- Saturated prompt rates and first tokens are three and four rows: a serving system with prefill machines of
  its own (32 × H800), two H20 whose prompt lengths are not stated, and one NIM container whose requests do
  not come in bunches.
- H20, AWQ under Transformers, 32B: its 64 layers take 373 µs each, those of its 4B, 8B and 14B siblings 541
  to 559 µs; one time per layer cannot give both.
- First tokens of DeepSeek-V3 under SGLang, prompts of 8,192 tokens, 16 in flight: 0.7 s on eight H200, 7.3 s
  on eight B200, which compute faster. Arrivals decide, and the table does not state them.
- vLLM serving, Qwen2.5-0.5B and SmolLM2-135M: on the same H100 host a layer of a step without load takes
  about 60 µs of the one and 42 µs of the other beside its weights, on L40S both take 30. Each left out is
  judged by the other. Sampling settings may differ between models; no row states them."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A row with its answer: relative error, and whether the stated range holds the measurement."""

    row: SpeedRow
    error: float
    covered: bool


def answer(row: SpeedRow, catalog: Catalog) -> Report | None:
    """The report of a row, None where the calculator lacks a fact."""
    try:
        if row.kind.startswith("training"):
            return estimate_training_time(parse_request(TrainingTimeRequest, row.request), catalog)
        return estimate_throughput(parse_request(ThroughputRequest, row.request), catalog)
    except AdvisorError:
        return None


def score(rows: Iterable[SpeedRow], catalog: Catalog) -> list[Scored]:
    """Every answered row with its error."""
    found = []
    for row in rows:
        report = answer(row, catalog)
        if report is None:
            continue
        value, low, high = (getattr(report, f"{row.figure}{end}") for end in ("", "_low", "_high"))
        found.append(Scored(row, value / row.value - 1, low <= row.value <= high))
    return found


def error_table(title: str, scored: Sequence[Scored], key: Callable[[Scored], str], least: int = 1) -> str:
    """A Markdown table of errors by `key`; groups under `least` rows are left out."""
    groups: dict[str, list[Scored]] = defaultdict(list)
    for item in scored:
        groups[key(item)].append(item)
    lines = [f"| {title} | rows | median error | p90 | bias | range holds |", f"|{'---|' * 6}"]
    for name, items in sorted(groups.items()):
        if len(items) >= least:
            sizes = sorted(abs(item.error) for item in items)
            tail = sizes[min(len(sizes) - 1, int(0.9 * len(sizes)))]
            bias = statistics.median(item.error for item in items)
            held = sum(item.covered for item in items) / len(items)
            lines.append(
                f"| {name} | {len(items)} | {100 * statistics.median(sizes):.1f} % | {100 * tail:.1f} % |"
                f" {100 * bias:+.1f} % | {100 * held:.0f} % |"
            )
    return "\n".join(lines)


def speed_line(catalog: Catalog) -> str:
    """The time of one warm estimate of each calculator."""
    serving = ThroughputRequest(model="Llama-3-70B", gpu="A100-80GB", gpu_count=4, concurrency=32)
    training = TrainingTimeRequest(model="Llama-3-8B", gpu="A100-80GB", gpu_count=8, method="lora")
    times = []
    for run in (
        lambda: estimate_throughput(serving, catalog),
        lambda: estimate_training_time(training, catalog),
    ):
        run()
        started = time.perf_counter()
        for _ in range(100):
            run()
        times.append(10 * (time.perf_counter() - started))
    return f"One warm estimate takes {times[0]:.2f} ms (serving) and {times[1]:.2f} ms (training)."


def tables(scored: Sequence[Scored], catalog: Catalog) -> str:
    """All tables of the page as Markdown."""
    held = 100 * sum(item.covered for item in scored) / len(scored)
    h20 = [item for item in scored if item.row.gpu.startswith("H20-") and item.row.kind == "one user"]
    return "\n\n".join(
        [
            error_table(
                "kind, figure", scored, lambda item: f"{item.row.kind}: {_FIGURES[item.row.figure]}", least=3
            ),
            f"The stated 80 % ranges hold {held:.0f} % of the {len(scored)} figures.",
            speed_left_out.table(speed_left_out.stored(), _FIGURES),
            speed_peers.comparison(
                {
                    (item.row.row_id, item.row.figure): item.error
                    for item in scored
                    if item.row.kind == "silicon"
                }
            ),
            _REMARKS,
            error_table(
                "H20, one user, by format", h20, lambda item: f"{item.row.engine} {item.row.precision}"
            ),
            error_table("card", scored, lambda item: item.row.gpu, least=20),
            error_table("engine or framework", scored, lambda item: item.row.engine, least=5),
            error_table("precision", scored, lambda item: item.row.precision or "not stated", least=5),
            error_table("phase", scored, lambda item: item.row.phase),
            speed_line(catalog),
        ]
    )


def write_page(text: str, page: Path = ACCURACY_PAGE, title: str = "Speed") -> None:
    """Puts the tables of a title between their marks on the accuracy page, keeping what others wrote."""
    start, end = (f"<!-- {title.lower()}: {edge} -->" for edge in ("begin", "end"))
    block = f"{start}\n## {title}\n\n{text}\n{end}"
    old = page.read_text(encoding="utf-8") if page.exists() else "# Accuracy\n"
    pattern = re.compile(f"{re.escape(start)}.*{re.escape(end)}", re.DOTALL)
    new = pattern.sub(lambda _: block, old) if pattern.search(old) else f"{old.rstrip()}\n\n{block}\n"
    page.write_text(new, encoding="utf-8")


def main(args: Sequence[str] = ()) -> int:
    """Prints the tables; `--write` also puts them into docs/accuracy.md, `--rows` prints every row,
    `--left-out` first fits again without each model and keeps the result (ten minutes)."""
    catalog = shipped_catalog()
    if "--left-out" in args:
        speed_left_out.run()
    scored = score([*speed_rows(), *training_rows()], catalog)
    text, others = tables(scored, catalog), other_tables(catalog)
    print(text, others, sep="\n\n")
    if "--rows" in args:
        for item in sorted(scored, key=lambda entry: -abs(entry.error)):
            print(f"{100 * item.error:+7.0f} % {item.row.row_id} {item.row.kind} {item.row.request}")
    if "--write" in args:
        write_page(text)
        write_page(others, title=OTHER_TITLE)
    return 0
