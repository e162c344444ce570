"""What the desk sees of a week: what was asked, what went unanswered, what was disliked; export as cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel
from sqlalchemy import select

from serving.records import LOW_CONFIDENCE
from serving.store import Store
from serving.store.tables import Feedback, HandOver, Question

_SHOWN = 20
_UNANSWERED = ("failed", "not_known", "clarify", "out_of_scope", "empty")


class Noted(BaseModel):
    """A question to look at, and why."""

    at: datetime
    channel: str
    kind: str
    why: str
    question: str
    comment: str = ""


class DeskReport(BaseModel):
    """Counts of a period, and the questions that the desk should look at, newest first."""

    days: int
    questions: int
    by_kind: dict[str, int]
    by_channel: dict[str, int]
    by_language: dict[str, int]
    by_outcome: dict[str, int]
    fallbacks: dict[str, int]
    seconds_p50: float | None
    seconds_p95: float | None
    thumbs_up: int
    thumbs_down: int
    handovers: dict[str, int]
    unanswered: list[Noted]
    unsure: list[Noted]
    disliked: list[Noted]


def make_report(store: Store, days: int, now: datetime | None = None) -> DeskReport:
    """The report of the last `days` days. Raises `StoreDown`."""
    since = (now or datetime.now(UTC)) - timedelta(days=days)
    with store.session() as session:
        questions = session.scalars(
            select(Question).where(Question.at >= since).order_by(Question.at.desc())
        ).all()
        thumbs = session.scalars(
            select(Feedback).where(Feedback.at >= since).order_by(Feedback.at.desc())
        ).all()
        cases = session.scalars(select(HandOver).where(HandOver.at >= since)).all()
        rated = {
            row.id: row
            for row in session.scalars(
                select(Question).where(Question.id.in_({thumb.answer_id for thumb in thumbs}))
            )
        }
    times = sorted(row.seconds for row in questions if row.outcome != "failed")
    down = [(thumb, rated.get(thumb.answer_id)) for thumb in thumbs if thumb.rating == "down"]
    return DeskReport(
        days=days,
        questions=len(questions),
        by_kind=_counts(row.kind or "failed" for row in questions),
        by_channel=_counts(row.channel for row in questions),
        by_language=_counts(row.language or "-" for row in questions),
        by_outcome=_counts(row.outcome for row in questions),
        fallbacks=_counts(code for row in questions for code in row.notices),
        seconds_p50=_quantile(times, 0.5),
        seconds_p95=_quantile(times, 0.95),
        thumbs_up=sum(thumb.rating == "up" for thumb in thumbs),
        thumbs_down=len(down),
        handovers=_counts(case.status for case in cases),
        unanswered=[_noted(row, row.outcome) for row in questions if row.outcome in _UNANSWERED][:_SHOWN],
        unsure=[
            _noted(row, f"confidence {row.confidence:.2f}")
            for row in questions
            if row.outcome == "answered" and row.confidence < LOW_CONFIDENCE
        ][:_SHOWN],
        disliked=[_noted(row, "thumb down", thumb.comment) for thumb, row in down if row is not None][
            :_SHOWN
        ],
    )


def report_text(report: DeskReport) -> str:
    """The report for people, as Markdown."""
    lines = [f"# {report.questions} questions in {report.days} days", ""]
    for title, counts in (
        ("kind", report.by_kind),
        ("channel", report.by_channel),
        ("language", report.by_language),
        ("outcome", report.by_outcome),
        ("model replaced by the built-in answer", report.fallbacks),
        ("hand-overs", report.handovers),
    ):
        if counts:
            lines.append(f"- {title}: {', '.join(f'{name} {count}' for name, count in counts.items())}")
    if report.seconds_p50 is not None:
        lines.append(f"- seconds: median {report.seconds_p50:.2f}, 95 % {report.seconds_p95:.2f}")
    lines.append(f"- thumbs: {report.thumbs_up} up, {report.thumbs_down} down")
    for title, noted in (
        ("Not answered", report.unanswered),
        ("Answered, but not sure", report.unsure),
        ("Thumbs down", report.disliked),
    ):
        if noted:
            lines += ["", f"## {title}", ""]
            lines += map(_line, noted)
    return "\n".join(lines)


def _line(item: Noted) -> str:
    comment = f" — {item.comment!r}" if item.comment else ""
    head = f"{item.at:%Y-%m-%d %H:%M} {item.channel}, {item.kind or '-'}, {item.why}"
    return f"- {head}: {item.question[:200]!r}{comment}"


def write_cases(store: Store, days: int, path: Path, now: datetime | None = None) -> int:
    """Writes unanswered, unsure and disliked questions as cases of the evaluation set; their `must` lines are
    for a person to fill in. Gives how many."""
    since = (now or datetime.now(UTC)) - timedelta(days=days)
    with store.session() as session:
        down = {
            thumb.answer_id: thumb.comment
            for thumb in session.scalars(
                select(Feedback).where(Feedback.rating == "down", Feedback.at >= since)
            )
        }
        rows = session.scalars(select(Question).where(Question.at >= since).order_by(Question.at)).all()
    wanted = [
        row
        for row in rows
        if row.turns and (row.id in down or row.outcome in _UNANSWERED or row.confidence < LOW_CONFIDENCE)
    ]
    cases = [_case(number, row, down.get(row.id)) for number, row in enumerate(wanted, 1)]
    path.write_text(yaml.safe_dump(cases, allow_unicode=True, sort_keys=False, width=110), encoding="utf-8")
    return len(cases)


def _case(number: int, row: Question, comment: str | None) -> dict[str, Any]:
    why = f"thumb down: {comment}" if comment else row.outcome
    case: dict[str, Any] = {
        "id": f"desk-{number:03d}",
        "kind": row.kind or "failed",
        "language": row.language or "en",
        "turns": list(row.turns),
        "source": f"help desk, {row.at:%Y-%m-%d}, {row.channel}, {why}",
    }
    if comment:
        case["must"] = [{"line": comment}]
    return case


def _noted(row: Question, why: str, comment: str = "") -> Noted:
    question = row.turns[-1] if row.turns else ""
    return Noted(at=row.at, channel=row.channel, kind=row.kind, why=why, question=question, comment=comment)


def _counts(names: Any) -> dict[str, int]:
    return dict(Counter(names).most_common())


def _quantile(ordered: Sequence[float], share: float) -> float | None:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None
