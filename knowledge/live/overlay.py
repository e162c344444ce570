"""The overlay: live and imported rows beside the shipped tables, in one SQLite file; here it is only read."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

from knowledge.errors import InputError
from knowledge.live.rows import LivePrice, LiveRegion, LiveType, SavingsPlanRate, SpotAdvice, Stock
from knowledge.rows import Row

DEFAULT_FOLDER = Path(__file__).resolve().parents[2] / ".state" / "overlay"
FILE_NAME = "live.sqlite"
SCHEMA_VERSION = 1
KINDS: Mapping[str, type[Row]] = {
    "price": LivePrice,
    "type": LiveType,
    "region": LiveRegion,
    "stock": Stock,
    "spot_advice": SpotAdvice,
    "savings_rate": SavingsPlanRate,
}
STOCK_GOOD_FOR = timedelta(minutes=30)  # after that nobody can say what is on the shelf
_CHECK_EVERY_S = 1.0
_CHANGE_COUNTER = slice(24, 28)  # of the file header: SQLite counts committed transactions there

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class StepRecord:
    """When one question to the API was last answered, and how: answered, not_sold or failed."""

    at: datetime
    outcome: str
    detail: str = ""


@dataclass(frozen=True)
class Snapshot:
    """All rows of the overlay at one moment."""

    prices: tuple[LivePrice, ...] = ()
    types: tuple[LiveType, ...] = ()
    regions: tuple[LiveRegion, ...] = ()
    stock: tuple[Stock, ...] = ()
    spot_advice: tuple[SpotAdvice, ...] = ()
    savings_rates: tuple[SavingsPlanRate, ...] = ()
    steps: Mapping[str, StepRecord] = field(default_factory=dict)

    @cached_property
    def prices_by_type(self) -> Mapping[str, Sequence[LivePrice]]:
        table: dict[str, list[LivePrice]] = {}
        for row in self.prices:
            table.setdefault(row.instance_type, []).append(row)
        return table

    @cached_property
    def stock_by_place(self) -> Mapping[tuple[str, str], Stock]:
        return {(row.instance_type, row.region_id): row for row in self.stock}


class Overlay:
    """Live rows of a folder, read again when a refresh has changed them; empty without folder or file.

    Answers must not fail because of a damaged overlay: it is logged once and left out.
    """

    def __init__(self, folder: Path | None, check_every_s: float = _CHECK_EVERY_S) -> None:
        self._path = None if folder is None else folder / FILE_NAME
        self._check_every_s = check_every_s
        self._checked_at = -check_every_s
        self._version: object = None
        self._snapshot = Snapshot()
        self._edition = 0

    @property
    def edition(self) -> int:
        """Grows when a refresh has changed the rows: what was worked out from older ones no longer holds."""
        _ = self.snapshot
        return self._edition

    @property
    def snapshot(self) -> Snapshot:
        """The rows of now: frozen, so that one reader sees one state."""
        now = time.monotonic()
        if self._path is not None and now - self._checked_at >= self._check_every_s:
            self._checked_at = now
            version = _version_of(self._path)
            if version != self._version:
                self._snapshot = _read_or_empty(self._path)
                self._version = version
                self._edition += 1
        return self._snapshot

    def prices_of(self, instance_type: str) -> Sequence[LivePrice]:
        """Every live or imported price of a type, comparable or not."""
        return self.snapshot.prices_by_type.get(instance_type, ())

    def stock(self, instance_type: str, region_id: str, now: datetime | None = None) -> Stock | None:
        """What was on the shelf when last asked; None where nobody asked or, with `now`, too long ago."""
        found = self.snapshot.stock_by_place.get((instance_type, region_id))
        if found is None or (now is not None and now - found.checked_at > STOCK_GOOD_FOR):
            return None
        return found

    def spot_advice(self, instance_type: str, region_id: str) -> tuple[SpotAdvice, ...]:
        """Average spot level and release rate by zone; empty where unknown."""
        place = (instance_type, region_id)
        return tuple(row for row in self.snapshot.spot_advice if (row.instance_type, row.region_id) == place)

    def savings_rates(self, family: str, region_id: str) -> tuple[SavingsPlanRate, ...]:
        """Rates of savings plans for a family; empty where nobody asked or none is offered."""
        rows = self.snapshot.savings_rates
        return tuple(row for row in rows if (row.family, row.region_id) == (family, region_id))


def read_overlay(folder: Path) -> Snapshot:
    """All rows of the overlay in `folder`, empty if there is none; `InputError` if the file is no overlay."""
    import sqlite3  # only where an overlay exists: the calculators' door starts without it

    path = folder / FILE_NAME
    if not path.exists():
        return Snapshot()
    try:
        # "rw" does not create; it lets SQLite undo what a killed writer left half done.
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True, timeout=30)) as db:
            db.execute("BEGIN")
            if db.execute("PRAGMA user_version").fetchone()[0] != SCHEMA_VERSION:
                raise InputError("overlay", str(path), "written by another version: delete it and sync again")
            rows = db.execute("SELECT kind, row FROM rows ORDER BY step, rowid").fetchall()
            steps = db.execute("SELECT step, at, outcome, detail FROM steps").fetchall()
        found: dict[str, list[Row]] = {kind: [] for kind in KINDS}
        for kind, row in rows:
            found[kind].append(KINDS[kind].model_validate_json(row))
        records = {
            step: StepRecord(datetime.fromisoformat(at), outcome, detail)
            for step, at, outcome, detail in steps
        }
    except (sqlite3.Error, ValidationError, KeyError, ValueError):
        raise InputError("overlay", str(path), "no readable overlay: delete it and sync again") from None
    return Snapshot(
        prices=tuple(found["price"]),  # type: ignore[arg-type]
        types=tuple(found["type"]),  # type: ignore[arg-type]
        regions=tuple(found["region"]),  # type: ignore[arg-type]
        stock=tuple(found["stock"]),  # type: ignore[arg-type]
        spot_advice=tuple(found["spot_advice"]),  # type: ignore[arg-type]
        savings_rates=tuple(found["savings_rate"]),  # type: ignore[arg-type]
        steps=records,
    )


def _read_or_empty(path: Path) -> Snapshot:
    try:
        return read_overlay(path.parent)
    except InputError as error:
        log.warning("the overlay is left out: %s", error)
        return Snapshot()


def _version_of(path: Path) -> object:
    """Changes with every committed transaction; None without a file."""
    try:
        with path.open("rb") as file:
            return path.stat().st_ino, file.read(_CHANGE_COUNTER.stop)[_CHANGE_COUNTER]
    except OSError:
        return None
