"""What a visitor may send cannot stop the service, hide in its records or keep a place."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import select

from agent.events import Event, Failed, Token
from serving.chat import end_of, with_heartbeat
from serving.desk import Desk, PageAdvisor
from serving.gate import Gate
from serving.handover import HandOverDesk
from serving.metrics import Metrics
from serving.redact import redact_head
from serving.store import Store, open_store
from serving.store.tables import HandOver, Question
from settings import Settings

Call = Callable[..., httpx.Response]
Make = Callable[..., FastAPI]
SECRET_WORD = "sk-" + "a1" * 12


def test_the_head_of_a_text_holds_no_half_of_a_secret() -> None:
    text = f"my key is {SECRET_WORD} and more"
    for most in range(len(text) + 1):
        assert "sk-a1" not in redact_head(text, most)
    assert redact_head(text, 200) == "my key is [secret] and more"


def test_a_long_text_in_a_hand_over_is_kept_in_part_and_without_secrets(
    store: Store, make_settings: Callable[..., Settings]
) -> None:
    desk = HandOverDesk(store, make_settings(handover_url="http://127.0.0.1:9/"))
    talk = [{"role": "user", "content": f"{SECRET_WORD} " + "a" * 300_000} for _ in range(6)]
    begun = time.perf_counter()
    desk.take(talk, "", "", {}, "api", "s")
    assert time.perf_counter() - begun < 2
    with store.session() as session:
        kept = session.scalars(select(HandOver)).one().transcript
    assert len(kept) == 6
    assert all(item["content"].startswith("[secret]") and len(item["content"]) < 10_000 for item in kept)


@pytest.mark.parametrize(
    "setting",
    [
        {"handover_url": "http://"},
        {"handover_url": "http://[::1"},
        {"handover_mail": "a@b.c", "smtp_url": "smtp://127.0.0.1:port"},
    ],
)
def test_a_wrong_setting_of_the_desk_leaves_the_case_waiting_and_the_deliveries_running(
    store: Store, make_settings: Callable[..., Settings], setting: dict[str, str]
) -> None:
    desk = HandOverDesk(store, make_settings(**setting))
    case = desk.take([{"role": "user", "content": "x"}], "", "me", {}, "api", "s")
    assert desk.deliver_due() == 0
    with store.session() as session:
        kept = session.get_one(HandOver, case)
        assert (kept.status, kept.contact) == ("queued", "me")
        assert kept.fault


def test_deliveries_go_on_after_a_fault_nobody_thought_of(
    store: Store, make_settings: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = HandOverDesk(store, make_settings(handover_url="http://127.0.0.1:9/"))
    tries: list[int] = []

    def deliver() -> int:
        tries.append(1)
        raise ZeroDivisionError

    monkeypatch.setattr(desk, "deliver_due", deliver)

    async def go() -> None:
        task = asyncio.create_task(desk.run())
        for _ in range(3):
            desk.wake()
            await asyncio.sleep(0.1)
        assert not task.done()
        task.cancel()

    asyncio.run(go())
    assert len(tries) > 1


@pytest.fixture(params=["sqlite", "postgresql"])
def desk_url(request: pytest.FixtureRequest, make_settings: Callable[..., Settings]) -> str:
    if request.param == "sqlite":
        return make_settings().store_url
    return str(request.getfixturevalue("postgres")())


def test_texts_with_nul_and_half_characters_are_kept_or_refused_and_never_a_fault(
    desk_url: str, make_api: Make, call: Call
) -> None:
    app = make_api(database_url=desk_url, handover_url="http://127.0.0.1:9/")
    answer = call(app, "POST", "/api/v1/chat", json={"messages": [{"role": "user", "content": "a\x00b"}]})
    assert answer.status_code == 200
    rated = {"answer_id": answer.json()["id"], "rating": "up", "comment": "fine\x00"}
    unknown = {"answer_id": "\x00", "rating": "up"}
    talk = {"messages": [{"role": "user", "content": "x\x00"}], "contact": "\x00", "context": {"p": "\x00"}}
    assert call(app, "POST", "/api/v1/feedback", json=rated).status_code == 201
    assert call(app, "POST", "/api/v1/feedback", json=unknown).status_code == 404
    assert call(app, "POST", "/api/v1/handover", json=talk).status_code == 202
    assert call(app, "GET", "/embed?site=%00").status_code == 404
    assert call(app, "POST", "/api/v1/visits", json={"site": "\x00"}).status_code == 403
    assert call(app, "POST", "/login", content=b"key=gsa_%00_x").status_code == 401


def test_a_stored_text_is_what_was_given_but_for_what_no_database_takes(desk_url: str) -> None:
    store = open_store(desk_url)
    question = Question(
        id="q", at=datetime.now(UTC), channel="api", subject="a\x00b\ud800", language="zh", kind="",
        outcome="", confidence=1.0, model="", notices=[], seconds=0.0, turns=["显存 \\u0000"],
    )  # fmt: skip
    with store.session() as session:
        session.add(question)
    with store.session() as session:
        kept = session.get_one(Question, "q")
        assert (kept.subject, kept.turns) == ("a\ufffdb?", ["显存 \\u0000"])
    store.close()


@pytest.mark.parametrize("path", ["/gradio_api/upload", "/gradio_api/queue/join", "/api/v1/gpu", "/anything"])
def test_whatever_changes_something_counts_against_the_callers_rate(
    make_api: Make, call: Call, path: str
) -> None:
    app = make_api(access="open", rate_per_address=6)
    statuses = [call(app, "POST", path, address="203.0.113.9", content=b"x").status_code for _ in range(8)]
    assert statuses.count(429) >= 2


def test_two_answers_under_one_request_id_are_two_answers(make_api: Make, ask: Call, store: Store) -> None:
    app = make_api()
    replies = [ask(app, text, headers={"X-Request-Id": "desk-7"}) for text in ("first", "second")]
    ids = [reply.json()["id"] for reply in replies]
    assert len(set(ids)) == 2
    with store.session() as session:
        assert [session.get_one(Question, name).turns for name in ids] == [["first"], ["second"]]


class Endless:
    """An advisor that says more than anybody reads."""

    async def ask(self, messages: Iterable[object]) -> AsyncIterator[Event]:
        yield Failed("no", "1")
        while True:
            await asyncio.sleep(0)
            yield Token("x")


@pytest.mark.parametrize("channel", ["answer", "end_of", "page", "heartbeat"])
def test_a_place_is_free_at_once_when_the_reader_has_what_it_wants(store: Store, channel: str) -> None:
    metrics = Metrics()
    desk = Desk(Endless(), store, metrics, Gate(1, metrics, patience_s=0.2))
    about: dict[str, Any] = {"channel": "api", "subject": "s", "answer_id": "a"}

    async def read_once() -> None:
        if channel == "answer":
            await desk.answer(["x"], **about)
        elif channel == "page":
            page = PageAdvisor(desk).ask(["x"])
            await anext(page)
            await page.aclose()  # type: ignore[attr-defined]
        elif channel == "heartbeat":
            beating = with_heartbeat(await desk.begin(["x"], **about))
            await anext(beating)
            await beating.aclose()  # type: ignore[attr-defined]
        else:
            with pytest.raises(Exception, match="no"):
                await end_of(await desk.begin(["x"], **about))

    async def go() -> None:
        gc.disable()
        try:
            for _ in range(3):
                await read_once()
                assert metrics.in_flight._value.get() == 0
        finally:
            gc.enable()

    asyncio.run(go())
