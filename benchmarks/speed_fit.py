"""Fits the coefficients of serving speed to the published measurements and prints their tables.

Every coefficient starts from a physical value and is held near it (a normal prior on its logarithm); the
errors are relative, robust (Huber) and weighted so that no source outvotes the others. Blocks of a card,
an engine or the shared coefficients are solved in turn by damped Gauss-Newton steps.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.speed_priors import (
    CAPS,
    ENGINE_WIDTHS,
    ENGINES,
    KERNEL_WIDTHS,
    PORTABLE,
    SHARED,
    TUNED,
    TYPES,
    UNPACK,
)  # fmt: skip
from benchmarks.speed_rows import SpeedRow, speed_rows
from knowledge.catalog import Catalog, shipped_catalog
from knowledge.errors import AdvisorError
from tools.contracts.base import parse_request
from tools.contracts.throughput import ThroughputRequest
from tools.throughput.coefficients import COEFFICIENTS, Coefficients, Kernels, kernels_of
from tools.throughput.core import Load, prompt_rate, serve_steps
from tools.throughput.links import link_between
from tools.throughput.resolve import Resolved, resolve
from tools.throughput.steps import Stepper, stepper

HUBER = 0.3  # relative error from which a row pulls with constant force
# Weight of the priors against one row: beyond it the errors in the fit grow more than those of models left
# out fall (0.03 to 10 tried). llama.cpp keeps a weak one: few models, and cards measured themselves.
RIDGE, PORTABLE_RIDGE = 3.0, 0.03
LOG_STEP = 3e-3
FEWEST_ROWS = 6  # of a card for coefficients of its own
ItemT = TypeVar("ItemT")
Test = Callable[["Case"], bool]


@dataclass(slots=True)
class Case:
    """One measured figure with its request settled."""

    row: SpeedRow
    settled: Resolved
    weight: float

    @property
    def engine(self) -> str:
        return self.settled.replica.engine.name

    @property
    def card(self) -> str:
        return self.settled.replica.gpu.card


@dataclass(slots=True)
class Parameter:
    """One coefficient in the logarithm: where it lives, its prior, and the rows that it touches."""

    table: str  # engine, tuned, portable, sustained, unpack, shared
    owner: str
    field: str
    prior: float
    width: float
    ridge: float
    cases: NDArray[np.int_]


def cases_of(rows: Sequence[SpeedRow], catalog: Catalog) -> list[Case]:
    """Rows as cases. Repeated llama.cpp runs count once, by their median."""
    groups: dict[tuple[object, ...], list[SpeedRow]] = defaultdict(list)
    for row in rows:
        key: tuple[object, ...] = (row.row_id, row.figure)
        if row.kind.startswith("llama.cpp"):
            key = (row.kind, *sorted((name, str(value)) for name, value in row.request.items()))
        groups[key].append(row)
    cases = []
    for group in groups.values():
        row = sorted(group, key=lambda item: item.value)[len(group) // 2]
        try:
            settled = resolve(parse_request(ThroughputRequest, row.request), catalog)
        except AdvisorError:
            continue
        cases.append(Case(row, settled, _weight(row)))
    return cases


def _weight(row: SpeedRow) -> float:
    """How much a row counts: Alibaba Cloud types most; first tokens, which scatter, less than steps; runs
    of 2023 before captured graphs little."""
    if row.kind.startswith("llama.cpp"):
        return (1.0 if "prompt" in row.kind else 2.0) * (5.0 if "Alibaba" in row.kind else 1.0)
    if row.row_id.startswith("MLC-") and row.engine == "vLLM":
        return 0.03
    weight = {"silicon": 1.0, "vllm serving": 0.7, "one user": 1.2, "saturated": 0.7}.get(row.kind, 0.5)
    if row.figure == "ttft_ms":
        weight *= 0.8 if row.request.get("concurrency") == 1 else 0.4
    return weight


def predict(case: Case, fit: Coefficients) -> float:
    """The figure of a case under other coefficients."""
    settled, row = case.settled, case.row
    known = settled.replica
    link = known.link
    if link.kind != "network":
        link = link_between(
            known.gpu,
            known.plan.stage_gpus * (1 if known.plan.micro_batched else known.plan.pipeline),
            link.kind if link.kind.startswith("pcie") else "",
            coefficients=fit,
        )
    replica = stepper(
        known.model, known.gpu, known.scheme, fit.engines[known.engine.name], known.plan, link,
        known.kv_bytes_per_element, fit,
    )  # fmt: skip
    return _figure(row, settled, replica)


def _figure(row: SpeedRow, settled: Resolved, replica: Stepper) -> float:
    inputs, outputs = settled.input_tokens, settled.output_tokens
    asked = row.request.get("concurrency", 1)
    concurrency = max(1, settled.held) if asked == "max" else int(str(asked))
    if row.figure == "prefill_tokens_per_s":
        return prompt_rate(replica, inputs, concurrency)
    if row.figure == "single_stream_tokens_per_s":
        return 1e3 / serve_steps(replica, Load(inputs, max(outputs, 2), 1)).tpot_ms
    load = Load(inputs, outputs, concurrency, settled.arrival, max(1, settled.running_limit))
    speed = serve_steps(replica, load)
    if row.figure == "total_tokens_per_s":
        return speed.requests_per_s * (inputs + outputs)
    return float(getattr(speed, row.figure))


def parameters_of(cases: Sequence[Case], start: Coefficients) -> list[Parameter]:
    """All coefficients that at least one case depends on."""
    found: list[Parameter] = []

    def add(table: str, owner: str, field: str, value: float, width: float, test: Test) -> None:
        touched = np.array([index for index, case in enumerate(cases) if test(case)], dtype=int)
        if value > 0 and len(touched):
            ridge = PORTABLE_RIDGE if table == "portable" or owner == "llama.cpp" else RIDGE
            found.append(Parameter(table, owner, field, math.log(value), width, ridge, touched))

    for name, fields in ENGINES.items():
        for field, value in fields.items():
            add("engine", name, field, value, ENGINE_WIDTHS[field], _of_engine(name))
    for card, level in sorted(_CAPABILITY.items()):
        for portable in (False, True):
            if sum(_of_kernels(card, portable, "")(case) for case in cases) < FEWEST_ROWS:
                continue
            kernels = _prior_kernels(card, level, portable, start)
            for field, width in KERNEL_WIDTHS.items():
                if field in (("compute_8", "compute_4") if portable else ("attention",)):
                    continue
                wide = card.startswith("H20-") and field == "bandwidth"
                table = "portable" if portable else "tuned"
                test = _of_kernels(card, portable, field)
                add(table, card, field, getattr(kernels, field), 0.5 if wide else width, test)
    for card, value in start.sustained.items():
        add("sustained", card, "sustained", value, 0.2, _under_load(card))
    for kernel, (value, width) in UNPACK.items():
        add("unpack", kernel, kernel, value, width, _unpacking(kernel))
    for field, (value, width) in SHARED.items():
        add("shared", "shared", field, value, width, lambda _case: True)
    return found


def _of_engine(name: str) -> Test:
    return lambda case: case.engine == name


def _of_kernels(card: str, portable: bool, field: str) -> Test:
    types = () if portable else TYPES.get(field, ())

    def test(case: Case) -> bool:
        replica = case.settled.replica
        if case.card != card or replica.engine.portable != portable:
            return False
        if field == "vector":
            return bool(replica.scheme.dequant)
        return not types or replica.scheme.computes_in in types

    return test


def _under_load(card: str) -> Test:
    return lambda case: case.card == card and case.row.request.get("concurrency") != 1


def _unpacking(kernel: str) -> Test:
    return lambda case: case.settled.replica.scheme.dequant == kernel


def _prior_kernels(card: str, capability: float, portable: bool, start: Coefficients) -> Kernels:
    """The generation's coefficients, from which a card may depart."""
    engine = start.engines["llama.cpp" if portable else "vllm"]
    kernels = kernels_of(f"unmeasured {card}", capability, engine, start)
    return replace(kernels, bandwidth=0.40) if card.startswith("H20-") and not portable else kernels


