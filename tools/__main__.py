"""The door of the calculators: one calculation by options, or many as JSON lines with `--batch`."""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from knowledge.catalog import Catalog, installed_catalog
from knowledge.errors import AdvisorError, InputError
from knowledge.live.overlay import DEFAULT_FOLDER
from knowledge.rows import HOME_REGION
from tools.doors import DOORS, Door
from tools.show import show

app = typer.Typer(add_completion=False, no_args_is_help=True, help=__doc__, pretty_exceptions_enable=False)
LONGEST_LINE = 2_000_000  # characters of one batch line


def answer(door: Door, values: Mapping[str, object], catalog: Catalog) -> dict[str, object]:
    """The report as JSON values, or an `error` object; never raises for an input."""
    try:
        return door.run(values, catalog).model_dump(mode="json")
    except AdvisorError as error:
        return {"error": error.payload()}


def batch(door: Door, lines: Iterable[str], catalog: Catalog) -> Iterator[str]:
    """One JSON line for each line; a bad line gives an `error` object and does not stop the rest."""
    for line in lines:
        if not line.strip():
            continue
        identity: object = None
        try:
            values = _parse_line(line)
            identity = values.pop("id", None)
            reply = answer(door, values, catalog)
        except InputError as error:
            reply = {"error": error.payload()}
        except Exception as error:  # noqa: BLE001 - a bug in one line must not lose the others
            print(f"{door.name}: {type(error).__name__}: {error}", file=sys.stderr)
            unexpected = InputError("line", line.strip()[:80], "a request this version can compute")
            reply = {"error": unexpected.payload()}
        if identity is not None:
            reply = {"id": identity, **reply}
        yield json.dumps(reply, ensure_ascii=False)


def _parse_line(line: str) -> dict[str, object]:
    if len(line) > LONGEST_LINE:
        raise InputError("line", f"{len(line)} characters", f"at most {LONGEST_LINE} characters")
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError("line", line.strip()[:80], "one JSON object a line") from None
    if not isinstance(values, dict):
        raise InputError("line", line.strip()[:80], "one JSON object a line")
    return values


def _parse_list(name: str, text: str) -> list[object]:
    try:
        values: list[object] = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError(name, text[:80], "words with commas between them, or a JSON list") from None
    return values


def _option_values(options: Mapping[str, str | None]) -> dict[str, object]:
    """Options as request values: lists by commas, a budget as "50 CNY/hour", objects as JSON."""
    values: dict[str, object] = {}
    for name, text in options.items():
        if text is None:
            continue
        if text.startswith("{"):
            values[name] = _parse_line(text)
        elif text.startswith("["):
            values[name] = _parse_list(name, text)
        elif name == "budget":
            match = re.fullmatch(
                r"([\d.]+)\s*(CNY|USD)\s*/?\s*(hour|day|month|year|total)?", text, re.IGNORECASE
            )
            if match is None:
                raise InputError("budget", text, '"50 CNY/hour", "2000 USD/month" or "1000 CNY total"')
            period = (match[3] or "hour").lower()
            values[name] = {"amount": match[1], "currency": match[2].upper(), "period": period}
        elif name in ("regions", "gpu_wanted", "gpu_excluded", "instance_wanted"):
            values[name] = [part.strip() for part in text.split(",") if part.strip()]
        else:
            values[name] = text
    return values


def _argument_values(door: Door, words: list[str]) -> dict[str, object]:
    """What the words after the command stand for: a name, or for `compare-log` a file ("-" = stdin)."""
    if door.name != "compare-log":
        return {"name": " ".join(words)}
    try:
        raw = sys.stdin.buffer.read() if words == ["-"] else Path(words[0]).read_bytes()
    except OSError as error:
        raise InputError("file", words[0], f"a file that can be read ({error.strerror})") from None
    return {"text": raw.decode(errors="replace")}


def _add_command(door: Door) -> None:
    """A typer command whose options are the fields of the door's request."""

    def command(**options: Any) -> None:
        many, as_json = options.pop("batch"), options.pop("as_json")
        overlay, home = options.pop("overlay"), options.pop("default_region")
        words = options.pop("words", None)
        try:
            catalog = installed_catalog(overlay, default_region=home)
            if many:
                for line in batch(door, sys.stdin, catalog):
                    print(line, flush=True)
                return
            values = _option_values(options)
            if words:
                values |= _argument_values(door, words)
            report = door.run(values, catalog)
        except AdvisorError as error:
            print(json.dumps({"error": error.payload()}, ensure_ascii=False) if as_json else str(error))
            raise typer.Exit(2) from None
        print(report.model_dump_json() if as_json else show(report))

    flag = inspect.Parameter.KEYWORD_ONLY
    annotations: dict[str, Any] = {
        "words": Annotated[
            list[str] | None, typer.Argument(help="The name, or the log file.", metavar="NAME|FILE")
        ],
        **{
            name: Annotated[str | None, typer.Option(f"--{name.replace('_', '-')}", show_default=False)]
            for name in door.request_type().model_fields
        },
        "overlay": Annotated[Path, typer.Option("--overlay", help="Folder that holds the live data.")],
        "default_region": Annotated[
            str, typer.Option("--default-region", help="The region where none is named.")
        ],
        "batch": Annotated[bool, typer.Option("--batch", help="JSON lines from stdin, one JSON line each.")],
        "as_json": Annotated[bool, typer.Option("--json", help="The report as one JSON line.")],
    }
    if door.name not in ("instance", "gpu", "model", "compare-log"):
        del annotations["words"]
    defaults = {
        "overlay": DEFAULT_FOLDER, "default_region": HOME_REGION, "batch": False, "as_json": False
    }  # fmt: skip
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(name, flag, default=defaults.get(name), annotation=kind)
            for name, kind in annotations.items()
        ]
    )
    command.__annotations__ = annotations
    app.command(door.name, help=door.help)(command)


def main() -> None:
    """Registers only the command that was asked for, so that a start loads one calculator's contract."""
    wanted = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
    chosen = [door for door in DOORS if door.name == wanted]
    for door in chosen or DOORS:
        _add_command(door)
    if chosen and len(DOORS) > 1:
        app.callback()(lambda: None)
    app()


if __name__ == "__main__":
    main()
