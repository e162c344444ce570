"""Which other origins' pages may call: those of `CORS_ORIGINS` and those of the sites."""

from __future__ import annotations

import logging
import time

from anyio import to_thread
from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from serving.access.sites import covers, list_sites, origin_of
from serving.store import Store, StoreDown

log = logging.getLogger(__name__)
_REFRESH_S = 5.0


class SiteCors(CORSMiddleware):
    """Starlette's CORS with the sites of the database; a new site is known within five seconds."""

    def __init__(self, app: ASGIApp, store: Store, configured: tuple[str, ...]) -> None:
        super().__init__(
            app,
            allow_methods=("GET", "POST"),
            allow_headers=(
                "Authorization",
                "Content-Type",
                "X-API-Key",
                "X-Request-Id",
                "Mcp-Protocol-Version",
            ),
            expose_headers=("X-Request-Id", "Retry-After"),
        )
        self._store = store
        self._configured = tuple(origin_of(item, "CORS_ORIGINS") for item in configured)
        self._of_sites: tuple[str, ...] = ()
        self._read_at = -_REFRESH_S

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and "origin" in Headers(scope=scope):
            await self._refresh()
        await super().__call__(scope, receive, send)

    def is_allowed_origin(self, origin: str) -> bool:
        return any(covers(item, origin) for item in (*self._configured, *self._of_sites))

    async def _refresh(self) -> None:
        if time.monotonic() - self._read_at < _REFRESH_S:
            return
        self._read_at = time.monotonic()
        try:
            sites = await to_thread.run_sync(list_sites, self._store)
        except StoreDown:
            log.warning("the sites' origins cannot be read: the database is away")
            return
        self._of_sites = tuple(item for site in sites if not site.revoked for item in site.origins)
