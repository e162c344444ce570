"""Speed of models that the fit has not seen: each model's rows are estimated by a fit without them.

Each model in turn is estimated by a fit from the priors without any row of its architecture. llama.cpp rows,
which have kernels of their own, stay out of these fits.
"""

from __future__ import annotations

import csv
import dataclasses
import math
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.speed_fit import Case, cases_of, fit, predict
from benchmarks.speed_rows import SpeedRow, speed_rows
from knowledge.catalog import shipped_catalog
from tools.throughput.coefficients import Coefficients
from tools.throughput.ranges import Spread, spreads_of

RESULT = Path(__file__).parent / "data" / "speed_left_out.csv"
KINDS = ("silicon", "vllm serving")
ROUNDS = 1  # the priors hold these fits: a second round lowers the loss by 0.2 %
ALL = "all models"
_COLUMNS = ("kind", "figure", "model", "rows", "median_pct", "p90_pct", "bias_pct", "range_holds_pct", "date")
_SPREADS = {
    "output_tokens_per_s": "rate", "total_tokens_per_s": "rate", "ttft_ms": "first_token", "tpot_ms": "step",
    "single_stream_tokens_per_s": "single", "prefill_tokens_per_s": "prefill",
}  # fmt: skip


@dataclasses.dataclass(frozen=True, slots=True)
class Unseen:
    """One figure of a model that the fit had not seen."""

    row: SpeedRow
    model: str
    error: float
    covered: bool


def architecture(case: Case) -> tuple[object, ...]:
    """What makes two models the same to the fit: all sizes, without the name."""
    return dataclasses.astuple(dataclasses.replace(case.settled.replica.model, name=""))


def architectures(cases: Sequence[Case]) -> dict[tuple[object, ...], str]:
    """The architectures with rows of `KINDS`, each with the name of its first model."""
    names: dict[tuple[object, ...], str] = {}
    for case in cases:
        if case.row.kind in KINDS:
            names.setdefault(architecture(case), case.settled.replica.model.name)
    return names


def left_out(cases: Sequence[Case], shapes: Mapping[tuple[object, ...], str]) -> Iterator[Unseen]:
    """The errors of each architecture's rows by a fit without them; about a minute each."""
    for shape, name in shapes.items():
        print(f"without {name}", flush=True)
        kept = [case for case in cases if architecture(case) != shape]
        found, _errors = fit([case for case in kept if not case.settled.replica.engine.portable], ROUNDS)
        for case in cases:
            if case.row.kind in KINDS and architecture(case) == shape:
                yield _unseen(case, name, found)


def _unseen(case: Case, name: str, found: Coefficients) -> Unseen:
    value = predict(case, found)
    concurrency = case.row.request.get("concurrency")
    spreads = spreads_of(case.settled.replica, concurrency if isinstance(concurrency, int) else 2)
    spread: Spread = getattr(spreads, _SPREADS[case.row.figure])
    low, high = spread.of(value)
    return Unseen(case.row, name, value / case.row.value - 1, low <= case.row.value <= high)


def summary(rows: Sequence[Unseen], day: str) -> list[dict[str, str]]:
    """Errors by kind and figure, of all models together and of each."""
    groups: dict[tuple[str, str, str], list[Unseen]] = defaultdict(list)
    for item in rows:
        for model in (ALL, item.model):
            groups[item.row.kind, item.row.figure, model].append(item)
    lines = []
    for (kind, figure, model), items in sorted(
        groups.items(), key=lambda entry: (*entry[0][:2], entry[0][2] != ALL, entry[0][2])
    ):
        sizes = sorted(abs(item.error) for item in items)
        numbers = (
            statistics.median(sizes),
            sizes[min(len(sizes) - 1, math.floor(0.9 * len(sizes)))],
            statistics.median(item.error for item in items),
            sum(item.covered for item in items) / len(items),
        )
        values = (kind, figure, model, str(len(items)), *(f"{100 * number:.1f}" for number in numbers), day)
        lines.append(dict(zip(_COLUMNS, values, strict=True)))
    return lines


def stored() -> list[dict[str, str]]:
    """The lines of the last run, as `data/speed_left_out.csv` keeps them."""
    with RESULT.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def run() -> list[dict[str, str]]:
    """Fits once without each model and stores the result; some ten minutes on one core."""
    cases = cases_of(speed_rows(), shipped_catalog())
    lines = summary(list(left_out(cases, architectures(cases))), datetime.now(UTC).date().isoformat())
    with RESULT.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, _COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    return lines


def table(lines: Sequence[dict[str, str]], names: dict[str, str]) -> str:
    """The stored lines as a Markdown table; `names` words the figures."""
    text = [
        f"Models left out of the fit ({lines[0]['date']}): each is estimated by coefficients fitted without"
        " any row of its architecture.",
        "",
        "| kind, figure | model left out | rows | median error | p90 | bias | range holds |",
        f"|{'---|' * 7}",
    ]
    text += [
        f"| {line['kind']}: {names[line['figure']]} | {line['model']} | {line['rows']} |"
        f" {line['median_pct']} % | {line['p90_pct']} % | {float(line['bias_pct']):+.1f} % |"
        f" {float(line['range_holds_pct']):.0f} % |"
        for line in lines
    ]
    return "\n".join(text)


if __name__ == "__main__":
    run()
