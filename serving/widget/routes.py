"""`/embed.js`, `/embed` and its files, and the exchange of a site key for a visit token."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from anyio import to_thread
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from knowledge.errors import InputError
from serving.access.address import own_origins
from serving.access.sites import SiteShown, find_site, origin_of
from serving.access.tokens import LIFETIME_S, Signer
from serving.problems import Refused, refusals
from serving.store import Store, StoreDown
from settings import Settings

STATIC = Path(__file__).with_name("static")
_TYPES = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}
_FILES = ("frame.js", "frame.css", "markdown.js")
_CACHE = {"Cache-Control": "public, max-age=300", "Cross-Origin-Resource-Policy": "cross-origin"}


class VisitRequest(BaseModel):
    """A site's public key; `embedder` is the origin around the frame, which only the frame says."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"site": "site_0123456789abcdef", "embedder": "https://desk.example"}]
        },
    )

    site: str = Field(min_length=1, max_length=40)
    embedder: str = Field(default="", max_length=300)


class Visit(BaseModel):
    """A token for one visitor of one site, sent as `Authorization: Bearer`. It works from `origin` only."""

    token: str
    expires_in: int = Field(description="seconds")
    origin: str
    handover: bool = Field(description="whether a person can be asked for")


def widget_routes(store: Store, signer: Signer, settings: Settings) -> APIRouter:
    """The widget's paths."""
    router = APIRouter(tags=["widget"])
    has_desk = bool(settings.handover_url or settings.handover_mail)

    @router.get("/embed.js", include_in_schema=False)
    async def script() -> Response:
        return _file("embed.js")

    @router.get("/embed/{name}", include_in_schema=False)
    async def file(name: str) -> Response:
        if name not in _FILES:
            raise Refused(404, "Not found", "There is no such file.")
        return _file(name)

    @router.get("/embed", include_in_schema=False)
    async def frame(site: str = "") -> Response:
        """The page for a frame. Which pages may hold it says the site's list; nobody else's."""
        found = await to_thread.run_sync(_find, store, site) if site else None
        if site and found is None:
            return HTMLResponse("Unknown site.", status_code=404, headers=_frame_headers(("'none'",)))
        ancestors = found.origins if found else ("'self'", *settings.frame_ancestors)
        return HTMLResponse(_text("frame.html"), headers=_frame_headers(ancestors))

    @router.post("/api/v1/visits", status_code=201, responses=refusals())
    async def visit(body: VisitRequest, request: Request) -> Visit:
        """A visit token of 15 minutes for a site's key, for pages of the site's origins and no others."""
        found = await to_thread.run_sync(_find, store, body.site)
        if found is None:
            raise Refused(403, "Unknown site", "There is no site of this key.")
        origin = _page_origin(request, body, settings.public_url)
        if not found.allows(origin):
            raise Refused(
                403, "Foreign page", f"The site's list does not hold {origin or 'a page without origin'}."
            )
        claims = {"site": found.key, "origin": origin, "visitor": secrets.token_hex(6)}
        return Visit(
            token=signer.sign("visit", claims),
            expires_in=LIFETIME_S["visit"],
            origin=origin,
            handover=has_desk,
        )

    return router


def _page_origin(request: Request, body: VisitRequest, public_url: str) -> str:
    """The origin of the page that shows the widget: what the browser says of the caller, or, where the frame
    calls from here, what the frame says of the page around it (which `frame-ancestors` has let in)."""
    origin = request.headers.get("origin", "").lower()
    if origin and origin in own_origins(request.scope, public_url):
        try:
            return origin_of(body.embedder, "embedder") if body.embedder else origin
        except InputError:
            return ""
    return origin


def _find(store: Store, key: str) -> SiteShown | None:
    try:
        return find_site(store, key)
    except StoreDown:
        raise Refused(
            503, "The database is away", "Sites cannot be checked now.", {"Retry-After": "5"}
        ) from None


def _frame_headers(ancestors: Sequence[str]) -> dict[str, str]:
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        f"base-uri 'none'; form-action 'none'; frame-ancestors {' '.join(ancestors)}"
    )
    return {"Content-Security-Policy": policy, "Cache-Control": "no-store"}


@cache
def _text(name: str) -> str:
    return (STATIC / name).read_text(encoding="utf-8")


def _file(name: str) -> Response:
    return Response(_text(name), media_type=_TYPES[name.rpartition(".")[2]], headers=_CACHE)
