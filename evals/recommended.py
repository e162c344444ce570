"""The options of an answer's structured recommendation, and the bounds that a case sets for them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from evals.outcome import Outcome
from knowledge.catalog import shipped_catalog
from knowledge.errors import AdvisorError

Option = Mapping[str, Any]


def options_of(outcome: Outcome) -> list[Option]:
    """The recommended options, best first; rejected ones and fallbacks do not count."""
    recommendation = outcome.recommendation
    return list(recommendation["options"]) if recommendation else []


def gpu_named(option: Option, name: str) -> bool:
    """Whether the option's GPU is the one of this name, by alias and whole ("A10" is not "A100")."""
    return str(option["gpu_model"]).split(" slice")[0] in _gpu_models(name)


@cache
def _gpu_models(name: str) -> frozenset[str]:
    sizes = shipped_catalog().gpu_sizes(name)
    if sizes:
        return frozenset(sizes)
    try:
        return frozenset({shipped_catalog().gpu(name).gpu_model})
    except AdvisorError:
        return frozenset({name})


def total_vram_gib(option: Option) -> float:
    """Nominal memory of all GPUs of all machines, GiB."""
    return float(option["gpu_memory_gib"]) * max(float(option["gpu_count"]), 1.0) * int(option["count"])


def bounds_hold(option: Option, bounds: Mapping[str, float]) -> bool:
    """min_vram_gib, min_vram_per_gpu_gib, max_hourly_cny and max_monthly_cny; an unknown price fails."""
    for key, bound in bounds.items():
        if key == "min_vram_gib":
            holds = total_vram_gib(option) >= bound
        elif key == "min_vram_per_gpu_gib":
            holds = float(option["gpu_memory_gib"]) >= bound
        elif key in ("max_hourly_cny", "max_monthly_cny"):
            price = option["hourly_cny" if key == "max_hourly_cny" else "monthly_cny"]
            holds = price is not None and float(price) <= bound
        else:
            raise ValueError(f"no bound is called {key!r}")
        if not holds:
            return False
    return True
