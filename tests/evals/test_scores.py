"""Scores, rates and the gate: an error is a failure, a share comes with its error, a shortfall is named."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.cases import Case
from evals.checks import Finding
from evals.gate import answer_breaches, read_thresholds
from evals.oracle import Violation
from evals.outcome import Outcome
from evals.score import CaseScore, Decision, score
from evals.slots import compare_slots
from evals.stats import by, percentile, rate, summarize
from knowledge.catalog import shipped_catalog

CASE = Case.model_validate(
    {
        "id": "cost-001",
        "kind": "cost",
        "language": "en",
        "source": "own",
        "turns": ["What does it cost?"],
        "check": {"mentions_all": ["CNY"]},
        "must": [
            {"line": "names the price", "holds": {"number": ["9.53 CNY/h"]}},
            {"line": "is kind"},
        ],
        "must_not": [{"line": "invents a discount", "broken_by": {"claims": [["discount"]]}}],
    }
)


def test_a_right_answer_passes_and_undecided_lines_do_not_count(outcome) -> None:
    result = score(CASE, outcome("9.533 CNY/h"), shipped_catalog())
    assert result.passed
    assert [item.true for item in result.must] == [True, None]


def test_a_wrong_answer_says_what_is_wrong(outcome) -> None:
    result = score(CASE, outcome("A discount applies."), shipped_catalog())
    assert not result.passed
    assert len(result.failures) == 3


def test_an_exception_is_a_failure_and_no_zero() -> None:
    broken = Outcome("cost-001", ("?",), (), error="Traceback\nKeyError: 'x'")
    result = score(CASE, broken, shipped_catalog())
    assert result.failures == ["error: KeyError: 'x'"]
    summary = summarize("all", [result])
    assert (summary.errors, summary.passed.value, summary.must.of) == (1, 0.0, 0)


def test_the_reading_is_compared_with_the_slots(outcome) -> None:
    reading = {
        "request": {"model": "Llama-3-70B-Instruct", "precision": "awq-int4", "budget": {"amount": 50}},
        "mentions": [{"kind": "gpu", "name": "A100-80GB"}],
        "intent": "size",
    }
    result = Outcome("x-001", ("?",), ({"text": "", "reading": reading},))
    slots = {
        "model": "Llama-3-70B",
        "params_b": 70,
        "precision": "int4",
        "gpu_wanted": "A100|T4",
        "budget_value": 50,
        "intent": "size",
        "context_tokens": 8192,
        "weather": "fine",
    }
    found = {item.what: item.ok for item in compare_slots(slots, result, shipped_catalog())}
    assert found.pop("context_tokens") is False
    assert "weather" not in found
    assert all(found.values()), found


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=5), min_size=1, max_size=30))
def test_a_rate_lies_between_nothing_and_all(clusters: list[list[bool]]) -> None:
    found = rate(clusters)
    values = [value for cluster in clusters for value in cluster]
    assert found.value == pytest.approx(sum(values) / len(values))
    assert 0 <= found.error <= 1
    if all(values) or not any(values):
        assert found.error == pytest.approx(0, abs=1e-12)


def test_single_lines_have_the_error_of_a_share() -> None:
    found = rate([[True]] * 30 + [[False]] * 10)
    assert found.error == pytest.approx(math.sqrt(0.75 * 0.25 / 40))


def test_lines_that_fall_together_are_less_certain() -> None:
    together = rate([[True] * 4] * 5 + [[False] * 4] * 5)
    alone = rate([[True]] * 20 + [[False]] * 20)
    assert together.error == pytest.approx(2 * alone.error)


def test_percentiles_are_values_that_were_measured() -> None:
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([float(value) for value in range(1, 101)], 0.99) == 99.0
    assert percentile([], 0.5) == 0.0


def scored(**changes: object) -> CaseScore:
    values: dict[str, object] = {
        "case_id": "cost-001",
        "kind": "cost",
        "language": "en",
        "seconds": 0.1,
        "must": (Decision("a", True),),
        "must_not": (Decision("b", False),),
        "check": (Finding("c", True),),
    }
    return CaseScore(**{**values, **changes})  # type: ignore[arg-type]


def test_a_clean_run_passes_the_gate() -> None:
    assert answer_breaches([scored()] * 20, read_thresholds().answers) == []


@pytest.mark.parametrize(
    ("worse", "word"),
    [
        ({"must": (Decision("a", False),)}, "must lines"),
        ({"must": (Decision("a", False),)}, "kind cost"),
        ({"must_not": (Decision("b", True),)}, "must-not"),
        ({"check": (Finding("c", False),)}, "checks"),
        ({"violations": (Violation("price", "x", "y"),)}, "oracle"),
        ({"error": "KeyError"}, "errors"),
        ({"seconds": 5.0}, "99th percentile"),
    ],
)
def test_a_shortfall_is_named(worse: dict[str, object], word: str) -> None:
    scores = [scored()] * 3 + [scored(**worse)] * 2
    assert any(word in breach for breach in answer_breaches(scores, read_thresholds().answers))


def test_the_speed_of_a_service_is_not_ours() -> None:
    slow = [scored(seconds=20.0)] * 5
    assert answer_breaches(slow, read_thresholds().answers, timed=False) == []


def test_groups_hold_every_case_once() -> None:
    scores = [scored(), scored(kind="naming"), scored(kind="naming")]
    groups = by(lambda item: item.kind, scores)
    assert [(group.name, group.cases) for group in groups] == [("cost", 1), ("naming", 2)]
