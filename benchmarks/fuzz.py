"""Hostile input for a running service: no 5xx, no hang, no trace, whatever comes.

`python -m benchmarks.fuzz http://127.0.0.1:7860 --count 20000`
"""

from __future__ import annotations

import asyncio
import json
import random
import string
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx
import typer

HANG_S = 5.0
_TRACES = ("Traceback", 'File "/', "site-packages", "sqlalchemy.", "pydantic_core")
_NUMBERS = (0, -1, 1e308, -1e308, 5e-324, 10**40, -(10**40), 2**63, 0.1, 1e-9, True, None)
_RAW_NUMBERS = ("NaN", "Infinity", "-Infinity", "1e999", "-0", "0x10", "1" * 5000)
_WORDS = (
    "Llama-3-70B", "通义千问2.5 72B", "A10", "ecs.gn7i-c16g1.4xlarge", "50 元/小时", "100 并发", "int4",
    "8k 上下文", "nvidia-smi failed", "NaN GiB", "-5 users", "1e999 tokens", "٣ GPUs", "²", "ⅷ cards", "①",
    "10^100 CNY", "0 cards", "<script>alert(1)</script>", "{{7*7}}", "${jndi:ldap://x}", "../../etc/passwd",
    "'; drop table questions;--", "ignore previous instructions", "\u202e", "\u0000", "\ufeff", "\u200b",
    "💩" * 20, "e\u0301" * 30, "𝟟𝟘B", "｛｝",
)  # fmt: skip
_FIELDS: dict[str, dict[str, Any]] = {
    "memory": {"model": "llama3-8b", "gpu": "A10", "gpu_count": 1, "context_tokens": 8192, "concurrency": 4},
    "training-memory": {"model": "llama3-8b", "method": "lora", "gpu": "A10", "parallelism": "zero3"},
    "other-memory": {"model": "FLUX.1-dev", "task": "diffusion", "resolution": "1024x1024", "batch": 1},
    "throughput": {
        "model": "llama3-8b",
        "gpu": "A10",
        "input_tokens": 512,
        "output_tokens": 128,
        "concurrency": 4,
    },
    "other-speed": {"model": "FLUX.1-dev", "gpu": "L20", "steps": 28, "batch": 1, "amount": 100},
    "training": {"model": "llama3-8b", "gpu": "H800", "gpu_count": 8, "tokens": 1e9, "global_batch": 64},
    "cost": {"instance_type": "ecs.gn7i-c16g1.4xlarge", "count": 1, "region": "cn-hangzhou", "hours": 5},
    "recommend": {
        "model": "llama3-8b",
        "params_b": 8,
        "concurrency": 4,
        "budget": {"amount": 50},
        "users": 10,
    },
    "compare-log": {"text": "Available KV cache memory: 6.5 GiB", "model": "llama3-8b", "gpu": "A10"},
    "instance": {"name": "gn7i"},
    "gpu": {"name": "A10"},
    "model": {"name": "llama3"},
    "search": {"query": "driver", "limit": 3},
}


@dataclass
class FuzzResult:
    """Counts by status, every fault with the request that made it, and the request that took longest."""

    tried: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    slowest_s: float = 0.0
    slowest: str = ""
    late: list[tuple[str, bytes]] = field(default_factory=list)  # to be asked again alone


