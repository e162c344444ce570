"""A number that cannot be meant never becomes another number: it is left out, and its words are kept."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize(
    ("text", "slot", "said"),
    [
        ("Qwen2.5-7B for -5 users", "users", "-5 users"),
        ("serve a -8B model", "params_b", "-8B"),
        ("Qwen2.5-7B budget -100 CNY/hour", "budget", "-100 CNY"),
        ("Qwen2.5-7B 预算-100元每小时", "budget", "-100元"),
        ("7B, -$3/hour", "budget", "-$3"),
        ("7B 负5个用户", "users", "负5个用户"),
        ("7B for 0 users", "users", "0 users"),
        ("7B on -2 A100", "gpu_count", "-2 A100"),
        ("Qwen2.5-7B, 999999999999999 users", "users", "999999999999999 users"),
        ("Qwen2.5-7B, 99999999999999999999 users", "users", "99999999999999999999 users"),
        ("serve a 99999B model", "params_b", "99999B"),
        ("7B 预算 999999999999999万元", "budget", "999999999999999万元"),
    ],
)
def test_an_absurd_quantity_is_left_out_and_its_words_are_kept(
    reader: Any, text: str, slot: str, said: str
) -> None:
    reading = reader(text)
    assert slot not in reading.slots
    assert len(reading.unusable) == 1
    assert said in reading.unusable[0]


@pytest.mark.parametrize(
    ("text", "slot", "value"),
    [
        ("Llama-3-8B 30-50 users", "users", 50),
        ("Llama-3-8B for 30 - 50 users", "users", 50),
        ("gn7i-8x for 40 users", "users", 40),
        ("7B:\n- 5 users\n- 8k context", "users", 5),
        ("7B:\n-5 users", "users", 5),
        ("vllm --seed -1 --tensor-parallel-size 2, 7B on 2 gpus", "gpu_count", 2),
        ("Qwen2.5 -7B, 10 users", "users", 10),
    ],
)
def test_a_dash_that_is_no_minus_leaves_the_number_alone(
    reader: Any, text: str, slot: str, value: int
) -> None:
    reading = reader(text)
    assert reading.slots[slot].value == value
    assert reading.unusable == ()


def test_what_was_left_out_is_said_of_the_last_turn_only(reader: Any) -> None:
    assert reader("Qwen2.5-7B for -5 users", "10 users then").unusable == ()
