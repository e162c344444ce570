"""A limit on what a request's body may weigh, whether or not its length is told beforehand."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serving.asgi import path_of, state_of
from serving.problems import problem


class BodyLimitMiddleware:
    """Answers 413 for a body of more than `most_bytes`; nothing over it is held in memory."""

    def __init__(self, app: ASGIApp, most_bytes: int) -> None:
        self._app = app
        self._most_bytes = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        told = Headers(scope=scope).get("content-length", "")
        if told.isdigit() and int(told) > self._most_bytes:
            request_id = str(state_of(scope).get("request_id", ""))
            refusal = problem(
                path_of(scope), 413, "The body is too large", self._detail(), request_id=request_id
            )
            await refusal(scope, receive, send)
            return
        got = 0

        async def receive_counted() -> Message:
            nonlocal got
            message = await receive()
            got += len(message.get("body", b""))
            if got > self._most_bytes:
                raise HTTPException(413, self._detail())
            return message

        await self._app(scope, receive_counted, send)

    def _detail(self) -> str:
        return f"At most {self._most_bytes} bytes."
