"""Plans for sizing: the recommendation, verdicts on cards named, usual cases where too little was said."""

from __future__ import annotations

from typing import Any

from agent.planner.asked import fewest_cards, load_on_choice, main_purpose
from agent.planner.calculations import instead, smallest
from agent.planner.requests import (
    is_other,
    is_training,
    latency_targets,
    memory_call,
    mentioned,
    models,
    sizing_args,
    target,
    variants,
)
from agent.steps import Call, Case
from tools.contracts.sizing import Recommendation

_IN_FP32 = frozenset({"molecular", "integer"})
_FP64_CARDS = ("V100-32GB", "A100-80GB")  # those with full double-precision units, to hold others against
_CARDS_NAMED = 3
_COMPANIONS = 3
_USUAL_SIZES_B = (7.0, 32.0, 72.0)
_SIZES_OF_A_CARD_B = (7.0, 14.0, 32.0)
_USUAL_IMAGE_MODEL = "SDXL"
_SERVED_SIZES_B = (7.0, 14.0, 32.0, 70.0)
_USUAL_PRECISIONS = ("bf16", "awq-int4")
_USUAL_METHODS = ("qlora", "lora", "full")
_ENTRY_GIB = 24  # the smallest card on which the usual 7B to 14B work is comfortable


def size(case: Case) -> list[Call]:
    """The recommendation, with a verdict on each card named and the memory of the other models of the
    machine; then what the budget buys with any precision, where nothing in the precision said fits it."""
    if not case.done.called("recommend_instance"):
        request = case.reading.request
        changes: dict[str, Any] = dict(latency_targets(case.reading))
        if request.task == "hpc" and not request.precision and _in_single_precision(case):
            changes["precision"] = "fp32"  # these codes run in single or mixed precision
        first = [Call("recommend_instance", sizing_args(request, **changes))]
        return [*first, *hpc_cards(case), *_named_cards(case), *_companions(case)]
    found = case.done.first(Recommendation)
    if found is None:
        return []
    if found.options and "what_if" in case.reading.topics and not case.done.called("what_if"):
        return [Call("what_if", sizing_args(case.reading.request))]
    fewest = fewest_cards(case)
    if found.options:
        fewest += load_on_choice(case)
        return [*fewest, *_largest_models(case, found)]
    return [*fewest, *_without_precision(case), *_adapters(case), *instead(case)]


def _in_single_precision(case: Case) -> bool:
    """Whether the code named runs in single or mixed precision and the question does not ask for double."""
    topics = set(case.reading.topics)
    return "fp64" not in topics and bool(_IN_FP32 & topics)


def hpc_cards(case: Case) -> list[Call]:
    """Prices of the cards named for scientific work and of those with real FP64 units, per card."""
    named = [mention.name for mention in mentioned(case.reading, "gpu")]
    if case.reading.request.task != "hpc" or _in_single_precision(case) or not named:
        return []
    cards = dict.fromkeys([*named, *_FP64_CARDS])
    types = [item for card in cards for item in smallest(case.catalog.with_gpu(card, "current"), None)]
    regions = case.reading.request.regions[:1]
    return [
        Call("estimate_cost", {"instance_type": item, **({"region": regions[0]} if regions else {})}, "fp64")
        for item in types
    ]


def _largest_models(case: Case, found: Recommendation) -> list[Call]:
    """Where no model was named: usual sizes on the first option, to say how large a model it can serve."""
    request, best = case.reading.request, found.options[0]
    named = request.model or request.params_b or request.task != "inference"
    if named or best.count > 1 or case.done.called("estimate_memory", "holds"):
        return []
    return [
        Call(
            "estimate_memory",
            {"params_b": size_b, "weight_precision": name, "instance_type": best.instance_type},
            "holds",
        )
        for name in _USUAL_PRECISIONS
        for size_b in _SERVED_SIZES_B
    ]


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
    card = case.reading.vram_gb  # "is 16 GB enough?": sizes near what such a card holds
    sizes = [
        {"params_b": size_b, "weight_precision": name}
        for size_b in (_SIZES_OF_A_CARD_B if card else _USUAL_SIZES_B)
        for name in _USUAL_PRECISIONS
    ]
    images = [Call("estimate_other_memory", {"model": _USUAL_IMAGE_MODEL}, "usual")] if card else []
    entry = {"min_gpu_memory_gib": _ENTRY_GIB, "vgpu": False, "limit": 1}
    return [
        *(Call("estimate_memory", args, "usual") for args in sizes),
        *images,
        Call("find_instances", entry, "usual"),
    ]


def _named_cards(case: Case) -> list[Call]:
    """Whether the work fits the cards that the user named, in the precisions that come into question."""
    name = case.reading.request.model
    where = target(case.reading)[:_CARDS_NAMED]
    if where == [{}] or not (name or case.reading.request.params_b):
        return []
    purpose = main_purpose(case.reading)
    calls = [Call(*memory_call(case.reading, name, place, case.catalog), purpose) for place in where]
    first = calls[0]
    others = variants(first, case.catalog) if case.reading.request.allow_quantization else []
    return calls + [Call(first.name, {**first.args, **change}, "variant") for change in others]


def _companions(case: Case) -> list[Call]:
    """Memory of the other models of the question, which share the machine (embedder, reranker …)."""
    others = [name for name in models(case.reading) if name != case.reading.request.model][:_COMPANIONS]
    return [Call(*memory_call(case.reading, name, {}, case.catalog), "companion") for name in others]


def _adapters(case: Case) -> list[Call]:
    """The memory of adapters, where full fine-tuning fits no machine."""
    request = case.reading.request
    if not is_training(case.reading) or request.method != "full":
        return []
    reading = case.reading.model_copy(update={"request": request.model_copy(update={"method": "lora"})})
    return [Call(*memory_call(reading, request.model, {}, case.catalog), "adapters")]


def _without_precision(case: Case) -> list[Call]:
    """What the budget buys when the precision is free."""
    request = case.reading.request
    if request.budget is None or not request.precision or case.done.called("recommend_instance", "buys"):
        return []
    return [Call("recommend_instance", sizing_args(request, precision=None), "buys")]
