"""A limit on what a request's body may weigh, whether or not its length is told beforehand."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serving.asgi import path_of, state_of, whole
from serving.problems import problem

_FORM_BYTES = 64 * 1024  # what a form puts around its files


class BodyLimitMiddleware:
    """Answers 413 for a body of more than `most_bytes` (`upload_bytes` on `upload_path`); nothing over it is
    held in memory."""

    def __init__(self, app: ASGIApp, most_bytes: int, upload_path: str = "", upload_bytes: int = 0) -> None:
        self._app = app
        self._most_bytes = most_bytes
        self._upload_path = upload_path
        self._upload_bytes = upload_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = self._most(path_of(scope))
        told = whole(Headers(scope=scope).get("content-length", ""))
        if told is not None and told > most:
            request_id = str(state_of(scope).get("request_id", ""))
            refusal = problem(
                path_of(scope), 413, "The body is too large", _detail(most), request_id=request_id
            )
            await refusal(scope, receive, send)
            return
        got = 0

        async def receive_counted() -> Message:
            nonlocal got
            message = await receive()
            got += len(message.get("body", b""))
            if got > most:
                raise HTTPException(413, _detail(most))
            return message

        await self._app(scope, receive_counted, send)

    def _most(self, path: str) -> int:
        """What a body may weigh: files that the page takes may weigh more than a call."""
        if self._upload_path and path == self._upload_path:
            return self._upload_bytes + _FORM_BYTES
        return self._most_bytes


def _detail(most: int) -> str:
    return f"At most {most} bytes."
