"""Small readings of an ASGI scope that several parts need."""

from __future__ import annotations

from typing import Any

from starlette.types import Scope

_DIGITS = 18


def path_of(scope: Scope) -> str:
    """The path without the prefix of a proxy, whether or not the proxy strips it."""
    path, root = str(scope["path"]), str(scope.get("root_path", "")).rstrip("/")
    return path[len(root) :] or "/" if root and (path == root or path.startswith(f"{root}/")) else path


def put_below(scope: Scope, root: str) -> None:
    """Says that the service is mounted below `root`, as ASGI wants it: the path begins with the root path."""
    if root:
        scope["root_path"] = root
        if not (scope["path"] == root or scope["path"].startswith(f"{root}/")):
            scope["path"] = root + scope["path"]


def whole(text: str) -> int | None:
    """The whole number that a header states; None for other text. `isdigit` takes "²" too, for which `int`
    raises, as it does for thousands of digits."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _DIGITS else None


def state_of(scope: Scope) -> dict[str, Any]:
    """The request's own values; `request.state` shows the same."""
    state: dict[str, Any] = scope.setdefault("state", {})
    return state
