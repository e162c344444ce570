"""Writing the overlay: one transaction per answered question, so that a killed refresh leaves it whole."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType

from knowledge.errors import InputError
from knowledge.live.overlay import FILE_NAME, KINDS, SCHEMA_VERSION, Snapshot, StepRecord, read_overlay
from knowledge.rows import Row

# Every row belongs to the step that brought it: a new answer replaces exactly what the old one said.
_SCHEMA = """
CREATE TABLE steps (step TEXT PRIMARY KEY, at TEXT NOT NULL, outcome TEXT NOT NULL, detail TEXT NOT NULL);
CREATE TABLE rows (step TEXT NOT NULL, kind TEXT NOT NULL, row TEXT NOT NULL);
CREATE INDEX rows_by_step ON rows (step);
"""
_KIND_OF = {row_type: kind for kind, row_type in KINDS.items()}


class Store:
    """The overlay of a folder, opened for writing; use as a context manager.

    Raises `InputError` where the folder cannot be written or the file is no overlay of this version.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        path = folder / FILE_NAME
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, timeout=30, isolation_level=None)
        except (OSError, sqlite3.Error) as error:
            raise InputError("overlay", str(folder), f"a folder that can be written ({error})") from None
        try:
            if not path.stat().st_size:
                self._create()
            read_overlay(folder)  # another version, damaged rows: said before anything is asked
        except InputError:
            self._db.close()
            raise

    def _create(self) -> None:
        with self._transaction():
            if self._db.execute("PRAGMA user_version").fetchone()[0] == 0:  # nobody else was faster
                for statement in _SCHEMA.split(";"):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing, also when the process is killed. `InputError` where the disk does not take it."""
        try:
            with self._db:  # commits, or rolls back what an error left half done
                self._db.execute("BEGIN IMMEDIATE")
                yield
        except sqlite3.Error as error:
            raise InputError("overlay", str(self.folder), f"a folder that can be written ({error})") from None

    def record(self, step: str, at: datetime, rows: Iterable[Row], outcome: str = "answered") -> None:
        """Notes the answer of a step and puts its rows in place of those of its last answer."""
        self.record_all({step: rows}, at, outcome)

    def record_all(self, steps: Mapping[str, Iterable[Row]], at: datetime, outcome: str = "answered") -> None:
        """As `record` for many steps at once: all are kept or none."""
        with self._transaction():
            for step, rows in steps.items():
                self._db.execute("DELETE FROM rows WHERE step = ?", (step,))
                self._db.executemany(
                    "INSERT INTO rows VALUES (?, ?, ?)",
                    [(step, _KIND_OF[type(row)], row.model_dump_json(exclude_defaults=True)) for row in rows],
                )
                self._note(step, at, outcome, "")

    def record_failure(self, step: str, at: datetime, why: str) -> None:
        """Notes that a step was not answered; what its last answer said stays."""
        with self._transaction():
            self._note(step, at, "failed", why)

    def _note(self, step: str, at: datetime, outcome: str, detail: str) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO steps VALUES (?, ?, ?, ?)", (step, at.isoformat(), outcome, detail)
        )

    def last(self, step: str) -> StepRecord | None:
        """How a step went when it was last asked, or None."""
        found = self._db.execute("SELECT at, outcome, detail FROM steps WHERE step = ?", (step,)).fetchone()
        return None if found is None else StepRecord(datetime.fromisoformat(found[0]), found[1], found[2])

    def is_fresh(self, step: str, now: datetime, good_for: timedelta) -> bool:
        """Whether a step was answered so recently that asking again would bring nothing new."""
        last = self.last(step)
        return last is not None and last.outcome != "failed" and timedelta() <= now - last.at < good_for

    def snapshot(self) -> Snapshot:
        """All rows as they stand."""
        return read_overlay(self.folder)
