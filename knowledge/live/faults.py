"""What can go wrong with one question to the API, sorted by what to do about it."""

from __future__ import annotations

import re
from typing import Literal

Kind = Literal[
    "throttled",  # ask again later
    "unreachable",  # no answer, or one that no program can read: ask again
    "credentials",  # the key is wrong: stop
    "forbidden",  # the key may not ask this: leave the action out
    "region",  # not open to this account: leave the region out
    "not_sold",  # an answer: the type is not sold there in this way
    "disk",  # the type does not take this system disk: try another
    "unusable",  # an answer without the figure that was asked for
    "refused",  # any other refusal
]
_CREDENTIALS = (
    "InvalidAccessKeyId", "InvalidCredentials", "InvalidSecurityToken", "MissingAccessKeyId",
    "MissingSecurityToken", "SignatureDoesNotMatch", "IncompleteSignature", "InvalidTimeStamp",
)  # fmt: skip
_FORBIDDEN = ("Forbidden", "NoPermission", "NotAuthorized")
_NOT_SOLD = ("InvalidInstanceType", "InstanceType.Offline", "PriceNotFound")


class Fault(Exception):
    """A question without a usable answer. Its text is our own: nothing of the request or the answer's prose,
    either of which may hold parts of a key, ever gets into it."""

    def __init__(self, kind: Kind, what: str, retry_after_s: float | None = None) -> None:
        self.kind: Kind = kind
        self.what = what
        self.retry_after_s = retry_after_s
        super().__init__(what)


def fault_of(code: str, status: int, retry_after_ms: int | None = None) -> Fault:
    """The fault behind an error code and HTTP status of the API."""
    shown = code if re.fullmatch(r"[A-Za-z][A-Za-z0-9._-]{0,79}", code) else f"HTTP {status}"
    seconds = None if retry_after_ms is None else retry_after_ms / 1000
    return Fault(_kind_of(code, status), shown, seconds)


def _kind_of(code: str, status: int) -> Kind:
    if code.startswith("Throttling") or status == 429:
        return "throttled"
    if code.startswith(_CREDENTIALS):
        return "credentials"
    if code.startswith("InvalidSystemDiskCategory"):
        return "disk"
    if code.startswith(_NOT_SOLD):
        return "not_sold"
    if code.startswith(("RegionUnauthorized", "InvalidRegionId")):
        return "region"
    if status >= 500:
        return "unreachable"
    return "forbidden" if status == 403 or code.startswith(_FORBIDDEN) else "refused"
