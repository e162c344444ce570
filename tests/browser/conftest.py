"""A real server and a real headless Chromium."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[2]
CHROMIUM_FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The whole application as `make run` starts it, on a free port, with an index of its own."""
    state = tmp_path_factory.mktemp("state")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("OPENAI_")},
        "PORT": str(port),
        "STATE_DIR": str(state),
        "ALIBABA_CLOUD_ECS_METADATA_DISABLED": "true",
        "GRADIO_ANALYTICS_ENABLED": "False",
    }
    subprocess.run(
        [sys.executable, "-m", "retrieval", "build"], cwd=ROOT, env=environment, check=True, timeout=240
    )
    log = (state / "server.log").open("wb")
    process = subprocess.Popen(
        [sys.executable, "app.py"], cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_until_up(address, process, state / "server.log")
        yield address
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
        log.close()


def _wait_until_up(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    ends = time.monotonic() + 90
    while time.monotonic() < ends:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended: {log.read_text(errors='replace')[-2000:]}")
        try:
            with urllib.request.urlopen(f"{address}/healthz", timeout=2) as reply:
                if reply.status == 200:
                    return
        except OSError:
            time.sleep(0.3)
    raise RuntimeError("the server did not come up in 90 s")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    found = next(
        filter(None, (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))), None
    )
    assert found, "no Chromium on this machine: scripts/ensure_browser.sh installs one"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Browser, server: str) -> Iterator[Callable[..., Page]]:
    """Opens the page in a fresh context of a locale and size; fails on any script error of the page."""
    contexts: list[Any] = []
    faults: list[str] = []

    def open_(locale: str = "en-US", width: int = 1400, height: int = 950) -> Page:
        context = chromium.new_context(locale=locale, viewport={"width": width, "height": height})
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(server)
        page.get_by_role("textbox").first.wait_for(timeout=30_000)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert faults == []


@pytest.fixture
def ask() -> Callable[[Page, str], str]:
    """Types a question, waits for the whole answer, gives its text."""

    def ask_(page: Page, question: str) -> str:
        before = page.locator("#chat .user").count()
        box = page.get_by_role("textbox").first
        box.fill(question)
        box.press("Enter")
        page.wait_for_function(
            "count => document.querySelectorAll('#chat .user').length > count", arg=before, timeout=30_000
        )
        return _settled(page)

    return ask_


def _settled(page: Page) -> str:
    """The chat's text once nothing is pending and it has not changed for a while."""
    ends = time.monotonic() + 60
    last, since = "", time.monotonic()
    while time.monotonic() < ends:
        text = page.locator("#chat").inner_text()
        pending = "Loading content" in text or page.locator("#chat .pending, #chat .loading").count() > 0
        if text != last or pending:
            last, since = text, time.monotonic()
        elif time.monotonic() - since > 1.2:
            return text
        page.wait_for_timeout(150)
    raise AssertionError(f"no whole answer in a minute: {last[-300:]}")
