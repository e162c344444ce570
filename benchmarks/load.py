"""Load on a running service: users who think between questions, then as many questions as it takes.

`python -m benchmarks.load http://127.0.0.1:7860 --users 50 --seconds 120 --pid 4711`
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated

import httpx
import typer

# What help desks are asked, in the proportions of the development questions: sizing first, then facts,
# memory and speed, faults and how-to.
QUESTIONS: tuple[tuple[str, ...], ...] = (
    ("Llama-3-70B inference, 50 CNY/hour, 8k context, 10 concurrent",),
    ("Qwen2.5-14B 推理，8k 上下文，4 并发", "换成 int4 呢"),
    ("7B LoRA 微调用哪个实例划算",),
    ("Does Qwen2.5-14B in bf16 fit on one A10 with 8k context?", "and on an L20?"),
    ("8B 模型 bf16，16k 上下文，单卡放得下吗",),
    ("What is the A10?",),
    ("A10 vs L20 for serving an 8B model",),
    ("ecs.gn7i-c16g1.4xlarge 每小时多少钱",),
    ("gn6v 是 Hopper 架构吗",),
    ("nvidia-smi has failed because it couldn't communicate with the NVIDIA driver",),
    ("NCCL 通信超时怎么排查",),
    ("抢占式实例会被随时回收吗",),
    ("How many tokens per second does an L20 give for Qwen2.5-7B?",),
    ("hello",),
    ("SDXL 出图，每天一万张，用什么卡",),
    ("Which regions sell H20?",),
)
_CAPACITY_USERS = 64


@dataclass
class LoadResult:
    """What the users saw. Times are of whole answers, in seconds; memory is the process's resident set.
    `cpu_s_per_answer` is what an answer costs on whatever machine, busy with other things or not."""

    users: int
    seconds: float
    answers: int = 0
    statuses: dict[str, int] = field(default_factory=dict)
    p50_s: float = 0.0
    p95_s: float = 0.0
    worst_s: float = 0.0
    rss_start_mib: float | None = None
    rss_end_mib: float | None = None
    cpu_s_per_answer: float | None = None
    saturated_answers_per_s: float = 0.0
    shed: int = 0
    shed_worst_s: float = 0.0


class _Crowd:
    """Users of one kind; each asks, waits for the answer, thinks, asks on."""

    def __init__(self, base: str, think_s: float, headers: dict[str, str]) -> None:
        self._base = base
        self._think_s = think_s
        self._headers = headers
        self.seen: list[tuple[str, float]] = []

    async def run(self, users: int, seconds: float, seed: int) -> None:
        ends = time.monotonic() + seconds
        limits = httpx.Limits(max_connections=users, max_keepalive_connections=users)
        async with httpx.AsyncClient(
            base_url=self._base, timeout=30, limits=limits, headers=self._headers
        ) as client:
            await asyncio.gather(*(self._user(client, random.Random(seed + n), ends) for n in range(users)))

    async def _user(self, client: httpx.AsyncClient, chance: random.Random, ends: float) -> None:
        await asyncio.sleep(chance.random() * self._think_s)
        while time.monotonic() < ends:
            talk: list[dict[str, str]] = []
            for question in chance.choice(QUESTIONS):
                talk.append({"role": "user", "content": question})
                talk.append({"role": "assistant", "content": await self._ask(client, talk)})
                await asyncio.sleep(chance.expovariate(1 / self._think_s) if self._think_s else 0)
                if time.monotonic() > ends:
                    return

    async def _ask(self, client: httpx.AsyncClient, talk: list[dict[str, str]]) -> str:
        begun = time.perf_counter()
        try:
            reply = await client.post("/api/v1/chat", json={"messages": talk})
        except httpx.HTTPError as error:
            self.seen.append((type(error).__name__, time.perf_counter() - begun))
            return ""
        self.seen.append((str(reply.status_code), time.perf_counter() - begun))
        if reply.status_code in (429, 503):
            await asyncio.sleep(0.2)
        return str(reply.json()["text"]) if reply.status_code == 200 else ""


def run_load(
    base: str,
    users: int,
    seconds: float,
    think_s: float = 10.0,
    capacity_s: float = 10.0,
    pid: int | None = None,
    key: str = "",
    seed: int = 1,
) -> LoadResult:
    """Users who think `think_s` on average for `seconds`, then 64 who do not think for `capacity_s`."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    warm = _Crowd(base, 0, headers)
    asyncio.run(warm.run(2, 3, seed))
    result = LoadResult(users, seconds, rss_start_mib=_rss_mib(pid))
    crowd, cpu_s = _Crowd(base, think_s, headers), _cpu_s(pid)
    asyncio.run(crowd.run(users, seconds, seed))
    result.rss_end_mib = _rss_mib(pid)
    if crowd.seen and cpu_s is not None:
        result.cpu_s_per_answer = ((_cpu_s(pid) or cpu_s) - cpu_s) / len(crowd.seen)
    times = sorted(took for status, took in crowd.seen if status == "200")
    result.answers = len(times)
    result.statuses = dict(Counter(status for status, _ in crowd.seen))
    if times:
        result.p50_s, result.p95_s, result.worst_s = (_quantile(times, share) for share in (0.5, 0.95, 1))
    if capacity_s:
        rush = _Crowd(base, 0, headers)
        begun = time.perf_counter()
        asyncio.run(rush.run(_CAPACITY_USERS, capacity_s, seed))
        took = time.perf_counter() - begun
        result.saturated_answers_per_s = sum(status == "200" for status, _ in rush.seen) / took
        shed = [took for status, took in rush.seen if status in ("429", "503")]
        result.shed, result.shed_worst_s = len(shed), max(shed, default=0.0)
    return result


def _quantile(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _rss_mib(pid: int | None) -> float | None:
    status = Path(f"/proc/{pid}/status")
    if pid is None or not status.exists():
        return None
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def _cpu_s(pid: int | None) -> float | None:
    """Processor time of a process until now, user and system."""
    stat = Path(f"/proc/{pid}/stat")
    if pid is None or not stat.exists():
        return None
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main(
    base: str,
    users: int = 50,
    seconds: float = 120,
    think_s: float = 10,
    capacity_s: float = 10,
    pid: Annotated[int | None, typer.Option(help="process whose memory is watched")] = None,
    key: str = "",
) -> None:
    """Prints what the users saw."""
    result = run_load(base, users, seconds, think_s, capacity_s, pid, key)
    for name, value in asdict(result).items():
        print(f"{name}\t{value:.3f}" if isinstance(value, float) else f"{name}\t{value}")


if __name__ == "__main__":
    typer.run(main)
