"""The real OpenAI client against a service on loopback: whatever it does, a useful answer comes in time."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from agent.events import Answer
from agent.model import open_model
from agent.run import Advisor
from knowledge.catalog import Catalog
from settings import Settings
from tests.agent.conftest import OneGuide
from tests.agent.model_server import (
    ModelServer,
    Play,
    calls,
    cut,
    fails,
    refuses,
    says,
    silent,
    slow,
    tokens_of,
)

KEY = "sk-test-9f8e7d6c5b4a"
QUESTION = "How much does ecs.gn7i-c8g1.2xlarge cost per hour?"
PRICE = calls("estimate_cost", {"instance_type": "ecs.gn7i-c8g1.2xlarge"})
TRUE = "It costs 9.533 CNY per hour, pay-as-you-go."
DEADLINE_S = 3.0
Make = Callable[..., tuple[Advisor, ModelServer]]


@pytest.fixture(params=[False, True], ids=["whole", "streaming"])
def service(request: pytest.FixtureRequest, catalog: Catalog) -> Iterator[Make]:
    """Advisors in front of scripted services, with the client streaming and not."""
    with ExitStack() as stack:

        def make(*script: Play, deadline_s: float = 20.0) -> tuple[Advisor, ModelServer]:
            server = stack.enter_context(ModelServer(*script))
            settings = Settings(
                openai_api_key=KEY,
                openai_base_url=server.url,
                openai_model="scripted",
                answer_deadline_s=deadline_s,
            )
            model = open_model(settings)
            assert model is not None
            model.streaming = request.param
            return Advisor(catalog, None, model, deadline_s=deadline_s), server

        yield make


def answered(advisor: Advisor, *turns: str) -> Answer:
    answer = advisor.answer(list(turns) or [QUESTION])
    assert isinstance(answer, Answer)
    return answer


def test_a_true_answer_comes_through_with_its_usage(service: Make) -> None:
    advisor, server = service(PRICE, says(TRUE))
    answer = answered(advisor)
    assert answer.text == TRUE
    assert answer.notices == ()
    assert answer.usage["model_calls"] == 2
    assert answer.usage["input_tokens"] > 0
    assert [call.output_tokens > 0 and call.seconds > 0 for call in answer.model_calls] == [True, True]
    assert server.bodies[-1]["messages"][-1]["role"] == "tool"


FAULTS: dict[str, tuple[list[Play], str]] = {
    "timeout": ([silent(6)], "model_timeout"),
    "timeout after a tool": ([PRICE, silent(6)], "model_timeout"),
    "429 with a long Retry-After": ([fails(429, "slow down", retry_after="30")], "model_timeout"),
    "429 that goes on": ([fails(429, "slow down", retry_after_ms="10")], "model_failed"),
    "500": ([fails(500, "oops", retry_after_ms="10")], "model_failed"),
    "503": ([fails(503, "overloaded", retry_after_ms="10")], "model_failed"),
    "cut answer": ([cut("It costs 9.533 CNY per hour")], "model_failed"),
    "cut after a tool": ([PRICE, cut("It costs 9.533 CNY per hour")], "model_failed"),
    "malformed calls": ([calls("estimate_cost", '{"instance_type": "ecs.')], "model_failed"),
    "unknown tools": ([calls("buy_it", {})], "model_failed"),
    "wrong argument types": ([calls("estimate_cost", {"instance_type": 7})], "model_failed"),
    "empty answer": ([says("")], "model_failed"),
    "blank answer after a tool": ([PRICE, says(" \n ")], "model_failed"),
    "endless loop": ([PRICE], "model_failed"),
    "refusal": ([refuses("I cannot help with that.")], "model_failed"),
    "very slow tokens": ([slow(TRUE * 8, 0.3)], "model_timeout"),
    "wrong model": ([fails(404, "The model `x` does not exist", "model_not_found")], "model_failed"),
    "wrong key": ([fails(401, f"Incorrect API key provided: {KEY}", "invalid_api_key")], "model_failed"),
    "false price": ([PRICE, says("It costs 4.44 CNY per hour.")], "model_ungrounded"),
    "not the protocol": ([lambda exchange: exchange.json(["what?"])], "model_failed"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_ends_in_the_built_in_answer_in_time(
    service: Make, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    script, code = FAULTS[fault]
    advisor, _ = service(*script, deadline_s=DEADLINE_S)
    started = time.perf_counter()
    with caplog.at_level(logging.INFO):
        answer = answered(advisor)
    assert time.perf_counter() - started < DEADLINE_S + 3
    assert "9.533 CNY/h" in answer.text
    assert answer.model == "builtin"
    assert [notice.code for notice in answer.notices] == [code]
    assert KEY not in caplog.text
    assert KEY not in answer.text
    assert any(record.name == "agent.run" for record in caplog.records)


def test_a_short_pause_or_one_bad_reply_costs_no_answer(service: Make) -> None:
    passing = fails(429, "slow down", retry_after_ms="10")
    bad = calls("estimate_cost", '{"instance_type": "ecs.')
    advisor, server = service(passing, bad, PRICE, says(TRUE))
    answer = answered(advisor)
    assert answer.text == TRUE
    assert answer.notices == ()
    assert len(server.bodies) == 4


def test_a_talk_too_long_for_the_model_is_asked_again_with_its_last_question(service: Make) -> None:
    full = fails(400, "maximum context length is 4096 tokens", "context_length_exceeded")
    advisor, server = service(full, PRICE, says(TRUE))
    answer = answered(advisor, "I want a GPU for Qwen2.5 7B", "thanks", QUESTION)
    assert answer.text == TRUE
    assert answer.notices == ()
    roles = [[message["role"] for message in body["messages"]] for body in server.bodies]
    assert roles[0] == ["system", "user", "user", "user"]
    assert roles[1] == ["system", "user"]
    assert roles[2][-2:] == ["assistant", "tool"]


def test_a_question_too_long_for_the_model_gets_the_built_in_answer(service: Make) -> None:
    full = fails(400, "maximum context length is 4096 tokens", "context_length_exceeded")
    advisor, server = service(full)
    answer = answered(advisor, "hello", QUESTION)
    assert [notice.code for notice in answer.notices] == ["model_failed"]
    assert len(server.bodies) == 2


def test_a_sizing_answer_takes_three_calls_and_six_thousand_prompt_tokens(service: Make) -> None:
    sized = calls(
        "recommend_instance",
        {"task": "inference", "model": "Qwen2.5-7B-Instruct", "concurrency": 8, "context_tokens": 8192},
    )
    kit = calls("estimate_cost", {"instance_type": "ecs.gn7i-c8g1.2xlarge"})
    advisor, _ = service(sized, kit, says("Take ecs.gn7i-c8g1.2xlarge."))
    answer = answered(advisor, "Which instance for Qwen2.5 7B, 8 users at once, 8k context?")
    assert answer.notices == ()
    assert answer.usage["model_calls"] == 3
    assert answer.usage["input_tokens"] <= 6_000


def test_prompt_and_tool_schemas_take_at_most_fifteen_hundred_tokens(catalog: Catalog) -> None:
    """Counted by the rule of `tokens_of`: words and runs of signs, as vocabularies of 100,000 and more tokens
    split JSON. A small one (SmolLM2's 49,000) makes a quarter more of the same schemas."""
    with ModelServer(PRICE, says(TRUE)) as server:
        settings = Settings(openai_base_url=server.url, openai_model="scripted")
        answered(Advisor(catalog, OneGuide(), open_model(settings)))
    first = server.bodies[0]
    schemas = tokens_of(json.dumps(first["tools"], separators=(",", ":")))
    assert "search_guides" in str(first["tools"])
    assert tokens_of(first["messages"][0]["content"]) + schemas <= 1_500


def test_every_request_begins_with_the_same_prompt_and_tools(service: Make) -> None:
    advisor, server = service(PRICE, says(TRUE), PRICE, says(TRUE))
    answered(advisor)
    answered(advisor, "ecs.gn7i-c8g1.2xlarge 每小时多少钱")
    assert all(body["messages"][0] == server.bodies[0]["messages"][0] for body in server.bodies)
    assert all(body["tools"] == server.bodies[0]["tools"] for body in server.bodies)
