"""Hostile requests find a hang, a fault and a trace, and take no busy moment for a hang."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from benchmarks import fuzz

Reply = Callable[[int], tuple[int, str]]


@contextmanager
def service(reply: Reply) -> Iterator[str]:
    """A server that answers its n-th request as told."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            asked.append(self.path)
            status, text = reply(len(asked))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz, "HANG_S", 0.5)


def slow(seconds: float) -> tuple[int, str]:
    time.sleep(seconds)
    return 200, "{}"


def test_a_request_that_hangs_again_when_it_is_alone_is_a_fault() -> None:
    with service(lambda _: slow(0.7)) as base:
        found = fuzz.run_fuzz(base, 2)
    assert (found.tried, len(found.late), len(found.faults)) == (2, 2, 2)


def test_a_request_that_only_waited_its_turn_is_none() -> None:
    with service(lambda place: slow(0.7 if place <= 2 else 0)) as base:
        found = fuzz.run_fuzz(base, 4)
    assert (found.tried, len(found.late), found.faults) == (4, 2, [])
    assert found.slowest


@pytest.mark.parametrize(
    ("reply", "faults"),
    [
        ((500, "oops"), 3),
        ((200, "Traceback (most recent call last)"), 3),
        ((503, "busy"), 0),
        ((422, "no"), 0),
    ],
)
def test_a_fault_or_a_trace_of_the_inside_is_found(reply: tuple[int, str], faults: int) -> None:
    with service(lambda _: reply) as base:
        assert len(fuzz.run_fuzz(base, 3).faults) == faults