def coefficients(
    values: NDArray[np.float64], parameters: Sequence[Parameter], start: Coefficients
) -> Coefficients:
    """Coefficients with the parameters at these logarithms."""
    tables: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for value, parameter in zip(np.exp(values), parameters, strict=True):
        limit = CAPS.get(parameter.field, math.inf) if parameter.table != "engine" else math.inf
        tables[parameter.table][parameter.owner][parameter.field] = min(float(value), limit)

    def kernels(portable: bool) -> dict[str, Kernels]:
        chosen = tables["portable" if portable else "tuned"]
        return {
            card: replace(_prior_kernels(card, _CAPABILITY[card], portable, start), **fields)
            for card, fields in chosen.items()
        }

    engines = {name: _with(engine, tables["engine"].get(name, {})) for name, engine in start.engines.items()}
    unpack = {kernel: fields[kernel] for kernel, fields in tables["unpack"].items()}
    return _with(
        start,
        {
            "engines": engines,
            "tuned": kernels(False),
            "portable": kernels(True),
            "sustained": {
                card: max(0.5, fields["sustained"]) for card, fields in tables["sustained"].items()
            },
            "unpack": {**start.unpack, **unpack},
            **tables["shared"].get("shared", {}),
        },
    )


_CAPABILITY: dict[str, float] = {}


