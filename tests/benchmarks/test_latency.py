"""The latency door: it times whole answers in both languages, and a slow or missing answer does not pass."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable

import pytest
from typer.testing import CliRunner

from agent.events import Answer, Event, Failed, ToolFinished
from agent.reading import read
from benchmarks import latency
from benchmarks.__main__ import app
from knowledge.catalog import shipped_catalog

CATALOG = shipped_catalog()


class _Advisor:
    def __init__(self, fails: bool = False) -> None:
        self.asked: list[list[str]] = []
        self._fails = fails

    async def ask(self, messages: Iterable[str]) -> AsyncIterator[Event]:
        turns = list(messages)
        self.asked.append(turns)
        if self._fails:
            yield Failed("sorry", "ref")
            return
        yield ToolFinished("1", "recommend_instance", "", None, True, 0.004)
        yield ToolFinished("2", "recommend_instance", "", None, True, 0.006)
        yield Answer("x", "en", read(turns, CATALOG))


def test_the_first_round_is_not_counted() -> None:
    advisor = _Advisor()
    timings = latency.measure(advisor, CATALOG, rounds=2)  # type: ignore[arg-type]
    assert len(timings) == 2 * len(latency.QUESTIONS)
    assert len(advisor.asked) == 3 * len(latency.QUESTIONS)


def test_calls_of_a_tool_are_added_up() -> None:
    timing = latency.measure(_Advisor(), CATALOG, rounds=1)[0]  # type: ignore[arg-type]
    assert timing.tools == {"recommend_instance": pytest.approx(0.010)}
    assert timing.whole > 0
    assert timing.reading > 0


def test_a_question_without_an_answer_stops_the_measurement() -> None:
    with pytest.raises(RuntimeError, match="no answer"):
        latency.measure(_Advisor(fails=True), CATALOG, rounds=1)  # type: ignore[arg-type]


def test_half_of_the_questions_are_chinese() -> None:
    languages = [read(list(turns), CATALOG).language for turns in latency.QUESTIONS]
    assert languages.count("zh") == languages.count("en")


def test_a_slow_answer_fails(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    slow = [latency.Timing("q", seconds, 0.01, {}) for seconds in (0.2, 0.4, 0.5)]
    monkeypatch.setattr(latency, "measure", lambda *_args: slow)
    assert latency.main(["--rounds", "1"]) == 1
    assert "median 400 ms (limit 300)" in capsys.readouterr().out
    quick = [latency.Timing("q", 0.1, 0.01, {})]
    monkeypatch.setattr(latency, "measure", lambda *_args: quick)
    assert latency.main([]) == 0


def test_the_door_hands_its_arguments_on(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []
    monkeypatch.setattr(latency, "main", lambda args: seen.append(list(args)) or 1)
    found = CliRunner().invoke(app, ["latency", "--rounds", "3"])
    assert (found.exit_code, seen) == (1, [["--rounds", "3"]])
    assert all(name in CliRunner().invoke(app, ["--help"]).stdout for name in ("memory", "speed", "latency"))
