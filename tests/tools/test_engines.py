"""One list of serving engines: memory, speed and reading know the same names, so that nobody is told of an
unknown engine by one and of a fitting machine by the other."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agent.reading import read
from benchmarks.speed_rows import table
from knowledge.catalog import shipped_catalog
from knowledge.errors import InputError, NotKnown
from tools.contracts.memory import MemoryRequest
from tools.contracts.throughput import ThroughputRequest
from tools.engines import _TABLE
from tools.memory import estimate_memory
from tools.memory.engines import resolve_engine
from tools.throughput import estimate_throughput
from tools.throughput.engines import find_engine

CATALOG = shipped_catalog()
NAMES = [text for row in _TABLE if row.memory for text in (row.name, *row.spoken, *row.written)]


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_known_to_memory_and_to_speed(name: str) -> None:
    for spelled in (name, name.upper(), f"{name} 0.9.1"):
        resolve_engine(spelled)
        find_engine(spelled)


@pytest.mark.parametrize("name", ["nim", "koboldcpp", "exllamav2", "mlc", "ctranslate2", "vllm(fork)"])
def test_a_stand_in_is_said_by_memory_and_speed(name: str) -> None:
    memory = estimate_memory(MemoryRequest(model="Qwen2.5-7B", gpu="L20", engine=name), CATALOG)
    speed = estimate_throughput(ThroughputRequest(model="Qwen2.5-7B", gpu="L20", engine=name), CATALOG)
    said = [{item.field for item in report.assumptions} for report in (memory, speed)]
    assert "engine" in said[0] or name == "vllm(fork)"
    assert ("engine" in said[1]) or name in ("exllamav2", "mlc", "vllm(fork)")


@pytest.mark.parametrize("resolve", [resolve_engine, find_engine])
def test_an_engine_nobody_knows_is_refused_with_names_near_it(
    resolve: Callable[[str], object],
) -> None:
    with pytest.raises(InputError) as error:
        resolve("vlmm")
    assert "vllm" in error.value.suggestions
    with pytest.raises(NotKnown):
        resolve("KTransformers")


@pytest.mark.parametrize(
    ("text", "engine"),
    [
        ("用 KoboldCpp 跑 Qwen2.5-7B", "koboldcpp"),
        ("Qwen2.5-7B with TRT LLM", "tensorrt-llm"),
        ("text generation inference 部署 Qwen2.5-7B", "tgi"),
        ("llamacpp 跑 Qwen2.5-7B", "llama.cpp"),
        ("serve Qwen2.5-7B with MLC-LLM on an A10", "mlc-llm"),
        ("ktransformers 跑 DeepSeek-R1", "ktransformers"),
        ("transformers 跑 Qwen2.5-7B", "transformers"),
    ],
)
def test_an_engine_is_read_from_a_sentence(text: str, engine: str) -> None:
    assert read([text], CATALOG).request.engine == engine


def test_every_engine_of_the_measurements_is_known_to_both() -> None:
    names = {row["engine"] for part in ("vram_inference", "throughput") for row in table(part)} - {""}
    for name in sorted(names):
        resolve_engine(name)
        find_engine(name)
