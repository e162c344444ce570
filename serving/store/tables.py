"""The tables, one class each. Times are aware and in UTC."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, DateTime, Dialect, Float, Index, Integer, String, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator


class UtcTime(TypeDecorator[datetime]):
    """An aware time. SQLite keeps no zone, so it goes in as UTC and comes back as UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, _dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, _dialect: Dialect) -> datetime | None:
        return value if value is None or value.tzinfo else value.replace(tzinfo=UTC)


class Table(DeclarativeBase):
    """Base of all tables."""

    type_annotation_map = {
        datetime: UtcTime,
        list[str]: JSON,
        list[dict[str, str]]: JSON,
        dict[str, Any]: JSON,
    }


class ApiKey(Table):
    """A program's key; of its secret only the SHA-256 is kept (it has 256 random bits: no salt is needed)."""

    __tablename__ = "api_keys"

    id: Mapped[str] = mapped_column(String(16), primary_key=True)
    name: Mapped[str] = mapped_column(String(100))
    secret_sha256: Mapped[str] = mapped_column(String(64))
    scopes: Mapped[list[str]]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class Site(Table):
    """A web site that may show the widget. Its key is public; the origins are what protects it."""

    __tablename__ = "sites"

    key: Mapped[str] = mapped_column(String(40), primary_key=True)
    name: Mapped[str] = mapped_column(String(100))
    origins: Mapped[list[str]]
    created_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]


class Secret(Table):
    """A value that all replicas share, made by the first that needs it."""

    __tablename__ = "secrets"

    name: Mapped[str] = mapped_column(String(40), primary_key=True)
    value: Mapped[str] = mapped_column(String(100))


class Rate(Table):
    """When a caller's allowance is whole again, in seconds since 1970."""

    __tablename__ = "rates"

    bucket: Mapped[str] = mapped_column(String(120), primary_key=True)
    whole_at: Mapped[float] = mapped_column(Float)


class SeenMessage(Table):
    """A bot message that has been taken on; platforms deliver one again until it is acknowledged."""

    __tablename__ = "seen_messages"

    channel: Mapped[str] = mapped_column(String(20), primary_key=True)
    message_id: Mapped[str] = mapped_column(String(200), primary_key=True)
    at: Mapped[datetime]


class BotTurn(Table):
    """A turn of a bot's conversation: platforms send one message at a time, follow-ups need the others."""

    __tablename__ = "bot_turns"
    __table_args__ = (Index("bot_turns_of", "channel", "conversation", "id"),)

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=True)
    channel: Mapped[str] = mapped_column(String(20))
    conversation: Mapped[str] = mapped_column(String(200))
    role: Mapped[str] = mapped_column(String(10))
    text: Mapped[str] = mapped_column(Text)
    at: Mapped[datetime]


class Question(Table):
    """One question and how it was answered, without personal data; what the report counts."""

    __tablename__ = "questions"
    __table_args__ = (Index("questions_at", "at"),)

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    at: Mapped[datetime]
    channel: Mapped[str] = mapped_column(String(20))
    subject: Mapped[str] = mapped_column(String(120))
    language: Mapped[str] = mapped_column(String(5))
    kind: Mapped[str] = mapped_column(String(20))
    outcome: Mapped[str] = mapped_column(String(20))
    confidence: Mapped[float] = mapped_column(Float)
    model: Mapped[str] = mapped_column(String(100))
    notices: Mapped[list[str]]
    seconds: Mapped[float] = mapped_column(Float)
    turns: Mapped[list[str]]


class Feedback(Table):
    """Somebody's thumb for an answer, the last one they gave, with a comment if there was one."""

    __tablename__ = "feedback"

    answer_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    subject: Mapped[str] = mapped_column(String(120), primary_key=True)
    at: Mapped[datetime]
    rating: Mapped[str] = mapped_column(String(4))
    comment: Mapped[str] = mapped_column(Text)


class HandOver(Table):
    """A wish to talk to a person. The contact is kept until the desk has it, no longer."""

    __tablename__ = "handovers"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    at: Mapped[datetime]
    channel: Mapped[str] = mapped_column(String(20))
    subject: Mapped[str] = mapped_column(String(120))
    transcript: Mapped[list[dict[str, str]]]
    comment: Mapped[str] = mapped_column(Text)
    contact: Mapped[str] = mapped_column(String(200))
    context: Mapped[dict[str, Any]]
    status: Mapped[str] = mapped_column(String(10), index=True)  # queued, sent, given_up
    attempts: Mapped[int] = mapped_column(Integer)
    next_at: Mapped[datetime]
    fault: Mapped[str] = mapped_column(String(300))
