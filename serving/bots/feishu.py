"""Feishu (Lark): events by HTTP callback, answers by the reply API.

Format: open.feishu.cn/document, "Event subscription guide" (encryption, signature), "Reply to a message".
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
import re
import time
import uuid
from typing import Any

import httpx
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.padding import PKCS7
from fastapi import APIRouter, Request

from serving.asgi import whole
from serving.bots.bot import BotDesk, BotMessage
from serving.problems import Refused, refusals
from serving.store import StoreDown
from settings import Settings

log = logging.getLogger(__name__)
_TIMEOUT_S = 10.0
_REPLAY_WINDOW_S = 3600  # of one signature; Feishu tries again for about six hours, each time with a new one
_TOKEN_MARGIN_S = 300
_MENTION = re.compile(r"@_(?:user_\d+|all)\s*")


class FeishuApi:
    """The two calls that a bot needs, with the tenant token kept while it lasts."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._token = ""
        self._token_ends = 0.0

    async def reply(self, message_id: str, text: str) -> None:
        """Answers a message with a card of Markdown. Raises `httpx.HTTPError` and `ValueError`."""
        card = {"schema": "2.0", "body": {"elements": [{"tag": "markdown", "content": text}]}}
        body = {
            "msg_type": "interactive",
            "content": json.dumps(card, ensure_ascii=False),
            "uuid": uuid.uuid5(
                uuid.NAMESPACE_URL, message_id
            ).hex,  # Feishu drops a second reply of the same id
        }
        path = f"/open-apis/im/v1/messages/{message_id}/reply"
        async with httpx.AsyncClient(base_url=self._settings.feishu_url, timeout=_TIMEOUT_S) as client:
            headers = {"Authorization": f"Bearer {await self._tenant_token(client)}"}
            _checked(await client.post(path, json=body, headers=headers))

    async def _tenant_token(self, client: httpx.AsyncClient) -> str:
        if time.monotonic() >= self._token_ends:
            credentials = {
                "app_id": self._settings.feishu_app_id,
                "app_secret": self._settings.feishu_app_secret.get_secret_value(),
            }
            reply = _checked(
                await client.post("/open-apis/auth/v3/tenant_access_token/internal", json=credentials)
            )
            self._token = reply["tenant_access_token"]
            self._token_ends = time.monotonic() + reply["expire"] - _TOKEN_MARGIN_S
        return self._token


def feishu_routes(bots: BotDesk, settings: Settings) -> APIRouter:
    """`/bots/feishu`: the request address of the app's event subscription."""
    router = APIRouter(tags=["bots"])
    api = FeishuApi(settings)
    key = settings.feishu_encrypt_key.get_secret_value()
    verification = settings.feishu_verification_token.get_secret_value()

    @router.post(
        "/bots/feishu",
        responses=refusals(),
        openapi_extra={"requestBody": {"content": {"application/json": {"schema": {"type": "object"}}}}},
    )
    async def feishu(request: Request) -> dict[str, Any]:
        """Takes an event on and acknowledges it; the answer comes by the reply API."""
        if not key:
            raise Refused(403, "No Feishu app here", "FEISHU_ENCRYPT_KEY is not set.")
        event = _event(key, await request.body(), request)
        header = event.get("header") or {}
        given = str(header.get("token") or event.get("token") or "")
        if verification and not hmac.compare_digest(given.encode(), verification.encode()):
            raise _not_feishu()
        if event.get("type") == "url_verification":
            return {"challenge": event.get("challenge", "")}
        message = _message(event)
        if message is not None:

            async def push(text: str) -> None:
                await api.reply(message.message_id, text)

            try:
                await bots.receive(message, push)
            except StoreDown:
                raise Refused(503, "The database is away", "Send it again.", {"Retry-After": "5"}) from None
        return {}

    return router


def _event(key: str, body: bytes, request: Request) -> dict[str, Any]:
    """The event inside the encrypted body. Raises `Refused`. The signature is checked before anything is
    decrypted; the challenge alone carries none."""
    signed = _is_signed(key, body, request)
    if not signed and "x-lark-signature" in request.headers:
        raise _not_feishu()
    try:
        event: dict[str, Any] = json.loads(decrypt(key, json.loads(body)["encrypt"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _not_feishu() from None
    if not isinstance(event, dict) or not (signed or event.get("type") == "url_verification"):
        raise _not_feishu()
    return event


def _is_signed(key: str, body: bytes, request: Request) -> bool:
    at, nonce = (request.headers.get(f"x-lark-request-{name}", "") for name in ("timestamp", "nonce"))
    expected = hashlib.sha256(f"{at}{nonce}{key}".encode() + body).hexdigest()
    given = request.headers.get("x-lark-signature", "")
    moment = whole(at)
    fresh = moment is not None and abs(time.time() - moment) <= _REPLAY_WINDOW_S
    return fresh and hmac.compare_digest(expected.encode(), given.encode())


def _not_feishu() -> Refused:
    """One refusal for all: which check failed would tell a forger whether a forged body decrypts."""
    return Refused(
        401, "Not from this app", "Signature, encryption or verification token do not fit this app."
    )


def decrypt(key: str, text: str) -> str:
    """Feishu's AES-256-CBC: the key's SHA-256, the first block as the initial vector. Raises `ValueError`."""
    raw = base64.b64decode(text, validate=True)
    decryptor = Cipher(algorithms.AES(hashlib.sha256(key.encode()).digest()), modes.CBC(raw[:16])).decryptor()
    padded = decryptor.update(raw[16:]) + decryptor.finalize()
    unpadder = PKCS7(128).unpadder()
    return (unpadder.update(padded) + unpadder.finalize()).decode()


def _message(event: dict[str, Any]) -> BotMessage | None:
    """The text message of an event; None for everything else."""
    if (event.get("header") or {}).get("event_type") != "im.message.receive_v1":
        return None
    message = (event.get("event") or {}).get("message") or {}
    if message.get("message_type") != "text":
        return None
    try:
        text = _MENTION.sub("", str(json.loads(message["content"])["text"])).strip()
        sender = ((event["event"].get("sender") or {}).get("sender_id") or {}).get("open_id", "")
        return BotMessage("feishu", str(message["message_id"]), f"{message['chat_id']}/{sender}", text)
    except (ValueError, KeyError, TypeError, AttributeError):
        log.warning("a Feishu message of an unknown form")
        return None


def _checked(reply: httpx.Response) -> dict[str, Any]:
    """A reply's values. Feishu reports faults in a code beside a status of 200."""
    reply.raise_for_status()
    values: dict[str, Any] = reply.json()
    if values.get("code") != 0:
        raise ValueError(f"Feishu: {values.get('code')} {values.get('msg')}")
    return values
