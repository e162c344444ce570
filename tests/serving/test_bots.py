"""Bots, against loopback servers that speak each platform's documented format."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import dingtalk_stream
import httpx
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.padding import PKCS7
from fastapi import FastAPI, Request, WebSocket

from serving.bots.feishu import decrypt

Make = Callable[..., FastAPI]
Serve = Callable[..., str]
SECRET = "a shared secret"
KEY = "an encrypt key"


def wait_for(holds: Callable[[], object], seconds: float = 10) -> None:
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends, "it did not happen"
        time.sleep(0.02)


# The generic webhook


class Receiver:
    """The platform's side of the generic webhook."""

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.app = FastAPI()

        @self.app.post("/replies")
        async def replies(request: Request) -> None:
            self.got.append((dict(request.headers), await request.body()))

    @property
    def texts(self) -> list[str]:
        return [json.loads(body)["text"] for _, body in self.got]


def signed(body: bytes, secret: str = SECRET, at: float | None = None) -> dict[str, str]:
    moment = str(int(at or time.time()))
    mac = hmac.new(secret.encode(), moment.encode() + b"." + body, hashlib.sha256).hexdigest()
    return {"X-GSA-Timestamp": moment, "X-GSA-Signature": f"sha256={mac}", "Content-Type": "application/json"}


def send(base: str, message_id: str, text: str, conversation: str = "c-1", **headers: str) -> httpx.Response:
    body = json.dumps({"message_id": message_id, "conversation_id": conversation, "text": text}).encode()
    return httpx.post(f"{base}/bots/webhook", content=body, headers=signed(body) | headers)


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


@pytest.fixture
def hook(make_api: Make, serve: Serve, receiver: Receiver) -> str:
    url = f"{serve(receiver.app)}/replies"
    return serve(make_api(webhook_secret=SECRET, webhook_reply_url=url))


def test_a_message_is_acknowledged_at_once_and_answered_after(
    hook: str, receiver: Receiver, advisor: Any
) -> None:
    send(hook, "m-0", "warm up")
    wait_for(lambda: len(receiver.got) == 1)
    advisor.pause_s = 0.1
    begun = time.perf_counter()
    reply = send(hook, "m-1", "slow one")
    assert time.perf_counter() - begun < 0.5
    assert (reply.status_code, reply.json()) == (202, {"duplicate": False})
    assert len(receiver.got) == 1
    wait_for(lambda: len(receiver.got) == 2)
    headers, body = receiver.got[1]
    moment = headers["x-gsa-timestamp"]
    mac = hmac.new(SECRET.encode(), moment.encode() + b"." + body, hashlib.sha256).hexdigest()
    assert headers["x-gsa-signature"] == f"sha256={mac}"
    assert json.loads(body)["in_reply_to"] == "m-1"
    assert receiver.texts[1].startswith("**slow one**")


def test_a_retry_is_never_answered_twice_not_even_by_another_replica(
    hook: str, make_api: Make, serve: Serve, receiver: Receiver
) -> None:
    other = serve(make_api(webhook_secret=SECRET, webhook_reply_url="http://127.0.0.1:9/none"))
    replies = [send(base, "m-1", "hello").json()["duplicate"] for base in (hook, hook, other, other)]
    assert replies == [False, True, True, True]
    wait_for(lambda: receiver.got)
    time.sleep(0.3)
    assert len(receiver.got) == 1


def test_a_follow_up_knows_the_talk_and_other_talks_do_not(
    hook: str, receiver: Receiver, advisor: Any
) -> None:
    for number, (text, talk) in enumerate([("Qwen2.5-14B", "a"), ("and int4?", "a"), ("hello", "b")], 1):
        send(hook, f"m-{number}", text, talk)
        wait_for(lambda count=number: len(receiver.got) == count)
    assert advisor.asked == [["Qwen2.5-14B"], ["Qwen2.5-14B", "and int4?"], ["hello"]]


