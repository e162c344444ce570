"""The door of the calculators: one calculation by options, or many as JSON lines with `--batch`."""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any

import typer
from pydantic import BaseModel

from knowledge.catalog import Catalog, shipped_catalog
from knowledge.errors import AdvisorError, InputError
from tools.contracts.base import Request, parse_request
from tools.show import show

app = typer.Typer(add_completion=False, no_args_is_help=True, help=__doc__)
Calculate = Callable[[Mapping[str, object], Catalog], BaseModel]
LONGEST_LINE = 2_000_000  # characters of one batch line


@dataclass(frozen=True)
class Door:
    """A command: its request type and the calculator, imported only when the command runs."""

    name: str
    request: str  # "module:Class"
    calculator: str  # "module:function"
    help: str

    def request_type(self) -> type[Request]:
        return _load(self.request)  # type: ignore[no-any-return]

    def run(self, values: Mapping[str, object]) -> BaseModel:
        request = parse_request(self.request_type(), values)
        return _load(self.calculator)(request, shipped_catalog())  # type: ignore[no-any-return]


DOORS = (
    Door(
        "memory",
        "tools.contracts.memory:MemoryRequest",
        "tools.memory:estimate_memory",
        "GPU memory of serving a language model: weights, KV cache, activation, overhead, fit.",
    ),
    Door(
        "training-memory",
        "tools.contracts.training:TrainingMemoryRequest",
        "tools.training_memory:estimate_training_memory",
        "GPU memory of training and fine-tuning.",
    ),
    Door(
        "other-memory",
        "tools.contracts.other:OtherMemoryRequest",
        "tools.other_memory:estimate_other_memory",
        "GPU memory of diffusion, video, speech, embedding and vision models.",
    ),
    Door(
        "throughput",
        "tools.contracts.throughput:ThroughputRequest",
        "tools.throughput:estimate_throughput",
        "Serving speed: tokens per second, TTFT and TPOT with ranges.",
    ),
    Door(
        "training",
        "tools.contracts.training:TrainingTimeRequest",
        "tools.training_time:estimate_training_time",
        "Training speed and the hours of a job.",
    ),
    Door(
        "cost",
        "tools.contracts.cost:CostRequest",
        "tools.cost:estimate_cost",
        "Cost of an instance type in every purchase option with a known price.",
    ),
    Door(
        "recommend",
        "tools.contracts.sizing:SizingRequest",
        "tools.recommend:recommend",
        "The right instance for a workload.",
    ),
    Door(
        "compare-log",
        "tools.contracts.compare_log:CompareLogRequest",
        "tools.compare_log:compare_log",
        "An engine's start-up log or an out-of-memory trace set beside the estimate.",
    ),
    Door(
        "instance",
        "tools.contracts.lookup:InstanceRequest",
        "tools.lookup:look_up_instance",
        "Facts of an instance type.",
    ),
    Door("gpu", "tools.contracts.lookup:GpuRequest", "tools.lookup:look_up_gpu", "Facts of a GPU model."),
    Door("model", "tools.contracts.lookup:ModelRequest", "tools.lookup:look_up_model", "Facts of a model."),
)


def _load(path: str) -> Any:
    module, name = path.split(":")
    return getattr(import_module(module), name)


def answer(door: Door, values: Mapping[str, object]) -> dict[str, object]:
    """The report as JSON values, or an `error` object; never raises for an input."""
    try:
        return door.run(values).model_dump(mode="json")
    except AdvisorError as error:
        return {"error": error.payload()}


def batch(door: Door, lines: Iterable[str]) -> Iterator[str]:
    """One JSON line for each line; a bad line gives an `error` object and does not stop the rest."""
    for line in lines:
        if not line.strip():
            continue
        identity: object = None
        try:
            values = _parse_line(line)
            identity = values.pop("id", None)
            reply = answer(door, values)
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


def _option_values(options: Mapping[str, str | None]) -> dict[str, object]:
    """Options as request values: lists by commas, a budget as "50 CNY/hour", objects as JSON."""
    values: dict[str, object] = {}
    for name, text in options.items():
        if text is None:
            continue
        if text.startswith(("{", "[")):
            values[name] = _parse_line(text) if text.startswith("{") else json.loads(text)
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
        elif name == "log" and text == "-":
            values[name] = sys.stdin.read()
        else:
            values[name] = text
    return values


def _add_command(door: Door) -> None:
    """A typer command whose options are the fields of the door's request."""

    def command(**options: Any) -> None:
        many, as_json = options.pop("batch"), options.pop("as_json")
        if many:
            for line in batch(door, sys.stdin):
                print(line, flush=True)
            return
        words = options.pop("words", None)
        try:
            values = _option_values(options)
            if words:
                values[next(iter(door.request_type().model_fields))] = " ".join(words)
            report = door.run(values)
        except AdvisorError as error:
            print(json.dumps({"error": error.payload()}, ensure_ascii=False) if as_json else str(error))
            raise typer.Exit(2) from None
        print(report.model_dump_json() if as_json else show(report))

    flag = inspect.Parameter.KEYWORD_ONLY
    annotations: dict[str, Any] = {
        "words": Annotated[list[str] | None, typer.Argument(help="The name, for the look-up doors.")],
        **{
            name: Annotated[str | None, typer.Option(f"--{name.replace('_', '-')}", show_default=False)]
            for name in door.request_type().model_fields
        },
        "batch": Annotated[bool, typer.Option("--batch", help="JSON lines from stdin, one JSON line each.")],
        "as_json": Annotated[bool, typer.Option("--json", help="The report as one JSON line.")],
    }
    if door.name not in ("instance", "gpu", "model", "compare-log"):
        del annotations["words"]
    defaults = {"batch": False, "as_json": False}
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
