"""The gate of CI: thresholds from a TOML file against the figures of a run."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from evals.score import CaseScore
from evals.shelf import ShelfReport
from evals.stats import by, percentile, summarize

THRESHOLDS = Path(__file__).parent / "thresholds.toml"


class _Limits(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class AnswerLimits(_Limits):
    """Least and most for answers. Shares are 0 to 1."""

    must_true: float
    must_not_broken: float
    checks_hold: float
    every_kind: float  # must lines true in each kind
    oracle_violations: int
    errors: int
    median_ms: float
    p99_ms: float


class ShelfLimits(_Limits):
    """Least and most for the search of guides."""

    recall_at_5: float
    mrr: float
    language_gap: float
    off_shelf_recognised: float
    wrongly_refused: float


class Thresholds(_Limits):
    answers: AnswerLimits
    retrieval: ShelfLimits


def read_thresholds(path: Path = THRESHOLDS) -> Thresholds:
    return Thresholds.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))


def answer_breaches(scores: Sequence[CaseScore], limits: AnswerLimits, timed: bool = True) -> list[str]:
    """What the answers fall short of; `timed` is false for a model service, whose speed is not ours."""
    whole = summarize("all", scores)
    found = []
    if whole.must.of and whole.must.value < limits.must_true:
        found.append(f"must lines true: {whole.must}, wanted {100 * limits.must_true:g} %")
    if whole.must_not_broken.value > limits.must_not_broken:
        found.append(
            f"must-not lines broken: {whole.must_not_broken}, at most {100 * limits.must_not_broken:g} %"
        )
    if whole.check.of and whole.check.value < limits.checks_hold:
        found.append(f"checks that hold: {whole.check}, wanted {100 * limits.checks_hold:g} %")
    found += [
        f"kind {kind.name}: {kind.must} of must lines, wanted {100 * limits.every_kind:g} %"
        for kind in by(lambda score: score.kind, scores)
        if kind.must.of and kind.must.value < limits.every_kind
    ]
    if whole.violations > limits.oracle_violations:
        found.append(f"oracle violations: {whole.violations}, at most {limits.oracle_violations}")
    if whole.errors > limits.errors:
        found.append(f"errors: {whole.errors}, at most {limits.errors}")
    if timed:
        seconds = [score.seconds for score in scores if not score.error]
        for name, share, limit in (
            ("median", 0.5, limits.median_ms),
            ("99th percentile", 0.99, limits.p99_ms),
        ):
            spent = 1000 * percentile(seconds, share)
            if spent > limit:
                found.append(f"time of an answer, {name}: {spent:.0f} ms, at most {limit:g} ms")
    return found


def shelf_breaches(report: ShelfReport, limits: ShelfLimits) -> list[str]:
    """What the search falls short of."""
    found = []
    recall, mrr = report.recall(), report.mrr()
    if recall.value < limits.recall_at_5:
        found.append(f"recall@5: {recall}, wanted {100 * limits.recall_at_5:g} %")
    if mrr < limits.mrr:
        found.append(f"MRR: {mrr:.3f}, wanted {limits.mrr:g}")
    gap = report.recall("en").value - report.recall("zh").value
    if gap > limits.language_gap:
        found.append(f"recall@5 in Chinese is {gap:.3f} below English, at most {limits.language_gap:g}")
    if report.off_shelf_recognised.value < limits.off_shelf_recognised:
        found.append(
            f"off-shelf questions recognised: {report.off_shelf_recognised}, "
            f"wanted {100 * limits.off_shelf_recognised:g} %"
        )
    if report.wrongly_refused.value > limits.wrongly_refused:
        found.append(f"wrongly refused: {report.wrongly_refused}, at most {100 * limits.wrongly_refused:g} %")
    return found
