"""API keys: made by the command line, kept as a hash, with scopes and an expiry."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal, get_args

from sqlalchemy import func, select

from knowledge.errors import InputError
from serving.store import Store
from serving.store.tables import ApiKey

Scope = Literal["chat", "tools", "page", "metrics"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
_PREFIX = "gsa"


@dataclass(frozen=True)
class KeyShown:
    """A key as lists show it: never its secret."""

    id: str
    name: str
    scopes: tuple[Scope, ...]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None

    def works_at(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


def create_key(store: Store, name: str, scopes: Sequence[str], days: int | None = None) -> str:
    """A new key as its owner must keep it; it cannot be shown again. Raises `InputError` for a scope."""
    for scope in scopes:
        if scope not in SCOPES:
            raise InputError("scope", scope, f"one of {', '.join(SCOPES)}", [])
    if not scopes:
        raise InputError("scope", "", f"at least one of {', '.join(SCOPES)}")
    key_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    now = datetime.now(UTC)
    with store.session() as session:
        session.add(
            ApiKey(
                id=key_id,
                name=name,
                secret_sha256=_hash(secret),
                scopes=list(dict.fromkeys(scopes)),
                created_at=now,
                expires_at=None if days is None else now + timedelta(days=days),
                revoked_at=None,
            )
        )
    return f"{_PREFIX}_{key_id}_{secret}"


def find_key(store: Store, text: str) -> KeyShown | None:
    """The key of a text, if it exists, is not revoked and has not expired. Raises `StoreDown`."""
    prefix, _, rest = text.partition("_")
    key_id, _, secret = rest.partition("_")
    if prefix != _PREFIX or not key_id or not secret:
        return None
    with store.session() as session:
        row = session.get(ApiKey, key_id[:16])
    if row is None or not hmac.compare_digest(row.secret_sha256, _hash(secret)):
        return None
    return _working(row)


def key_of_id(store: Store, key_id: str) -> KeyShown | None:
    """The key of an id while it works; a session ends with its key. Raises `StoreDown`."""
    with store.session() as session:
        row = session.get(ApiKey, key_id)
    return _working(row) if row else None


def list_keys(store: Store) -> list[KeyShown]:
    """All keys, oldest first, revoked and expired ones too."""
    with store.session() as session:
        return [_shown(row) for row in session.scalars(select(ApiKey).order_by(ApiKey.created_at))]


def revoke_key(store: Store, key_id: str) -> None:
    """Ends a key at once. Raises `InputError` for an unknown id."""
    with store.session() as session:
        row = session.get(ApiKey, key_id)
        if row is None:
            raise InputError("id", key_id, "the id of a key, as `keys list` shows it")
        row.revoked_at = row.revoked_at or datetime.now(UTC)


def any_key(store: Store) -> bool:
    """Whether a key was ever made. A revoked or expired one counts: its end must not open the door."""
    with store.session() as session:
        return bool(session.scalar(select(func.count()).select_from(ApiKey)))


def _working(row: ApiKey) -> KeyShown | None:
    shown = _shown(row)
    return shown if shown.works_at(datetime.now(UTC)) else None


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _shown(row: ApiKey) -> KeyShown:
    scopes = tuple(scope for scope in SCOPES if scope in row.scopes)
    return KeyShown(row.id, row.name, scopes, row.created_at, row.expires_at, row.revoked_at)
