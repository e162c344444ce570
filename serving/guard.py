"""Around every request: id, security headers, a log line, metrics, one sentence instead of a trace."""

from __future__ import annotations

import logging
import re
import time
import uuid
from collections.abc import Sequence

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serving.asgi import path_of, put_below, state_of
from serving.logs import request_id_of
from serving.metrics import Metrics
from serving.problems import problem

log = logging.getLogger(__name__)
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "strict-origin-when-cross-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_API_CSP = "default-src 'none'; frame-ancestors 'none'"
_API = ("/api/", "/v1/", "/mcp", "/bots/", "/healthz", "/readyz", "/metrics", "/openapi.json")


class GuardMiddleware:
    """The outermost layer of the application."""

    def __init__(
        self, app: ASGIApp, metrics: Metrics, frame_ancestors: Sequence[str], root_path: str = ""
    ) -> None:
        self._app = app
        self._root_path = root_path.rstrip("/")
        self._metrics = metrics
        self._page_csp = "frame-ancestors " + " ".join(("'self'", *frame_ancestors))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        put_below(scope, self._root_path)
        given = Headers(scope=scope).get("x-request-id", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        state_of(scope)["request_id"] = request_id
        token = request_id_of.set(request_id)
        started = time.perf_counter()
        status = 0

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                self._add_headers(MutableHeaders(scope=message), path_of(scope), request_id)
            await send(message)

        try:
            await self._app(scope, receive, send_guarded)
        except Exception:
            log.exception("the request failed")
            if status:
                raise  # half a response is out: only closing the connection can tell
            fault = problem(
                path_of(scope), 500, "Something went wrong", "The fault is logged.", request_id=request_id
            )
            await fault(scope, receive, send_guarded)
        finally:
            self._count(scope, status, time.perf_counter() - started)
            request_id_of.reset(token)

    def _add_headers(self, headers: MutableHeaders, path: str, request_id: str) -> None:
        headers["X-Request-Id"] = request_id
        for name, value in _HEADERS.items():
            headers.setdefault(name, value)
        headers.setdefault("Content-Security-Policy", _API_CSP if path.startswith(_API) else self._page_csp)

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "")
        path = route if route.startswith(("/api", "/v1", "/bots", "/embed", "/login")) else "other"
        self._metrics.requests.labels(path, str(status)).inc()
        self._metrics.request_seconds.labels(path).observe(seconds)
        caller = state_of(scope).get("caller")
        fields = {
            "method": scope["method"],
            "path": path_of(scope),
            "status": status,
            "seconds": round(seconds, 4),
            "caller": getattr(caller, "subject", ""),
        }
        level = logging.INFO if path != "other" else logging.DEBUG
        log.log(level, "%s %s %s in %.3f s", fields["method"], fields["path"], status, seconds, extra=fields)
