"""Several cards: priced beside one, never split over machines where other cards hold the model whole."""

from __future__ import annotations

import pytest

from agent.run import Advisor


def test_eight_cards_are_held_against_one_and_against_bare_metal(advisor: Advisor) -> None:
    text = advisor.answer(("what does 1 A100 80G cost a day, and 8 of them, is it just 8 times?",)).text
    assert "8 times" in text.splitlines()[0]
    assert "no discount" in text.splitlines()[0]
    assert "ebmgn7ex" in text


def test_a_type_listed_elsewhere_alone_shows_that_price(advisor: Advisor) -> None:
    text = advisor.answer(("8 A100 for a week, 50000 CNY, pay as you go, is that enough?",)).text
    assert "not published here; cn-wulanchabu" in text


def test_other_cards_come_before_a_model_split_over_machines(advisor: Advisor) -> None:
    text = advisor.answer(("72B in fp16 on 8 T4, does it fit?",)).text
    instead = next(line for line in text.splitlines() if line.startswith("With other or more cards"))
    assert "T4" not in instead


@pytest.mark.parametrize(("card", "absent"), [("V100", ("fp8", "awq")), ("P100", ("fp8", "awq", "gptq"))])
def test_no_format_is_offered_that_the_card_cannot_run(
    advisor: Advisor, card: str, absent: tuple[str, ...]
) -> None:
    table = [line for line in advisor.answer((f"Qwen2.5-32B on {card}",)).text.splitlines() if "| " in line]
    assert not [line for line in table for name in absent if f"({name}" in line or f"in {name}" in line]


def test_adapters_are_offered_where_full_training_fits_nothing(advisor: Advisor) -> None:
    text = advisor.answer(("SDXL is boring, full finetune of Flux dev on 48 GB?",)).text
    assert "LoRA of the same model needs" in text


def test_slow_cards_get_their_ceiling(advisor: Advisor) -> None:
    text = advisor.answer(("8张T4部署32B，同时5个请求每个都要一分钟，卡利用率只有10%，咋优化",)).text
    assert "单请求上限" in text
