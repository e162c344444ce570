"""Says who calls, refuses whom it must, and counts how often they ask; before any route sees the request."""

from __future__ import annotations

import logging
import math
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import quote

from anyio import to_thread
from fastapi.responses import RedirectResponse
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as AsgiScope

from serving.access.address import Address, address_of, networks, own_origins
from serving.access.caller import Caller, scope_of
from serving.access.keys import any_key, find_key, key_of_id
from serving.access.rates import Allowance, take
from serving.access.sites import covers
from serving.access.tokens import Signer
from serving.asgi import path_of, state_of
from serving.problems import Refused, problem
from serving.store import Store, StoreDown
from settings import Settings

if TYPE_CHECKING:
    from starlette.responses import Response

log = logging.getLogger(__name__)
COOKIE = "gsa_session"
_UNLIMITED = ("/bots/",)  # signed, and all of a platform's users come from its few addresses
_SCHEMES = ("http", "https")
_STATE_CHANGING = {"POST", "PUT", "PATCH", "DELETE"}


class Gatekeeper:
    """Who calls, by the first of: key or visit token, session, a trusted proxy's word, an open door."""

    def __init__(self, store: Store, signer: Signer, settings: Settings) -> None:
        self._store = store
        self._signer = signer
        self._settings = settings
        self._proxies = networks(settings.trusted_proxies)

    def identify(self, scope: AsgiScope) -> tuple[Caller | None, Address]:
        """The caller, or None for a stranger. Raises `StoreDown` where only the database could tell."""
        headers = Headers(scope=scope)
        address = address_of(scope, self._proxies)
        origin = headers.get("origin", "").lower()
        at_home = not origin or origin in own_origins(scope, self._settings.public_url)
        token = _token(headers)
        caller = None
        if token.startswith("visit."):
            return self._visit(token, origin, at_home), address
        if token:
            key = find_key(self._store, token)
            if key is not None:
                return Caller("key", f"key:{key.id}", frozenset(key.scopes)), address
            if token.startswith("gsa_"):
                return None, address  # a key that ended must not fall back to an open door
        if at_home:
            caller = self._session(headers) or self._named_by_proxy(headers, address)
        return caller or self._by_open_door(address, origin, at_home), address

    def _visit(self, token: str, origin: str, at_home: bool) -> Caller | None:
        claims = self._signer.read("visit", token)
        # A browser sends the origin with every POST and cannot be made to lie: a token taken to another
        # site's page is worth nothing there. The frame's own calls come from this service's origin.
        if claims is None or not origin or not (at_home or origin == claims["origin"]):
            return None
        subject = f"{claims['site']}/{claims['visitor']}"
        return Caller("visit", subject, frozenset({"chat"}), origin=str(claims["origin"]))

    def _session(self, headers: Headers) -> Caller | None:
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return None
        claims = self._signer.read("session", cookie.value) if cookie else None
        key = key_of_id(self._store, str(claims["key"])) if claims else None
        return Caller("session", f"key:{key.id}", frozenset(key.scopes)) if key else None

    def _named_by_proxy(self, headers: Headers, address: Address) -> Caller | None:
        name = self._settings.identity_header
        identity = headers.get(name, "").strip() if name and address.by_proxy else ""
        if not identity:
            return None
        return Caller(
            "proxy", f"user:{self._signer.fingerprint(identity)}", frozenset({"page", "chat", "tools"})
        )

    def _by_open_door(self, address: Address, origin: str, at_home: bool) -> Caller | None:
        known = at_home or any(covers(item.lower(), origin) for item in self._settings.cors_origins)
        if not known:
            return None
        if self._settings.access == "open":
            subject = f"at:{self._signer.fingerprint(address.host)}"
            return Caller("open", subject, frozenset({"page", "chat", "tools"}))
        return Caller("local", "local") if address.local and not any_key(self._store) else None

    def wait_s(self, caller: Caller | None, address: Address) -> float:
        """Seconds until the caller may ask again; 0 when it may now, and when the database is away."""
        settings = self._settings
        at = f"at:{self._signer.fingerprint(address.host)}"
        buckets = [(at, settings.rate_per_address)]
        if caller is not None and caller.kind == "key":
            buckets = [(caller.subject, settings.rate_per_key)]
        elif caller is not None and caller.kind == "visit":
            buckets.append((caller.subject.partition("/")[0], settings.rate_per_site))
        elif caller is not None and caller.kind in ("session", "proxy"):
            buckets = [(caller.subject, settings.rate_per_address)]
        elif caller is not None and caller.kind == "local":
            buckets = []
        try:
            return max([take(self._store, bucket, Allowance(rate)) for bucket, rate in buckets], default=0)
        except StoreDown:
            log.warning("rates are not counted: the database is away")
            return 0


class AccessMiddleware:
    """Puts the caller into `request.state.caller`, or answers 401, 403, 429 or 503."""

    def __init__(self, app: ASGIApp, gatekeeper: Gatekeeper) -> None:
        self._app = app
        self._gatekeeper = gatekeeper

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            caller = await to_thread.run_sync(self._admit, scope)
        except Refused as error:
            await _refusal(scope, error)(scope, receive, send)
            return
        state_of(scope)["caller"] = caller
        await self._app(scope, receive, send)

    def _admit(self, scope: AsgiScope) -> Caller | None:
        """The caller of a request that may go on. Raises `Refused`."""
        path = path_of(scope)
        needed = scope_of(path)
        caller, address = self._identify(scope, needed is None)
        if address.by_proxy and (scheme := Headers(scope=scope).get("x-forwarded-proto", "")) in _SCHEMES:
            scope["scheme"] = scheme
        if needed is not None and caller is None:
            raise Refused(
                401,
                "No access",
                "Send a key as `Authorization: Bearer …`, or log in at /login.",
                {"WWW-Authenticate": "Bearer"},
            )
        if caller is not None and not caller.may(needed):
            raise Refused(403, "Not allowed", f"This needs the scope `{needed}`.")
        if scope["method"] in _STATE_CHANGING and not path.startswith(_UNLIMITED):
            wait = self._gatekeeper.wait_s(caller, address)
            if wait > 0:
                raise Refused(
                    429, "Asked too often", "Come again later.", {"Retry-After": str(math.ceil(wait))}
                )
        return caller

    def _identify(self, scope: AsgiScope, for_everybody: bool) -> tuple[Caller | None, Address]:
        if for_everybody and scope["method"] not in _STATE_CHANGING:
            return None, Address("", local=False, by_proxy=False)  # health must not wait for the database
        try:
            return self._gatekeeper.identify(scope)
        except StoreDown:
            raise Refused(
                503, "The database is away", "Keys cannot be checked now.", {"Retry-After": "5"}
            ) from None


def _refusal(scope: AsgiScope, error: Refused) -> Response:
    """The problem, or for a browser that wants the page the way to the login."""
    path = path_of(scope)
    accepts = Headers(scope=scope).get("accept", "")
    if error.status == 401 and scope["method"] == "GET" and "text/html" in accepts:
        root = str(scope.get("root_path", "")).rstrip("/")
        return RedirectResponse(f"{root}/login?next={quote(path)}", status_code=303)
    request_id = str(state_of(scope).get("request_id", ""))
    return problem(
        path, error.status, error.title, error.detail, request_id=request_id, headers=error.headers
    )


def _token(headers: Headers) -> str:
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else headers.get("x-api-key", "").strip()