def _start() -> Coefficients:
    """The priors: shipped structure, hand-set values."""
    engines = {name: _with(engine, ENGINES.get(name, {})) for name, engine in COEFFICIENTS.engines.items()}
    shared = {field: value for field, (value, _width) in SHARED.items()}
    return _with(
        COEFFICIENTS,
        {
            "engines": engines, "tuned": {}, "portable": {}, "tuned_generations": TUNED,
            "portable_generations": PORTABLE, **shared,
            "unpack": {**COEFFICIENTS.unpack, **{kernel: value for kernel, (value, _) in UNPACK.items()}},
        },
    )  # fmt: skip


def _with(item: ItemT, fields: Mapping[str, Any]) -> ItemT:
    """`dataclasses.replace` for fields known by name only."""
    return replace(item, **fields)  # type: ignore[type-var]


def fit(cases: Sequence[Case], rounds: int) -> tuple[Coefficients, NDArray[np.float64]]:
    """Fitted coefficients and the logarithm of estimated over measured by case."""
    start = _start()
    _CAPABILITY.update({case.card: case.settled.replica.gpu.capability for case in cases})
    parameters = parameters_of(cases, start)
    values = np.array([item.prior for item in parameters])
    weights = np.array([case.weight for case in cases])
    everything = np.arange(len(cases))

    def residuals(at: NDArray[np.float64], which: NDArray[np.int_]) -> NDArray[np.float64]:
        found = coefficients(at, parameters, start)
        return np.array([math.log(predict(cases[index], found) / cases[index].row.value) for index in which])

    errors = residuals(values, everything)
    blocks: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, parameter in enumerate(parameters):
        blocks[parameter.table, parameter.owner].append(index)
    for number in range(rounds):
        before = _loss(errors, weights)
        for block in blocks.values():
            values, errors = _solve_block(block, values, errors, parameters, weights, residuals)
        print(f"round {number + 1}: loss {before:.3f} -> {_loss(errors, weights):.3f}", flush=True)
    return coefficients(values, parameters, start), errors


