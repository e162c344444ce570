"""A service is used as far as it is able: with tools, as a reader of words, or not at all."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import pytest
from typer.testing import CliRunner

from agent.__main__ import app
from agent.events import Answer
from agent.model import open_model
from agent.probe import probe
from agent.run import Advisor, open_advisor
from knowledge.catalog import Catalog
from settings import Settings
from tests.agent.model_server import Exchange, ModelServer, Play, fails, says, silent

TOOL_CALL = {"type": "function", "function": {"name": "price", "arguments": '{"gpu": "A10"}'}}


def able(tools: int = 2, schema: bool = True) -> Play:
    """A service that makes up to so many calls at once, and follows a schema or not."""

    def play(exchange: Exchange) -> None:
        body = exchange.body
        if "tools" in body and tools:
            wanted = min(tools, 2 if "both" in body["messages"][0]["content"] else 1)
            exchange.message({"tool_calls": [{"id": f"c{n}", **TOOL_CALL} for n in range(wanted)]})
        elif "response_format" in body and schema:
            exchange.message({"content": '{"gpus": 2}'})
        else:
            exchange.message({"content": "yes"})

    return play


def settings_of(server: ModelServer, **more: Any) -> Settings:
    return Settings(openai_base_url=server.url, openai_model="scripted", **more)


@pytest.mark.parametrize(
    ("play", "missing", "mode"),
    [
        (able(), set(), "agent"),
        (able(tools=1), {"parallel_tools"}, "agent"),
        (able(tools=0), {"tools", "parallel_tools"}, "reader"),
        (able(tools=0, schema=False), {"tools", "parallel_tools", "json_schema"}, "none"),
        (fails(500, "oops"), {"chat", "streaming", "tools", "parallel_tools", "json_schema"}, "none"),
    ],
)
def test_a_probe_says_what_a_service_can_do(play: Play, missing: set[str], mode: str) -> None:
    with ModelServer(play) as server:
        found = probe(settings_of(server))
    assert {name for name, item in found.abilities.items() if not item.works} == missing
    assert found.mode == mode


def test_a_server_that_takes_one_question_at_a_time_is_not_taken_for_unable() -> None:
    def one_at_a_time(exchange: Exchange) -> None:
        with turn:
            time.sleep(0.4)
            able()(exchange)

    turn = threading.Lock()
    with ModelServer(one_at_a_time) as server:
        assert probe(settings_of(server), timeout_s=1.0).mode == "agent"


def test_a_service_that_nobody_answers_is_given_up_after_one_question() -> None:
    with ModelServer(silent(3)) as server:
        begun = time.monotonic()
        found = probe(settings_of(server), timeout_s=0.5)
        assert time.monotonic() - begun < 2
    assert found.mode == "none"
    assert found.abilities["tools"].detail.startswith("not tried")


def test_the_command_prints_the_probe_without_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer(fails(401, "Incorrect API key provided: my-own-key-form")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_MODEL", "scripted")
        monkeypatch.setenv("OPENAI_API_KEY", "my-own-key-form")
        result = CliRunner().invoke(app, ["probe"])
    assert result.exit_code == 1
    assert "streaming      no" in result.output
    assert "my-own-key" not in result.output


def test_without_a_model_the_probe_says_what_to_set() -> None:
    result = CliRunner().invoke(app, ["probe"])
    assert result.exit_code == 1
    assert "OPENAI_MODEL" in result.output


def test_a_service_without_tools_becomes_a_reader_by_itself(catalog: Catalog) -> None:
    with ModelServer(able(tools=0)) as server:
        advisor = open_advisor(settings_of(server), catalog)
        ends = time.monotonic() + 60
        while advisor.mode != "reader" and time.monotonic() < ends:
            time.sleep(0.05)
    assert advisor.mode == "reader"


def read_by(catalog: Catalog, question: str, play: Play) -> tuple[Answer, ModelServer]:
    with ModelServer(play) as server:
        settings = settings_of(server, model_mode="reader")
        advisor = Advisor(catalog, None, open_model(settings), deadline_s=5, mode="reader")
        answer = advisor.answer([question])
    assert isinstance(answer, Answer)
    return answer, server


def form(**values: object) -> Play:
    return says(json.dumps(values))


def test_a_reader_fills_what_the_words_say(catalog: Catalog) -> None:
    question = "I need a GPU. seats: 40"
    answer, server = read_by(catalog, question, form(task="inference", concurrency=40))
    assert "tools" not in server.bodies[0]
    assert server.bodies[0]["response_format"]["type"] == "json_schema"
    assert answer.reading.request.concurrency == 40
    assert answer.reading.slots["concurrency"].confidence == 0.5
    assert answer.notices == ()


@pytest.mark.parametrize(
    "invented",
    [
        {"model": "Qwen/Qwen2.5-72B-Instruct"},
        {"concurrency": 500},
        {"gpu_wanted": ["H200"]},
        {"params_b": -3},
        {"model": 7},
        {"purchase": "free", "budget": {"amount": 1}},
        {"task": "mining"},
        {"task": "hpc"},
    ],
)
def test_what_a_reader_invents_changes_nothing(catalog: Catalog, invented: dict[str, object]) -> None:
    question = "I need a GPU for a chat service"
    told = Advisor(catalog).answer([question])
    answer, _ = read_by(catalog, question, form(**invented))
    assert isinstance(told, Answer)
    assert answer.text == told.text
    assert answer.reading == told.reading


def test_a_reader_does_not_overrule_what_was_read(catalog: Catalog) -> None:
    question = "Which instance for Qwen2.5-7B-Instruct with 8 users at once and 4000 tokens, not 32000?"
    told = Advisor(catalog).answer([question])
    answer, _ = read_by(catalog, question, form(model="Qwen2.5-7B", concurrency=4000))
    assert isinstance(told, Answer)
    assert answer.reading.request.model == told.reading.request.model
    assert answer.reading.request.concurrency == told.reading.request.concurrency


@pytest.mark.parametrize("play", [says("no json"), says("[1]"), fails(400, "no schema"), says("")])
def test_a_reader_that_fails_leaves_the_built_in_answer(catalog: Catalog, play: Play) -> None:
    question = "Which instance for Qwen2.5-7B-Instruct?"
    answer, _ = read_by(catalog, question, play)
    assert answer.recommendation is not None
    assert [notice.code for notice in answer.notices] == ["model_failed"]


def test_a_reader_is_not_asked_about_symptoms(catalog: Catalog) -> None:
    _, server = read_by(catalog, "nvidia-smi: command not found", form())
    assert server.bodies == []
