"""Conditions: a wrong answer must fail them, and a mistake in a case must be seen when it is loaded."""

from __future__ import annotations

from typing import Any

import pytest

from evals.conditions import parse_condition

ANSWER = """**It fits.**

| Part | GiB |
| --- | --- |
| weights | 134.2 |

**Assumed:** region cn-hangzhou (default); context in tokens 4,096 (usual value); requests at once 4.

The V100 has no bf16. The A10 runs bf16; stock is not promised, check the console."""


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({"has": ["V100"]}, True),
        ({"has": ["V10"]}, False),
        ({"has_all": [["V100", "T4"], ["console"]]}, True),
        ({"has_all": [["V100"], ["T4"]]}, False),
        ({"says": [["V100"], ["bf16"], ["no"]]}, True),
        ({"says": [["weights"], ["bf16"]]}, False),
        ({"claims": [["A10"], ["bf16"], ["runs"]]}, True),
        ({"claims": [["V100"], ["bf16"]]}, False),
        ({"matches": r"4,\d{3}"}, True),
        ({"number": ["134 GiB"]}, True),
        ({"number": "134 TB"}, False),
        ({"number": ["130..140 GiB"]}, True),
        ({"number": ["150..160 GiB"]}, False),
        ({"states": ["context", "concurrency"]}, True),
        ({"states": ["budget"]}, False),
        ({"asks": ["context"]}, False),
        ({"not": {"has": ["T4"]}}, True),
        ({"any": [{"has": ["T4"]}, {"has": ["A10"]}]}, True),
        ([{"has": ["A10"]}, {"has": ["T4"]}], False),
        ({"has": ["A10"], "matches": "nothing like it"}, False),
        ({"options": False}, True),
        ({"every_option": {"max_hourly_cny": 35}}, False),
        ({"an_option_breaks": {"max_hourly_cny": 35}}, False),
    ],
)
def test_a_condition_decides(condition: Any, expected: bool, outcome) -> None:
    assert parse_condition(condition)(outcome(ANSWER)) is expected


def test_a_question_asks(outcome) -> None:
    assert parse_condition({"asks": ["model"]})(outcome("Which model, and how many requests at once?"))
    assert parse_condition({"asks": ["task"]})(outcome("请告诉我任务和模型"))
    assert not parse_condition({"asks": ["model"]})(outcome("The model fits."))


def test_conditions_on_options_read_the_recommendation(outcome, option) -> None:
    result = outcome("", options=[option(), option("ecs.gn7e-c16g1.4xlarge", precision="awq-int4")])
    for condition, expected in (
        ({"first_gpu": ["A10"]}, True),
        ({"first_gpu": ["A100"]}, False),
        ({"any_gpu": ["A100"]}, True),
        ({"any_family": ["gn7e"]}, True),
        ({"any_family": ["gn6v"]}, False),
        ({"precision": ["bf16"]}, True),
        ({"every_option": {"max_hourly_cny": 35}}, True),
        ({"every_option": {"max_hourly_cny": 20}}, False),
        ({"an_option_breaks": {"max_hourly_cny": 20}}, True),
        ({"an_option_breaks": {"max_hourly_cny": 35}}, False),
    ):
        assert parse_condition(condition)(result) is expected, condition


def test_a_turn_is_judged_by_its_own_answer(outcome) -> None:
    result = outcome("same", ("one", "two"))
    first = type(result)(result.case_id, result.turns, ({"text": "T4 no"}, {"text": "A10 yes"}))
    assert parse_condition({"turn": 1, "has": ["T4"]})(first)
    assert not parse_condition({"has": ["T4"]})(first)


@pytest.mark.parametrize(
    "mistake",
    [
        {"hass": ["x"]},
        {"has": [False]},
        {"has": []},
        {"number": ["GB 144"]},
        {"states": ["weather"]},
        {"turn": 1},
        {"says": "x"},
        "x",
    ],
)
def test_a_mistake_in_a_case_is_an_error_not_a_false_answer(mistake: Any) -> None:
    with pytest.raises(ValueError):
        parse_condition(mistake)
