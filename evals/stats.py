"""Rates with their standard errors, and the summary of a run by kind and language."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from evals.score import CaseScore, decided


@dataclass(frozen=True)
class Rate:
    """A share of `of` things, 0 to 1, and its standard error."""

    value: float
    error: float
    of: int

    def __str__(self) -> str:
        return f"{100 * self.value:.1f} ± {100 * self.error:.1f} %" if self.of else "–"


def rate(clusters: Iterable[Sequence[bool]]) -> Rate:
    """The share of true values. Values of one cluster (the lines of one case) stand and fall together, so the
    error is that of the ratio of cluster sums: sqrt(sum((t_i - p n_i)^2)) / n."""
    groups = [list(cluster) for cluster in clusters if cluster]
    total = sum(len(group) for group in groups)
    if not total:
        return Rate(0.0, 0.0, 0)
    share = sum(sum(group) for group in groups) / total
    squares = sum((sum(group) - share * len(group)) ** 2 for group in groups)
    return Rate(share, math.sqrt(squares) / total, total)


@dataclass(frozen=True)
class Summary:
    """What a set of scores adds up to."""

    name: str
    cases: int
    passed: Rate
    must: Rate
    must_not_broken: Rate
    check: Rate
    slots: Rate
    violations: int
    errors: int
    lines_decided: Rate  # share of all lines that code decides


def summarize(name: str, scores: Sequence[CaseScore]) -> Summary:
    """The summary of some scores. A case with an error counts as not passed, and in `errors`."""
    lines = [[item.true is not None for item in (*score.must, *score.must_not)] for score in scores]
    return Summary(
        name,
        len(scores),
        rate([score.passed] for score in scores),
        rate(decided(score.must) for score in scores),
        rate(decided(score.must_not) for score in scores),
        rate([item.ok for item in score.check] for score in scores),
        rate([item.ok for item in score.slots] for score in scores),
        sum(len(score.violations) for score in scores),
        sum(bool(score.error) for score in scores),
        rate(lines),
    )


def by(key: Callable[[CaseScore], str], scores: Sequence[CaseScore]) -> list[Summary]:
    """One summary for each value of `key`, sorted by it."""
    return [
        summarize(name, [score for score in scores if key(score) == name])
        for name in sorted({key(score) for score in scores})
    ]


def percentile(values: Sequence[float], share: float) -> float:
    """The value that `share` of the values do not exceed (nearest rank); 0.0 for none."""
    if not values:
        return 0.0
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, math.ceil(share * len(ordered)) - 1))]
