"""Plans for sizing: the recommendation, what full precision would need, and what fewer cards would hold."""

from __future__ import annotations

from typing import Any

from agent.planner.requests import is_other, memory_call, models, sizing_args, target, variants
from agent.steps import Call, Case
from knowledge.catalog import Catalog, usable_gib
from knowledge.errors import AdvisorError
from tools.contracts.memory import MemoryReport
from tools.contracts.sizing import Option, Recommendation

_FULL = ("bf16", "fp16", "fp32")
_CARDS_NAMED = 3
_COMPANIONS = 3
_USUAL_SIZES_B = (7.0, 32.0, 72.0)
_USUAL_PRECISIONS = ("bf16", "awq-int4")
_USUAL_METHODS = ("qlora", "lora", "full")
_ENTRY_GIB = 24  # the smallest card on which the usual 7B to 14B work is comfortable
_POOL_SHARE = 0.9  # what an engine gives to weights and KV cache; only to choose the count worth showing


def size(case: Case) -> list[Call]:
    """The recommendation first, with a verdict on each card named. Then what puts it in proportion: full
    precision beside a quantized choice; what the budget buys where nothing in the precision said fits."""
    if not case.done.called("recommend_instance"):
        first = [Call("recommend_instance", sizing_args(case.reading.request))]
        return [*first, *_named_cards(case), *_companions(case)]
    found = case.done.first(Recommendation)
    if found is None:
        return []
    if not found.options:
        return _without_precision(case)
    full = case.done.first(Recommendation, "full_precision")
    return _full_precision(case, found) if full is None else _fewer_cards(case, full)


def vague(case: Case) -> list[Call]:
    """Too little was said: what usual cases need."""
    return [] if case.done else usual_cases(case)


def usual_cases(case: Case) -> list[Call]:
    """Memory of the model named for each usual task, or of three usual sizes with a card to start on."""
    request = case.reading.request
    if is_other(request.model, case.catalog):
        return [Call(*memory_call(case.reading, request.model, {}, case.catalog), "usual")]
    if request.model or request.params_b:
        named = {"model": request.model} if request.model else {"params_b": request.params_b}
        serving = [{**named, "weight_precision": name} for name in _USUAL_PRECISIONS]
        training = [{**named, "method": name} for name in _USUAL_METHODS]
        return [
            *(Call("estimate_memory", args, "usual") for args in serving),
            *(Call("estimate_training_memory", args, "usual") for args in training),
        ]
    sizes = [
        {"params_b": size_b, "weight_precision": name}
        for size_b in _USUAL_SIZES_B
        for name in _USUAL_PRECISIONS
    ]
    entry = {"min_gpu_memory_gib": _ENTRY_GIB, "vgpu": False, "limit": 1}
    return [
        *(Call("estimate_memory", args, "usual") for args in sizes),
        Call("find_instances", entry, "usual"),
    ]


def _named_cards(case: Case) -> list[Call]:
    """Whether the work fits the cards that the user named, in the precisions that come into question."""
    name = case.reading.request.model
    where = target(case.reading)[:_CARDS_NAMED]
    if where == [{}] or not (name or case.reading.request.params_b):
        return []
    calls = [Call(*memory_call(case.reading, name, place, case.catalog), "main") for place in where]
    first = calls[0]
    others = variants(first, case.catalog)
    return calls + [Call(first.name, {**first.args, **change}, "variant") for change in others]


def _companions(case: Case) -> list[Call]:
    """Memory of the other models of the question, which share the machine (embedder, reranker …)."""
    others = [name for name in models(case.reading) if name != case.reading.request.model][:_COMPANIONS]
    return [Call(*memory_call(case.reading, name, {}, case.catalog), "companion") for name in others]


def _without_precision(case: Case) -> list[Call]:
    """What the budget buys when the precision is free."""
    request = case.reading.request
    if request.budget is None or not request.precision or case.done.called("recommend_instance", "buys"):
        return []
    return [Call("recommend_instance", sizing_args(request, precision=None), "buys")]


def _full_precision(case: Case, found: Recommendation) -> list[Call]:
    """The same load in 16 bit on the same card, without the budget, where the choice was quantized unasked."""
    best, request = found.options[0], case.reading.request
    if request.precision or best.precision in _FULL or not isinstance(best.memory, MemoryReport):
        return []
    if case.done.called("recommend_instance", "full_precision"):
        return []
    args = sizing_args(
        request, precision="bf16", budget=None, gpu_wanted=[best.gpu_model], objective="cheapest"
    )
    return [Call("recommend_instance", args, "full_precision")]


def _fewer_cards(case: Case, full: Recommendation) -> list[Call]:
    """The smallest number of the same cards that holds the weights, when it is smaller than the plan's."""
    if not full.options or case.done.called("estimate_memory", "fewer_cards"):
        return []
    option = full.options[0]
    memory = option.memory
    if not isinstance(memory, MemoryReport) or option.count > 1:
        return []
    smaller = _smaller_type(option, memory, case.catalog)
    if smaller is None:
        return []
    args: dict[str, Any] = {
        "model": full.request.model, "params_b": full.request.params_b, "instance_type": smaller,
        "weight_precision": option.precision, "context_tokens": memory.context_tokens,
        "concurrency": memory.concurrency,
    }  # fmt: skip
    args = {key: value for key, value in args.items() if value}
    price = Call("estimate_cost", {"instance_type": smaller, "region": option.region}, "fewer_cards")
    return [Call("estimate_memory", args, "fewer_cards"), price]


def _smaller_type(option: Option, memory: MemoryReport, catalog: Catalog) -> str | None:
    """A type of the option's family with fewer GPUs that still hold the weights; the fewest such GPUs."""
    try:
        usable, _measured = usable_gib(catalog.gpu(option.gpu_model))
    except AdvisorError:
        return None
    rows = [
        row
        for row in catalog.in_family(option.family)
        if row.status == "current"
        and 0 < row.whole_gpus < option.gpu_count
        and memory.weights_gib / row.whole_gpus < _POOL_SHARE * usable
    ]
    best = min(rows, key=lambda row: (row.whole_gpus, row.vcpu), default=None)
    return best.instance_type if best else None
