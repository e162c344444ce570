"""The signature of what the generic webhook and the hand-over carry, given out and checked."""

from __future__ import annotations

import hashlib
import hmac


def signature(secret: str, at: str, body: bytes) -> str:
    """HMAC-SHA256 of "time.body" under the secret, as the header carries it."""
    return f"sha256={hmac.new(secret.encode(), at.encode() + b'.' + body, hashlib.sha256).hexdigest()}"


def fits(given: str, secret: str, at: str, body: bytes) -> bool:
    """Whether a given signature is the right one; compared in a time that tells nothing."""
    return hmac.compare_digest(signature(secret, at, body).encode(), given.encode())
