"""The runner and its reports: nothing is lost, an exception does not stop the set, CI can read the result."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from agent.events import Answer, Failed
from agent.reading import read
from evals.__main__ import app
from evals.cases import Case
from evals.reports import Results, compare, markdown, write_reports
from evals.run import open_evaluated, run_cases
from evals.score import score
from knowledge.catalog import shipped_catalog
from knowledge.errors import InputError
from tests.agent.model_server import Exchange, ModelServer, calls

CATALOG = shipped_catalog()


def case(number: int, *turns: str) -> Case:
    return Case.model_validate(
        {
            "id": f"cost-{number:03d}",
            "kind": "cost",
            "language": "en",
            "source": "own",
            "turns": turns,
            "must": [{"line": "names the price", "holds": {"number": ["9.53 CNY/h"]}}],
        }
    )


class _Advisor:
    """Answers with the number of turns; breaks or fails on demand."""

    async def answer_async(self, turns: Sequence[str]) -> Answer | Failed:
        if turns[-1] == "break":
            raise KeyError("broken")
        if turns[-1] == "fail":
            return Failed("sorry", "ref")
        text = f"9.533 CNY/h after {len(turns)} turns\x0b"
        return Answer(text, "en", read(list(turns), CATALOG), seconds=0.01)


@pytest.fixture
def results() -> Results:
    cases = [case(1, "price?"), case(2, "price?", "and now?"), case(3, "break"), case(4, "fail")]
    outcomes = run_cases(cases, _Advisor(), at_once=2)  # type: ignore[arg-type]
    scores = [score(item, outcome, CATALOG) for item, outcome in zip(cases, outcomes, strict=True)]
    return Results("builtin", cases, outcomes, scores, None, 1.0, ["too slow"])


def test_every_turn_is_answered_knowing_what_was_said_before(results: Results) -> None:
    texts = [answer["text"] for answer in results.outcomes[1].answers]
    assert ["after 1 turns" in texts[0], "after 2 turns" in texts[1]] == [True, True]


def test_an_exception_and_a_failed_answer_are_errors_of_their_case(results: Results) -> None:
    assert [bool(item.error) for item in results.scores] == [False, False, True, True]
    assert "KeyError" in results.scores[2].failures[0]
    assert [item.passed for item in results.scores] == [True, True, False, False]


def test_ci_reads_failures_and_errors(results: Results, tmp_path: Path) -> None:
    _report, junit, _values = write_reports(results, tmp_path)
    suite = ElementTree.parse(junit).getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("4", "0", "2")
    assert "transcripts/cost-003.md" in (suite.findall("testcase/error")[0].text or "")


def test_every_case_has_a_transcript_that_the_report_links(results: Results, tmp_path: Path) -> None:
    report = write_reports(results, tmp_path)[0].read_text(encoding="utf-8")
    for item in results.cases:
        assert (tmp_path / "transcripts" / f"{item.id}.md").exists()
    assert "(transcripts/cost-003.md)" in report
    assert "(transcripts/cost-001.md)" not in report
    transcript = (tmp_path / "transcripts" / "cost-002.md").read_text(encoding="utf-8")
    assert "> and now?" in transcript
    assert "after 2 turns" in transcript


def test_the_report_names_what_fell_short(results: Results) -> None:
    text = markdown(results)
    assert "too slow" in text
    assert "50.0 ± 25.0 %" in text


def test_two_runs_are_shown_side_by_side(results: Results, tmp_path: Path) -> None:
    write_reports(results, tmp_path / "a")
    worse = [score(item, results.outcomes[2], CATALOG) for item in results.cases]
    write_reports(Results("openai", results.cases, results.outcomes, worse, None, 1.0), tmp_path / "b")
    text = compare(tmp_path / "a", tmp_path / "b" / "results.json")
    assert "Only A passes: 2" in text
    assert "Only B passes: 0" in text


def test_a_model_that_is_not_configured_is_said() -> None:
    with pytest.raises(InputError, match="OPENAI_MODEL"):
        open_evaluated("openai")


def _lies(exchange: Exchange) -> None:
    """A service that calls the right tool and then states a price of its own."""
    if exchange.body["messages"][-1]["role"] == "tool":
        exchange.message({"content": "It costs 4.44 CNY per hour on an H200."})
    elif "tools" in exchange.body:
        calls("estimate_cost", {"instance_type": "ecs.gn7i-c8g1.2xlarge"})(exchange)
    else:
        exchange.message({"content": "yes"})


def test_a_model_behind_the_openai_protocol_is_judged_on_the_same_cases_and_its_part_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with ModelServer(_lies) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_MODEL", "scripted")
        monkeypatch.setenv("MODEL_MODE", "agent")
        cases = [case(1, "How much does ecs.gn7i-c8g1.2xlarge cost per hour?")]
        advisor, at_once = open_evaluated("openai")
        outcomes = run_cases(cases, advisor, at_once)
    scores = [score(cases[0], outcomes[0], CATALOG)]
    assert scores[0].passed, scores[0].failures
    text = markdown(Results("openai", cases, outcomes, scores, None, 1.0))
    assert "0 of 1 answers are the model's own; replaced: model_ungrounded 1. 4 requests to it" in text


def test_a_run_of_the_built_in_model_says_nothing_of_a_service(results: Results) -> None:
    assert "the model's own" not in markdown(results)


def test_the_door_answers_one_case_and_writes_its_reports(tmp_path: Path) -> None:
    found = CliRunner().invoke(app, ["--case", "every_intent-029", "--out", str(tmp_path), "--json"])
    values = json.loads(found.stdout)
    assert [item["case_id"] for item in values["cases"]] == ["every_intent-029"]
    assert (tmp_path / "junit.xml").exists()
    assert found.exit_code in (0, 1)


def test_the_door_refuses_an_unknown_kind() -> None:
    found = CliRunner().invoke(app, ["--kind", "weather"])
    assert isinstance(found.exception, InputError)
