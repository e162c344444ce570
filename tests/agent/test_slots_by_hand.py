"""Slots that the user sets by hand: they count, they last, and a bad one is named without losing anything."""

from __future__ import annotations

import asyncio
from decimal import Decimal

import pytest

from agent.events import Answer, Failed
from agent.history import slots_set, turns_of, user_texts
from agent.reading import read
from agent.reading.given import given_slots
from agent.run import Advisor
from knowledge.catalog import Catalog
from knowledge.errors import InputError
from tools.contracts.sizing import Budget

QUESTION = "Qwen2.5-14B inference, 8k context, 4 concurrent"


def ask(advisor: Advisor, *messages: dict[str, object]) -> Answer | Failed:
    async def last() -> Answer | Failed:
        async for event in advisor.ask(list(messages)):
            if isinstance(event, Answer | Failed):
                return event
        raise AssertionError("a run ends with an answer or a failure")

    return asyncio.run(last())


@pytest.mark.parametrize(
    ("field", "given", "value"),
    [
        ("model", "qwen2.5 72b", "Qwen/Qwen2.5-72B-Instruct"),
        ("context_tokens", "32k", 32768),
        ("concurrency", "2万", 20_000),
        ("gpu_wanted", "a100, L20", ("A100-80GB", "L20")),
        ("gpu_count", "8卡", 8),
        ("regions", "杭州", ("cn-hangzhou",)),
        ("budget", "3万/月", Budget(amount=Decimal(30_000), period="month")),
        ("budget", "US$2000 in total", Budget(amount=Decimal(2000), currency="USD", period="total")),
        ("purchase", "包月", "subscription_1m"),
        ("engine", "vLLM", "vllm"),
        ("precision", "int4", "awq-int4"),
        ("instance_wanted", "gn7i", ("gn7i",)),
        ("needs_nvlink", "yes", True),
        ("params_b", "70B", 70.0),
        ("concurrency", "", None),
    ],
)
def test_a_value_may_be_set_as_people_write_it(
    catalog: Catalog, field: str, given: object, value: object
) -> None:
    assert given_slots({field: given}, catalog) == {field: value}


@pytest.mark.parametrize(
    ("field", "given", "near"),
    [
        ("model", "quen2.5-72", "Qwen/Qwen2.5-72B-Instruct"),
        ("instance_wanted", "ecs.gn7i-c8g1-2xlarge", "ecs.gn7i-c8g1.2xlarge"),
        ("regions", "hangzou", "cn-hangzhou"),
        ("task", "inferense", "inference"),
        ("engine", "vlm", "vllm"),
        ("gpu_wanted", "RTX 4090", "A10"),
        ("contxt_tokens", 1, "context_tokens"),
        ("concurrency", "-5", None),
        ("concurrency", "many", None),
        ("concurrency", 1e99, None),
        ("hours_per_month", 9999, None),
        ("budget", "cheap", None),
        ("gpu_wanted", {"a": [1]}, None),
        ("include_unpriced", True, None),
    ],
)
def test_a_value_that_cannot_be_used_is_named_with_near_matches(
    catalog: Catalog, field: str, given: object, near: str | None
) -> None:
    with pytest.raises(InputError) as caught:
        given_slots({field: given}, catalog)
    assert caught.value.field == field
    if near:
        assert near in caught.value.suggestions


def test_a_slot_set_by_hand_counts_more_than_the_words_and_is_marked(catalog: Catalog) -> None:
    reading = read([QUESTION], catalog, [{"concurrency": 40, "gpu_wanted": ["L20"], "context_tokens": None}])
    assert (reading.request.concurrency, reading.request.gpu_wanted) == (40, ("L20",))
    assert reading.request.context_tokens is None
    assert reading.slots["concurrency"].by_hand
    assert not reading.slots["model"].by_hand


def test_later_words_change_what_was_set_by_hand(catalog: Catalog) -> None:
    reading = read([QUESTION, "and with 100 concurrent?"], catalog, [{"concurrency": 40, "regions": "上海"}])
    assert reading.request.concurrency == 100
    assert reading.request.regions == ("cn-shanghai",)


def test_a_vague_question_is_answered_once_a_model_is_set(catalog: Catalog) -> None:
    assert read(["I need a GPU"], catalog).intent == "vague"
    assert read(["I need a GPU"], catalog, [{"model": "Qwen2.5-7B"}]).intent in ("size", "memory")


def test_slots_without_words_ask_the_question_before_them_again(advisor: Advisor) -> None:
    talk: list[dict[str, object]] = [
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": "…"},
        {"role": "user", "content": "", "slots": {"gpu_wanted": "L20"}},
    ]
    assert user_texts(turns_of(talk)) == [QUESTION]
    assert slots_set(turns_of(talk)) == [{"gpu_wanted": "L20"}]
    answer = ask(advisor, *talk)
    assert isinstance(answer, Answer)
    assert "L20" in answer.text
    assert answer.reading.question == QUESTION


@pytest.mark.parametrize(("question", "word"), [(QUESTION, "cannot be used"), ("7B 用什么卡", "无法使用")])
def test_a_bad_slot_ends_in_its_fault_in_the_language_of_the_talk(
    advisor: Advisor, question: str, word: str
) -> None:
    failed = ask(advisor, {"role": "user", "content": question, "slots": {"model": "quen2.5-72"}})
    assert isinstance(failed, Failed)
    assert failed.fault is not None
    assert failed.fault["field"] == "model"
    assert word in failed.text
    assert "Qwen2.5-72B-Instruct" in failed.text
