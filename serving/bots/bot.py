"""What all bots share: take a message on once, answer it after the acknowledgement, remember the talk."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from anyio import to_thread
from sqlalchemy import select

from agent.events import Answer
from serving.desk import BUSY, Desk
from serving.problems import Refused
from serving.redact import redact
from serving.store import Store, StoreDown
from serving.store.tables import BotTurn, SeenMessage

log = logging.getLogger(__name__)
REMEMBERED_TURNS = 12
FAULT = "No answer could be made; the fault is logged. · 未能生成回答，故障已记录。"

Push = Callable[[str], Awaitable[None]]


@dataclass(frozen=True)
class BotMessage:
    """A message as the platform delivered it. The id is the platform's own: the same when it tries again.
    `conversation` names chat and sender: in a group each has a talk of their own."""

    channel: str
    message_id: str
    conversation: str
    text: str

    @property
    def talk(self) -> str:
        """The conversation as the store names it: without the platform's ids of people."""
        return hashlib.sha256(f"{self.channel}:{self.conversation}".encode()).hexdigest()


class BotDesk:
    """Answers bots. An adapter calls `receive` with a message and with how to push its answer."""

    def __init__(self, desk: Desk, store: Store) -> None:
        self._desk = desk
        self._store = store
        self._answering: set[asyncio.Task[None]] = set()

    async def receive(self, message: BotMessage, push: Push) -> bool:
        """Takes a message on and returns at once; False when it was taken on before, by whatever replica. The
        answer is pushed later. Raises `StoreDown`: then the platform must try again."""
        if not await to_thread.run_sync(_take_on, self._store, message):
            return False
        task = asyncio.create_task(self._answer(message, push))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)
        return True

    async def finish(self) -> None:
        """Waits for the answers being made: what was acknowledged is answered before the process ends."""
        while self._answering:
            await asyncio.wait(set(self._answering))

    async def _answer(self, message: BotMessage, push: Push) -> None:
        try:
            text = await self._text(message)
        except Refused:
            text = BUSY
        except Exception:
            log.exception("%s message %s was not answered", message.channel, message.message_id)
            text = FAULT
        try:
            await push(text)
        except Exception:
            log.exception("%s message %s: the answer was not delivered", message.channel, message.message_id)

    async def _text(self, message: BotMessage) -> str:
        talk = await to_thread.run_sync(_remembered, self._store, message)
        end = await self._desk.answer(
            [*talk, {"role": "user", "content": message.text}],
            channel=message.channel,
            subject=message.channel,
            answer_id=uuid.uuid4().hex,
        )
        if isinstance(end, Answer):
            await to_thread.run_sync(_remember, self._store, message, end.text)
        return end.text


def _take_on(store: Store, message: BotMessage) -> bool:
    row = store.insert(SeenMessage).values(
        channel=message.channel, message_id=message.message_id[:200], at=datetime.now(UTC)
    )
    with store.session() as session:
        taken = session.execute(row.on_conflict_do_nothing().returning(SeenMessage.message_id)).first()
    return taken is not None


def _remembered(store: Store, message: BotMessage) -> list[object]:
    """Earlier turns, oldest first; none when the database is away."""
    turns = (
        select(BotTurn)
        .where(BotTurn.channel == message.channel, BotTurn.conversation == message.talk)
        .order_by(BotTurn.id.desc())
        .limit(REMEMBERED_TURNS)
    )
    try:
        with store.session() as session:
            return [{"role": row.role, "content": row.text} for row in reversed(session.scalars(turns).all())]
    except StoreDown:
        return []


def _remember(store: Store, message: BotMessage, answer: str) -> None:
    now = datetime.now(UTC)
    try:
        with store.session() as session:
            for role, text in (("user", redact(message.text)), ("assistant", answer)):
                session.add(
                    BotTurn(
                        channel=message.channel,
                        conversation=message.talk,
                        role=role,
                        text=text,
                        at=now,
                    )
                )
    except StoreDown:
        log.warning("a turn was not remembered: the database is away")
