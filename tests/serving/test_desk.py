"""Feedback, hand-over, the report, retention, and what never gets into log or store."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import threading
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from socket import create_server
from typing import Any

import httpx
import pytest
import yaml
from fastapi import FastAPI, Request, Response
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select
from typer.testing import CliRunner

from evals.cases import load_cases
from serving.__main__ import app as cli
from serving.handover import HandOverDesk
from serving.logs import JsonLines, request_id_of
from serving.records import prune
from serving.redact import redact
from serving.report import make_report, write_cases
from serving.store import Store
from serving.store.tables import Feedback, HandOver, Question
from settings import Settings

Call = Callable[..., httpx.Response]
Make = Callable[..., FastAPI]
PRIVATE = {
    "mail": "li.lei@example.com",
    "phone": "13812345678",
    "id": "110101199003078515",
    "card": "6222 0212 3456 7894",
    "ip": "8.8.8.8",
    "access key": "LTAI5tExampleKey1234567890",
    "model key": "sk-abcdefghijklmnop1234",
    "password": "password=Tr0ub4dor&3",
    "bearer": "Authorization: Bearer abcdef1234567890",
    "url": "postgresql://desk:hunter22@db/x",
    "pem": "-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\n-----END RSA PRIVATE KEY-----",
}


@pytest.mark.parametrize("kind", PRIVATE)
def test_personal_data_and_secrets_are_taken_out(kind: str) -> None:
    secrets = {"password": "Tr0ub4dor", "bearer": "abcdef123", "url": "hunter22", "pem": "MIIEabc"}
    shown = redact(f"my data: {PRIVATE[kind]} ok")
    assert secrets.get(kind, PRIVATE[kind]) not in shown
    assert shown.startswith("my data: ")
    assert shown.endswith(" ok")


@pytest.mark.parametrize(
    "text",
    [
        "ecs.gn7e-c16g1.16xlarge costs 138.967 CNY/h in cn-hangzhou since 2024-12-31",
        "Qwen2.5-72B-Instruct-GPTQ-Int4, 131072 tokens, 16384000000 bytes, 1234567890123456 FLOPs",
        "NVRM: Xid (PCI:0000:00:07): 79, pid=1234, 0x7f2115dc3590, driver 535.183.01",
        "192.168.0.12:29500 and 10.0.0.1 cannot connect; NCCL 2.21.5",
        "--tensor-parallel-size 2 --max-num-seqs 256 token: 4096, tokens=8192",
    ],
)
def test_technical_words_stay(text: str) -> None:
    assert redact(text) == text


@given(st.text(max_size=300))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    assert redact(redact(text)) == redact(text)


def test_a_log_line_is_one_json_object_without_private_data() -> None:
    record = logging.LogRecord(
        "serving.x", logging.INFO, "f", 1, "asked %s\nby %s", ("x", "li@example.com"), None
    )
    record.path = "/api/v1/chat"
    token = request_id_of.set("r-1")
    line = JsonLines().format(record)
    request_id_of.reset(token)
    values = json.loads(line)
    assert "\n" not in line
    assert "li@example.com" not in line
    assert (values["request_id"], values["path"], values["level"]) == ("r-1", "/api/v1/chat", "INFO")


def test_private_data_of_a_question_reach_the_advisor_but_not_the_store_or_the_log(
    make_api: Make, ask: Call, store: Store, advisor: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    question = f"Write to {PRIVATE['mail']}, my key is {PRIVATE['access key']}"
    assert ask(make_api(), question).status_code == 200
    assert advisor.asked == [[question]]
    content = b"".join(
        path.read_bytes() for path in Path(store.engine.url.database or "").parent.glob("desk.db*")
    )
    assert b"Write to [mail], my key is [secret]" in content
    for private in (PRIVATE["mail"], PRIVATE["access key"]):
        assert private.encode() not in content
        assert private not in caplog.text


# Feedback


def test_a_thumb_is_kept_for_an_answer_one_got_and_no_other(
    make_api: Make, ask: Call, call: Call, store: Store
) -> None:
    app = make_api()
    answer_id = ask(app, "hello").json()["id"]
    body = {"answer_id": answer_id, "rating": "down", "comment": "call me: 13812345678"}
    assert call(app, "POST", "/api/v1/feedback", json=body).status_code == 201
    assert call(app, "POST", "/api/v1/feedback", json=body | {"answer_id": "guess"}).status_code == 404
    changed = body | {"rating": "up", "comment": ""}
    assert call(app, "POST", "/api/v1/feedback", json=changed).status_code == 201
    assert call(app, "POST", "/api/v1/feedback", json=body).status_code == 201
    with store.session() as session:
        (row,) = session.scalars(select(Feedback)).all()
    assert (row.rating, row.comment) == ("down", "call me: [phone]")


# Hand-over


class Desk:
    """A help desk that takes cases; the first `faults` tries fail."""

    def __init__(self, faults: int = 0) -> None:
        self.faults = faults
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.app = FastAPI()

        @self.app.post("/cases")
        async def cases(request: Request) -> Response:
            if self.faults:
                self.faults -= 1
                return Response(status_code=502)
            self.got.append((dict(request.headers), await request.body()))
            return Response(status_code=201)


HANDOVER = {
    "messages": [
        {"role": "user", "content": "4 streams of SDXL, my key is sk-abcdefghijklmnop1234"},
        {"role": "assistant", "content": "**L20**"},
    ],
    "comment": "a quote please",
    "contact": "li@example.com",
    "context": {"page": "https://desk.example/gpu"},
}


def test_a_person_gets_the_transcript_signed_and_the_store_forgets_the_contact(
    make_api: Make, call: Call, serve: Callable[..., str], served: Callable[..., Any], store: Store
) -> None:
    desk = Desk()
    app = make_api(handover_url=f"{serve(desk.app)}/cases", handover_secret="s")
    with served(app) as base:
        case = httpx.post(f"{base}/api/v1/handover", json=HANDOVER).json()["id"]
        wait_for(lambda: desk.got)
    headers, body = desk.got[0]
    mac = hmac.new(b"s", headers["x-gsa-timestamp"].encode() + b"." + body, hashlib.sha256).hexdigest()
    assert headers["x-gsa-signature"] == f"sha256={mac}"
    values = json.loads(body)
    assert (values["id"], values["contact"], values["comment"]) == (case, "li@example.com", "a quote please")
    assert values["context"] == {"page": "https://desk.example/gpu"}
    assert [item["role"] for item in values["messages"]] == ["user", "assistant"]
    assert "sk-abc" not in values["messages"][0]["content"]
    with store.session() as session:
        row = session.get_one(HandOver, case)
    assert (row.status, row.contact) == ("sent", "")


def test_a_desk_that_is_down_gets_the_case_later_and_once(
    make_settings: Callable[..., Settings], serve: Callable[..., str], store: Store
) -> None:
    desk = Desk(faults=1)
    taker = HandOverDesk(store, make_settings(handover_url=f"{serve(desk.app)}/cases"))
    case = taker.take([{"role": "user", "content": "x"}], "", "me", {}, "api", "local")
    assert taker.deliver_due() == 0
    assert taker.deliver_due() == 0, "it waits before it tries again"
    with store.session() as session:
        row = session.get_one(HandOver, case)
        assert (row.status, row.attempts, row.contact) == ("queued", 1, "me")
        assert "502" in row.fault
        row.next_at = datetime.now(UTC)
    threads = [threading.Thread(target=taker.deliver_due) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(desk.got) == 1


def test_a_case_can_go_by_mail(make_settings: Callable[..., Settings], store: Store) -> None:
    with closing(create_server(("127.0.0.1", 0))) as listener:
        port = listener.getsockname()[1]
        mails: list[str] = []
        thread = threading.Thread(target=_take_one_mail, args=(listener, mails))
        thread.start()
        settings = make_settings(handover_mail="desk@example.com", smtp_url=f"smtp://127.0.0.1:{port}")
        taker = HandOverDesk(store, settings)
        taker.take(HANDOVER["messages"], "a quote", "li@example.com", {"page": "x"}, "api", "local")
        assert taker.deliver_due() == 1
        thread.join(timeout=5)
    assert "Contact: li@example.com" in mails[0]
    assert "4 streams of SDXL" in mails[0]


def _take_one_mail(listener: Any, mails: list[str]) -> None:
    """The few words of SMTP that one mail needs."""
    connection, _ = listener.accept()
    with connection, connection.makefile("rwb") as wire:

        def say(line: str) -> None:
            wire.write(f"{line}\r\n".encode())
            wire.flush()

        say("220 desk")
        while line := wire.readline().decode().strip():
            word = line.split(" ")[0].lower()
            if word == "data":
                say("354 go on")
                text = b""
                while not text.endswith(b"\r\n.\r\n"):
                    text += wire.readline()
                mails.append(text.decode())
                say("250 taken")
            elif word == "quit":
                say("221 bye")
                return
            else:
                say("250 ok")


def test_where_no_person_is_nobody_is_promised(make_api: Make, call: Call) -> None:
    assert call(make_api(), "POST", "/api/v1/handover", json=HANDOVER).status_code == 404


# Report, retention


@pytest.fixture
def week(make_api: Make, ask: Call, call: Call) -> FastAPI:
    """A desk with five questions behind it."""
    app = make_api()
    for question in ("Does 8B fit?", "vague wish", "please fail", "来一个慢的 late"):
        ask(app, question)
    disliked = ask(app, "What is an A10?").json()["id"]
    body = {"answer_id": disliked, "rating": "down", "comment": "memory is missing"}
    call(app, "POST", "/api/v1/feedback", json=body)
    return app


def test_the_report_shows_what_the_desk_should_add(week: FastAPI, store: Store) -> None:
    report = make_report(store, 7)
    assert report.questions == 5
    assert report.by_kind == {"memory": 3, "vague": 1, "failed": 1}
    assert report.by_outcome == {"answered": 3, "clarify": 1, "failed": 1}
    assert report.by_language["zh"] == 1
    assert report.fallbacks == {"model_timeout": 1}
    assert {item.question for item in report.unanswered} == {"vague wish", "please fail"}
    assert [(item.question, item.comment) for item in report.disliked] == [
        ("What is an A10?", "memory is missing")
    ]
    assert report.thumbs_down == 1


def test_the_report_comes_by_the_command_line_as_text_and_json(
    week: FastAPI, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", str(store.engine.url))
    text = CliRunner().invoke(cli, ["report"], catch_exceptions=False).output
    assert text.startswith("# 5 questions in 7 days")
    assert "memory is missing" in text
    values = json.loads(CliRunner().invoke(cli, ["report", "--json"], catch_exceptions=False).output)
    assert values["by_outcome"]["clarify"] == 1


def test_exported_cases_can_be_read_by_the_evaluation_set(
    week: FastAPI, store: Store, tmp_path: Path
) -> None:
    folder = tmp_path / "cases"
    folder.mkdir()
    assert write_cases(store, 7, folder / "desk.yaml") == 3
    cases = load_cases(folder)
    assert [case.turns for case in cases] == [("vague wish",), ("please fail",), ("What is an A10?",)]
    assert cases[2].must[0].line == "memory is missing"
    assert yaml.safe_load((folder / "desk.yaml").read_text())[0]["source"].startswith("help desk, 20")


def test_what_is_older_than_the_retention_is_deleted(week: FastAPI, store: Store) -> None:
    assert prune(store, 30) == 0
    assert prune(store, 30, now=datetime.now(UTC) + timedelta(days=31)) == 6
    with store.session() as session:
        assert session.scalars(select(Question)).all() == []


def test_metrics_count_answers_by_kind_and_replaced_models(week: FastAPI, call: Call) -> None:
    text = call(week, "GET", "/metrics").text
    assert 'gsa_answers_total{channel="api",kind="memory",outcome="answered"} 3.0' in text
    assert 'gsa_answers_total{channel="api",kind="",outcome="failed"} 1.0' in text
    assert 'gsa_notices_total{code="model_timeout"} 1.0' in text
    assert 'gsa_stage_seconds_count{stage="estimate_memory"} 5.0' in text
    assert 'gsa_stage_seconds_sum{stage="model"} 0.5' in text
    assert 'gsa_requests_total{path="/api/v1/chat",status="200"} 4.0' in text
    assert "gsa_answers_in_flight 0.0" in text


def test_a_stream_is_finished_before_the_service_ends(
    make_api: Make, served: Callable[..., Any], advisor: Any
) -> None:
    advisor.pause_s = 0.1
    got: list[str] = []

    def read(base: str, started: threading.Event) -> None:
        body = {"messages": [{"role": "user", "content": "slow"}], "stream": True}
        with httpx.stream("POST", f"{base}/api/v1/chat", json=body, timeout=20) as reply:
            for piece in reply.iter_text():
                started.set()
                got.append(piece)

    started = threading.Event()
    with served(make_api(), timeout_graceful_shutdown=10) as base:
        reader = threading.Thread(target=read, args=(base, started))
        reader.start()
        assert started.wait(5)
    reader.join(timeout=10)
    assert "event: answer" in "".join(got)


def wait_for(holds: Callable[[], object], seconds: float = 10) -> None:
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends, "it did not happen"
        time.sleep(0.02)
