"""A circuit breaker: a model service that keeps failing is left alone for a while."""

from __future__ import annotations

import time
from collections.abc import Callable

FAILURES = 3
PAUSE_S = 60.0


class Breaker:
    """Opens after `FAILURES` failures in a row for `PAUSE_S`; then one call tries again."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures = 0
        self._open_until = 0.0

    def open_for_s(self) -> float:
        """Seconds until the next try is allowed; 0 when calls may pass."""
        return max(0.0, self._open_until - self._clock())

    def succeeded(self) -> None:
        self._failures = 0

    def failed(self) -> None:
        self._failures += 1
        if self._failures >= FAILURES:
            self._open_until = self._clock() + PAUSE_S
