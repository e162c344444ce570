"""Opening the database: engine, migrations under a lock, sessions, one kind of error when it is gone."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from filelock import FileLock
from sqlalchemy import URL, Engine, create_engine, event, make_url, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session

from serving.store.tables import Table

log = logging.getLogger(__name__)
MIGRATIONS = Path(__file__).with_name("migrations")
_MIGRATION_LOCK = 726_350_211  # any number that no other program locks on the same PostgreSQL
_CONNECT_TIMEOUT_S = 3
_BUSY_TIMEOUT_MS = 5_000


class StoreDown(Exception):
    """The database cannot be reached or is too busy; what needs it is refused, the rest goes on."""


class Store:
    """Sessions over one engine. Its methods block: call them in a thread from an event loop."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._insert = sqlite.insert if engine.dialect.name == "sqlite" else postgresql.insert

    @contextmanager
    def session(self) -> Iterator[Session]:
        """A transaction: committed at the end, rolled back on an error. Raises `StoreDown`."""
        try:
            with Session(self.engine, expire_on_commit=False) as session, session.begin():
                yield session
        except (OperationalError, InterfaceError, PoolTimeout) as error:
            raise StoreDown(type(error).__name__) from error

    def insert(self, table: type[Table]) -> postgresql.Insert | sqlite.Insert:
        """An insert that knows `on_conflict_do_nothing` and `on_conflict_do_update` in both databases."""
        return self._insert(table)

    def ping(self) -> None:
        """Raises `StoreDown` when the database does not answer."""
        with self.session() as session:
            session.execute(text("select 1"))

    def close(self) -> None:
        self.engine.dispose()


def open_store(url: str) -> Store:
    """The database of a URL, brought to the newest schema. Raises `StoreDown`."""
    engine = _engine(url)
    try:
        with _alone(engine) as connect_to:
            command.upgrade(connect_to, "head")
    except (OperationalError, InterfaceError) as error:
        engine.dispose()
        raise StoreDown(f"{make_url(url).render_as_string(hide_password=True)}: {error.orig}") from error
    return Store(engine)


def _engine(url: str) -> Engine:
    parsed = make_url(url)
    engine = _connected(parsed)
    event.listen(engine, "before_cursor_execute", _storable, retval=True)
    return engine


def _connected(parsed: URL) -> Engine:
    if parsed.get_backend_name() == "sqlite":
        Path(parsed.database or "").parent.mkdir(parents=True, exist_ok=True)
        engine = create_engine(parsed)
        event.listen(engine, "connect", _prepare_sqlite)
        return engine
    if parsed.drivername in ("postgres", "postgresql"):
        parsed = parsed.set(drivername="postgresql+psycopg")
    return create_engine(
        parsed,
        pool_pre_ping=True,  # a restarted server costs one ping, not one failed question
        pool_size=10,
        max_overflow=10,
        pool_timeout=_CONNECT_TIMEOUT_S,
        connect_args={"connect_timeout": _CONNECT_TIMEOUT_S},
    )


def _storable(
    _connection: object, _cursor: object, statement: str, parameters: Any, _context: object, _many: bool
) -> tuple[str, Any]:
    """Parameters that both databases take: PostgreSQL refuses NUL in a text, both half a character."""
    return statement, _plain(parameters)


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_plain(item) for item in value)
    return value


def _prepare_sqlite(connection: object, _record: object) -> None:
    cursor = connection.cursor()  # type: ignore[attr-defined]
    cursor.execute(f"PRAGMA busy_timeout={_BUSY_TIMEOUT_MS}")
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.close()


@contextmanager
def _alone(engine: Engine) -> Iterator[Config]:
    """An alembic configuration over one connection, while no other process migrates."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    lock = _file_lock(engine) if engine.dialect.name == "sqlite" else _server_lock(engine)
    with lock, engine.connect() as connection:
        config.attributes["connection"] = connection
        yield config


def _file_lock(engine: Engine) -> FileLock:
    return FileLock(f"{engine.url.database}.lock")


@contextmanager
def _server_lock(engine: Engine) -> Iterator[None]:
    """An advisory lock; PostgreSQL frees it by itself when this process dies."""
    with engine.connect() as connection:
        connection.execute(text("select pg_advisory_lock(:number)"), {"number": _MIGRATION_LOCK})
        try:
            yield
        finally:
            connection.execute(text("select pg_advisory_unlock(:number)"), {"number": _MIGRATION_LOCK})
