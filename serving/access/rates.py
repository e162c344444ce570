"""How often a caller may ask: one row per caller in the database, so that all replicas count together."""

from __future__ import annotations

import time
from dataclasses import dataclass

from sqlalchemy import case, delete, select

from serving.store import Store
from serving.store.tables import Rate


@dataclass(frozen=True)
class Allowance:
    """So many calls a minute, of which a sixth may come at once (at least five)."""

    per_minute: int

    @property
    def spacing_s(self) -> float:
        return 60 / self.per_minute

    @property
    def burst_s(self) -> float:
        return max(5, self.per_minute / 6) * self.spacing_s


def take(store: Store, bucket: str, allowance: Allowance, now: float | None = None) -> float:
    """Takes one call; 0 if it is allowed, else the seconds to wait. Raises `StoreDown`.

    The generic cell rate algorithm in one statement: `whole_at` moves on by a call's share, and only while it
    is no further ahead than the burst. Two replicas cannot both take the last call.
    """
    now = time.time() if now is None else now
    latest = now + allowance.burst_s - allowance.spacing_s
    next_whole = case((Rate.whole_at > now, Rate.whole_at), else_=now) + allowance.spacing_s
    statement = (
        store.insert(Rate)
        .values(bucket=bucket[:120], whole_at=now + allowance.spacing_s)
        .on_conflict_do_update(
            index_elements=[Rate.bucket], set_={"whole_at": next_whole}, where=Rate.whole_at <= latest
        )
        .returning(Rate.whole_at)
    )
    with store.session() as session:
        if session.execute(statement).first() is not None:
            return 0.0
        whole_at = session.scalar(select(Rate.whole_at).where(Rate.bucket == bucket[:120]))
    return max(allowance.spacing_s, (whole_at or now) - latest)


def forget_whole(store: Store, now: float | None = None) -> None:
    """Drops the rows of callers whose allowance is whole again: the same as having no row."""
    with store.session() as session:
        session.execute(delete(Rate).where(Rate.whole_at < (time.time() if now is None else now)))
