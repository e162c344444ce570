"""A reader who compares two things gets the verdict first, by the same yardstick on both sides."""

from __future__ import annotations

import pytest

from agent.events import Answer
from agent.run import Advisor


def lines(advisor: Advisor, question: str) -> list[str]:
    result = advisor.answer([question])
    assert isinstance(result, Answer)
    return [line for line in result.text.splitlines() if line.strip()]


@pytest.mark.parametrize(
    ("question", "start"),
    [
        ("gn6i 和 gn7i 推理哪个性价比高", "**性价比更高的是 gn7i (A10)**"),
        ("gn6i or gn7i for inference, which is better value?", "**Better value: gn7i (A10)**"),
    ],
)
def test_families_are_judged_by_the_money_per_card(advisor: Advisor, question: str, start: str) -> None:
    assert lines(advisor, question)[0].startswith(start)


def test_training_is_judged_by_training_speed(advisor: Advisor) -> None:
    first = lines(advisor, "L20 vs A100 for LoRA fine-tuning a 14B")[0]
    assert "training tokens/s" in first


def test_types_are_compared_at_the_work_that_was_named(advisor: Advisor) -> None:
    question = "Compare gn8is.4xlarge with gn7i-c32g1.8xlarge for serving Llama-3.1-8B at 16k context"
    first = lines(advisor, question)[0]
    assert first.startswith("**Faster: ecs.gn8is.4xlarge") and "tokens/s" in first


def test_one_card_is_not_held_against_a_machine_of_eight(advisor: Advisor) -> None:
    told = "\n".join(lines(advisor, "Difference between gn7e and ebmgn7e"))
    assert "The GPU is the same, A100-80GB" in told and "bare metal" in told
    assert "(8×)" not in told


@pytest.mark.parametrize(
    "question", ["8 张 4090 换成阿里云，用哪个实例性能差不多", "Which instance is like two RTX 4090?"]
)
def test_a_card_at_home_comes_with_what_its_stand_in_has_of_it(advisor: Advisor, question: str) -> None:
    told = lines(advisor, question)
    assert "RTX-4090" in told[0] and "A10" in told[0] and "1,008 GB/s" in told[0]
    assert "目录里没有同时满足" not in "\n".join(told)


def test_the_language_model_sizes_the_machine_and_its_companions_are_added(advisor: Advisor) -> None:
    told = lines(advisor, "法律问答 RAG，bge-m3 加 Qwen2.5-32B，一台机器能放下吗")
    assert told[0].startswith("**Qwen2.5-32B")
    assert any("同机还有：bge-m3" in line for line in told)


def test_tokens_have_a_price_however_it_is_asked(advisor: Advisor) -> None:
    told = lines(advisor, "What is the token cost per million for Llama-3.1-8B on a single A10?")
    assert "per million output tokens" in told[0]


@pytest.mark.parametrize(
    "question",
    ["把 70B 模型从 A100 迁到 H20，速度会变快还是变慢？", "We move a 70B from A100 to H20, faster?"],
)
def test_a_move_from_one_card_to_another_compares_the_two(advisor: Advisor, question: str) -> None:
    told = lines(advisor, question)
    assert "H20-96GB" in told[0] and told[0].startswith(("**更快的是 H20", "**Faster: H20"))


def test_work_that_does_not_fit_has_no_speed_to_compare(advisor: Advisor) -> None:
    told = "\n".join(lines(advisor, "把 70B 模型从 A100 迁到 H20，速度会变快还是变慢？"))
    assert "1 并发 tokens/s" not in told and "放不下，要 2 张" in told


def test_machines_of_eight_cards_train_with_all_their_cards(advisor: Advisor) -> None:
    told = "\n".join(lines(advisor, "用 4 台 ebmgn7ex 预训练 7B，1T token 要多久，要多少钱"))
    assert "32 × A100-80GB" in told and "1,083.333" in told


def test_double_precision_is_given_a_card_that_has_it(advisor: Advisor) -> None:
    told = lines(advisor, "Our GROMACS jobs need double precision, which GPU instance?")
    chosen = next(line for line in told if line.startswith("**ecs."))
    assert "V100" in chosen or "A100" in chosen


def test_the_name_of_a_card_is_no_number_of_machines(advisor: Advisor) -> None:
    assert "20 ×" not in "\n".join(lines(advisor, "Which regions have L20 instances?"))
