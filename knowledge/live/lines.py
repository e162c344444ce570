"""The reports of the overlay's commands in lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from knowledge.live.drift import Drift, NewType, PriceMove
from knowledge.live.reports import ImportReport, SyncReport

_SHOWN = 20  # lines of one kind; --json has all


def sync_lines(report: SyncReport, overlay: Path) -> Iterator[str]:
    """A refresh in lines: counts, currencies, failures, where the data lies."""
    yield (
        f"{report.steps} questions: {report.answered} answered, {report.not_sold} not sold there, "
        f"{report.still_fresh} still fresh, {len(report.failures)} failed, {report.not_asked} not asked"
    )
    if report.currencies:
        yield f"prices in {' and '.join(report.currencies)}"
    yield from _listed("failed", [f"{item.step.replace('|', ' ')}: {item.why}" for item in report.failures])
    if report.stopped:
        yield f"ended early: {report.stopped}; the same command goes on from there"
    yield f"live data: {overlay}"


def import_lines(report: ImportReport) -> Iterator[str]:
    """An import in lines."""
    currencies = f" in {' and '.join(report.currencies)}" if report.currencies else ""
    yield f"{report.imported} prices imported{currencies}, {report.comparable} of them comparable"
    if report.older or report.left_out:
        yield (
            f"left out: {report.older} older than imported ones, "
            f"{report.left_out} of other types, regions or systems"
        )


def drift_lines(found: Drift) -> Iterator[str]:
    """The drift report in lines, what decides on a purchase first."""
    if found.new_types is None:
        yield "types: not asked for yet"
    yield from _listed("new type", [_new_type(row) for row in found.new_types or ()])
    yield from _listed("family no longer listed", found.retired_families or ())
    yield from _listed("type no longer listed", found.missing_types or ())
    yield from _listed(
        "changed",
        [f"{row.instance_type}: {row.field} {row.shipped:g} -> {row.live:g}" for row in found.changed or ()],
    )
    yield from _listed("price moved", [_price_move(row) for row in found.price_moves])
    yield from _listed(
        "no longer sold",
        [f"{row.instance_type} {row.region_id} {row.purchase}" for row in found.no_longer_sold],
    )
    yield from _listed("gets no new machines anywhere asked", found.closing)
    yield from _listed("new region", found.new_regions or ())
    yield f"{found.first_prices} prices where the shipped list has none"


def _new_type(row: NewType) -> str:
    family = f"new family {row.family}" if row.new_family else f"family {row.family}"
    return (
        f"{row.instance_type}: {row.vcpu} vCPU, {row.memory_gib:g} GiB, "
        f"{row.gpu_count:g} x {row.gpu_spec}, {family}"
    )


def _price_move(row: PriceMove) -> str:
    old, new = row.shipped_as_of or "undated", row.now_as_of or "undated"
    return (
        f"{row.instance_type} {row.region_id} {row.purchase}: {row.shipped} ({old}) -> {row.now} "
        f"{row.currency} ({new}), {row.percent:+.1f} %"
    )


def _listed(what: str, lines: Sequence[str]) -> Iterator[str]:
    yield from (f"{what}: {line}" for line in lines[:_SHOWN])
    if len(lines) > _SHOWN:
        yield f"{what}: {len(lines) - _SHOWN} more (--json lists all)"
