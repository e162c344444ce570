"""Calls for the figure that a question wants first: the fewest cards, the load that a card carries, the
tensor-parallel size."""

from __future__ import annotations

from typing import Any

from agent.planner.requests import memory_call, models, speed_args, target
from agent.reading.asks import asks
from agent.reading.types import Reading
from agent.steps import Call, Case, Step
from tools.contracts.memory import MemoryReport
from tools.contracts.sizing import Recommendation
from tools.contracts.training import TrainingMemoryReport

# What a person at a chat takes for fluent, where the question states no target: ten tokens a second is about
# twice as fast as people read, and few wait longer than some seconds for the first word.
FLUENT_TPOT_MS, FLUENT_TTFT_MS = 100.0, 5000.0
_SIZES = (1, 2, 4, 8)


def main_purpose(reading: Reading) -> str:
    """Why the memory of the work on a card named is calculated: where the question is how many such cards it
    takes, one of them only finds the number."""
    open_count = asks(reading, "least_cards") and not reading.request.gpu_count
    named = any(mention.kind == "instance" and not mention.negated for mention in reading.mentions)
    return "one_card" if open_count and reading.request.gpu_wanted and not named else "main"


def fewest_cards(case: Case) -> list[Call]:
    """The same memory again on the fewest cards that hold it, as the report for one card found them."""
    return [
        Call(step.call.name, {**step.call.args, "gpu_count": _fewest(step)}, "main")
        for step in case.done
        if step.call.purpose == "one_card"
    ]


def _fewest(step: Step) -> int:
    report = step.artifact
    if not isinstance(report, MemoryReport | TrainingMemoryReport) or report.fits:
        return 1
    found = (int(item.value) for item in report.limits if item.change == "more_gpus" and item.fits)
    return next(found, 1)


def load_targets(reading: Reading) -> dict[str, float]:
    """Latency targets under which the load of a card is asked; {} where no load is asked."""
    if not asks(reading, "most_users"):
        return {}
    request = reading.request
    return {
        "ttft_ms": request.ttft_ms or FLUENT_TTFT_MS,
        "tpot_ms": request.tpot_ms or FLUENT_TPOT_MS,
    }


def load_calls(case: Case, model: str, places: list[dict[str, Any]]) -> list[Call]:
    """How many requests each place carries, beside an answer about its memory."""
    targets = load_targets(case.reading)
    if not targets:
        return []
    return [
        Call("estimate_throughput", {**speed_args(case.reading, model, place), **targets}, "load")
        for place in places
    ]


def load_on_choice(case: Case) -> list[Call]:
    """How many requests the first option carries, where the load is asked and no card was named."""
    found = case.done.first(Recommendation)
    if found is None or not found.options or case.done.called("estimate_throughput"):
        return []
    best = found.options[0]
    calls = load_calls(case, (models(case.reading) or [""])[0], [{"instance_type": best.instance_type}])
    return [
        Call(call.name, {**call.args, "weight_precision": best.precision}, call.purpose) for call in calls
    ]


def parallel_sizes(case: Case) -> list[Call]:
    """Every tensor-parallel size on the cards named, the rest of the cards as replicas: memory and speed."""
    reading = case.reading
    model = (models(reading) or [""])[0]
    place = target(reading)[0]
    count = reading.request.gpu_count or _cards_of(case, place)
    known = (model or reading.request.params_b) and place
    if not asks(reading, "tensor_parallel") or not known or not count or count < 2:
        return []
    calls = []
    for size in (size for size in _SIZES if count % size == 0):
        tool, args = memory_call(reading, model, {**place, "gpu_count": size}, case.catalog)
        if tool != "estimate_memory" or "instance_type" in args:
            return []
        speed = {**speed_args(reading, model, place), "gpu_count": count}
        calls += [
            Call(tool, {**args, "tensor_parallel": size}, "parallel"),
            Call(
                "estimate_throughput",
                {**speed, "tensor_parallel": size, "data_parallel": count // size},
                "parallel",
            ),
        ]
    return calls


def _cards_of(case: Case, place: dict[str, Any]) -> int:
    name = place.get("instance_type")
    return case.catalog.instance(name).whole_gpus if name else 0
