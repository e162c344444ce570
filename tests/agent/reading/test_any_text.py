"""A text that stops the reader stops the assistant: any input is read, in bounded time, always the same."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.reading import read
from agent.reading.types import Reading
from knowledge.catalog import shipped_catalog

_WORDS = """
    千问2.5-72b A100 80G x8 张卡 每小时 50 元 $3/hr 万 w k 20 并发 8k上下文 ecs.gn7i-c16g1.4xlarge ¥ 不要 not
    <>{}[]()|*+?\\^$ 预算 budget 日活 个 人 in out tokens epoch lora fp8 int4 days 天 内 within 一二三 十百 半
    TTFT ms 1,000 hours a month 每天 小时 0.5 1e9 9999999999999999 - ~
"""
_PIECES = st.sampled_from([*_WORDS.split(), "\n", "\t"])


@given(st.lists(st.text(max_size=120), max_size=4))
@settings(max_examples=150)
def test_no_text_is_refused(turns: list[str]) -> None:
    reading = read(turns, shipped_catalog())
    assert Reading.model_validate_json(reading.model_dump_json()) == reading


@given(st.lists(_PIECES, min_size=1, max_size=40).map(" ".join))
@settings(max_examples=200)
def test_no_heap_of_the_fields_own_words_is_refused(text: str) -> None:
    catalog = shipped_catalog()
    assert read([text], catalog) == read([text], catalog)


@pytest.mark.parametrize(
    "text",
    [
        " " * 100_000, "1" * 100_000, "1 " * 50_000, "a" * 100_000, "显" * 100_000, "千" * 50_000,
        "A100 x 8 " * 12_000,
        "\n" * 100_000, "<script>" * 12_000, "a_" * 50_000, "每天" * 50_000, "AbCdEf" * 15_000, "{" * 100_000,
        '{"hidden_size":' * 8_000, "ﷺ" * 20_000, "😀" * 50_000, "1," * 50_000, "RuntimeError: x\n" * 8_000,
    ],
    ids=lambda text: repr(text[:12]),
)  # fmt: skip
def test_a_hundred_kilobytes_are_read_in_bounded_time(reader: Any, text: str) -> None:
    start = time.process_time()
    reader(text)
    assert time.process_time() - start < 1.5


def test_a_usual_question_is_read_in_a_few_milliseconds(reader: Any) -> None:
    text = "Llama-3-70B 推理,每小时 50 元以内,20 并发 8k 上下文,不要 T4,杭州,包月也可以,最便宜的方案"
    reader(text)
    spent = []
    for _ in range(9):
        start = time.process_time()
        reader(text)
        spent.append(time.process_time() - start)
    assert sorted(spent)[4] < 0.015


def test_control_characters_and_lone_surrogates_do_not_reach_the_answer(reader: Any) -> None:
    reading = reader("7B \ud800 on \x00 A10?")
    reading.model_dump_json()
    assert reading.request.gpu_wanted == ("A10",)


@pytest.mark.parametrize("text", ["", "   ", "😀😀", "!!! ???", "\n\n"])
def test_nothing_readable_is_said_to_be_empty(reader: Any, text: str) -> None:
    assert reader(text).intent == "empty"


def test_no_turn_at_all_is_empty() -> None:
    assert read([], shipped_catalog()).intent == "empty"


_LOG = "\n".join(f"2026-01-01 10:00:{line % 60:02d} INFO worker {line} loading shard" for line in range(200))
_SMI = """看看这个机器能跑 14B 吗
| NVIDIA-SMI 535.129.03   Driver Version: 535.129.03   CUDA Version: 12.2     |
| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
|   0  NVIDIA A10          On   | 00000000:00:07.0 Off |                    0 |
|  0%   33C    P8    15W / 150W |      0MiB / 23028MiB |      0%      Default |
|   1  NVIDIA A10          On   | 00000000:00:08.0 Off |                    0 |
|  0%   33C    P8    15W / 150W |      0MiB / 23028MiB |      0%      Default |"""


def test_of_a_pasted_log_the_error_is_searched_for(reader: Any) -> None:
    error = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB"
    reading = reader(f"my vllm server dies, what now?\n{_LOG}\nTraceback (most recent call last):\n{error}\n")
    assert (reading.intent, reading.pasted) == ("troubleshoot", "log")
    assert "CUDA out of memory" in reading.search_query
    assert "INFO worker" not in reading.search_query
    assert reading.language == "en"


def test_the_cards_of_a_pasted_table_are_the_cards_in_question(reader: Any) -> None:
    reading = reader(_SMI)
    assert reading.pasted == "nvidia_smi"
    assert (reading.request.gpu_wanted, reading.request.gpu_count) == (("A10",), 2)
    assert (reading.intent, reading.request.params_b) == ("memory", 14)


def test_a_pasted_config_is_kept_whole(reader: Any) -> None:
    config = '{\n "hidden_size": 5120,\n "num_hidden_layers": 48,\n "num_attention_heads": 40\n}'
    reading = reader(f"L20 跑这个模型,32k 上下文够吗\n{config}")
    assert (reading.pasted, reading.pasted_text) == ("config", config)
    assert (reading.intent, reading.request.context_tokens) == ("memory", 32768)


def test_a_long_question_in_prose_is_no_log(reader: Any) -> None:
    reading = reader("We run a small law firm. " * 60 + "Which GPU for a 13B model and 5 users?")
    assert reading.pasted == ""
    assert reading.request.params_b == 13


def test_every_name_of_a_card_can_be_asked_about() -> None:
    catalog = shipped_catalog()
    names = {alias.alias for alias in catalog.gpu_aliases} | {row.gpu_model for row in catalog.gpus}
    names |= {row.gpu_model.split("-")[0] for row in catalog.gpus}
    for name in sorted(names):
        reading = read([f"Is {name} the same as A10?"], catalog)
        assert all(mention.name for mention in reading.mentions if mention.kind == "gpu"), name
