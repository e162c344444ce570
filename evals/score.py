"""Scores of a case: what its lines, its check, the oracle and its slots say about the answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evals.cases import Case
from evals.checks import Finding, run_check
from evals.oracle import Violation, judge
from evals.outcome import Outcome
from evals.slots import compare_slots
from knowledge.catalog import Catalog


@dataclass(frozen=True)
class Decision:
    """A line of a case and what code says: true, false, or None where only a reader can tell."""

    line: str
    true: bool | None


@dataclass(frozen=True)
class CaseScore:
    """Everything that was decided about one case. A case with an error has no other findings."""

    case_id: str
    kind: str
    language: str
    seconds: float
    error: str = ""
    must: tuple[Decision, ...] = ()
    must_not: tuple[Decision, ...] = ()  # true: the line is broken
    check: tuple[Finding, ...] = ()
    violations: tuple[Violation, ...] = ()
    slots: tuple[Finding, ...] = ()  # how the question was read; reported, never part of passing

    @property
    def failures(self) -> list[str]:
        """One line for everything that keeps the case from passing; empty for one that passes."""
        if self.error:
            return [f"error: {self.error.splitlines()[-1]}"]
        return [
            *(f"must: {item.line}" for item in self.must if item.true is False),
            *(f"must not: {item.line}" for item in self.must_not if item.true),
            *(f"check: {item.what} ({item.detail})" for item in self.check if not item.ok),
            *(f"oracle: {item.rule}: {item.option}: {item.detail}" for item in self.violations),
        ]

    @property
    def passed(self) -> bool:
        return not self.failures


def score(case: Case, outcome: Outcome, catalog: Catalog) -> CaseScore:
    """The score of one run of a case."""
    if outcome.error:
        return CaseScore(case.id, case.kind, case.language, outcome.seconds, outcome.error)
    recommendation = outcome.recommendation
    return CaseScore(
        case.id,
        case.kind,
        case.language,
        outcome.seconds,
        must=tuple(Decision(item.line, item.holds(outcome) if item.holds else None) for item in case.must),
        must_not=tuple(
            Decision(item.line, item.broken_by(outcome) if item.broken_by else None) for item in case.must_not
        ),
        check=tuple(run_check(case.check, outcome)),
        violations=tuple(judge(recommendation, catalog)) if recommendation else (),
        slots=tuple(compare_slots(case.slots, outcome, catalog)),
    )


def decided(decisions: Iterable[Decision]) -> list[bool]:
    """The values of the lines that code decided."""
    return [item.true for item in decisions if item.true is not None]
