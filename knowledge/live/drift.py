"""The drift report: what the overlay knows that the shipped facts do not say, or say otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, ConfigDict, PlainSerializer

from knowledge.catalog import Catalog
from knowledge.errors import NotKnown
from knowledge.live.overlay import Snapshot
from knowledge.live.rows import LivePrice, LiveType
from knowledge.price_book import freshest
from knowledge.rows import Instance, Purchase

_Money = Annotated[Decimal, PlainSerializer(float, return_type=float, when_used="json")]
_SMALL_PERCENT = 0.5  # rounding of list prices, not a move


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class NewType(_Part):
    """A GPU type that the API lists and the catalog does not; `new_family` if it knows none of its kind."""

    instance_type: str
    family: str
    new_family: bool
    vcpu: int
    memory_gib: float
    gpu_spec: str
    gpu_count: float


class ChangedFigure(_Part):
    """A figure of a type on which the catalog and the API disagree."""

    instance_type: str
    field: str
    shipped: float
    live: float


class PriceMove(_Part):
    """A price now against the shipped one; list price against list price where the quote has it."""

    instance_type: str
    region_id: str
    purchase: str
    currency: str
    shipped: _Money
    shipped_as_of: str
    now: _Money
    now_as_of: str
    percent: float


class NoLongerSold(_Part):
    """A type with a shipped price for a region that, says the API, does not sell it in this way."""

    instance_type: str
    region_id: str
    purchase: str


class Drift(_Part):
    """Everything that moved; a part is None where the overlay does not know, empty where nothing moved."""

    new_types: tuple[NewType, ...] | None = None
    missing_types: tuple[str, ...] | None = None  # shipped as current, no longer listed
    retired_families: tuple[str, ...] | None = None  # families of which all current types are missing
    changed: tuple[ChangedFigure, ...] | None = None
    price_moves: tuple[PriceMove, ...] = ()
    first_prices: int = 0  # prices of the overlay where the shipped list has none
    no_longer_sold: tuple[NoLongerSold, ...] = ()
    closing: tuple[str, ...] = ()  # no zone of any asked region gets new machines of these types
    new_regions: tuple[str, ...] | None = None


def drift(shipped: Catalog, live: Snapshot) -> Drift:
    """Compares the shipped facts with a snapshot. Raises `NotKnown` for an empty one."""
    if not (live.steps or live.prices):
        raise NotKnown("overlay", None, "no live data yet: run `python -m knowledge sync`")
    moves, first = _prices(shipped, live.prices)
    regions = {row.region_id for row in shipped.regions}
    types = _types(shipped, live.types) if live.types else {}
    return Drift.model_validate(
        {
            **types,
            "price_moves": moves,
            "first_prices": first,
            "no_longer_sold": tuple(_no_longer_sold(shipped, live)),
            "closing": _closing(live),
            "new_regions": tuple(sorted({row.region_id for row in live.regions} - regions))
            if live.regions
            else None,
        }
    )


def _types(shipped: Catalog, live: Iterable[LiveType]) -> dict[str, object]:
    known = {row.instance_type: row for row in shipped.instances}
    listed = {row.instance_type: row for row in live}
    current = [row for row in shipped.instances if row.status == "current"]
    missing = [row for row in current if row.instance_type not in listed]
    alive = {row.family for row in current if row.instance_type in listed}
    return {
        "new_types": tuple(
            NewType(
                new_family=row.family not in shipped.families,
                **row.model_dump(exclude={"source", "as_of"}),
            )
            for name, row in sorted(listed.items())
            if name not in known
        ),
        "missing_types": tuple(sorted(row.instance_type for row in missing)),
        "retired_families": tuple(sorted({row.family for row in missing} - alive)),
        "changed": tuple(
            change for name, row in known.items() if name in listed for change in _changes(row, listed[name])
        ),
    }


def _changes(shipped: Instance, live: LiveType) -> Iterator[ChangedFigure]:
    figures = {"vcpu": (shipped.vcpu, live.vcpu), "memory_gib": (shipped.memory_gib, live.memory_gib)}
    if shipped.whole_gpus and live.gpu_count:  # the API counts a slice as one GPU, or as none
        figures["gpu_count"] = (shipped.gpu_count, live.gpu_count)
    for field, (ours, theirs) in figures.items():
        if abs(ours - theirs) > 0.01:
            yield ChangedFigure(instance_type=shipped.instance_type, field=field, shipped=ours, live=theirs)


def _prices(shipped: Catalog, live: Iterable[LivePrice]) -> tuple[tuple[PriceMove, ...], int]:
    """Moves, the largest first, and how many prices are the first for their type, region and option."""
    places: dict[tuple[str, str, Purchase, str], list[LivePrice]] = {}
    for row in live:
        if row.comparable and row.purchase != "spot":  # spot moves by the hour
            places.setdefault((row.instance_type, row.region_id, row.purchase, row.currency), []).append(row)
    moves, first = [], 0
    for (name, region, purchase, currency), rows in places.items():
        old, new = shipped.price(name, region, purchase, currency), freshest(rows)
        assert isinstance(new, LivePrice)
        if old is None:
            first += 1
            continue
        amount = new.price
        percent = float(100 * (amount / old.price - 1))
        if abs(percent) >= _SMALL_PERCENT:
            moves.append(
                PriceMove(
                    instance_type=name,
                    region_id=region,
                    purchase=purchase,
                    currency=currency,
                    shipped=old.price,
                    shipped_as_of=old.as_of,
                    now=amount,
                    now_as_of=new.as_of,
                    percent=round(percent, 2),
                )
            )
    return tuple(sorted(moves, key=lambda move: -abs(move.percent))), first


def _no_longer_sold(shipped: Catalog, live: Snapshot) -> Iterator[NoLongerSold]:
    for step, record in sorted(live.steps.items()):
        action, *about = step.split("|")
        if action == "DescribePrice" and record.outcome == "not_sold":
            region, name, purchase = about
            if any(
                row.region_id == region and row.purchase == purchase and row.comparable
                for row in shipped.price_rows(name)
            ):
                yield NoLongerSold(instance_type=name, region_id=region, purchase=purchase)


def _closing(live: Snapshot) -> tuple[str, ...]:
    """Types that some region still carries, none with new machines."""
    offered = [row for row in live.stock if row.offered]
    kept = {row.instance_type for row in offered if not row.closing}
    return tuple(sorted({row.instance_type for row in offered} - kept))
