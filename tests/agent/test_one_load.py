"""Memory, speed and text of one answer describe one load."""

from __future__ import annotations

import pytest

from agent.writing.memory import memory_line
from agent.writing.speed import speed_line
from agent.writing.words import Words
from knowledge.catalog import shipped_catalog
from tools.contracts.memory import MemoryReport, MemoryRequest
from tools.contracts.throughput import ThroughputReport, ThroughputRequest
from tools.memory import estimate_memory
from tools.throughput import estimate_throughput

CATALOG = shipped_catalog()
EN, ZH = Words("en"), Words("zh")


def memory(model: str, count: int = 8, gpu: str = "H20", concurrency: int = 2) -> MemoryReport:
    return estimate_memory(
        MemoryRequest(
            model=model, gpu=gpu, gpu_count=count, concurrency=concurrency, context_tokens=5120,
            output_tokens=1024,
        ),
        CATALOG,
    )  # fmt: skip


def speed(model: str, count: int = 8, gpu: str = "H20", concurrency: int = 2) -> ThroughputReport:
    return estimate_throughput(
        ThroughputRequest(
            model=model, gpu=gpu, gpu_count=count, concurrency=concurrency, input_tokens=4096,
            output_tokens=1024,
        ),
        CATALOG,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("model", "english", "chinese"),
    [
        ("DeepSeek-V3", "kept whole on each of the 8 GPUs", "每卡各存一份"),
        ("Qwen3-30B-A3B", "over 4 parts, each on 2 GPUs", "分成 4 份，每份存于 2 卡"),
        ("Llama-3.1-70B", " over 8)", "分到 8 卡）"),
    ],
)
def test_the_words_of_the_kv_cache_multiply_out(model: str, english: str, chinese: str) -> None:
    """33.5 GiB of a latent cache on each GPU were once called "over 8"."""
    report = memory(model)
    assert english in memory_line(EN, report)
    assert chinese in memory_line(ZH, report)


@pytest.mark.parametrize("model", ["DeepSeek-V3", "Qwen3-32B", "gpt-oss-20b", "gemma-2-27b-it"])
@pytest.mark.parametrize(("gpu", "count"), [("H20", 8), ("A100-80GB", 8), ("L20", 4)])
def test_speed_and_memory_hold_the_same_number_of_requests(model: str, gpu: str, count: int) -> None:
    held, said = memory(model, count, gpu), speed(model, count, gpu)
    assert held.weight_precision == said.weight_precision
    assert (held.tensor_parallel, held.pipeline_parallel) == (said.tensor_parallel, said.pipeline_parallel)
    assert (held.max_concurrency or 0) * said.data_parallel == said.max_concurrency


def test_an_answer_about_several_requests_says_how_they_arrive() -> None:
    several, one = speed("Qwen3-32B", concurrency=50), speed("Qwen3-32B", concurrency=1)
    assert "closed loop" in speed_line(EN, several)
    assert "闭环" in speed_line(ZH, several)
    assert "closed loop" not in speed_line(EN, one)
