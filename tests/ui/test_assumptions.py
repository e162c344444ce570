"""The form of what was understood: every value with its origin, typed back as it stands without loss."""

from __future__ import annotations

import re

import pytest

from agent.events import Answer
from agent.reading.given import given_slots
from agent.run import Advisor
from knowledge.catalog import Catalog
from ui.assumptions import changes_text, form_html, form_rows, name_lists


@pytest.fixture(scope="module")
def advisor(catalog: Catalog) -> Advisor:
    return Advisor(catalog)


def answered(advisor: Advisor, question: str) -> Answer:
    answer = advisor.answer([question])
    assert isinstance(answer, Answer)
    return answer


def test_each_value_tells_where_it_comes_from(advisor: Advisor) -> None:
    rows = {row.field: row for row in form_rows(answered(advisor, "Llama-3-8B, 8k context, 10 concurrent"))}
    assert (rows["concurrency"].value, rows["concurrency"].origin) == ("10", "said")
    assert "%" in rows["concurrency"].detail
    assert (rows["regions"].value, rows["regions"].origin) == ("cn-hangzhou", "assumed")
    assert rows["budget"].origin == "open"


@pytest.mark.parametrize(
    "question",
    [
        "Llama-3-70B inference under 50 CNY per hour, 8k context, 10 concurrent, on L20 in Shanghai",
        "7B LoRA 微调，2 万条数据，3 个 epoch，预算 2000 元，包月",
        "FLUX.1-dev 1024x1024 出图用什么卡",
        "Qwen2.5-72B int4 on 2 A100 with SGLang, spot",
        "20 seats of graphics desktops with 8 GB each",
    ],
)
def test_every_value_shown_may_be_sent_back_as_it_stands(
    advisor: Advisor, catalog: Catalog, question: str
) -> None:
    answer = answered(advisor, question)
    for row in form_rows(answer):
        if row.value and row.field in answer.reading.slots:
            given = given_slots({row.field: row.value}, catalog)[row.field]
            assert given == getattr(answer.reading.request, row.field), row


def test_the_form_is_labelled_and_in_the_language_of_the_answer(advisor: Advisor) -> None:
    html = form_html(answered(advisor, "Qwen2.5-14B 推理，8k 上下文，4 并发"))
    assert "重新计算" in html
    assert "并发数" in html
    fields = set(re.findall(r"(?:input|select)[^>]* id='(slot-\w+)'", html))
    assert fields
    assert fields == set(re.findall(r"<label for='(slot-\w+)'", html))


def test_small_talk_has_no_form(advisor: Advisor) -> None:
    assert form_html(answered(advisor, "hello")) == ""


def test_the_bubble_of_a_change_is_worded() -> None:
    changed = changes_text({"concurrency": "20", "purchase": "spot", "regions": ""}, "zh")
    assert changed == "重新计算: 并发数 → 20；付费方式 → 抢占式；地域 → 用默认值"


def test_known_names_are_offered(catalog: Catalog) -> None:
    lists = name_lists(catalog)
    assert "value='L20'" in lists
    assert "value='Qwen2.5-72B-Instruct'" in lists


def test_the_precision_shown_is_the_one_calculated_with(advisor: Advisor) -> None:
    answer = answered(advisor, "Llama-3-70B inference under 50 CNY/hour, 20 users")
    row = next(row for row in form_rows(answer) if row.field == "precision")
    assert answer.recommendation is not None
    assert row.value == answer.recommendation.options[0].precision != "bf16"
