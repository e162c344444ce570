"""How many answers are made at once, how many questions may wait; what is over that is refused quickly."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from serving.metrics import Metrics
from serving.problems import Refused

WAITING_PER_PLACE = 3  # a question waits for at most about so many answers before its own
PATIENCE_S = 3.0
RETRY_AFTER_S = 2


class Gate:
    """Places for answers of one process. Raises `Refused` (503) where none comes free in time."""

    def __init__(self, places: int, metrics: Metrics, patience_s: float = PATIENCE_S) -> None:
        self._places = asyncio.Semaphore(places)
        self._free_to_wait = places * WAITING_PER_PLACE
        self._metrics = metrics
        self._patience_s = patience_s

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """A place for the time of one answer."""
        await self._enter()
        self._metrics.in_flight.inc()
        try:
            yield
        finally:
            self._metrics.in_flight.dec()
            self._places.release()

    async def _enter(self) -> None:
        if self._free_to_wait <= 0:
            raise self._refused()
        self._free_to_wait -= 1
        try:
            async with asyncio.timeout(self._patience_s):
                await self._places.acquire()
        except TimeoutError:
            raise self._refused() from None
        finally:
            self._free_to_wait += 1

    def _refused(self) -> Refused:
        self._metrics.shed.inc()
        return Refused(
            503,
            "Too many questions at once",
            "All places are taken; ask again in a moment.",
            {"Retry-After": str(RETRY_AFTER_S)},
        )
