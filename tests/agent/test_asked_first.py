"""A reader who asks for a number gets that number in the first line."""

from __future__ import annotations

import re

import pytest

from agent.events import Answer
from agent.run import Advisor


def first_line(advisor: Advisor, question: str) -> str:
    result = advisor.answer([question])
    assert isinstance(result, Answer)
    return next(line for line in result.text.splitlines() if line.startswith("**"))


@pytest.mark.parametrize(
    "question",
    [
        "DeepSeek-R1 满血版 FP8 部署最少要几张 H20？",
        "How many H20 do I need at least to serve DeepSeek-R1 in fp8?",
    ],
)
def test_the_fewest_cards_come_first_where_their_number_is_asked(advisor: Advisor, question: str) -> None:
    line = first_line(advisor, question)
    assert re.search(r"(?:至少|At least) 8 (?:张|×) H20", line), line
    assert "放不下：" not in line and "No:" not in line


def test_one_card_that_is_enough_is_said_to_be_enough(advisor: Advisor) -> None:
    assert "1 × A10 is enough" in first_line(advisor, "How many A10 do I need for Qwen2.5-7B?")


def test_no_warning_speaks_of_the_card_that_was_only_tried(advisor: Advisor) -> None:
    result = advisor.answer(["DeepSeek-R1 满血版 FP8 部署最少要几张 H20？"])
    assert isinstance(result, Answer)
    assert "放 0 token" not in result.text


@pytest.mark.parametrize(
    "question",
    [
        "一张 A10 能同时给多少人用 Qwen2.5-7B？每人平均输入 1500 输出 300",
        "How many users can one A10 serve with Qwen2.5-7B at 1500 tokens in and 300 out?",
    ],
)
def test_the_load_that_a_card_carries_comes_first_with_what_limits_it(
    advisor: Advisor, question: str
) -> None:
    line = first_line(advisor, question)
    found = re.search(r"(?:约可同时处理|about) (\d+) (?:个请求|requests at once)", line)
    assert found and 20 <= int(found[1]) <= 45, line
    assert "1,500" in line and "300" in line and ("上限是" in line or "is the limit" in line)


def test_the_length_stated_is_the_length_calculated_with(advisor: Advisor) -> None:
    result = advisor.answer(["一张 A10 能同时给多少人用 Qwen2.5-7B？每人平均输入 1500 输出 300"])
    assert isinstance(result, Answer)
    assert "1,800 token" in result.text and "4,096 token" not in result.text


def test_the_tensor_parallel_size_comes_first_and_smaller_ones_are_judged(advisor: Advisor) -> None:
    line = first_line(advisor, "What tensor parallel size for Qwen2.5-72B AWQ on 4xA10?")
    assert "`--tensor-parallel-size 4`" in line and "below 4 the model does not fit" in line


def test_where_smaller_sizes_fit_replicas_are_named(advisor: Advisor) -> None:
    line = first_line(advisor, "Qwen2.5-7B 在 4 张 A10 上张量并行设多少？")
    assert "TP=1" in line and "4 个副本" in line


@pytest.mark.parametrize("question", ["Is gn6v still worth it for LLMs?", "gn6v 现在还值得买吗？"])
def test_an_old_card_dearer_than_a_better_one_is_not_praised(advisor: Advisor, question: str) -> None:
    line = first_line(advisor, question)
    assert "A10" in line and "9.533" in line and "26.46" in line
    assert line.startswith(("**Hardly", "**新业务不太值得"))


def test_what_an_old_card_is_still_ahead_in_is_said(advisor: Advisor) -> None:
    line = first_line(advisor, "Is gn6v still worth buying?")
    assert "memory bandwidth (900 against 600 GB/s)" in line


def test_a_card_without_a_cheaper_equal_is_not_called_outdated(advisor: Advisor) -> None:
    assert first_line(advisor, "A100 80G 还值得用吗").startswith("**值得")
    assert first_line(advisor, "Is the A10 outdated?").startswith("**Yes, where")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("gn7i 的 7 是什么意思，i 又是什么意思", ("7 = 第 7 代", "字母“i”")),
        ("What does ebmgn7ex stand for?", ("ebm = elastic bare metal", "7 = the generation")),
    ],
)
def test_the_letters_of_a_family_are_read_in_the_first_line(
    advisor: Advisor, question: str, said: tuple[str, ...]
) -> None:
    line = first_line(advisor, question)
    assert all(text in line for text in said)


def test_regions_of_a_card_are_told_by_family(advisor: Advisor) -> None:
    result = advisor.answer(["Which regions have A10 instances?"])
    assert isinstance(result, Answer)
    first = result.text.splitlines()[0]
    assert first.startswith("- **gn7i** (A10): in the price lists of 16 regions")


def test_a_verdict_on_a_card_comes_before_what_else_helps(advisor: Advisor) -> None:
    assert first_line(advisor, "FLUX.1-dev 出一张图要多少显存，T4 能跑吗").startswith("**放不下")


def test_a_rate_of_requests_becomes_a_number_of_machines(advisor: Advisor) -> None:
    result = advisor.answer(
        ["I want to serve 500 requests per second of bge-large-zh embedding, 256 tokens each"]
    )
    assert isinstance(result, Answer)
    first, second = (line for line in result.text.splitlines()[:3] if line)
    assert "texts/s" in first and second.startswith("**Machines: 2")


def test_hours_of_a_vision_training_count_every_epoch(advisor: Advisor) -> None:
    result = advisor.answer(["How long to train ResNet-50 on 1.28 million images for 90 epochs on one A10?"])
    assert isinstance(result, Answer)
    assert "115 million images" in result.text


def test_the_load_that_a_budget_carries_comes_first(advisor: Advisor) -> None:
    line = first_line(advisor, "预算每小时 20 块，跑 Qwen2.5-14B 客服机器人，能撑多少并发")
    assert "约可同时处理" in line and "A10" in line


def test_a_program_named_like_a_model_is_no_model(advisor: Advisor) -> None:
    result = advisor.answer(["LLaMA-Factory 全参微调 7B，两张 4090 行不行"])
    assert isinstance(result, Answer)
    assert result.reading.request.model == "" and result.reading.request.params_b == 7


def test_ollama_is_sized_in_the_format_that_it_serves(advisor: Advisor) -> None:
    result = advisor.answer(["用 ollama 跑 qwen3:30b-a3b，什么实例便宜够用"])
    assert isinstance(result, Answer)
    assert result.recommendation is not None
    assert result.recommendation.options[0].precision == "gguf-q4_k_m"


def test_a_machine_for_development_is_found_by_its_memory(advisor: Advisor) -> None:
    result = advisor.answer(["我只要 16G 显存的机器做开发，每天 4 小时，每月多少钱"])
    assert isinstance(result, Answer)
    assert "1,160 元" in result.text


def test_more_cards_than_a_machine_has_are_several_machines_and_no_failure(advisor: Advisor) -> None:
    assert first_line(advisor, "999 A100").startswith("**999 × ecs.gn7e-c16g1.4xlarge**")
