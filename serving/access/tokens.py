"""Short-lived signed tokens: visits of the widget, sessions of the page. No replica remembers them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
from typing import Any, Literal

from serving.store import Store
from serving.store.tables import Secret

Purpose = Literal["visit", "session"]
LIFETIME_S: dict[Purpose, int] = {"visit": 15 * 60, "session": 12 * 3600}


class Signer:
    """Signs and reads tokens with one secret. A token of one purpose is worth nothing for another."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def sign(self, purpose: Purpose, claims: dict[str, Any], now: float | None = None) -> str:
        """`claims` with their end, signed; readable by its holder, not changeable."""
        ends = int((time.time() if now is None else now) + LIFETIME_S[purpose])
        body = _encode(json.dumps({**claims, "exp": ends}, separators=(",", ":")).encode())
        return f"{purpose}.{body}.{_encode(self._mac(purpose, body))}"

    def read(self, purpose: Purpose, token: str, now: float | None = None) -> dict[str, Any] | None:
        """The claims of a token that this secret signed for this purpose and that has not ended."""
        given, _, rest = token.partition(".")
        body, _, mac = rest.partition(".")
        if given != purpose or not hmac.compare_digest(
            _encode(self._mac(purpose, body)).encode(), mac.encode()
        ):
            return None
        claims: dict[str, Any] = json.loads(_decode(body))
        return claims if (time.time() if now is None else now) < claims["exp"] else None

    def fingerprint(self, text: str) -> str:
        """A stand-in for an address or a name: the same for the same text, and not to be read back."""
        return self._mac("fingerprint", text).hex()[:16]

    def _mac(self, purpose: str, body: str) -> bytes:
        return hmac.digest(self._secret, f"{purpose}.{body}".encode(), hashlib.sha256)


def open_signer(store: Store, secret: str = "") -> Signer:
    """A signer with the given secret, or with the one that all replicas share in the database."""
    return Signer((secret or shared_secret(store, "tokens")).encode())


def shared_secret(store: Store, name: str) -> str:
    """The secret of a name; the first process that asks makes it. Raises `StoreDown`."""
    with store.session() as session:
        session.execute(
            store.insert(Secret).values(name=name, value=secrets.token_urlsafe(32)).on_conflict_do_nothing()
        )
        row = session.get_one(Secret, name)
        return row.value


def _encode(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
