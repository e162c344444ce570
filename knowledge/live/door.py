"""The commands of the overlay: sync, import-prices, diff. What each needs is imported when it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from knowledge.catalog import Catalog
from knowledge.live.overlay import DEFAULT_FOLDER, read_overlay
from knowledge.rows import HOME_REGION

INTERRUPTED = 130  # the exit code of a command that was stopped with Ctrl-C

OverlayOption = Annotated[Path, typer.Option("--overlay", help="Folder that holds the live data.")]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object in place of text.")]


def sync(
    region: Annotated[
        list[str] | None, typer.Option(help="Region id or name, or `all`; may be repeated. [cn-hangzhou]")
    ] = None,
    family: Annotated[
        list[str] | None, typer.Option(help="Instance family; may be repeated. [every current type]")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="types, prices, spot, stock or plans; may be repeated. [all but plans]"),
    ] = None,
    purchase: Annotated[
        list[str] | None,
        typer.Option(help="payg, subscription_1m, subscription_1y or subscription_3y. [all]"),
    ] = None,
    force: Annotated[bool, typer.Option(help="Ask again what is still fresh.")] = False,
    account_prices: Annotated[
        bool, typer.Option(help="Keep what your account pays beside list prices: every visitor is shown it.")
    ] = False,
    endpoint: Annotated[str, typer.Option(help="Another host than the official one of the region.")] = "",
    overlay: OverlayOption = DEFAULT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Refresh specifications, prices, spot, stock and savings-plan rates from the official API.

    Credentials come from the default chain of the SDK (environment, profile files, role) and are never
    stored. Exit code 0: all answered; 1: in part (run it again: it goes on from there); 2: wrong input.
    """
    from knowledge.live.ecs import Ecs
    from knowledge.live.lines import sync_lines
    from knowledge.live.plan import wish_of
    from knowledge.live.service import OFFICIAL, Service, endpoint_of
    from knowledge.live.store import Store
    from knowledge.live.sync import sync as refresh

    catalog = Catalog()
    wish = wish_of(catalog, region or [HOME_REGION], family or (), only or (), purchase or ())
    service = Service(endpoint_of(endpoint) if endpoint else OFFICIAL)
    service.check_credentials()
    try:
        with Store(overlay) as store, _progress() as progress:
            report = refresh(
                Ecs(service), store, catalog, wish,
                force=force, account_prices=account_prices, progress=progress,
            )  # fmt: skip
    except KeyboardInterrupt:
        typer.echo("stopped; every answer so far is kept, the same command goes on from there", err=True)
        raise typer.Exit(INTERRUPTED) from None
    typer.echo(report.model_dump_json() if as_json else "\n".join(sync_lines(report, overlay)))
    raise typer.Exit(0 if report.complete else 1)


def import_prices(
    file: Annotated[Path, typer.Argument(help="The vendor's instancePrice.json, or a CSV.")],
    as_of: Annotated[str, typer.Option(help="Date of the prices where the file gives none.")] = "",
    overlay: OverlayOption = DEFAULT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Put the prices of a file into the live data: the vendor's public price file, or a CSV.

    A CSV needs the columns instance_type, region_id, currency and price; all others of prices.csv may follow.
    """
    from knowledge.live.lines import import_lines
    from knowledge.live.price_file import import_prices as put
    from knowledge.live.store import Store

    with Store(overlay) as store:
        report = put(store, file, Catalog(), as_of)
    typer.echo(report.model_dump_json() if as_json else "\n".join(import_lines(report)))


def diff(overlay: OverlayOption = DEFAULT_FOLDER, as_json: JsonOption = False) -> None:
    """What changed between the shipped and the live data: types, families, figures, prices, regions."""
    from knowledge.live.drift import drift
    from knowledge.live.lines import drift_lines

    found = drift(Catalog(), read_overlay(overlay))
    typer.echo(found.model_dump_json() if as_json else "\n".join(drift_lines(found)))


@contextmanager
def _progress() -> Iterator[Callable[[int, int, str], None]]:
    """A progress bar on stderr; silent where nobody watches."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("")

        def show(done: int, total: int, label: str) -> None:
            bar.update(task, completed=done, total=total, description=label.replace("|", " "))

        yield show
