"""The advisor behind the gate: every channel asks here, so all are counted, recorded and shed alike."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Protocol, TypeVar, cast

from anyio import to_thread

from agent.events import Answer, Event, Failed, ToolFinished
from serving.gate import Gate
from serving.metrics import Metrics
from serving.problems import Refused
from serving.records import outcome_of, record_question
from serving.store import Store, StoreDown

log = logging.getLogger(__name__)
T = TypeVar("T")
BUSY = "Too many questions at once; please ask again in a moment. · 提问太多，请稍后再试。"


@asynccontextmanager
async def closing(events: AsyncIterator[T]) -> AsyncIterator[AsyncIterator[T]]:
    """The events; however they are left, their generator ends here and gives its place back, not whenever the
    garbage collector comes by."""
    try:
        yield events
    finally:
        if isinstance(events, AsyncGenerator):
            await events.aclose()


class Asks(Protocol):
    """What the desk needs of an advisor."""

    def ask(self, messages: Iterable[object]) -> AsyncIterator[Event]: ...


class Desk:
    """Asks the advisor for a channel. One desk serves many at a time."""

    def __init__(self, advisor: Asks, store: Store, metrics: Metrics, gate: Gate) -> None:
        self._advisor = advisor
        self._store = store
        self._metrics = metrics
        self._gate = gate

    async def begin(
        self, messages: list[object], *, channel: str, subject: str, answer_id: str
    ) -> AsyncIterator[Event]:
        """The events of one answer, once there is a place for it. Raises `Refused` before the first event."""
        events = self._events(messages, channel, subject, answer_id)
        await anext(events)  # the place is taken; from here on the generator gives it back, whatever happens
        return cast(AsyncIterator[Event], events)

    async def answer(
        self, messages: list[object], *, channel: str, subject: str, answer_id: str
    ) -> Answer | Failed:
        """The end of one answer. Raises `Refused`."""
        events = await self.begin(messages, channel=channel, subject=subject, answer_id=answer_id)
        async with closing(events):
            async for event in events:
                if isinstance(event, Answer | Failed):
                    return event
        raise RuntimeError("a run ends with an answer or a failure")

    async def _events(
        self, messages: list[object], channel: str, subject: str, answer_id: str
    ) -> AsyncGenerator[Event | None, None]:
        """None once the place is taken, then the events."""
        asked = time.perf_counter()
        async with self._gate.place():
            begun = time.perf_counter()
            self._metrics.stage_seconds.labels("wait").observe(begun - asked)
            yield None
            async with closing(self._advisor.ask(messages)) as events:
                async for event in events:
                    if isinstance(event, ToolFinished):
                        self._metrics.stage_seconds.labels(event.name).observe(event.seconds)
                    elif isinstance(event, Answer | Failed):
                        self._metrics.stage_seconds.labels("answer").observe(time.perf_counter() - begun)
                        self._count(event, channel)
                        await self._record(event, messages, channel, subject, answer_id)
                    yield event

    def _count(self, end: Answer | Failed, channel: str) -> None:
        kind = end.reading.intent if isinstance(end, Answer) else ""
        self._metrics.answers.labels(channel, kind, outcome_of(end)).inc()
        if isinstance(end, Answer):
            for notice in end.notices:
                self._metrics.notices.labels(notice.code).inc()
            for direction in ("input_tokens", "output_tokens"):
                self._metrics.tokens.labels(direction).inc(end.usage.get(direction, 0))
            for call in end.model_calls:
                self._metrics.stage_seconds.labels("model").observe(call.seconds)

    async def _record(
        self, end: Answer | Failed, messages: list[object], channel: str, subject: str, answer_id: str
    ) -> None:
        """Before the end is sent, so that feedback finds its question; a lost record loses no answer."""
        try:
            await to_thread.run_sync(record_question, self._store, end, messages, channel, subject, answer_id)
        except StoreDown:
            self._metrics.store_faults.inc()
            log.warning("a question was not recorded: the database is away")


class PageAdvisor:
    """The desk in the shape of an advisor, for the chat page."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def ask(self, messages: Iterable[object]) -> AsyncIterator[Event]:
        """As `Advisor.ask`; a refusal for want of a place is a `Failed`."""
        answer_id = uuid.uuid4().hex
        try:
            events = await self._desk.begin(
                list(messages), channel="page", subject="page", answer_id=answer_id
            )
        except Refused:
            yield Failed(BUSY, answer_id[:8])
            return
        async with closing(events):
            async for event in events:
                yield event
