"""The whole application as a process: load, hostile input, and two replicas behind a proxy; one dies."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import itertools
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from fastapi import FastAPI, Request, Response
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from benchmarks.fuzz import run_fuzz
from benchmarks.load import run_load

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
AS_IN_THE_IMAGE = ["sh", "-c", f"{sys.executable} -m retrieval build; exec {sys.executable} app.py"]
QUESTIONS = ("What is the A10?", "8B 模型 bf16 单卡 A10 放得下吗", "hello", "A10 vs L20")


@pytest.fixture(scope="module")
def one(start: Callable[..., Any], index_state: Path, free_port: Callable[[], int]) -> Any:
    """One process as `make run` starts it."""
    return start([sys.executable, "app.py"], free_port(), STATE_DIR=str(index_state))


def test_fifty_thinking_users_are_answered_in_time_and_a_rush_is_shed(one: Any) -> None:
    result = run_load(one.address, users=50, seconds=20, think_s=10, capacity_s=5, pid=one.pid)
    print(result)
    assert set(result.statuses) == {"200"}
    assert result.answers >= 60
    assert result.p95_s < 3
    assert result.rss_end_mib < result.rss_start_mib * 1.1
    assert result.saturated_answers_per_s >= 2
    assert result.shed_worst_s < 7


def test_a_thousand_hostile_requests_break_nothing(one: Any) -> None:
    result = run_fuzz(one.address, 1000, at_once=2)
    print(result.tried, result.statuses, result.slowest_s)
    assert result.faults == []
    assert result.tried == 1000
    assert httpx.get(f"{one.address}/readyz").status_code == 200


# Two replicas, a Chroma server, a PostgreSQL, a proxy


class Proxy:
    """Passes requests on in turn; a replica that takes no connection is passed over, as nginx does."""

    def __init__(self, upstreams: list[str]) -> None:
        self._upstreams = upstreams
        self._turn = itertools.count()
        self.app = FastAPI(lifespan=self._open)
        self.app.add_api_route("/{path:path}", self._pass_on, methods=["GET", "POST", "DELETE"])

    @asynccontextmanager
    async def _open(self, _app: FastAPI) -> AsyncIterator[None]:
        async with httpx.AsyncClient(timeout=60) as self._client:
            yield

    async def _pass_on(self, path: str, request: Request) -> Response:
        headers = dict(request.headers) | {"x-forwarded-for": request.client.host}
        turn = next(self._turn)
        for place in range(len(self._upstreams)):
            upstream = self._upstreams[(turn + place) % len(self._upstreams)]
            try:
                reply = await self._client.request(
                    request.method,
                    f"{upstream}/{path}",
                    content=await request.body(),
                    headers=headers,
                )
            except httpx.ConnectError:
                continue
            except httpx.HTTPError:
                return Response("in flight", 502)
            kept = {name: value for name, value in reply.headers.items() if name != "content-length"}
            return Response(reply.content, reply.status_code, kept)
        return Response("nobody there", 502)


@pytest.fixture(scope="module")
def key_and_url(postgres: Callable[[], str]) -> tuple[str, str]:
    url = postgres()
    environment = {**os.environ, "DATABASE_URL": url}
    words = [sys.executable, "-m", "serving", "keys", "create", "t", "--scope", "chat", "--scope", "tools"]
    done = subprocess.run(words, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
    return done.stdout.strip(), url


@pytest.fixture(scope="module")
def replicas(
    start: Callable[..., Any],
    free_port: Callable[[], int],
    key_and_url: tuple[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> list[Any]:
    folder = tmp_path_factory.mktemp("replicas")
    port = free_port()
    chroma = [str(Path(sys.executable).with_name("chroma")), "run", "--path", str(folder / "chroma")]
    server = start([*chroma, "--host", "127.0.0.1", "--port", str(port)], port, "/api/v2/heartbeat")
    shared = {
        "CHROMA_URL": server.address,
        "DATABASE_URL": key_and_url[1],
        "TRUSTED_PROXIES": "127.0.0.1",
        "RATE_PER_KEY": "6000",
        "WEBHOOK_SECRET": "s",
        "WEBHOOK_REPLY_URL": f"http://127.0.0.1:{free_port()}/",
        "LOG_FORMAT": "json",
    }
    started: list[Any] = []
    threads = [
        threading.Thread(
            target=lambda name: started.append(
                start(AS_IN_THE_IMAGE, free_port(), STATE_DIR=str(folder / name), **shared)
            ),
            args=(f"state-{number}",),
        )
        for number in (1, 2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(started) == 2
    return started


@pytest.fixture
def proxy(replicas: list[Any], serve: Callable[..., str]) -> str:
    return serve(Proxy([replica.address for replica in replicas]).app)


def test_both_replicas_find_guides_on_the_chroma_server(
    replicas: list[Any], key_and_url: tuple[str, str]
) -> None:
    headers = {"Authorization": f"Bearer {key_and_url[0]}"}
    body = {"query": "NCCL 通信超时", "limit": 3}
    found = [
        httpx.post(f"{replica.address}/api/v1/search", json=body, headers=headers, timeout=30).json()
        for replica in replicas
    ]
    assert found[0]["hits"]
    assert found[0] == found[1]
    assert found[0]["note"] == ""


def test_mcp_calls_may_go_to_any_replica(proxy: str, key_and_url: tuple[str, str]) -> None:
    async def go() -> list[Any]:
        headers = {"Authorization": f"Bearer {key_and_url[0]}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30) as http,
            Client(streamable_http_client(f"{proxy}/mcp", http_client=http)) as client,
        ):
            return [
                await client.call_tool("look_up_gpu", {"name": name}) for name in ("A10", "L20", "T4", "H20")
            ]

    assert [result.is_error for result in asyncio.run(go())] == [False] * 4


def test_a_message_sent_to_both_replicas_is_taken_on_once(replicas: list[Any]) -> None:
    body = json.dumps({"message_id": "m-1", "conversation_id": "c", "text": "hello"}).encode()
    moment = str(int(time.time()))
    mac = hmac.new(b"s", moment.encode() + b"." + body, hashlib.sha256).hexdigest()
    headers = {
        "X-GSA-Timestamp": moment,
        "X-GSA-Signature": f"sha256={mac}",
        "Content-Type": "application/json",
    }
    replies = [
        httpx.post(f"{replica.address}/bots/webhook", content=body, headers=headers) for replica in replicas
    ]
    assert [reply.json()["duplicate"] for reply in replies] == [False, True]


def test_a_replica_that_dies_under_load_loses_no_answer_beyond_those_in_flight(
    replicas: list[Any], proxy: str, key_and_url: tuple[str, str]
) -> None:
    headers = {"Authorization": f"Bearer {key_and_url[0]}"}
    seen: list[int] = []
    stop = threading.Event()
    users = 6

    def user(number: int) -> None:
        with httpx.Client(base_url=proxy, headers=headers, timeout=60) as client:
            for question in itertools.islice(itertools.cycle(QUESTIONS), number, None):
                if stop.is_set():
                    return
                body = {"messages": [{"role": "user", "content": question}]}
                seen.append(client.post("/api/v1/chat", json=body).status_code)

    threads = [threading.Thread(target=user, args=(number,)) for number in range(users)]
    for thread in threads:
        thread.start()
    time.sleep(4)
    before = len(seen)
    replicas[1].popen.kill()
    killed_at = len(seen)
    time.sleep(6)
    stop.set()
    for thread in threads:
        thread.join()
    counts = Counter(seen)
    print(counts, before)
    assert before >= 4, "it was under load"
    assert counts[502] <= users, "at most one question of each user was in flight"
    assert set(counts) <= {200, 502}
    assert seen[killed_at:].count(200) >= 6, "the other replica goes on"


def test_a_replica_finishes_its_answers_when_it_is_told_to_end(
    replicas: list[Any], key_and_url: tuple[str, str]
) -> None:
    replica = replicas[0]
    headers = {"Authorization": f"Bearer {key_and_url[0]}"}
    body = {"messages": [{"role": "user", "content": "Llama-3-70B 推理，每小时 50 元以内"}], "stream": True}
    text = ""
    with httpx.stream(
        "POST", f"{replica.address}/api/v1/chat", json=body, headers=headers, timeout=60
    ) as reply:
        for number, piece in enumerate(reply.iter_text()):
            if number == 0:
                replica.popen.terminate()
            text += piece
    assert "event: answer" in text
    assert replica.popen.wait(timeout=40) is not None
