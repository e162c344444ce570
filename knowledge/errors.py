"""The two errors that reach a caller; anything else that is raised is a bug."""

from __future__ import annotations

import math
from collections.abc import Sequence


def _writable(text: str) -> str:
    """A text that every encoder takes: halves of a surrogate pair, which JSON may carry, become a mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


class AdvisorError(Exception):
    """Base of the errors a user may see; `str()` is one clear sentence."""

    def payload(self) -> dict[str, object]:
        """The error as the `error` object of every JSON output."""
        raise TypeError("an abstract error has no payload")


class InputError(AdvisorError):
    """What was given cannot be used; says which field, what is allowed, and near matches for names."""

    def __init__(self, field: str, given: object, allowed: str, suggestions: Sequence[str] = ()) -> None:
        self.field = _writable(field)
        self.given = _writable(given) if isinstance(given, str) else given
        self.allowed = allowed
        self.suggestions = tuple(suggestions)
        super().__init__(self._sentence())

    def _sentence(self) -> str:
        shown = repr(self.given)
        if len(shown) > 120:
            shown = shown[:117] + "..."
        text = f"`{self.field}`: {shown} cannot be used; {self.allowed}"
        if self.suggestions:
            text += f"; near matches: {', '.join(self.suggestions)}"
        return text

    def payload(self) -> dict[str, object]:
        given = self.given
        finite = not isinstance(given, float) or math.isfinite(given)
        if not isinstance(given, str | int | float | bool | type(None)) or not finite:
            given = repr(given)
        if isinstance(given, str) and len(given) > 200:
            given = given[:197] + "..."
        return {
            "kind": "input",
            "field": self.field,
            "given": given,
            "allowed": self.allowed,
            "suggestions": list(self.suggestions),
        }


class NotKnown(AdvisorError):
    """A fact that the project does not have: said, never guessed."""

    def __init__(self, field: str, given: object, what: str) -> None:
        self.field = field
        self.given = given
        self.what = what
        super().__init__(f"`{field}`: {what}")

    def payload(self) -> dict[str, object]:
        return {
            "kind": "not_known",
            "field": self.field,
            "given": self.given if isinstance(self.given, str | int | float) else repr(self.given),
            "allowed": self.what,
            "suggestions": [],
        }
