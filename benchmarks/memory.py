"""Accuracy of the memory calculators against published measurements: tables by kind, engine and precision."""

from __future__ import annotations

import re
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.memory_rows import MemoryRow, memory_rows
from benchmarks.peers import kept_answers
from knowledge.catalog import Catalog, shipped_catalog
from knowledge.errors import AdvisorError
from tools.contracts.base import Report, parse_request
from tools.contracts.memory import MemoryRequest
from tools.contracts.other import OtherMemoryRequest
from tools.contracts.training import TrainingMemoryRequest
from tools.memory import estimate_memory
from tools.other_memory import estimate_other_memory
from tools.training_memory import estimate_training_memory

ACCURACY_PAGE = Path(__file__).parent.parent / "docs" / "accuracy.md"
_START, _END = "<!-- memory: begin -->", "<!-- memory: end -->"


_PEER_NOTE = (
    "hf-mem and accelerate estimate-memory look models up on the Hugging Face hub. Offline they were handed "
    "a config.json with the catalog's dimensions; hf-mem also got one header with the published parameter "
    "count, so its weights are not compared alone, and it was not asked about quantized files. accelerate "
    "builds the model class, which leaves out the output head; its totals carry the 20 % that its "
    "documentation adds for inference. Neither knows the pool of an engine, activations or graphs."
)


@dataclass(frozen=True, slots=True)
class Scored:
    """A row with its answer; `error` is relative, `covered` tells whether the stated range holds."""

    row: MemoryRow
    answer: float | None
    error: float | None
    covered: bool | None


def answer(row: MemoryRow, catalog: Catalog) -> Report | None:
    """The report of a row, None where the calculator refuses or lacks a fact."""
    try:
        if row.calculator == "inference":
            return estimate_memory(parse_request(MemoryRequest, row.request), catalog)
        if row.calculator == "training":
            return estimate_training_memory(parse_request(TrainingMemoryRequest, row.request), catalog)
        return estimate_other_memory(parse_request(OtherMemoryRequest, row.request), catalog)
    except AdvisorError:
        return None


def score(rows: Iterable[MemoryRow], catalog: Catalog) -> list[Scored]:
    """Every row with its answer and error."""
    return [_scored(row, answer(row, catalog)) for row in rows]