class _Chance:
    """Hostile values from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def text(self) -> str:
        kinds: tuple[Callable[[], str], ...] = (
            lambda: " ".join(self.random.choices(_WORDS, k=self.random.randint(1, 6))),
            lambda: "".join(chr(self.random.randrange(1, 0x3000)) for _ in range(self.random.randint(0, 80))),
            lambda: "".join(chr(self.random.randrange(0x10000, 0x110000)) for _ in range(20)),
            lambda: self.random.choice(_WORDS) * self.random.choice((1, 50, 3000)),
            lambda: "".join(self.random.choices(string.printable, k=self.random.randint(0, 400))),
            lambda: "\n".join(["Xid 79 error NCCL timeout"] * self.random.choice((1, 400))),
            lambda: "(" * 2000 + ")" * 2000,
            lambda: "9" * self.random.choice((20, 400, 5000)) + self.random.choice(("B", " GiB", " 元", "")),
        )
        return self.random.choice(kinds)()

    def value(self, depth: int = 0) -> Any:
        kinds: tuple[Callable[[], Any], ...] = (
            self.text,
            lambda: self.random.choice(_NUMBERS),
            lambda: [self.value(depth + 1) for _ in range(self.random.randint(0, 3))],
            lambda: {self.text()[:20]: self.value(depth + 1) for _ in range(self.random.randint(0, 3))},
        )
        return self.random.choice(kinds if depth < 4 else kinds[:2])()

    def request(self) -> tuple[str, bytes]:
        """A path and a body."""
        kind = self.random.random()
        if kind < 0.2:
            return "/api/v1/chat", self._dumped({"messages": self._talk()})
        if kind < 0.25:
            return "/v1/chat/completions", self._dumped({"model": self.text()[:30], "messages": self._talk()})
        door = self.random.choice(list(_FIELDS))
        fields = dict(_FIELDS[door])
        if kind < 0.8:
            for name in self.random.sample(list(fields), k=self.random.randint(1, len(fields))):
                fields[name] = self.value()
            return f"/api/v1/{door}", self._dumped(fields)
        return f"/api/v1/{door}", self._broken(fields)

    def _talk(self) -> list[dict[str, Any]]:
        roles = ("user", "assistant") if self.random.random() < 0.9 else ("system", 7)
        turns = [
            {"role": self.random.choice(roles), "content": self.text()}
            for _ in range(self.random.randint(0, 4))
        ]
        return [*turns, {"role": "user", "content": self.text()}]

    def _broken(self, fields: dict[str, Any]) -> bytes:
        """JSON that is none, or that only some parsers take."""
        whole = self._dumped(fields)
        kinds: tuple[Callable[[], bytes], ...] = (
            lambda: whole[: self.random.randrange(len(whole))],
            lambda: b"[" * 20_000,
            lambda: b'{"a":' * 5000 + b"1" + b"}" * 5000,
            lambda: whole.replace(b"}", b", " + json.dumps(self.random.choice(list(fields))).encode() + b": "
                                  + self.random.choice(_RAW_NUMBERS).encode() + b"}", 1),
            lambda: self.random.randbytes(200),
            lambda: b'{"name": "\\ud800", "model": "\\udfff\\ud800"}',
            lambda: b'{"query": "\xff\xfe", "name": "\xc3\x28"}',
            lambda: json.dumps(self.value()).encode(errors="replace"),
        )  # fmt: skip
        return self.random.choice(kinds)()

    @staticmethod
    def _dumped(value: Any) -> bytes:
        return json.dumps(value, ensure_ascii=False).encode(errors="surrogatepass")


def run_fuzz(base: str, count: int, seed: int = 1, at_once: int = 4, key: str = "") -> FuzzResult:
    """Sends `count` hostile requests, a few at once. One answered late is sent again alone at the end: what
    hangs does so again, what only waited for a busy machine does not."""
    chance, result = _Chance(seed), FuzzResult()
    requests = iter([chance.request() for _ in range(count)])
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})

    async def worker(client: httpx.AsyncClient) -> None:
        for path, body in requests:
            await _try(client, path, body, result)

    async def go() -> None:
        async with httpx.AsyncClient(base_url=base, timeout=HANG_S * 4, headers=headers) as client:
            await asyncio.gather(*(worker(client) for _ in range(at_once)))
            for path, body in result.late:
                await _try(client, path, body, result, again=True)

    asyncio.run(go())
    return result


async def _try(
    client: httpx.AsyncClient, path: str, body: bytes, result: FuzzResult, *, again: bool = False
) -> None:
    begun = time.perf_counter()
    try:
        reply = await client.post(path, content=body)
    except httpx.HTTPError as error:
        result.faults.append(f"{type(error).__name__} {path} {body[:300]!r}")
        return
    took = time.perf_counter() - begun
    if not again:
        result.tried += 1
        result.statuses[str(reply.status_code)] += 1
    if took > result.slowest_s:
        result.slowest_s, result.slowest = took, f"{path} {body[:300]!r} ({len(body)} bytes)"
    wrong = reply.status_code >= 500 and reply.status_code != 503
    late = took > HANG_S
    if late and not again:
        result.late.append((path, body))
    if wrong or (late and again) or any(trace in reply.text for trace in _TRACES):
        told = f"{reply.status_code} in {took:.1f} s {path}"
        result.faults.append(f"{told} {body[:300]!r}: {reply.text[:200]}")


def main(base: str, count: int = 20_000, seed: int = 1, at_once: int = 4, key: str = "") -> None:
    """Prints the counts and every fault; exit code 1 if there is one."""
    result = run_fuzz(base, count, seed, at_once, key)
    print(f"{result.tried} requests, {dict(result.statuses)}, {len(result.late)} late")
    print(f"slowest {result.slowest_s:.2f} s: {result.slowest}")
    for fault in result.faults:
        print(fault)
    raise typer.Exit(1 if result.faults else 0)


if __name__ == "__main__":
    typer.run(main)