@pytest.mark.parametrize(
    ("what", "change"),
    [
        ("another secret", lambda body: signed(body, secret="guess")),
        ("a changed body", lambda body: signed(body + b" ")),
        ("an old request", lambda body: signed(body, at=time.time() - 400)),
        ("no signature", lambda body: {}),
    ],
)
def test_what_the_secret_did_not_sign_is_refused(
    hook: str, receiver: Receiver, advisor: Any, what: str, change: Callable[[bytes], dict[str, str]]
) -> None:
    body = json.dumps({"message_id": "m-1", "conversation_id": "c", "text": "x"}).encode()
    assert httpx.post(f"{hook}/bots/webhook", content=body, headers=change(body)).status_code == 401, what
    assert advisor.asked == []


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        (b'{"message_id": "m", "conversation_id": "c"}', 422, "text"),
        (b'{"message_id": "", "conversation_id": "c", "text": "x"}', 422, "message_id"),
        (b"not json", 400, "body"),
    ],
)
def test_a_message_that_cannot_be_read_names_the_field(
    hook: str, advisor: Any, body: bytes, status: int, field: str
) -> None:
    reply = httpx.post(f"{hook}/bots/webhook", content=body, headers=signed(body))
    assert reply.status_code == status
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json()["error"]["field"] == field
    assert advisor.asked == []


def test_a_failed_or_crashed_answer_still_tells_the_asker(hook: str, receiver: Receiver) -> None:
    send(hook, "m-1", "please fail")
    send(hook, "m-2", "please crash", "c-2")
    wait_for(lambda: len(receiver.got) == 2)
    assert "No answer this time." in receiver.texts
    assert any("故障已记录" in text for text in receiver.texts)


def test_an_acknowledged_message_is_answered_before_the_service_ends(
    make_api: Make, serve: Serve, receiver: Receiver, advisor: Any, served: Callable[..., Any]
) -> None:
    url = f"{serve(receiver.app)}/replies"
    advisor.pause_s = 0.05
    with served(make_api(webhook_secret=SECRET, webhook_reply_url=url)) as base:
        assert send(base, "m-1", "slow").status_code == 202
        assert receiver.got == []
    assert len(receiver.got) == 1


# Feishu


def encrypted(values: dict[str, Any]) -> bytes:
    """An event as Feishu's documentation says: AES-256-CBC, PKCS#7, the vector in front."""
    vector = os.urandom(16)
    padder = PKCS7(128).padder()
    padded = padder.update(json.dumps(values).encode()) + padder.finalize()
    encryptor = Cipher(algorithms.AES(hashlib.sha256(KEY.encode()).digest()), modes.CBC(vector)).encryptor()
    text = base64.b64encode(vector + encryptor.update(padded) + encryptor.finalize()).decode()
    return json.dumps({"encrypt": text}).encode()


def feishu_event(message_id: str, text: str) -> dict[str, Any]:
    return {
        "schema": "2.0",
        "header": {
            "event_id": "e",
            "token": "verify",
            "event_type": "im.message.receive_v1",
            "app_id": "cli_1",
        },
        "event": {
            "sender": {"sender_id": {"open_id": "ou_1"}, "sender_type": "user"},
            "message": {
                "message_id": message_id,
                "chat_id": "oc_1",
                "chat_type": "group",
                "message_type": "text",
                "content": json.dumps({"text": f"@_user_1 {text}"}),
            },
        },
    }


def feishu_post(base: str, body: bytes, key: str = KEY) -> httpx.Response:
    at, nonce = str(int(time.time())), "n0nce"
    signature = hashlib.sha256(f"{at}{nonce}{key}".encode() + body).hexdigest()
    headers = {"X-Lark-Request-Timestamp": at, "X-Lark-Request-Nonce": nonce, "X-Lark-Signature": signature}
    return httpx.post(f"{base}/bots/feishu", content=body, headers=headers)


class Feishu:
    """The two calls of Feishu's API that a bot makes."""

    def __init__(self) -> None:
        self.tokens = 0
        self.replies: list[tuple[str, str, dict[str, Any]]] = []
        self.app = FastAPI()

        @self.app.post("/open-apis/auth/v3/tenant_access_token/internal")
        async def token(request: Request) -> dict[str, Any]:
            assert await request.json() == {"app_id": "cli_1", "app_secret": "s3cret"}
            self.tokens += 1
            return {"code": 0, "msg": "ok", "tenant_access_token": "t-1", "expire": 7200}

        @self.app.post("/open-apis/im/v1/messages/{message_id}/reply")
        async def reply(message_id: str, request: Request) -> dict[str, Any]:
            self.replies.append((message_id, request.headers["authorization"], await request.json()))
            return {"code": 0, "msg": "success", "data": {}}