def _scored(row: MemoryRow, report: Report | None) -> Scored:
    value = getattr(report, row.figure) if report is not None else None
    if value is None or row.figure == "fits":
        return Scored(row, None if value is None else float(value), None, None)
    low, high = getattr(report, f"{row.figure}_low", None), getattr(report, f"{row.figure}_high", None)
    covered = None if low is None or high is None else bool(low <= row.value <= high)
    return Scored(row, float(value), float(value) / row.value - 1, covered)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an error table, in per cent."""

    name: str
    rows: int
    answered: int
    median: float
    p90: float
    bias: float
    coverage: float | None


def line(name: str, scored: Sequence[Scored]) -> Line | None:
    """Median and 90th percentile of the absolute error, median of the signed one, ranges that hold."""
    errors = [item.error for item in scored if item.error is not None]
    if not errors:
        return None
    sizes = sorted(abs(error) for error in errors)
    ranges = [item.covered for item in scored if item.covered is not None]
    return Line(
        name=name,
        rows=len(scored),
        answered=len(errors),
        median=100 * statistics.median(sizes),
        p90=100 * sizes[min(len(sizes) - 1, int(0.9 * len(sizes)))],
        bias=100 * statistics.median(errors),
        coverage=100 * sum(ranges) / len(ranges) if ranges else None,
    )


def error_table(title: str, scored: Sequence[Scored], key: Callable[[Scored], str], least: int = 1) -> str:
    """A Markdown table of errors by `key`; groups under `least` rows are left out."""
    groups: dict[str, list[Scored]] = defaultdict(list)
    for item in scored:
        if item.row.figure != "fits":
            groups[key(item)].append(item)
    lines = [found for name, items in sorted(groups.items()) if (found := line(name, items))]
    head = f"| {title} | rows | answered | median error | p90 | bias | range holds |\n|{'---|' * 7}"
    return "\n".join([head, *(_markdown(row) for row in lines if row.rows >= least)])


def _markdown(row: Line) -> str:
    holds = "–" if row.coverage is None else f"{row.coverage:.0f} %"
    errors = f"{row.median:.1f} % | {row.p90:.1f} % | {row.bias:+.1f} %"
    return f"| {row.name} | {row.rows} | {row.answered} | {errors} | {holds} |"


def outcome_table(scored: Sequence[Scored]) -> str:
    """The confusion of fits and out of memory by kind."""
    groups: dict[str, list[Scored]] = defaultdict(list)
    for item in scored:
        if item.row.figure == "fits" and item.answer is not None:
            groups[item.row.kind].append(item)
    head = (
        "| outcome | rows | right | measured fits: said fits / not | measured not: said fits / not |\n"
        "|---|---|---|---|---|"
    )
    body = []
    for name, items in sorted(groups.items()):
        cells = {(said, true): 0 for said in (0.0, 1.0) for true in (0.0, 1.0)}
        for item in items:
            cells[(item.answer or 0.0, item.row.value)] += 1
        right = (cells[1.0, 1.0] + cells[0.0, 0.0]) / len(items)
        body.append(
            f"| {name} | {len(items)} | {100 * right:.0f} % | {cells[1.0, 1.0]} / {cells[0.0, 1.0]} |"
            f" {cells[1.0, 0.0]} / {cells[0.0, 0.0]} |"
        )
    return "\n".join([head, *body])


def peer_table(scored: Sequence[Scored]) -> str:
    """Peers and this project on the rows that each peer answered."""
    ours = {item.row.row_id: item for item in scored}
    groups: dict[tuple[str, str, str], list[tuple[Scored, Scored]]] = defaultdict(list)
    for found in kept_answers():
        item = ours.get(found.row_id)
        if item is not None and item.error is not None:
            theirs = Scored(item.row, found.value, found.value / item.row.value - 1, None)
            groups[item.row.kind, f"{found.peer} {found.version}", found.date].append((theirs, item))
    body = []
    for (kind, peer, date), pairs in sorted(groups.items()):
        their_line, our_line = (line(peer, [pair[side] for pair in pairs]) for side in (0, 1))
        if their_line and our_line:
            errors = [f"{row.median:.1f} / {row.p90:.1f} %" for row in (their_line, our_line)]
            body.append(f"| {kind} | {peer} | {date} | {len(pairs)} | {errors[0]} | {errors[1]} |")
    head = ["| kind | peer | run on | rows | its median / p90 | ours |", f"|{'---|' * 6}"]
    return "\n".join([*head, *body]) + f"\n\n{_PEER_NOTE}"


def speed_line(catalog: Catalog) -> str:
    """The time of one warm estimate."""
    request = MemoryRequest(model="Llama-3-70B", gpu="A100-80GB", gpu_count=4, weight_precision="bf16")
    estimate_memory(request, catalog)
    started = time.perf_counter()
    for _ in range(200):
        estimate_memory(request, catalog)
    return f"One warm estimate takes {5 * (time.perf_counter() - started):.2f} ms."


def tables(scored: Sequence[Scored], catalog: Catalog) -> str:
    """All tables of the page as Markdown."""
    return "\n\n".join(
        [
            error_table("kind", scored, lambda item: item.row.kind),
            outcome_table(scored),
            peer_table(scored),
            error_table("engine or framework", scored, lambda item: item.row.engine, least=5),
            error_table("precision", scored, lambda item: item.row.precision or "not stated", least=5),
            error_table("card", scored, lambda item: item.row.gpu, least=5),
            speed_line(catalog),
        ]
    )


def write_page(text: str, page: Path = ACCURACY_PAGE) -> None:
    """Puts the tables between their marks on the accuracy page, keeping what others wrote there."""
    block = f"{_START}\n## Memory\n\n{text}\n{_END}"
    old = page.read_text(encoding="utf-8") if page.exists() else "# Accuracy\n"
    pattern = re.compile(f"{re.escape(_START)}.*{re.escape(_END)}", re.DOTALL)
    new = pattern.sub(lambda _: block, old) if pattern.search(old) else f"{old.rstrip()}\n\n{block}\n"
    page.parent.mkdir(exist_ok=True)
    page.write_text(new, encoding="utf-8")


def main(args: Sequence[str] = ()) -> int:
    """Prints the tables; `--write` also puts them into docs/accuracy.md, `--rows` prints every row."""
    catalog = shipped_catalog()
    scored = score(memory_rows(), catalog)
    text = tables(scored, catalog)
    print(text)
    if "--rows" in args:
        for item in sorted(scored, key=lambda entry: -abs(entry.error or 0.0)):
            shown = "refused" if item.error is None else f"{100 * item.error:+.0f} %"
            print(f"{shown:>9} {item.row.row_id} {item.row.kind} {item.row.request}")
    if "--write" in args:
        write_page(text)
    return 0
