"""The generic bot: a signed POST in, a signed POST back. For any platform that has no adapter of its own."""

from __future__ import annotations

import json
import time

import httpx
from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from serving.asgi import whole
from serving.bots.bot import BotDesk, BotMessage
from serving.handover import signed_headers
from serving.problems import Refused, refusals
from serving.signing import fits
from serving.store import StoreDown
from settings import Settings

REPLAY_WINDOW_S = 300
_TIMEOUT_S = 10.0


class WebhookMessage(BaseModel):
    """A message. `message_id` is the sender's own and the same on every try; the answers of a conversation
    build on each other."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"message_id": "m-1", "conversation_id": "c-1", "text": "A10 跑 8B 模型够吗"}]
        },
    )

    message_id: str = Field(min_length=1, max_length=200)
    conversation_id: str = Field(min_length=1, max_length=200)
    text: str = Field(min_length=1, max_length=100_000)


class Acknowledged(BaseModel):
    """The message was taken on; `duplicate` says that it had been before and is not answered again."""

    duplicate: bool


def webhook_routes(bots: BotDesk, settings: Settings) -> APIRouter:
    """`/bots/webhook`; there without a secret it refuses everybody."""
    router = APIRouter(tags=["bots"])
    secret = settings.webhook_secret.get_secret_value()

    @router.post(
        "/bots/webhook",
        status_code=202,
        responses=refusals(),
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": WebhookMessage.model_json_schema()}},
            }
        },
    )
    async def webhook(request: Request) -> Acknowledged:
        """Takes a message on; the answer is posted to `WEBHOOK_REPLY_URL`.

        `X-GSA-Timestamp` (seconds) and `X-GSA-Signature`: `sha256=` and the HMAC-SHA256 of "timestamp.body"
        with the shared secret. A request older than five minutes is refused.
        """
        body = await request.body()
        _check_signature(secret, request, body)
        try:
            message = WebhookMessage.model_validate_json(body)
        except ValidationError as error:
            faults = [{**fault, "loc": ("body", *fault["loc"])} for fault in error.errors(include_url=False)]
            raise RequestValidationError(faults) from None

        async def push(text: str) -> None:
            await _post(
                settings.webhook_reply_url,
                secret,
                {
                    "in_reply_to": message.message_id,
                    "conversation_id": message.conversation_id,
                    "text": text,
                    "format": "markdown",
                },
            )

        try:
            taken = await bots.receive(
                BotMessage("webhook", message.message_id, message.conversation_id, message.text), push
            )
        except StoreDown:
            raise Refused(503, "The database is away", "Send it again.", {"Retry-After": "5"}) from None
        return Acknowledged(duplicate=not taken)

    return router


def _check_signature(secret: str, request: Request, body: bytes) -> None:
    if not secret:
        raise Refused(403, "No webhook here", "WEBHOOK_SECRET is not set.")
    at = request.headers.get("x-gsa-timestamp", "")
    given = request.headers.get("x-gsa-signature", "")
    if not fits(given, secret, at, body):
        raise Refused(401, "Wrong signature", "X-GSA-Signature does not fit the body, time and secret.")
    moment = whole(at)
    if moment is None or abs(time.time() - moment) > REPLAY_WINDOW_S:
        raise Refused(401, "Too old", f"X-GSA-Timestamp is more than {REPLAY_WINDOW_S} s from now.")


async def _post(url: str, secret: str, values: dict[str, str]) -> None:
    body = json.dumps(values, ensure_ascii=False).encode()
    headers = {"Content-Type": "application/json", **signed_headers(secret, body)}
    async with httpx.AsyncClient(timeout=_TIMEOUT_S) as client:
        (await client.post(url, content=body, headers=headers)).raise_for_status()
