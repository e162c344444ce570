"""The chat of the API: JSON, server-sent events, errors, ids, limits."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

Call = Callable[..., httpx.Response]
Make = Callable[..., FastAPI]


def events_of(text: str) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for block in text.strip().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


def test_an_answer_comes_with_all_it_rests_on(make_api: Make, ask: Call) -> None:
    reply = ask(make_api(), "Does llama3-8b fit on an A10?").json()
    assert reply["text"].startswith("**Does llama3-8b fit")
    assert reply["kind"] == "memory"
    assert reply["reports"][0]["tool"] == "estimate_memory"
    assert reply["reports"][0]["report"]["usable_gib_per_gpu"] > 20
    assert reply["sources"] == [{"title": "GPU table", "as_of": "2026-01-01"}]
    assert reply["reading"]["request"]["model"] == "llama3-8b"


def test_the_requests_to_a_language_model_are_told_with_time_and_tokens(make_api: Make, ask: Call) -> None:
    reply = ask(make_api(), "late").json()
    assert reply["model_calls"] == [{"seconds": 0.5, "input_tokens": 100, "output_tokens": 10}]
    assert ask(make_api(), "Does it fit?").json()["model_calls"] == []


def test_the_same_request_gives_the_same_answer(make_api: Make, ask: Call) -> None:
    app = make_api()
    first, second = (ask(app, "Does it fit?").json() for _ in range(2))
    for reply in (first, second):
        del reply["id"], reply["seconds"]
    assert first == second


def test_a_stream_has_the_steps_the_text_and_the_whole_answer(make_api: Make, ask: Call) -> None:
    reply = ask(make_api(), "Does it fit?", stream=True)
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert reply.headers["x-accel-buffering"] == "no"
    events = events_of(reply.text)
    names = [name for name, _ in events]
    assert names[:2] == ["tool_started", "tool_finished"]
    assert names[-1] == "answer"
    pieces = "".join(data["text"] for name, data in events if name == "token")
    assert pieces == events[-1][1]["text"]


def test_the_conversation_travels_with_the_request(make_api: Make, call: Call, advisor: Any) -> None:
    messages = [
        {"role": "user", "content": "Qwen2.5-14B"},
        {"role": "assistant", "content": "…"},
        {"role": "user", "content": "and int4?"},
    ]
    assert call(make_api(), "POST", "/api/v1/chat", json={"messages": messages}).status_code == 200
    assert advisor.asked == [["Qwen2.5-14B", "and int4?"]]


def test_a_failed_answer_is_a_problem_with_the_request_id(make_api: Make, ask: Call) -> None:
    reply = ask(make_api(), "please fail", headers={"X-Request-Id": "desk-42"})
    assert reply.status_code == 500
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json()["request_id"] == reply.headers["x-request-id"] == "desk-42"
    assert reply.json()["detail"] == "No answer this time."


def test_a_failed_answer_ends_the_stream_with_its_sentence(make_api: Make, ask: Call) -> None:
    name, data = events_of(ask(make_api(), "please fail", stream=True).text)[-1]
    assert (name, data["text"]) == ("failed", "No answer this time.")


def test_no_inside_leaks_from_a_crash(make_api: Make, ask: Call) -> None:
    reply = ask(make_api(), "crash")
    assert reply.status_code == 500
    assert "secret detail" not in reply.text
    assert "Traceback" not in reply.text
    assert reply.json()["title"] == "Something went wrong"


def test_a_hostile_request_id_is_replaced(make_api: Make, ask: Call) -> None:
    given = 'x" onload=alert(1)' + "a" * 100
    reply = ask(make_api(), "hello", headers={"X-Request-Id": given})
    assert reply.headers["x-request-id"] != given
    assert len(reply.headers["x-request-id"]) == 32


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"messages": []}, 422, "messages"),
        ({"messages": [{"role": "boss", "content": "x"}]}, 422, "messages.0.role"),
        ({"messages": [{"role": "user", "content": "x"}], "model": "gpt"}, 422, "model"),
        ({}, 422, "messages"),
    ],
)
def test_an_error_names_the_field(make_api: Make, call: Call, body: Any, status: int, field: str) -> None:
    reply = call(make_api(), "POST", "/api/v1/chat", json=body)
    assert reply.status_code == status
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json()["error"]["field"] == field


def test_a_body_that_is_no_json_is_a_bad_request(make_api: Make, call: Call) -> None:
    reply = call(
        make_api(), "POST", "/api/v1/chat", content=b"{oops", headers={"Content-Type": "application/json"}
    )
    assert reply.status_code == 400
    assert reply.json()["error"]["field"] == "body"


def test_a_body_over_the_limit_is_refused_even_when_its_length_is_not_told(
    make_api: Make, call: Call
) -> None:
    app = make_api(max_body_bytes=2000)

    async def pieces() -> Any:
        for _ in range(5):
            yield b'{"messages": [' + b" " * 990

    headers = {"Content-Type": "application/json"}
    told = call(app, "POST", "/api/v1/chat", content=b"x" * 3000, headers=headers)
    untold = call(app, "POST", "/api/v1/chat", content=pieces(), headers=headers)
    for reply in (told, untold):
        assert reply.status_code == 413
        assert reply.json()["status"] == 413


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/api/v1/chat", 405), ("GET", "/api/v1/no", 404)]
)
def test_unknown_paths_and_methods_are_problems(
    make_api: Make, call: Call, method: str, path: str, status: int
) -> None:
    reply = call(make_api(), method, path)
    assert reply.status_code == status
    assert reply.json()["status"] == status
    assert (reply.headers.get("allow") == "POST") is (status == 405)


def test_a_reader_who_leaves_stops_the_work(make_api: Make, serve: Callable[..., str], advisor: Any) -> None:
    base = serve(make_api())
    body = {"messages": [{"role": "user", "content": "slow"}], "stream": True}
    with httpx.stream("POST", f"{base}/api/v1/chat", json=body) as reply:
        next(reply.iter_text())
    ends = time.monotonic() + 5
    while not advisor.cancelled and time.monotonic() < ends:
        time.sleep(0.02)
    assert advisor.cancelled == 1


def test_too_many_questions_are_refused_quickly_not_queued(make_api: Make, advisor: Any) -> None:
    app = make_api(max_answers=1)
    advisor.pause_s = 0.1

    async def go() -> list[tuple[int, float]]:
        transport = httpx.ASGITransport(app, client=("127.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=30) as client:

            async def one() -> tuple[int, float]:
                begun = time.perf_counter()
                body = {"messages": [{"role": "user", "content": "slow"}]}
                reply = await client.post("/api/v1/chat", json=body)
                if reply.status_code == 503:
                    assert reply.headers["retry-after"] == "2"
                return reply.status_code, time.perf_counter() - begun

            return await asyncio.gather(*(one() for _ in range(12)))

    results = asyncio.run(go())
    shed = [seconds for status, seconds in results if status == 503]
    assert {status for status, _ in results} == {200, 503}
    assert len(shed) >= 6
    assert max(shed) < 6


def test_a_stream_keeps_its_line_open_while_a_tool_works(monkeypatch: pytest.MonkeyPatch) -> None:
    from serving.chat import with_heartbeat

    async def slow() -> Any:
        await asyncio.sleep(0.2)
        yield "event"

    async def go() -> list[Any]:
        return [event async for event in with_heartbeat(slow(), every_s=0.05)]

    got = asyncio.run(go())
    assert got[-1] == "event"
    assert got.count(None) >= 2
