"""How well a question was read: the slots of a case against the reading of its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from evals.checks import Finding
from evals.oracle import gpu_models
from evals.outcome import Outcome
from knowledge.catalog import Catalog
from knowledge.errors import AdvisorError
from knowledge.names import normal

Values = Mapping[str, Any]
# Slots that are one field of the request, as numbers or words.
_PLAIN = {
    "gpu_count": "gpu_count",
    "context_tokens": "context_tokens",
    "users": "users",
    "concurrency": "concurrency",
    "dataset_tokens": "dataset_tokens",
    "dataset_samples": "dataset_samples",
    "qps": "requests_per_second",
    "in_tokens": "input_tokens",
    "out_tokens": "output_tokens",
    "engine": "engine",
    "method": "method",
    "task": "task",
}
_BUDGET = {"budget_value": "amount", "budget_currency": "currency", "budget_period": "period"}


def compare_slots(slots: Values, outcome: Outcome, catalog: Catalog) -> Iterator[Finding]:
    """One finding for each slot that the reading has a place for."""
    reading: Values = outcome.answer.get("reading") or {}
    request: Values = reading.get("request") or {}
    readers: dict[str, Callable[[str], bool]] = {
        "model": lambda value: _same_model(value, str(request.get("model", "")), catalog),
        "params_b": lambda value: _near(float(value), _params(request, catalog)),
        "gpu_wanted": lambda value: bool(gpu_models(value, catalog) & _gpus(reading, catalog)),
        "precision": lambda value: _same_precision(value, str(request.get("precision", "")), catalog),
        "region": lambda value: value in request.get("regions", ()),
        "instance": lambda value: _named(value, reading),
        "intent": lambda value: value in (reading.get("intent"), *reading.get("intents", ())),
        "deadline_days": lambda value: _near(float(value) * 24, request.get("deadline_hours")),
    }
    for slot, value in slots.items():
        alternatives = str(value).split("|")
        if slot in readers:
            yield Finding(slot, any(readers[slot](item) for item in alternatives), str(value))
        elif slot in _PLAIN:
            found = request.get(_PLAIN[slot])
            yield Finding(slot, any(_equal(item, found) for item in alternatives), f"{value}, read {found}")
        elif slot in _BUDGET:
            found = (request.get("budget") or {}).get(_BUDGET[slot])
            yield Finding(slot, any(_equal(item, found) for item in alternatives), f"{value}, read {found}")


def _equal(wanted: str, found: object) -> bool:
    try:
        return _near(float(wanted), found)
    except ValueError:
        return found is not None and normal(wanted) == normal(str(found))


def _near(wanted: float, found: object) -> bool:
    try:
        return abs(float(str(found)) - wanted) <= 0.05 * abs(wanted)
    except ValueError:
        return False


def _same_model(wanted: str, found: str, catalog: Catalog) -> bool:
    target = catalog.find_model(wanted)
    read = catalog.find_model(found) if found else None
    if target is None or read is None:
        return bool(found) and normal(wanted) in normal(found)
    return target.model_id == read.model_id


def _params(request: Values, catalog: Catalog) -> float | None:
    if request.get("params_b"):
        return float(request["params_b"])
    model = catalog.find_model(str(request.get("model", "")))
    return model.params_total_b if model else None


def _gpus(reading: Values, catalog: Catalog) -> set[str]:
    names = {item["name"] for item in reading.get("mentions", ()) if item["kind"] == "gpu"}
    names |= set((reading.get("request") or {}).get("gpu_wanted", ()))
    return {model for name in names for model in gpu_models(name, catalog)}


def _same_precision(wanted: str, found: str, catalog: Catalog) -> bool:
    try:
        return bool(found) and catalog.precision(wanted).name == catalog.precision(found).name
    except AdvisorError:
        return normal(wanted) in normal(found)


def _named(wanted: str, reading: Values) -> bool:
    key = wanted.lower().removeprefix("ecs.")
    kinds = ("instance", "phantom_instance", "family", "phantom_family")
    names = {
        str(item["name"]).lower().removeprefix("ecs.")
        for item in reading.get("mentions", ())
        if item["kind"] in kinds
    }
    return key in names or any(name.startswith(f"{key}.") for name in names)
