"""The door of the benchmarks: accuracy against published measurements, and latency."""

from __future__ import annotations

import importlib

import typer

app = typer.Typer(add_completion=False, no_args_is_help=True, help=__doc__)
_PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


def _run(name: str, context: typer.Context) -> None:
    """Runs `main` of a benchmark with the rest of the command line; only that one is imported."""
    raise typer.Exit(int(importlib.import_module(f"benchmarks.{name}").main(context.args)))


@app.command(context_settings=_PASS_ON)
def memory(context: typer.Context) -> None:
    """Errors of the memory calculators by kind, on published measurements."""
    _run("memory", context)


@app.command(context_settings=_PASS_ON)
def speed(context: typer.Context) -> None:
    """Errors of serving and training speed by kind, on published measurements."""
    _run("speed", context)


@app.command(context_settings=_PASS_ON)
def latency(context: typer.Context) -> None:
    """Time of the whole built-in answer to sizing questions."""
    _run("latency", context)


if __name__ == "__main__":
    app()
