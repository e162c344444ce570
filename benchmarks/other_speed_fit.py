"""Fits the coefficients of `tools.other_speed` to the rows that are not held out; prints them.

Coordinate descent on the logarithm of each coefficient; the loss is the absolute logarithm of estimated over
measured, each source of a kind weighted alike, so that a long table does not outvote a short one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from benchmarks.other_speed import OtherRow, other_rows
from knowledge.catalog import shipped_catalog
from tools.contracts.base import parse_request
from tools.contracts.other_speed import OtherSpeedRequest
from tools.notes import Notes
from tools.other_speed.coefficients import COEFFICIENTS, Coefficients, Pace
from tools.other_speed.estimate import timing_of
from tools.other_speed.resolve import Resolved, resolve

_SHARES = ("matmul", "convolution", "encoder_optimized", "encoder_eager", "encoder_int8", "vision_share",
           "step_bandwidth", "old_attention_on_hopper")  # fmt: skip
_ROUNDS = 40
# A weak pull to where published kernels lie keeps what few rows say within physics.
_PULL = 0.02
_STEPS = (0.25, 0.1, 0.04, 0.015)


def log_ratio(row: OtherRow, found: Resolved, k: Coefficients) -> float:
    """The logarithm of estimated over measured duration."""
    timing = timing_of(found, k)
    if row.metric == "step_s":
        return math.log((timing.step_s or timing.seconds) / row.value)
    return math.log(timing.seconds / timing.units * row.value)


def loss(cases: Sequence[tuple[OtherRow, Resolved]], weights: Sequence[float], k: Coefficients) -> float:
    """Weighted mean of absolute log errors, and the pull to the starting values."""
    errors = sum(
        weight * abs(log_ratio(row, found, k)) for (row, found), weight in zip(cases, weights, strict=True)
    )
    pull = sum(
        math.log(value / start) ** 2 for value, start in zip(_flat(k), _flat(COEFFICIENTS), strict=True)
    )
    return errors / sum(weights) + _PULL * pull / len(_flat(k))


def fit(rows: Sequence[OtherRow]) -> Coefficients:
    """The coefficients of least loss on these rows."""
    catalog = shipped_catalog()
    cases = [(row, resolve(parse_request(OtherSpeedRequest, row.request), catalog, Notes())) for row in rows]
    count = Counter((row.kind, row.source) for row in rows)
    weights = [1 / math.sqrt(count[(row.kind, row.source)]) for row in rows]
    best, lowest = COEFFICIENTS, loss(cases, weights, COEFFICIENTS)
    for size in _STEPS:
        for _ in range(_ROUNDS):
            before = lowest
            for name in _names(best):
                for factor in (1 + size, 1 / (1 + size)):
                    trial = _with(best, name, factor)
                    if trial is not None and (now := loss(cases, weights, trial)) < lowest:
                        best, lowest = trial, now
            if before - lowest < 1e-5:
                break
    return best


def _names(k: Coefficients) -> list[str]:
    flat = [item.name for item in fields(k) if item.name not in ("eager", "optimized")]
    return flat + [f"{pace}.{item.name}" for pace in ("eager", "optimized") for item in fields(Pace)]


def _flat(k: Coefficients) -> list[float]:
    return [_value(k, name) for name in _names(k)]


def _value(k: Coefficients, name: str) -> float:
    pace, _, field = name.rpartition(".")
    return float(getattr(getattr(k, pace), field) if pace else getattr(k, name))


def _with(k: Coefficients, name: str, factor: float) -> Coefficients | None:
    """The coefficients with one scaled; None where a share would exceed what hardware gives."""
    value = _value(k, name) * factor
    pace, _, field = name.rpartition(".")
    if field in _SHARES and value > 0.95:
        return None
    if pace == "eager":
        return replace(k, eager=replace(k.eager, **{field: value}))
    if pace == "optimized":
        return replace(k, optimized=replace(k.optimized, **{field: value}))
    changed: dict[str, Any] = {name: value}
    return replace(k, **changed)


def main() -> int:
    """Prints the fitted coefficients."""
    found = fit([row for row in other_rows() if row.split == "fit"])
    for name in _names(found):
        print(f"{name} = {_value(found, name):.4g}")
    return 0


if __name__ == "__main__":
    main()
