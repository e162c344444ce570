"""The door of the facts: check, refresh and compare them."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from knowledge.add_model import add_model
from knowledge.catalog import Catalog
from knowledge.errors import AdvisorError
from knowledge.integrity import counts, faults
from knowledge.live.door import diff, import_prices, sync

app = typer.Typer(add_completion=False, no_args_is_help=True, help=__doc__, pretty_exceptions_enable=False)


@app.callback()
def door() -> None:
    """Facts of Alibaba Cloud GPU instances: integrity, refresh, imports."""


@app.command()
def check(as_json: Annotated[bool, typer.Option("--json")] = False) -> None:
    """Load every row and guide and check units, ranges, joins, dates and duplicates."""
    catalog = Catalog()
    try:
        rows, found = counts(catalog), faults(catalog)
    except AdvisorError as error:
        rows, found = {}, [str(error)]
    if as_json:
        print(json.dumps({"rows": rows, "faults": found}, ensure_ascii=False))
    else:
        for table, number in rows.items():
            print(f"{table:14} {number:5} rows")
        print("\n".join(found) if found else "no fault found")
    raise typer.Exit(1 if found else 0)


app.command("sync")(sync)
app.command("add-model")(add_model)
app.command("import-prices")(import_prices)
app.command("diff")(diff)


def main() -> None:
    try:
        app()
    except AdvisorError as error:
        typer.echo(str(error), err=True)
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
