"""The door of the evaluation set: run it, search the shelf, compare two runs."""

from __future__ import annotations

import json
import logging
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from evals.ablation import ablation_lines
from evals.cases import Case, load_cases, select
from evals.gate import answer_breaches, read_thresholds, shelf_breaches
from evals.outcome import Outcome
from evals.reports import Results, compare, markdown, values, write_reports
from evals.run import open_evaluated, run_cases
from evals.score import score
from evals.shelf import ShelfReport, load_queries, misses, search_all, shelf_lines, shelf_values
from knowledge.catalog import shipped_catalog
from knowledge.errors import AdvisorError
from retrieval.open import settings_searcher
from settings import Settings

app = typer.Typer(add_completion=False, help=__doc__, pretty_exceptions_enable=False)
console = Console(stderr=True)
OUT = Path(__file__).parent / "out"


@app.callback(invoke_without_command=True)
def run(
    context: typer.Context,
    model: Annotated[
        str, typer.Option(help="builtin, or openai as the environment configures it.")
    ] = "builtin",
    kind: Annotated[list[str] | None, typer.Option(help="Only this kind; may be repeated.")] = None,
    language: Annotated[list[str] | None, typer.Option(help="Only en, zh or mixed; may be repeated.")] = None,
    case: Annotated[list[str] | None, typer.Option(help="Only the case of this id; may be repeated.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the reports; default: evals/out/MODEL.")] = None,
    compare_runs: Annotated[
        tuple[Path, Path] | None, typer.Option("--compare", help="Show two runs side by side, run nothing.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Answer the evaluation set and judge the answers; exit code 1 below the thresholds."""
    if context.invoked_subcommand:
        return
    if compare_runs:
        print(compare(*compare_runs), end="")
        return
    cases = select(load_cases(), kind or (), language or (), case or ())
    whole_set = not (kind or language or case)
    results = _run(model, cases, with_shelf=whole_set)
    folder = out or OUT / model
    paths = write_reports(results, folder)
    print(json.dumps(values(results), ensure_ascii=False) if as_json else markdown(results), end="\n")
    console.print("written: " + ", ".join(str(path) for path in paths))
    raise typer.Exit(1 if results.breaches else 0)


def _run(model: str, cases: list[Case], with_shelf: bool) -> Results:
    started = time.perf_counter()
    logging.getLogger("agent").setLevel(logging.CRITICAL)  # failures are in the report
    advisor, at_once = open_evaluated(model)
    columns = (TextColumn("answering"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("answering", total=len(cases))

        def advance(_outcome: Outcome) -> None:
            bar.advance(task)

        outcomes = run_cases(cases, advisor, at_once, advance)
    catalog = shipped_catalog()
    scores = [score(item, outcome, catalog) for item, outcome in zip(cases, outcomes, strict=True)]
    thresholds = read_thresholds()
    breaches = answer_breaches(scores, thresholds.answers, timed=model == "builtin")
    shelf = _shelf() if with_shelf else None
    if shelf:
        breaches += shelf_breaches(shelf, thresholds.retrieval)
    return Results(model, cases, outcomes, scores, shelf, time.perf_counter() - started, breaches)


def _shelf() -> ShelfReport:
    return search_all(load_queries(), settings_searcher(Settings(), shipped_catalog()))


@app.command()
def retrieval(
    ablation: Annotated[bool, typer.Option(help="Compare dense only, BM25 only and fused search.")] = False,
    show_misses: Annotated[bool, typer.Option("--misses", help="List queries that were not first.")] = False,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Search the shelf for every query of the retrieval set; exit code 1 below the thresholds."""
    if ablation:
        print("\n".join(ablation_lines(load_queries(), Settings(), shipped_catalog())))
        return
    report = _shelf()
    print(json.dumps(shelf_values(report), ensure_ascii=False) if as_json else "\n".join(shelf_lines(report)))
    if show_misses:
        print("\n".join(misses(report)))
    breaches = shelf_breaches(report, read_thresholds().retrieval)
    for breach in breaches:
        console.print(f"below the gate: {breach}")
    raise typer.Exit(1 if breaches else 0)


def main() -> None:
    try:
        app()
    except AdvisorError as error:
        console.print(f"[red]{error}[/red]")
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