def _loss(errors: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    size = np.abs(errors)
    return float((np.where(size < HUBER, 0.5 * errors**2, HUBER * (size - 0.5 * HUBER)) * weights).sum())


def _solve_block(
    block: Sequence[int],
    values: NDArray[np.float64],
    errors: NDArray[np.float64],
    parameters: Sequence[Parameter],
    weights: NDArray[np.float64],
    residuals: Callable[[NDArray[np.float64], NDArray[np.int_]], NDArray[np.float64]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A few damped Gauss-Newton steps on one block; steps that do not help are taken back."""
    which = np.unique(np.concatenate([parameters[index].cases for index in block]))
    place = {int(row): number for number, row in enumerate(which)}
    priors = np.array([parameters[index].prior for index in block])
    pulls = np.array([parameters[index].ridge / parameters[index].width ** 2 for index in block])
    mine, weight = errors[which], weights[which]

    def loss(at: NDArray[np.float64], found: NDArray[np.float64]) -> float:
        return _loss(found, weight) + 0.5 * float((pulls * (at[block] - priors) ** 2).sum())

    current, damping = loss(values, mine), 1e-3
    for _ in range(3):
        slopes = np.zeros((len(which), len(block)))
        for column, index in enumerate(block):
            moved = values.copy()
            moved[index] += LOG_STEP
            touched = parameters[index].cases
            rows = np.array([place[int(row)] for row in touched])
            slopes[rows, column] = (residuals(moved, touched) - mine[rows]) / LOG_STEP
        size = np.abs(mine)
        pull = np.where(size < HUBER, 1.0, HUBER / np.maximum(size, 1e-9)) * weight
        matrix = (slopes * pull[:, None]).T @ slopes + np.diag(pulls)
        slope = (slopes * pull[:, None]).T @ mine + pulls * (values[block] - priors)
        for _ in range(6):
            step = -np.linalg.solve(matrix + damping * np.diag(np.diag(matrix) + 1e-9), slope)
            tried = values.copy()
            tried[block] += np.clip(step, -0.4, 0.4)
            found = residuals(tried, which)
            if (reached := loss(tried, found)) < current:
                gain, values, mine, current, damping = current - reached, tried, found, reached, damping / 4
                break
            damping *= 6
        else:
            break
        if gain < 1e-3 * current:
            break
    errors = errors.copy()
    errors[which] = mine
    return values, errors


def table_text(found: Coefficients) -> str:
    """The fitted tables as the Python that `tools/throughput/coefficients.py` holds."""
    lines = ["_ENGINES = ("]
    lines += [f"    {_call('Engine', engine, 5)}," for engine in found.engines.values()]
    lines.append(")")
    for name, table in (("_TUNED", found.tuned), ("_PORTABLE", found.portable)):
        lines += [
            f"{name} = {{",
            *(f'    "{card}": {_call("Kernels", kernels, 3)},' for card, kernels in table.items()),
            "}",
        ]
    for name, table, levels in (
        ("_TUNED_GENERATIONS", found.tuned, found.tuned_generations),
        ("_PORTABLE_GENERATIONS", found.portable, found.portable_generations),
    ):
        lines += [
            f"{name} = {{",
            *(f"    {level}: {_call('Kernels', _generation(level, table, levels), 3)}," for level in levels),
            "}",
        ]
    lines.append(
        "_SUSTAINED = {"
        + ", ".join(f'"{card}": {share:.3g}' for card, share in found.sustained.items())
        + "}"
    )
    lines += [f"# {field}: {getattr(found, field):.3g}" for field in SHARED]
    lines += [f"# unpack {kernel}: {found.unpack[kernel]:.3g}" for kernel in UNPACK]
    return "\n".join(lines)


def _generation(level: float, table: object, levels: object) -> Kernels:
    """The geometric mean of a generation's measured cards (H20 apart), or what stood there before."""
    assert isinstance(table, dict)
    bounds = sorted(dict(levels))  # type: ignore[call-overload]
    above = min((item for item in bounds if item > level), default=math.inf)
    mine = [
        kernels for card, kernels in table.items()
        if level <= _CAPABILITY[card] < above and not card.startswith("H20-")
    ]  # fmt: skip
    if not mine:
        return dict(levels)[level]  # type: ignore[call-overload,no-any-return]
    return Kernels(
        *(
            statistics.geometric_mean(getattr(item, field.name) for item in mine)
            for field in dataclasses.fields(Kernels)
        )
    )


def _call(name: str, item: object, positional: int) -> str:
    """A constructor call with the first fields by position and the others where they differ from defaults."""
    parts = []
    for number, field in enumerate(dataclasses.fields(item)):  # type: ignore[arg-type]
        value = getattr(item, field.name)
        shown = repr(value).replace("'", '"') if isinstance(value, str | bool) else _short(value)
        if number < positional:
            parts.append(shown)
        elif value != field.default and (isinstance(value, bool) or abs(value - field.default) > 4e-3):
            parts.append(f"{field.name}={shown}")
    return f"{name}({', '.join(parts)})"


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def main(args: Sequence[str] = ()) -> int:
    """Prints the loss of each round, errors by kind and the fitted tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed_fit", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--without-model", default="", help="leave a model's rows out and show their errors")
    options = parser.parse_args(list(args))
    cases = cases_of(speed_rows(), shipped_catalog())
    kept = [case for case in cases if options.without_model != case.settled.replica.model.name]
    found, _errors = fit(kept, options.rounds)
    shown = cases if not options.without_model else [case for case in cases if case not in kept]
    groups: dict[tuple[str, str], list[float]] = defaultdict(list)
    for case in shown:
        error = abs(predict(case, found) / case.row.value - 1)
        groups[case.row.kind, case.row.figure].append(error)
    for key, sizes in sorted(groups.items()):
        tail = sorted(sizes)[int(0.9 * len(sizes))]
        print(f"{key}: {100 * statistics.median(sizes):.1f} / {100 * tail:.1f} % of {len(sizes)}")
    print(table_text(found))
    return 0


if __name__ == "__main__":
    import sys

    raise SystemExit(main(sys.argv[1:]))
