"""Plans for calculations: memory, speed and cost of what the user named."""

from __future__ import annotations

import math
from typing import Any

from agent.planner.asked import fewest_cards, load_calls, load_on_choice, load_targets, main_purpose
from agent.planner.money import machines_of, money_args
from agent.planner.requests import (
    counts_said,
    is_other,
    is_training,
    latency_targets,
    memory_call,
    mentioned,
    models,
    other_sizes,
    sizing_args,
    speed_args,
    target,
    training_args,
    variants,
    zero_stages,
)
from agent.reading.types import Reading
from agent.steps import Call, Case
from knowledge.catalog import Catalog
from knowledge.rows import Instance
from tools.contracts.sizing import Recommendation
from tools.contracts.throughput import ThroughputReport
from tools.contracts.training import TrainingTimeReport

_TARGETS = 3
_MODELS = 3
_PRICED = 4
_WHOLE_MACHINE = 8  # GPUs of a machine that bare metal offers too
_SPECIAL = ("-tee", "-tdx")  # confidential editions: nobody's plain choice


def memory(case: Case) -> list[Call]:
    """Memory on each card named, in the precision said and the usual others; and what to rent for it."""
    reading, catalog = case.reading, case.catalog
    names = models(reading)[:_MODELS] or [""]
    if case.done:
        return [*fewest_cards(case), *instead(case)]
    if not (names[0] or reading.request.params_b):
        return []
    places = target(reading)[:_TARGETS]
    purpose = main_purpose(reading)
    calls = [Call(*memory_call(reading, names[0], where, catalog), purpose) for where in places]
    first = calls[0]
    if reading.request.allow_quantization:
        calls += [
            Call(first.name, {**first.args, **change}, "variant") for change in variants(first, catalog)
        ]
    calls += [Call(*memory_call(reading, name, places[0], catalog), "companion") for name in names[1:]]
    calls += [*zero_stages(first, reading.topics), *on_other_sizes(case, names[0])]
    calls += load_calls(case, names[0], places)
    return [*calls, Call("recommend_instance", sizing_args(reading.request), "rent")]


def on_other_sizes(case: Case, model: str) -> list[Call]:
    """The same work on the other memory sizes of a card that was named without one."""
    reading = case.reading
    count = {"gpu_count": reading.request.gpu_count} if reading.request.gpu_count else {}
    return [
        Call(*memory_call(reading, model, {"gpu": name, **count}, case.catalog), "other_size")
        for name in other_sizes(reading, case.catalog)
    ]


def instead(case: Case) -> list[Call]:
    """What does the work where the cards named cannot."""
    found = case.done.first(Recommendation)
    request = case.reading.request
    if found is None or found.options or not (request.gpu_wanted or request.gpu_count):
        return []
    tried = len(case.done.all(Recommendation))
    if tried == 1 and request.gpu_count and request.gpu_wanted:  # more of the same cards first
        return [Call("recommend_instance", sizing_args(request, gpu_count=None), "instead")]
    if tried > 2 or any(item.options and not splits_model(item) for item in case.done.all(Recommendation)):
        return []
    free = sizing_args(request, gpu_wanted=None, gpu_count=None, instance_wanted=None)
    return [Call("recommend_instance", free, "instead")]


def splits_model(found: Recommendation) -> bool:
    """Whether one served model lies over several machines, which other cards may save."""
    best = found.options[0]
    over = best.plan.tensor_parallel * best.plan.pipeline_parallel > best.gpu_count
    return over and found.request.task == "inference"


def speed(case: Case) -> list[Call]:
    """Speed on each card named; without one, on what would be recommended."""
    reading, request = case.reading, case.reading.request
    name = (models(reading) or [""])[0]
    if case.done:
        return [*load_on_choice(case), *_cost_of_time(case)]
    if not (name or request.params_b):
        return []
    where = target(reading, by_memory=False)[:_TARGETS]
    if where == [{}] or is_other(name, case.catalog, request.task):
        least = {"min_gpu_memory_gib": reading.vram_gb} if reading.vram_gb and where == [{}] else {}
        return [Call("recommend_instance", sizing_args(request, **latency_targets(reading), **least))]
    if is_training(reading):
        calls = [Call("estimate_training_time", training_args(reading, name, place)) for place in where]
    else:
        targets = load_targets(reading)
        calls = [
            Call("estimate_throughput", {**speed_args(reading, name, place), **targets}) for place in where
        ]
    calls += [Call(*memory_call(reading, name, place, case.catalog), "main") for place in where]
    return calls + ([] if is_training(reading) else on_other_sizes(case, name))


def _cost_of_time(case: Case) -> list[Call]:
    """What a training whose hours are known costs on the smallest type with these GPUs."""
    report = case.done.first(TrainingTimeReport)
    if report is None or report.hours is None or "cost" not in case.reading.intents:
        return []
    types = cost_types(case.reading, case.catalog)[:1]
    machines: dict[str, int] = {}
    rows = [case.catalog.instance(item) for item in types]
    if rows and rows[0].whole_gpus < report.gpu_count:  # more GPUs than a machine has: several of the largest
        kin = [row for row in case.catalog.with_gpu(report.gpu, "current") if row.whole_gpus]
        most = max((row.whole_gpus for row in kin), default=0)
        types = smallest(tuple(kin), most) if most else types
        machines = {"count": math.ceil(report.gpu_count / most)} if most else {}
    args = {"hours": round(report.hours, 1), **machines}
    return [Call("estimate_cost", {**cost_args(case.reading, item, "", None), **args}) for item in types]


