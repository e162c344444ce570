"""What an answer may state: the facts of this run's reports and the user's own words."""

from __future__ import annotations

import dataclasses
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from decimal import Decimal
from itertools import combinations
from typing import Any

from pydantic import BaseModel

from agent.claims import Claim, Kind, claims_in

HOURS = {"hour": 1, "day": 24, "month": 730, "year": 8760}
_TOLERANCE = 0.006  # relative, beside half the last digit shown: a figure rounded twice still passes
_PAIRS_LIMIT = 60  # sums and differences are formed over at most so many figures of a kind

# How the fields of reports end, and the kind and base unit of what they hold.
_FIELDS: tuple[tuple[str, Kind, float], ...] = (
    ("_gib", "memory", 1.0),
    ("_gib_per_gpu", "memory", 1.0),
    ("_gib_per_gpu_low", "memory", 1.0),
    ("_gib_per_gpu_high", "memory", 1.0),
    ("_mib", "memory", 1 / 1024),
    ("bytes_per_token", "memory", 1 / 2**30),
    ("_cny", "money", 1.0),
    ("hourly", "money", 1.0),
    ("monthly", "money", 1.0),
    ("amount", "money", 1.0),
    ("price", "money", 1.0),
    ("job", "money", 1.0),
    ("output_tokens", "tokens", 1.0),
    ("total_tokens", "tokens", 1.0),
    ("_tokens", "tokens", 1.0),
    ("tokens", "tokens", 1.0),
    ("_ms", "time", 1e-3),
    ("hours", "time", 3600.0),
    ("hours_per_month", "time", 3600.0),
    ("days", "time", 86400.0),
    ("_gbs", "bandwidth", 1.0),
    ("_gbps", "bandwidth", 0.125),
    ("_tflops", "compute", 1.0),
    ("_tops", "compute", 1.0),
    ("tflops_per_gpu", "compute", 1.0),
    ("mfu", "percent", 100.0),
    ("utilization", "percent", 100.0),
    ("count", "cards", 1.0),
    ("_parallel", "cards", 1.0),
    ("nodes", "cards", 1.0),
    ("gpus", "cards", 1.0),
)


class Evidence:
    """Names and figures by kind, and whether a claim is one of them."""

    def __init__(self, artifacts: Iterable[object], user_texts: Iterable[str]) -> None:
        self._figures: dict[Kind, set[float]] = {}
        self._gpus: set[tuple[str, float]] = set()  # name and memory size; 0 = the name without size
        self._text: list[str] = []
        for artifact in artifacts:
            self._walk("", _values(artifact))
        for text in user_texts:
            self._add_text(text)
        self._sorted = {kind: sorted(values) for kind, values in self._figures.items()}
        self._pairs: dict[Kind, list[float]] = {}
        self._haystack = "\n".join(self._text).lower()

    def ungrounded(self, text: str) -> list[Claim]:
        """The claims of a text that no evidence holds, in the order found."""
        return [claim for claim in claims_in(text) if not self.holds(claim)]

    def holds(self, claim: Claim) -> bool:
        """Whether a claim follows from the evidence: a name in it, or a figure of its kind within rounding."""
        if claim.kind in ("instance", "family", "date"):
            return claim.name in self._haystack
        if claim.kind == "gpu":
            return (claim.name, claim.value) in self._gpus
        values = self._sorted.get(claim.kind, [])
        if self._near(claim, values, 1.0):
            return True
        if claim.kind == "money":
            return any(self._near(claim, values, factor) for factor in _money_factors())
        if claim.kind == "memory":
            # GB and GiB are mixed in everyday speech; both readings of a figure are the same fact.
            return self._near(claim, values, 2**30 / 1e9) or self._near(claim, self._sums("memory"), 1.0)
        return claim.kind == "percent" and self._is_ratio(claim)

    def _near(self, claim: Claim, values: list[float], factor: float) -> bool:
        target = claim.value / factor
        slack = max(0.51 * claim.step / factor, _TOLERANCE * abs(target))
        index = bisect_left(values, target - slack)
        return index < len(values) and values[index] <= target + slack

    def _sums(self, kind: Kind) -> list[float]:
        """Sums and differences of two figures of a kind, and small multiples of one (several GPUs)."""
        if kind not in self._pairs:
            values = self._sorted.get(kind, [])[:_PAIRS_LIMIT]
            found = {a + b for a, b in combinations(values, 2)} | {b - a for a, b in combinations(values, 2)}
            counts = {count for count in self._sorted.get("cards", []) if count > 1}
            found |= {value * count for value in values for count in counts}
            self._pairs[kind] = sorted(found)
        return self._pairs[kind]

    def _is_ratio(self, claim: Claim) -> bool:
        """Percentages of two prices, two rates or two memory figures."""
        for kind in ("money", "token_rate", "memory", "bandwidth"):
            values = [value for value in self._sorted.get(kind, []) if value > 0][:_PAIRS_LIMIT]
            for low, high in combinations(values, 2):
                share = 100 * low / high
                if min(abs(claim.value - share), abs(claim.value - (100 - share))) <= max(
                    0.51 * claim.step, 0.5
                ):
                    return True
        return False

    def _walk(self, key: str, value: Any) -> None:
        if isinstance(value, Mapping):
            for name, item in value.items():
                self._walk(str(name), item)
        elif isinstance(value, list | tuple):
            for item in value:
                self._walk(key, item)
        elif isinstance(value, bool) or value is None:
            return
        elif isinstance(value, int | float | Decimal):
            self._add_number(key, float(value))
        else:
            self._add_text(str(value))

    def _add_number(self, key: str, number: float) -> None:
        if "tokens_per_s" in key:
            self._figures.setdefault("token_rate", set()).add(number)
            return
        bare = key.removesuffix("_low").removesuffix("_high")
        for ending, kind, factor in _FIELDS:
            if bare.endswith(ending):
                self._figures.setdefault(kind, set()).add(number * factor)

    def _add_text(self, text: str) -> None:
        self._text.append(text)
        for claim in claims_in(text):
            if claim.kind == "gpu":
                self._gpus |= {(claim.name, claim.value), (claim.name, 0.0)}
            elif not claim.name:
                self._figures.setdefault(claim.kind, set()).add(claim.value)


def _money_factors() -> tuple[float, ...]:
    """A price for another length of time than the report's, and dollars at the report's rate are reports' work;
    only hours of a day, month and year are everyday arithmetic."""
    return tuple(float(hours) for hours in HOURS.values() if hours > 1)


def _values(artifact: object) -> Any:
    if isinstance(artifact, BaseModel):
        return artifact.model_dump()
    if dataclasses.is_dataclass(artifact) and not isinstance(artifact, type):
        return {field.name: _values(getattr(artifact, field.name)) for field in dataclasses.fields(artifact)}
    if isinstance(artifact, list | tuple):
        return [_values(item) for item in artifact]
    return artifact
