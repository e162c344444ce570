"""DingTalk's robot in stream mode: the official SDK holds a web socket, no public address is needed."""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import Any

import dingtalk_stream
import httpx

from serving.bots.bot import BotDesk, BotMessage
from serving.store import StoreDown
from settings import Settings

log = logging.getLogger(__name__)
_TIMEOUT_S = 10.0
_ACK_TIMEOUT_S = 5.0
_TITLE = "GPU sizing assistant · GPU 选型助手"


class DingTalkBot:
    """The robot. The SDK blocks in places, so it has a thread and a loop of its own; answers are made in the
    application's loop."""

    def __init__(self, bots: BotDesk, settings: Settings) -> None:
        self._bots = bots
        self._client = _Client(
            dingtalk_stream.Credential(
                settings.dingtalk_client_id, settings.dingtalk_client_secret.get_secret_value()
            ),
            log,
        )

    def start(self) -> None:
        """Connects, and again whenever the connection breaks, until `stop`."""
        handler = _Handler(self._bots, asyncio.get_running_loop())
        self._client.register_callback_handler(dingtalk_stream.ChatbotMessage.TOPIC, handler)
        threading.Thread(target=self._client.run, name="dingtalk", daemon=True).start()

    def stop(self) -> None:
        """Takes no more messages; the platform gives them to another replica."""
        self._client.stop()


class _Client(dingtalk_stream.DingTalkStreamClient):  # type: ignore[misc]  # the SDK has no types
    _stopping = False

    def run(self) -> None:
        asyncio.run(self._run())

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        await self.start()

    def open_connection(self) -> Any:
        if self._stopping:
            raise KeyboardInterrupt  # the only thing that ends the SDK's loop
        return super().open_connection()

    def stop(self) -> None:
        self._stopping = True
        if self.websocket is not None:
            asyncio.run_coroutine_threadsafe(self.websocket.close(), self._loop)


class _Handler(dingtalk_stream.ChatbotHandler):  # type: ignore[misc]  # the SDK has no types
    def __init__(self, bots: BotDesk, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._bots = bots
        self._loop = loop

    async def process(self, callback: Any) -> tuple[int, str]:
        """Takes a message on; the SDK acknowledges when this returns, the answer comes after."""
        incoming = dingtalk_stream.ChatbotMessage.from_dict(callback.data)
        text = " ".join(self.extract_text_from_incoming_message(incoming) or ()).strip()
        conversation = f"{incoming.conversation_id}/{incoming.sender_id}"
        message = BotMessage("dingtalk", str(incoming.message_id), conversation, text)
        webhook = str(incoming.session_webhook)

        async def push(answer: str) -> None:
            body = {"msgtype": "markdown", "markdown": {"title": _TITLE, "text": answer}}
            async with httpx.AsyncClient(timeout=_TIMEOUT_S) as client:
                reply = await client.post(webhook, json=body)
                reply.raise_for_status()
                if reply.json().get("errcode", 0) != 0:
                    raise ValueError(f"DingTalk: {reply.json().get('errmsg')}")

        taking = asyncio.run_coroutine_threadsafe(self._bots.receive(message, push), self._loop)
        try:
            await asyncio.wait_for(asyncio.wrap_future(taking), _ACK_TIMEOUT_S)
        except (StoreDown, TimeoutError):
            return dingtalk_stream.AckMessage.STATUS_SYSTEM_EXCEPTION, "try again"
        return dingtalk_stream.AckMessage.STATUS_OK, "OK"