def cost(case: Case) -> list[Call]:
    """The price of each type named, or of the types that carry the GPU named; a job's cost after its size."""
    reading, catalog = case.reading, case.catalog
    types = cost_types(reading, catalog)
    if not types:
        return _cost_of_choice(case)
    if reading.token_price and not case.done.called("estimate_throughput"):
        name = (models(reading) or [""])[0]
        if name or reading.request.params_b:
            places = [{"instance_type": item} for item in types]
            return [Call("estimate_throughput", speed_args(reading, name, place)) for place in places]
    speeds = {report.gpu: report for report in case.done.all(ThroughputReport)}
    wanted = [(item, region) for item in types for region in (reading.request.regions or ("",))]
    return [
        Call("estimate_cost", cost_args(reading, item, region, speeds.get(catalog.instance(item).gpu_model)))
        for item, region in [*wanted, *_cheaper_twins(reading, types, catalog)]
    ]


def _cheaper_twins(reading: Reading, types: list[str], catalog: Catalog) -> list[tuple[str, str]]:
    """For a whole machine of a card named: the bare-metal type with these cards, where it is listed below."""
    request = reading.request
    if not request.gpu_wanted or request.regions or mentioned(reading, "instance", "family"):
        return []
    row = max((catalog.instance(item) for item in types), key=lambda item: item.whole_gpus)
    price = catalog.price(row.instance_type, catalog.region_asked().region_id)
    if row.whole_gpus < _WHOLE_MACHINE or price is None:
        return []
    twins = [
        lowest
        for twin in catalog.with_gpu(row.gpu_model, "current")
        if twin.whole_gpus == row.whole_gpus and twin.family.startswith("ebm")
        if (lowest := catalog.cheapest_price(twin.instance_type)) is not None and lowest.price < price.price
        if catalog.price(twin.instance_type, price.region_id) is None
    ]
    return [(low.instance_type, low.region_id) for low in twins[:1]]


def _cost_of_choice(case: Case) -> list[Call]:
    request = case.reading.request
    if not case.done.called("recommend_instance"):
        known = request.model or request.params_b or request.gpu_wanted or request.budget
        known = known or request.min_gpu_memory_gib  # a machine by its memory alone
        return [Call("recommend_instance", sizing_args(request))] if known else []
    found = case.done.first(Recommendation)
    if found is None or not found.options or case.done.called("estimate_cost"):
        return []
    best = found.options[0]
    args = cost_args(case.reading, best.instance_type, best.region, None)
    return [Call("estimate_cost", {**args, "count": best.count})]


def cost_args(
    reading: Reading, instance_type: str, region: str, speed: ThroughputReport | None
) -> dict[str, Any]:
    """Arguments of the cost calculator for one type and region."""
    request = reading.request
    args: dict[str, Any] = {
        "instance_type": instance_type,
        "count": reading.count,
        "region": region,
        "purchase": request.purchase,
        "currency": request.budget.currency if request.budget else None,
        "allow_derived": request.allow_derived_prices,
        **money_args(reading),
    }
    if speed is not None:
        args["output_tokens_per_s"] = round(speed.output_tokens_per_s, 3)
        args["total_tokens_per_s"] = round(speed.total_tokens_per_s, 3)
        args["prefill_tokens_per_s"] = round(speed.prefill_tokens_per_s, 3)
    return {key: value for key, value in args.items() if value}


def cost_types(reading: Reading, catalog: Catalog) -> list[str]:
    """The types whose price is asked: those named, the smallest of a family, or the smallest with a GPU."""
    types = [mention.name for mention in mentioned(reading, "instance")]
    if types:
        return types[:_PRICED]
    count = reading.request.gpu_count
    machines = machines_of(reading)
    if count and machines and count % machines == 0:
        count //= machines  # "2 台 A10": machines, each with its share of the cards
    found: list[str] = []
    for mention in mentioned(reading, "family"):
        found += smallest(catalog.in_family(mention.name), count)
    counts: list[int | None] = [*counts_said(reading)]
    if "vgpu" in reading.topics and not found:
        found += _slices(reading, catalog)
    for mention in mentioned(reading, "gpu") if not found else []:
        for number in counts if len(counts) > 1 else [count]:
            found += smallest(catalog.with_gpu(mention.name, "current"), number)
    for name in other_sizes(reading, catalog) if found else []:
        found += smallest(catalog.with_gpu(name, "current"), count)
    return list(dict.fromkeys(found))[:_PRICED]


def _slices(reading: Reading, catalog: Catalog) -> list[str]:
    """The smallest slice that each vGPU family on sale makes of the card named."""
    rows = [
        row
        for mention in mentioned(reading, "gpu")
        for row in catalog.with_gpu(mention.name, "current")
        if row.gpu_count < 1 and not row.whole_gpus
    ]
    families = dict.fromkeys(row.family for row in rows)
    return [
        min(
            (row for row in rows if row.family == name), key=lambda row: (row.gpu_count, row.memory_gib)
        ).instance_type
        for name in families
    ]


def smallest(rows: tuple[Instance, ...], gpu_count: int | None) -> list[str]:
    """The type with the fewest vCPU for the number of GPUs asked (one without a number); a slice only where
    nothing else is there."""
    whole = [row for row in rows if row.whole_gpus] or list(rows)
    fitting = [row for row in whole if row.whole_gpus == (gpu_count or 1)] or whole
    best = min(
        fitting,
        key=lambda row: (row.whole_gpus, row.family.endswith(_SPECIAL), row.vcpu, row.memory_gib),
        default=None,
    )
    return [best.instance_type] if best else []
