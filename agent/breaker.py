"""A circuit breaker: a model service that keeps failing is left alone for a while."""

from __future__ import annotations

import time
from collections.abc import Callable

FAILURES = 3
PAUSE_S = 60.0


class Breaker:
    """Opens after `FAILURES` failures in a row for `PAUSE_S`; then one call at a time tries again, until one
    succeeds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures = 0
        self._open_until = 0.0

    def admits(self) -> bool:
        """Whether a call may pass. After a pause the first to ask may, the others wait for how it ends."""
        if self._failures < FAILURES:
            return True
        if self._clock() < self._open_until:
            return False
        self._open_until = self._clock() + PAUSE_S  # for all others, and for a try that never ends
        return True

    def succeeded(self) -> None:
        self._failures = 0

    def failed(self) -> None:
        self._failures += 1
        if self._failures >= FAILURES:
            self._open_until = self._clock() + PAUSE_S
