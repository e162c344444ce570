"""Accuracy of the speed of images, video, speech, encoders and vision, on rows fitted and rows held out."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.speed_rows import DATA_DIR
from knowledge.catalog import Catalog
from tools.contracts.base import parse_request
from tools.contracts.other_speed import OtherSpeedRequest
from tools.other_speed import estimate_other_speed

OTHER_TITLE = "Speed of images, video, speech, encoders and vision"
_INTRODUCTION = """Units per second (images, clips, texts, seconds of audio) against published measurements of
`benchmarks/data/other_speed.csv`. No coefficient was fitted to the rows held out: other sources, cards or
versions of a model (three of them share a list of speech times with a fitted row). The ranges were set with
all rows in view. Where a source names no steps, tokens or GPU for certain, the row's note says what was
taken."""
_LIMITS = """Known limits: the newest attention kernels with 8-bit products (video on H100 and H200) run up to
1.5 times faster; Swin, whose attention goes by windows, runs at 0.5 to 0.6 of the estimate; text servers
were not measured with their lengths stated, so their range is wide; of the cards on sale here L20, T4, V100,
A100 and H20 have rows, the others are labelled "estimate only"."""
_PASSES = {"yes": 2, "distilled": 1, "": None}
# Of the fields of a row, those that a request takes as they stand.
_COPIED = (
    "model", "gpu", "gpu_count", "engine", "precision", "resolution", "frames", "steps", "batch", "tokens",
    "beam", "mode",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class OtherRow:
    """One published figure: `per_s`, units per second, or `step_s`, seconds of a denoising step."""

    row_id: str
    kind: str
    split: str  # fit, held out
    request: dict[str, object]
    metric: str
    value: float
    source: str


@dataclass(frozen=True, slots=True)
class OtherScored:
    """A row with its answer: the rate's relative error, measured over estimated, and whether it was held."""

    row: OtherRow
    error: float
    ratio: float
    covered: bool


def other_rows() -> list[OtherRow]:
    """All measurements of `benchmarks/data/other_speed.csv`."""
    with (DATA_DIR / "other_speed.csv").open(encoding="utf-8", newline="") as file:
        return [_row(row) for row in csv.DictReader(file)]


def _row(row: dict[str, str]) -> OtherRow:
    request: dict[str, object] = {name: row[name] for name in _COPIED if row[name]}
    if passes := _PASSES[row["guidance"]]:
        request["guidance_passes"] = passes
    return OtherRow(
        row["id"], row["kind"], row["split"], request, row["metric"], float(row["value"]), row["source"]
    )


def score_other(rows: Sequence[OtherRow], catalog: Catalog) -> list[OtherScored]:
    """Every row with its error; a row that cannot be answered is an error of this benchmark."""
    found = []
    for row in rows:
        report = estimate_other_speed(parse_request(OtherSpeedRequest, row.request), catalog)
        step, rate = report.step_s or 0.0, report.per_s
        ratio = step / row.value if row.metric == "step_s" else row.value / rate
        low, high = report.per_s_low / report.per_s, report.per_s_high / report.per_s
        found.append(OtherScored(row, 1 / ratio - 1, ratio, low <= ratio <= high))
    return found


def other_tables(catalog: Catalog) -> str:
    """Errors by kind as Markdown, the rows that no coefficient was fitted to apart."""
    scored = score_other(other_rows(), catalog)
    lines = ["| kind | rows | median error | p90 | bias | range holds |", f"|{'---|' * 6}"]
    for kind in dict.fromkeys(item.row.kind for item in scored):
        for split in ("fit", "held out"):
            own = [item for item in scored if (item.row.kind, item.row.split) == (kind, split)]
            if own:
                lines.append(_line(f"{kind}, {split}", own))
    lines += [
        _line(f"all, {split}", [item for item in scored if item.row.split == split])
        for split in ("fit", "held out")
    ]
    return "\n\n".join([_INTRODUCTION, "\n".join(lines), _LIMITS])


def _line(name: str, items: Sequence[OtherScored]) -> str:
    sizes = sorted(abs(item.error) for item in items)
    signed = sorted(item.error for item in items)
    tail = sizes[min(len(sizes) - 1, int(0.9 * len(sizes)))]
    held = sum(item.covered for item in items) / len(items)
    middle = len(items) // 2
    return (
        f"| {name} | {len(items)} | {100 * sizes[middle]:.1f} % | {100 * tail:.1f} % |"
        f" {100 * signed[middle]:+.1f} % | {100 * held:.0f} % |"
    )
