"""Comparisons, other memory sizes and follow-ups, as a user reads them."""

from __future__ import annotations

import pytest

from agent.events import Answer
from agent.reading import read
from agent.run import Advisor
from knowledge.catalog import Catalog


def text_of(advisor: Advisor, *turns: str) -> str:
    result = advisor.answer(list(turns))
    assert isinstance(result, Answer)
    return result.text


def test_a_comparison_says_which_card_for_what(advisor: Advisor) -> None:
    text = text_of(advisor, "T4 or L20 for serving an 8B model?")
    assert "**Which for what**" in text
    assert "one request" in text
    assert "FP8 computing: L20; not T4" in text


def test_a_count_belongs_to_its_card(advisor: Advisor) -> None:
    assert "1,200 GB/s" in text_of(advisor, "2x A10 or 1x T4 for a 7B?")


def test_a_card_named_without_its_memory_is_answered_for_both_sizes(advisor: Advisor) -> None:
    text = text_of(advisor, "does Qwen2.5-72B-Instruct fit on 2 A100")
    assert "A100-80GB is assumed" in text
    assert "does not fit on 2 × A100-40GB" in text


def test_cards_that_cannot_come_with_cards_that_can(advisor: Advisor) -> None:
    text = text_of(advisor, "72B on 8 T4, no quantization")
    assert "With other or more cards it works" in text
    assert "weights in 4 bit" not in text


def test_a_follow_up_says_what_it_keeps(advisor: Advisor) -> None:
    text = text_of(advisor, "serve Qwen3-14B in cn-beijing", "and if the budget is 15 CNY/h?")
    assert "**Kept from before:**" in text
    assert "Qwen3-14B" in text


@pytest.mark.parametrize("question", ["香港有没有A10，比杭州贵多少", "你们有没有T4"])
def test_asking_whether_a_card_is_there_does_not_refuse_it(catalog: Catalog, question: str) -> None:
    assert not any(mention.negated for mention in read([question], catalog).mentions)


def test_a_machine_without_a_model_comes_with_what_it_serves(advisor: Advisor) -> None:
    assert "**Largest models it serves.**" in text_of(advisor, "biggest LLM for 25 CNY per hour?")