@pytest.fixture
def feishu() -> Feishu:
    return Feishu()


@pytest.fixture
def feishu_base(make_api: Make, serve: Serve, feishu: Feishu) -> str:
    return serve(
        make_api(
            feishu_app_id="cli_1",
            feishu_app_secret="s3cret",
            feishu_encrypt_key=KEY,
            feishu_verification_token="verify",
            feishu_url=serve(feishu.app),
        )
    )


def test_decryption_gives_the_documented_example() -> None:
    assert decrypt("test key", "P37w+VZImNgPEO1RBhJ6RtKl7n6zymIbEG1pReEzghk=") == "hello world"


def test_feishu_can_verify_the_address(feishu_base: str) -> None:
    body = encrypted({"type": "url_verification", "challenge": "ajls384k", "token": "verify"})
    reply = httpx.post(f"{feishu_base}/bots/feishu", content=body)
    assert reply.json() == {"challenge": "ajls384k"}
    wrong = encrypted({"type": "url_verification", "challenge": "x", "token": "another"})
    assert httpx.post(f"{feishu_base}/bots/feishu", content=wrong).status_code == 401


def test_a_feishu_message_is_answered_once_by_a_card(feishu_base: str, feishu: Feishu, advisor: Any) -> None:
    for number in (1, 2):
        begun = time.perf_counter()
        assert feishu_post(feishu_base, encrypted(feishu_event("om_1", "A10 够吗"))).status_code == 200
        assert number == 1 or time.perf_counter() - begun < 0.5
    wait_for(lambda: feishu.replies)
    feishu_post(feishu_base, encrypted(feishu_event("om_2", "L20?")))
    wait_for(lambda: len(feishu.replies) == 2)
    assert advisor.asked == [["A10 够吗"], ["A10 够吗", "L20?"]]
    message_id, authorization, body = feishu.replies[0]
    assert (message_id, authorization, body["msg_type"]) == ("om_1", "Bearer t-1", "interactive")
    assert json.loads(body["content"])["body"]["elements"][0]["content"].startswith("**A10 够吗**")
    assert feishu.tokens == 1, "the tenant token is kept while it lasts"


def test_a_forged_feishu_event_is_refused(feishu_base: str, advisor: Any) -> None:
    body = encrypted(feishu_event("om_1", "x"))
    assert feishu_post(feishu_base, body, key="guess").status_code == 401
    assert feishu_post(feishu_base, b'{"encrypt": "AAAA"}').status_code == 401
    assert feishu_post(feishu_base, b"[[[").status_code == 401
    assert advisor.asked == []


def test_a_forger_of_feishu_events_cannot_tell_which_bytes_decrypt(feishu_base: str) -> None:
    whole = json.loads(encrypted(feishu_event("om_1", "x")))["encrypt"]
    raw = bytearray(base64.b64decode(whole))
    raw[-17] ^= 1  # the padding of the last block breaks
    broken = json.dumps({"encrypt": base64.b64encode(bytes(raw)).decode()}).encode()
    replies = [
        httpx.post(f"{feishu_base}/bots/feishu", content=body)
        for body in (encrypted(feishu_event("om_1", "x")), broken, b"[[[")
    ]
    told = {(reply.status_code, reply.json()["title"], reply.json()["detail"]) for reply in replies}
    assert len(told) == 1, told


@pytest.mark.parametrize("moment", ["²", "9" * 5000, "-1", ""])
def test_a_time_that_is_no_number_is_refused_and_no_fault(
    hook: str, feishu_base: str, advisor: Any, moment: str
) -> None:
    at = moment.encode("latin-1")
    body = json.dumps({"message_id": "m-1", "conversation_id": "c", "text": "x"}).encode()
    mac = hmac.new(SECRET.encode(), moment.encode() + b"." + body, hashlib.sha256).hexdigest()
    signed_so = [(b"X-GSA-Timestamp", at), (b"X-GSA-Signature", f"sha256={mac}".encode())]
    assert httpx.post(f"{hook}/bots/webhook", content=body, headers=signed_so).status_code == 401
    signature = hashlib.sha256(f"{moment}n{KEY}".encode() + body).hexdigest()
    for_feishu = [
        (b"X-Lark-Request-Timestamp", at),
        (b"X-Lark-Request-Nonce", b"n"),
        (b"X-Lark-Signature", signature.encode()),
    ]
    assert httpx.post(f"{feishu_base}/bots/feishu", content=body, headers=for_feishu).status_code == 401
    assert advisor.asked == []


