"""What is kept of a question: how it was answered, and its words without personal data."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete

from agent.events import Answer, Failed
from agent.history import turns_of, user_texts
from serving.access.rates import forget_whole
from serving.redact import redact_head
from serving.store import Store
from serving.store.tables import BotTurn, Feedback, HandOver, Question, SeenMessage
from tools.contracts.calls import Fault

LOW_CONFIDENCE = 0.6  # of the least sure thing that was read
_KEPT_TURNS = 8
_KEPT_CHARS = 2_000
_BOT_MEMORY = timedelta(days=1)


def outcome_of(end: Answer | Failed) -> str:
    """answered, clarify, out_of_scope, not_known, empty or failed."""
    if isinstance(end, Failed):
        return "failed"
    if end.reading.intent in ("out_of_scope", "injection"):
        return "out_of_scope"
    if end.reading.intent == "empty":
        return "empty"
    if end.reading.clarify:
        return "clarify"
    missing = any(isinstance(item.report, Fault) and item.report.kind == "not_known" for item in end.reports)
    return "not_known" if missing else "answered"


def confidence_of(answer: Answer) -> float:
    """How sure the least sure thing is that was read from the question, 0 to 1."""
    return min((slot.confidence for slot in answer.reading.slots.values()), default=1.0)


def record_question(
    store: Store, end: Answer | Failed, messages: Sequence[object], channel: str, subject: str, answer_id: str
) -> None:
    """Keeps one question. An id that is there already keeps its first row."""
    turns = [redact_head(text, _KEPT_CHARS) for text in user_texts(turns_of(messages))[-_KEPT_TURNS:]]
    answer = end if isinstance(end, Answer) else None
    row = store.insert(Question).values(
        id=answer_id,
        at=datetime.now(UTC),
        channel=channel,
        subject=subject[:120],
        language=answer.language if answer else "",
        kind=answer.reading.intent if answer else "",
        outcome=outcome_of(end),
        confidence=confidence_of(answer) if answer else 0.0,
        model=answer.model[:100] if answer else "",
        notices=[notice.code for notice in answer.notices] if answer else [],
        seconds=answer.seconds if answer else 0.0,
        turns=turns,
    )
    with store.session() as session:
        session.execute(row.on_conflict_do_nothing())


def prune(store: Store, retention_days: int, now: datetime | None = None) -> int:
    """Deletes what is older than the retention, gives how many rows; 0 days keeps all but bot memory."""
    now = now or datetime.now(UTC)
    gone = 0
    with store.session() as session:
        for short_lived in (SeenMessage, BotTurn):
            gone += session.execute(delete(short_lived).where(short_lived.at < now - _BOT_MEMORY)).rowcount  # type: ignore[attr-defined]
        if retention_days:
            oldest = now - timedelta(days=retention_days)
            for kept in (Question, Feedback, HandOver):
                gone += session.execute(delete(kept).where(kept.at < oldest)).rowcount  # type: ignore[attr-defined]
    forget_whole(store)
    return gone
