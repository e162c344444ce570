"""Sites that may show the widget: a public key each, and the origins whose pages may use it."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit

from sqlalchemy import select

from knowledge.errors import InputError
from serving.store import Store
from serving.store.tables import Site

_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class SiteShown:
    """A site and where it may be shown. `https://*.example.com` stands for every host below example.com."""

    key: str
    name: str
    origins: tuple[str, ...]
    revoked: bool = False

    def allows(self, origin: str) -> bool:
        return not self.revoked and any(covers(pattern, origin) for pattern in self.origins)


def add_site(store: Store, name: str, origins: Sequence[str]) -> SiteShown:
    """A new site. Raises `InputError` for an origin that is none."""
    if not origins:
        raise InputError("origin", "", "at least one, such as https://desk.example.com")
    shown = SiteShown(
        f"site_{secrets.token_hex(8)}", name, tuple(origin_of(item, "origin") for item in origins)
    )
    with store.session() as session:
        session.add(
            Site(
                key=shown.key,
                name=name,
                origins=list(shown.origins),
                created_at=datetime.now(UTC),
                revoked_at=None,
            )
        )
    return shown


def find_site(store: Store, key: str) -> SiteShown | None:
    """The site of a public key unless it was removed. Raises `StoreDown`."""
    with store.session() as session:
        row = session.get(Site, key[:40])
    return None if row is None or row.revoked_at else _shown(row)


def list_sites(store: Store) -> list[SiteShown]:
    with store.session() as session:
        return [_shown(row) for row in session.scalars(select(Site).order_by(Site.created_at))]


def remove_site(store: Store, key: str) -> None:
    """Ends a site; visits already begun end within their 15 minutes. Raises `InputError`."""
    with store.session() as session:
        row = session.get(Site, key)
        if row is None:
            raise InputError("key", key, "the key of a site, as `sites list` shows it")
        row.revoked_at = row.revoked_at or datetime.now(UTC)


def origin_of(text: str, field: str) -> str:
    """An origin in its one form: scheme, host in small letters, port unless it is the scheme's own."""
    parts = urlsplit(text.strip().lower())
    host = parts.hostname or ""
    allowed = "scheme and host and nothing more, such as https://desk.example.com or https://*.example.com"
    try:
        port = parts.port
    except ValueError:
        raise InputError(field, text, allowed) from None
    plain = parts.path in ("", "/") and not parts.query and not parts.fragment and not parts.username
    wild = host.removeprefix("*.")
    if parts.scheme not in _DEFAULT_PORTS or not plain or not wild or not _is_host(wild):
        raise InputError(field, text, allowed)
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}" + (f":{port}" if port and port != _DEFAULT_PORTS[parts.scheme] else "")


def covers(pattern: str, origin: str) -> bool:
    """Whether an origin, as a browser sends it, is the pattern's or below its wildcard."""
    scheme, _, host = pattern.partition("://")
    if not host.startswith("*."):
        return pattern == origin
    given_scheme, _, given = origin.partition("://")
    return scheme == given_scheme and given.endswith(host[1:]) and _is_host(given.removesuffix(host[1:]))


def _is_host(text: str) -> bool:
    return bool(text) and all(letter.isalnum() or letter in "-.:" for letter in text)


def _shown(row: Site) -> SiteShown:
    return SiteShown(row.key, row.name, tuple(row.origins), row.revoked_at is not None)
