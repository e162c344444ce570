"""How long the built-in answer to a sizing question takes, whole: read, calculate, retrieve, write."""

from __future__ import annotations

import argparse
import asyncio
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agent.events import Answer, Failed, ToolFinished
from agent.reading import read
from agent.run import Advisor, open_advisor
from knowledge.catalog import Catalog, shipped_catalog
from settings import Settings

MEDIAN_LIMIT_MS = 300.0
P99_LIMIT_MS = 1000.0
ROUNDS = 5
# Sizing questions of every shape that needs another path: serving, budgets, training, images, follow-ups,
# and some that also look for a guide.
QUESTIONS: tuple[tuple[str, ...], ...] = (
    ("Serve Llama-3.3-70B to 20 concurrent users with 8k context, as cheap as possible",),
    ("Which instance for Qwen3-32B in FP8, 10 requests at once, 16k tokens?",),
    ("DeepSeek-V3 inference, budget 400 CNY per hour",),
    ("Fine-tune Qwen2.5-14B with LoRA on 50k samples within two days",),
    ("Full fine-tuning of Llama-3.1-8B, sequence length 4096, which GPUs?",),
    ("Generate 1024x1024 images with FLUX.1-dev, one GPU",),
    ("Serve a 7B model", "what if the context is 32k?"),
    ("Can I run Mistral-7B on a T4, and how do I set up vLLM on it?",),
    ("部署 Qwen2.5-72B，30 并发，4k 上下文，每月预算 5 万",),
    ("Qwen3-8B 推理，首 token 500 毫秒以内，用什么实例",),
    ("GLM-4-9B 用 L20 能扛多少并发，8k 上下文",),
    ("用 QLoRA 微调 Qwen2.5-32B，最便宜的方案",),
    ("从头预训练 3B 模型，500 亿 token，两周内完成要几台机器",),
    ("Whisper large-v3 每天转写 500 小时录音，选什么卡",),
    ("部署 Llama-3-8B", "换成 int4 呢"),
    ("Qwen2.5-7B 部署时 vLLM 报 KV cache 不够，换什么实例",),
)


@dataclass(frozen=True)
class Timing:
    """Seconds of one answer: the whole, reading alone, and each tool's calls together."""

    question: str
    whole: float
    reading: float
    tools: dict[str, float]


def measure(advisor: Advisor, catalog: Catalog, rounds: int = ROUNDS) -> list[Timing]:
    """Every question `rounds` times, after one round that is not counted (tables and dictionaries load)."""
    for turns in QUESTIONS:
        asyncio.run(_ask(advisor, catalog, turns))
    return [asyncio.run(_ask(advisor, catalog, turns)) for _ in range(rounds) for turns in QUESTIONS]


async def _ask(advisor: Advisor, catalog: Catalog, turns: Sequence[str]) -> Timing:
    tools: dict[str, float] = defaultdict(float)
    started = time.perf_counter()
    async for event in advisor.ask(turns):
        if isinstance(event, ToolFinished):
            tools[event.name] += event.seconds
        if isinstance(event, Failed):
            raise RuntimeError(f"no answer to {turns[-1]!r}: {event.text}")
        if isinstance(event, Answer):
            break
    whole = time.perf_counter() - started
    started = time.perf_counter()
    read(list(turns), catalog)
    return Timing(turns[-1], whole, time.perf_counter() - started, dict(tools))


def table(timings: Sequence[Timing]) -> str:
    """The figures as Markdown: the whole answer, reading, every tool, and the slowest question."""
    parts = {
        "whole answer": [timing.whole for timing in timings],
        "reading": [item.reading for item in timings],
    }
    for name in sorted({name for timing in timings for name in timing.tools}):
        parts[name] = [timing.tools[name] for timing in timings if name in timing.tools]
    lines = ["| | answers | median ms | 99th percentile ms |", "| --- | ---: | ---: | ---: |"]
    lines += [
        f"| {name} | {len(values)} | {_ms(values, 0.5):.0f} | {_ms(values, 0.99):.0f} |"
        for name, values in parts.items()
    ]
    slowest = max(timings, key=lambda timing: timing.whole)
    return "\n".join([*lines, "", f"Slowest: {1000 * slowest.whole:.0f} ms, {slowest.question!r}"])


def _ms(values: Sequence[float], share: float) -> float:
    return 1000 * float(np.percentile(values, 100 * share))


def main(args: Sequence[str] = ()) -> int:
    """Prints the table; 1 when the median or the 99th percentile is above its limit."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks latency", description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each question is asked")
    rounds = parser.parse_args(list(args)).rounds
    catalog = shipped_catalog()
    advisor = open_advisor(Settings().model_copy(update={"model_mode": "none"}), catalog)
    timings = measure(advisor, catalog, rounds)
    print(table(timings))
    whole = [timing.whole for timing in timings]
    median, p99 = _ms(whole, 0.5), _ms(whole, 0.99)
    print(
        f"\nmedian {median:.0f} ms (limit {MEDIAN_LIMIT_MS:.0f}), p99 {p99:.0f} ms (limit {P99_LIMIT_MS:.0f})"
    )
    return int(median > MEDIAN_LIMIT_MS or p99 > P99_LIMIT_MS)
