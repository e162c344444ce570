"""What newcomers asked and were misread on: every answer takes up what was said."""

from __future__ import annotations

from typing import get_args

import pytest

from agent.events import Answer
from agent.run import Advisor
from agent.writing.glossary import entries
from tools.contracts.sizing import Task


def answer(advisor: Advisor, *turns: str) -> str:
    result = advisor.answer(list(turns))
    assert isinstance(result, Answer)
    return result.text


@pytest.mark.parametrize(
    ("question", "verdict"),
    [
        ("FLUX.1-dev 生成 1024x1024 图片，24GB 显存够吗？", "24 GB 显卡"),
        ("LoRA fine-tune 7B, is 24GB enough?", "a 24 GB card"),
        ("Qwen2.5-7B 24GB 显存够吗？", "24 GB 显卡"),
    ],
)
def test_a_memory_size_gets_a_verdict_and_is_no_unknown_gpu(
    advisor: Advisor, question: str, verdict: str
) -> None:
    first = answer(advisor, question).splitlines()[0]
    assert verdict in first
    assert "24GB" not in first


def test_the_speed_on_a_memory_size_is_no_unknown_gpu(advisor: Advisor) -> None:
    text = answer(advisor, "How many tokens per second does Qwen2.5-7B do on a 24GB card?")
    assert "do not know" not in text
    assert "A10" in text


def test_values_kept_from_before_are_in_the_readers_language(advisor: Advisor) -> None:
    text = answer(advisor, "Qwen2.5-7B 推理，每月 20000 元", "10 并发呢")
    kept = next(line for line in text.splitlines() if line.startswith("**沿用前面的**"))
    assert "任务 推理；预算 每月 20,000 元" in kept


def test_every_task_is_worded_in_both_languages() -> None:
    assert set(get_args(Task)) == set(entries("tasks"))


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Qwen2.5-7B for -5 users", "**I left out** “-5 users”: a count must be positive."),
        ("Qwen2.5-7B 推理，-5 个用户", "**没有采用** “-5 个用户”：数量必须为正。"),
        (
            "Qwen2.5-7B, 999999999999999 users",
            "**I left out** “999999999999999 users”: this number is too large.",
        ),
        ("Qwen2.5-7B，999999999999999 个用户", "**没有采用** “999999999999999 个用户”：数字过大。"),
    ],
)
def test_a_quantity_that_cannot_be_meant_is_named_first(advisor: Advisor, question: str, first: str) -> None:
    assert answer(advisor, question).splitlines()[0] == first


@pytest.mark.parametrize(
    ("question", "first"),
    [
        (
            "How much KV cache does Qwen2.5-7B need for 32k tokens at batch 10?",
            "**KV cache: 17.5 GiB** for 10 × 32,768 tokens",
        ),
        (
            "Qwen2.5-7B 32k 上下文 batch 10 的 KV cache 占多少？",
            "**KV 缓存：17.5 GiB**，10 × 32,768 token",
        ),
    ],
)
def test_a_question_on_the_kv_cache_gets_its_figure_first(
    advisor: Advisor, question: str, first: str
) -> None:
    # 28 layers × 4 KV heads × 128 × 2 (K and V) × 2 bytes = 56 KiB a token; 327,680 tokens are 17.5 GiB.
    assert answer(advisor, question).startswith(first)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        (
            "What is the cheapest GPU instance in Frankfurt with at least 40 GB of GPU memory?",
            "The cheapest with a published price in eu-central-1: **ecs.",
        ),
        ("法兰克福最便宜、至少 40G 显存的机器？", "eu-central-1 有公开价格的最便宜规格：**ecs."),
    ],
)
def test_a_region_and_a_memory_size_are_enough_to_list_machines(
    advisor: Advisor, question: str, first: str
) -> None:
    assert answer(advisor, question).startswith(first)


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("Serve Foobar-9000-XXL on an RTX 9990 Ti Ultra", ("Foobar-9000-XXL", "RTX 9990 Ti Ultra")),
        ("Can a RTX 9990 Ti run Qwen2.5-7B?", ("RTX 9990 Ti",)),
        ("Foobar-9000-XXL 30B on an A10", ("Foobar-9000-XXL",)),
    ],
)
def test_an_unknown_model_or_card_is_said_to_be_unknown_first(
    advisor: Advisor, question: str, unknown: tuple[str, ...]
) -> None:
    lines = answer(advisor, question).splitlines()
    for line, name in zip(lines, unknown, strict=False):
        assert line.startswith("**I do not know the ")
        assert name in line
