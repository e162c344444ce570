"""The database, on SQLite and a real PostgreSQL: the same schema, the same promises when many write."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import func, select

from serving.access.keys import create_key, find_key, list_keys
from serving.access.rates import Allowance, forget_whole, take
from serving.access.sites import add_site, find_site
from serving.access.tokens import open_signer
from serving.bots.bot import BotMessage, _take_on
from serving.records import prune
from serving.report import make_report
from serving.store import Store, StoreDown, open_store
from serving.store.tables import Question, Rate, Table


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'new' / 'desk.db'}"
    fresh: Callable[[], str] = request.getfixturevalue("postgres")
    return fresh()


@pytest.fixture
def opened(url: str) -> Iterator[Store]:
    store = open_store(url)
    yield store
    store.close()


def together(work: Callable[[], object], threads: int) -> list[object]:
    """What `threads` threads get that begin at the same moment."""
    gate, got = threading.Barrier(threads), []

    def run() -> None:
        gate.wait()
        got.append(work())

    all_ = [threading.Thread(target=run) for _ in range(threads)]
    for thread in all_:
        thread.start()
    for thread in all_:
        thread.join()
    return got


def test_migrations_give_the_schema_of_the_tables(opened: Store) -> None:
    with opened.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Table.metadata) == []


def test_replicas_may_start_at_the_same_moment(url: str) -> None:
    stores = together(lambda: open_store(url), 4)
    assert len(stores) == 4
    signers = {open_signer(store).fingerprint("x") for store in stores}
    assert len(signers) == 1, "they share one secret"
    for store in stores:
        store.close()


def test_what_is_kept_is_there_for_another_replica(url: str, opened: Store) -> None:
    key, site = create_key(opened, "desk", ["chat"], days=1), add_site(opened, "Desk", ["https://a.example"])
    other = open_store(url)
    assert find_key(other, key).name == "desk"
    assert find_site(other, site.key) == site
    assert list_keys(other)[0].expires_at > datetime.now(UTC)
    other.close()


def test_two_replicas_cannot_both_take_the_last_call(opened: Store) -> None:
    allowance = Allowance(30)
    now = time.time()
    waits = together(lambda: take(opened, "key:a", allowance, now=now), 12)
    assert [wait == 0 for wait in waits].count(True) == 5
    forget_whole(opened, now + 60)
    with opened.session() as session:
        assert session.scalar(select(func.count()).select_from(Rate)) == 0


def test_a_bot_message_is_taken_on_once(opened: Store) -> None:
    message = BotMessage("webhook", "m-1", "c", "x")
    assert together(lambda: _take_on(opened, message), 8).count(True) == 1


def test_report_and_retention_work(opened: Store) -> None:
    with opened.session() as session:
        session.add(
            Question(
                id="q",
                at=datetime.now(UTC),
                channel="api",
                subject="s",
                language="zh",
                kind="size",
                outcome="answered",
                confidence=0.5,
                model="builtin",
                notices=["model_failed"],
                seconds=0.1,
                turns=["7B LoRA 微调"],
            )
        )
    report = make_report(opened, 1)
    assert report.by_kind == {"size": 1}
    assert report.unsure[0].question == "7B LoRA 微调"
    assert prune(opened, 30, now=datetime(2999, 1, 1, tzinfo=UTC)) == 1


def test_a_database_that_is_away_is_said_so_without_its_password() -> None:
    with pytest.raises(StoreDown) as caught:
        open_store("postgresql://desk:hunter22@127.0.0.1:9/desk")
    assert "127.0.0.1:9" in str(caught.value)
    assert "hunter22" not in str(caught.value)