# DingTalk


class DingTalk:
    """DingTalk's stream gateway: opens a connection, sends callbacks over a web socket, takes the replies."""

    def __init__(self) -> None:
        self.opened: list[dict[str, Any]] = []
        self.acks: list[tuple[float, dict[str, Any]]] = []
        self.replies: list[dict[str, Any]] = []
        self.messages: list[dict[str, Any]] = []
        self.base = ""
        self.app = FastAPI()

        @self.app.post("/v1.0/gateway/connections/open")
        async def open_(request: Request) -> dict[str, str]:
            self.opened.append(await request.json())
            return {"endpoint": f"{self.base.replace('http', 'ws')}/connect", "ticket": "t"}

        @self.app.websocket("/connect")
        async def connect(socket: WebSocket) -> None:
            assert socket.query_params["ticket"] == "t"
            await socket.accept()
            for message in self.messages:
                begun = time.perf_counter()
                await socket.send_json(message)
                ack = await socket.receive_json()
                self.acks.append((time.perf_counter() - begun, ack))
            await socket.receive()  # until the other side leaves

        @self.app.post("/robot/sendBySession")
        async def reply(request: Request) -> dict[str, Any]:
            self.replies.append(await request.json())
            return {"errcode": 0, "errmsg": "ok"}

    def message(self, message_id: str, text: str) -> dict[str, Any]:
        data = {
            "conversationId": "cid1", "conversationType": "2", "msgId": message_id,
            "senderId": "$:LWCP_v1:$x", "senderNick": "李",
            "msgtype": "text", "text": {"content": f" {text} "},
            "sessionWebhook": f"{self.base}/robot/sendBySession",
            "sessionWebhookExpiredTime": 1_900_000_000_000,
            "robotCode": "ding1", "createAt": 1_700_000_000_000,
        }  # fmt: skip
        headers = {
            "appId": "a", "connectionId": "c", "contentType": "application/json",
            "messageId": f"frame-{message_id}-{len(self.messages)}", "time": "1700000000000",
            "topic": "/v1.0/im/bot/messages/get",
        }  # fmt: skip
        return {"specVersion": "1.0", "type": "CALLBACK", "headers": headers, "data": json.dumps(data)}


def test_dingtalk_messages_are_acknowledged_first_and_answered_once(
    make_api: Make, serve: Serve, advisor: Any, monkeypatch: pytest.MonkeyPatch, served: Callable[..., Any]
) -> None:
    advisor.pause_s = 0.05
    platform = DingTalk()
    platform.base = serve(platform.app)
    for message_id in ("msg-0", "msg-1", "msg-1", "msg-2"):  # the first one warms database and threads up
        platform.messages.append(platform.message(message_id, "slow A10"))
    monkeypatch.setattr(
        dingtalk_stream.DingTalkStreamClient,
        "OPEN_CONNECTION_API",
        f"{platform.base}/v1.0/gateway/connections/open",
    )
    with served(make_api(dingtalk_client_id="ding1", dingtalk_client_secret="s")):
        wait_for(lambda: len(platform.acks) == 4)
        wait_for(lambda: len(platform.replies) == 3)
    assert platform.opened[0]["clientId"] == "ding1"
    assert {"type": "CALLBACK", "topic": "/v1.0/im/bot/messages/get"} in platform.opened[0]["subscriptions"]
    assert {ack["code"] for _, ack in platform.acks} == {200}
    assert statistics.median(seconds for seconds, _ in platform.acks[1:]) < 0.5
    assert [ack["headers"]["messageId"][:11] for _, ack in platform.acks[1:]] == ["frame-msg-1"] * 2 + [
        "frame-msg-2"
    ]
    assert all(reply["msgtype"] == "markdown" for reply in platform.replies)
    assert platform.replies[0]["markdown"]["text"].startswith("**slow A10**")
