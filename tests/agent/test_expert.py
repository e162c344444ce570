"""Advice of the table beside an answer: chosen by conditions, one language at a time, with its source."""

from __future__ import annotations

from typing import get_args

import pytest

from agent.events import Answer
from agent.reading.phrases import tags
from agent.reading.types import Intent
from agent.run import Advisor
from agent.writing.expert import CONDITION_KEYS
from knowledge.catalog import Catalog


def told(advisor: Advisor, question: str) -> str:
    result = advisor.answer([question])
    assert isinstance(result, Answer)
    return result.text


def test_no_condition_of_the_table_is_dead_for_a_misspelt_key_or_topic(catalog: Catalog) -> None:
    topics = set(tags("topics")) | {"consumer_card"}
    intents = set(get_args(Intent))
    for row in catalog.advice:
        for term in row.when:
            key, _, values = term.partition("=")
            assert key.removesuffix("!") in CONDITION_KEYS, row.advice_id
            if key.removesuffix("!") == "topic":
                assert set(values.split("|")) <= topics, row.advice_id
            if key.removesuffix("!") == "intent":
                assert set(values.split("|")) <= intents, row.advice_id


def test_a_question_is_told_what_an_expert_would_add_and_where_it_is_from(advisor: Advisor) -> None:
    text = told(advisor, "SDXL gives black images on a T4, what now?")
    assert "--no-half-vae" in text.split("\n\n")[0]
    assert "sdxl-vae-fp16-fix model card" in text


@pytest.mark.parametrize("question", ["7B int4 on A10", "hello", "what does ecs.gn7i-c8g1.2xlarge cost"])
def test_advice_of_other_work_is_kept_out(advisor: Advisor, catalog: Catalog, question: str) -> None:
    text = told(advisor, question)
    assert not [row.advice_id for row in catalog.advice if row.text_en in text]
