"""The door of the agent: one answer, JSON, and batch lines that never stop at a bad one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from agent.__main__ import answer_lines, app
from agent.run import Advisor

KEYS = {"text", "language", "reading", "recommendation", "reports", "sources", "seconds"}


def lines(advisor: Advisor, *values: object) -> list[dict[str, Any]]:
    texts = [value if isinstance(value, str) else json.dumps(value) for value in values]
    return [json.loads(line) for line in answer_lines(texts, advisor)]


def test_a_dialogue_gives_one_answer_per_user_turn(advisor: Advisor) -> None:
    (row,) = lines(advisor, {"id": "a", "turns": ["hello", "what does ecs.gn7i-c8g1.2xlarge cost"]})
    assert row["id"] == "a"
    assert len(row["answers"]) == 2
    assert row["answers"][0].keys() >= KEYS
    assert "9.533" in row["answers"][1]["text"]
    assert row["answers"][1]["reports"][0]["report"]["price"]["amount"] == 9.5326


@pytest.mark.parametrize(
    "bad",
    [
        "not json", "[]", "5", "null", '{"id": "x"}', '{"turns": []}', '{"turns": [1]}', '{"turns": "hi"}',
        "[" * 100_000, '{"turns": ["a"',
    ],
)  # fmt: skip
def test_a_bad_line_gives_an_error_object_and_the_rest_goes_on(advisor: Advisor, bad: str) -> None:
    first, second = lines(advisor, bad, {"id": 2, "turns": ["hello"]})
    assert first["error"]["field"] == "line"
    assert second["answers"][0]["text"]


def test_blank_lines_are_skipped(advisor: Advisor) -> None:
    assert lines(advisor, "", "  \n") == []


def test_json_prints_the_whole_answer(advisor: Advisor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.__main__.open_advisor", lambda _settings: advisor)
    result = CliRunner().invoke(app, ["hello", "--json"])
    assert result.exit_code == 0
    assert json.loads(result.stdout).keys() >= KEYS


def test_without_a_question_a_prompt_answers_until_an_empty_line(
    advisor: Advisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.__main__.open_advisor", lambda _settings: advisor)
    result = CliRunner().invoke(app, [], input="hello\n\n")
    assert result.exit_code == 0
    assert "Hello!" in result.stdout


def test_help_names_the_batch_form() -> None:
    result = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"})
    assert "--batch" in result.stdout
