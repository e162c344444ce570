"""The desk's door: keys, sites, the report, migrations, and the MCP server on standard input and output."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from knowledge.errors import AdvisorError
from serving.access.keys import SCOPES, create_key, list_keys, revoke_key
from serving.access.sites import SiteShown, add_site, list_sites, remove_site
from serving.store import Store, StoreDown, open_store
from settings import Settings

app = typer.Typer(help=__doc__, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
keys = typer.Typer(help="API keys.", no_args_is_help=True)
sites = typer.Typer(help="Web sites that may show the widget.", no_args_is_help=True)
app.add_typer(keys, name="keys")
app.add_typer(sites, name="sites")
Json = Annotated[bool, typer.Option("--json", help="one JSON object")]


@keys.command("create")
def keys_create(
    name: str,
    scope: Annotated[
        list[str] | None,
        typer.Option(help=f"{', '.join(SCOPES)}; may be given again; chat and tools without"),
    ] = None,
    days: Annotated[int | None, typer.Option(min=1, help="days until it ends; without it never")] = None,
) -> None:
    """Makes a key and prints it once. From the first key on, loopback is no longer open."""
    with _store() as store:
        print(create_key(store, name, scope or ["chat", "tools"], days))


@keys.command("list")
def keys_list(as_json: Json = False) -> None:
    """All keys, without their secrets."""
    with _store() as store:
        found = list_keys(store)
    now = datetime.now(UTC)
    for key in found:
        state = "works" if key.works_at(now) else "revoked" if key.revoked_at else "expired"
        ends = key.expires_at.date().isoformat() if key.expires_at else "-"
        values = {"id": key.id, "name": key.name, "scopes": list(key.scopes), "ends": ends, "state": state}
        print(json.dumps(values, ensure_ascii=False) if as_json else "\t".join(map(_plain, values.values())))


@keys.command("revoke")
def keys_revoke(key_id: str) -> None:
    """Ends a key at once, with every session that was opened with it."""
    with _store() as store:
        revoke_key(store, key_id)


@sites.command("add")
def sites_add(
    name: str,
    origin: Annotated[
        list[str], typer.Option(help="https://desk.example.com, https://*.example.com; may be given again")
    ],
) -> None:
    """Makes a site and prints the line for its pages."""
    settings = Settings()
    with _store() as store:
        site = add_site(store, name, origin)
    print(_tag(site, settings))


@sites.command("list")
def sites_list(as_json: Json = False) -> None:
    """All sites with their keys and origins."""
    with _store() as store:
        found = list_sites(store)
    for site in found:
        state = "removed" if site.revoked else "works"
        values = {"key": site.key, "name": site.name, "origins": list(site.origins), "state": state}
        print(json.dumps(values, ensure_ascii=False) if as_json else "\t".join(map(_plain, values.values())))


@sites.command("remove")
def sites_remove(key: str) -> None:
    """Ends a site; visits already begun end within 15 minutes."""
    with _store() as store:
        remove_site(store, key)


@app.command()
def report(
    days: Annotated[int, typer.Option(min=1)] = 7,
    as_json: Json = False,
    cases: Annotated[
        Path | None, typer.Option(help="write what went wrong as evaluation cases (YAML)")
    ] = None,
) -> None:
    """Questions by kind, unanswered and unsure ones, thumbs down, hand-overs: what the desk should add."""
    from serving.report import make_report, report_text, write_cases

    with _store() as store:
        made = make_report(store, days)
        if cases is not None:
            written = write_cases(store, days, cases)
            print(f"{written} cases in {cases}", file=sys.stderr)
    print(made.model_dump_json(indent=2) if as_json else report_text(made))


@app.command()
def migrate() -> None:
    """Brings the database to the newest schema; starting the service does the same."""
    with _store() as store:
        print(store.engine.url.render_as_string(hide_password=True))


@app.command("prune")
def prune_now(days: Annotated[int | None, typer.Option(min=1)] = None) -> None:
    """Deletes what is older than the retention; the service does it every six hours."""
    from serving.records import prune

    with _store() as store:
        print(prune(store, Settings().retention_days if days is None else days))


@app.command()
def mcp() -> None:
    """The MCP server on standard input and output, for a local client."""
    from serving.mcp_server import run_on_stdio

    run_on_stdio(Settings())


@contextmanager
def _store() -> Iterator[Store]:
    store = open_store(Settings().store_url)
    try:
        yield store
    finally:
        store.close()


def _plain(value: Any) -> str:
    return ",".join(value) if isinstance(value, list) else str(value)


def _tag(site: SiteShown, settings: Settings) -> str:
    base = settings.public_url.rstrip("/") or f"http://{settings.host}:{settings.port}{settings.root_path}"
    return f'<script src="{base}/embed.js?site={site.key}" async></script>'


def main() -> None:
    """Runs the door; a fault a person can mend is one sentence."""
    try:
        app()
    except (AdvisorError, StoreDown) as error:
        print(error, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
