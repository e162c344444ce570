"""The login of the page: a key with the scope `page` in exchange for a session cookie."""

from __future__ import annotations

from urllib.parse import parse_qs

from anyio import to_thread
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from serving.access.gatekeeper import COOKIE
from serving.access.keys import find_key
from serving.access.tokens import LIFETIME_S, Signer
from serving.store import Store

_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Log in · 登录</title>
<main><h1>GPU sizing assistant · GPU 选型助手</h1>{fault}
<form method="post"><p><label>Access key · 访问密钥<br>
<input name="key" type="password" autocomplete="current-password" size="60" autofocus required></label></p>
<p><button>Log in · 登录</button></p></form></main></html>"""
_FAULT = '<p role="alert">This key does not work here. · 此密钥不可用。</p>'
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "Cache-Control": "no-store",
}


def login_routes(store: Store, signer: Signer) -> APIRouter:
    """`/login` and `/logout`."""
    router = APIRouter(include_in_schema=False)

    @router.get("/login")
    async def form() -> Response:
        return HTMLResponse(_PAGE.format(fault=""), headers=_HEADERS)

    @router.post("/login")
    async def log_in(request: Request) -> Response:
        given = parse_qs((await request.body()).decode(errors="replace")).get("key", [""])[0]
        key = await to_thread.run_sync(find_key, store, given.strip())
        if key is None or "page" not in key.scopes:
            return HTMLResponse(_PAGE.format(fault=_FAULT), status_code=401, headers=_HEADERS)
        reply = RedirectResponse(_home(request), status_code=303, headers=_HEADERS)
        reply.set_cookie(
            COOKIE,
            signer.sign("session", {"key": key.id}),
            max_age=LIFETIME_S["session"],
            path=_root(request) or "/",
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )
        return reply

    @router.post("/logout")
    async def log_out(request: Request) -> Response:
        reply = RedirectResponse(f"{_root(request)}/login", status_code=303)
        reply.delete_cookie(COOKIE, path=_root(request) or "/")
        return reply

    return router


def _root(request: Request) -> str:
    return str(request.scope.get("root_path", "")).rstrip("/")


def _home(request: Request) -> str:
    """Where to go after the login: a path of this service, never another host."""
    wanted = request.query_params.get("next", "/")
    plain = wanted.startswith("/") and not wanted.startswith(("//", "/\\")) and "\\" not in wanted
    return f"{_root(request)}{wanted if plain else '/'}"
