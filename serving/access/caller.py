"""Who calls and what they may do: the one table from paths to scopes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from serving.access.keys import SCOPES, Scope

Kind = Literal["local", "open", "key", "visit", "session", "proxy"]

# First match counts; None is for everybody. A path that no line names belongs to the page: nothing added
# later is open by forgetting.
_PATHS: tuple[tuple[str, Scope | None], ...] = (
    ("/healthz", None),
    ("/readyz", None),
    ("/openapi.json", None),
    ("/api/docs", None),
    ("/embed.js", None),
    ("/embed", None),
    ("/login", None),
    ("/logout", None),
    ("/api/v1/visits", None),
    ("/bots/", None),  # each checks its platform's signature
    ("/metrics", "metrics"),
    ("/api/v1/chat", "chat"),
    ("/api/v1/feedback", "chat"),
    ("/api/v1/handover", "chat"),
    ("/v1/", "chat"),
    ("/api/v1/", "tools"),
    ("/mcp", "tools"),
)


@dataclass(frozen=True)
class Caller:
    """Somebody who may call. `subject` names them in logs, rates and the store, without personal data."""

    kind: Kind
    subject: str
    scopes: frozenset[Scope] = frozenset(SCOPES)
    origin: str = ""  # of the page that shows the widget

    def may(self, scope: Scope | None) -> bool:
        return scope is None or scope in self.scopes


def scope_of(path: str) -> Scope | None:
    """The scope that a path asks for; None when anybody may call it."""
    for prefix, scope in _PATHS:
        whole = prefix.endswith("/")
        if path.startswith(prefix) if whole else path == prefix or path.startswith(f"{prefix}/"):
            return scope
    return "page"
