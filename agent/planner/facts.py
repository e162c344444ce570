"""Plans for facts: look-ups, names, comparisons, regions, buying rules and guides."""

from __future__ import annotations

from typing import Any

from agent.planner.calculations import cost_args, cost_types, smallest
from agent.planner.guides import guide_call
from agent.planner.requests import (
    is_other,
    is_training,
    memory_call,
    mentioned,
    models,
    other_sizes,
    sizing_args,
    speed_args,
    target,
    training_args,
)
from agent.reading.asks import asks
from agent.steps import Call, Case

_MOST_IN_ONE = 16  # GPUs of a machine
_NAMED = 4  # look-ups of one question
_COMPARED = 4
_PRICED = 5  # cards, other memory sizes of them included
_PLACES = 5  # cheapest regions shown
_LINKED_TYPES = 60
_ALL_TYPES = 300
_EXAMPLES = {"training": ("A100-80GB", 8), "inference": ("A10", 1)}


def lookup(case: Case) -> list[Call]:
    """What each thing named is; a GPU with a number of cards is searched for by these properties."""
    if case.done:
        return []
    reading = case.reading
    gpus = mentioned(reading, "gpu")
    places = reading.request.regions
    if reading.vram_gb and places and not mentioned(reading, "gpu", "instance", "family", "model"):
        # "40 GB of GPU memory" is asked of the machine; one card of it or several may carry it.
        least = {"min_total_gpu_memory_gib": reading.vram_gb, "vgpu": False}
        return [Call("find_instances", {**least, "region": place}, "main") for place in places[:_NAMED]]
    if limits := _properties(case):
        return [Call("find_instances", limits, "main")]
    if reading.request.gpu_count and len(gpus) == 1:
        card = (reading.request.gpu_wanted or (gpus[0].name,))[0]  # one that nobody rents has a stand-in
        wanted = {"gpu": card, "gpu_count": reading.request.gpu_count, "order": "memory"}
        find = [Call("find_instances", wanted, "main")] if reading.request.gpu_count <= _MOST_IN_ONE else []
        return [*find, Call("recommend_instance", sizing_args(reading.request), "rent")]
    region = reading.request.regions[0] if reading.request.regions else ""
    calls = []
    for mention in mentioned(reading, "instance", "family", "gpu", "model", "precision")[:_NAMED]:
        args = {"name": mention.name, "kind": mention.kind}
        if region and mention.kind in ("instance", "family", "gpu"):
            args["region"] = region
        calls.append(Call("look_up", args))
    return calls


def _properties(case: Case) -> dict[str, Any]:
    """Limits on the network and on one card's memory, where types are asked for by them alone."""
    reading = case.reading
    if not reading.network_gbps or mentioned(reading, "instance", "family", "model"):
        return {}
    gpus = mentioned(reading, "gpu")
    limits = {
        "gpu": gpus[0].name if gpus else "",
        "min_gpu_memory_gib": reading.vram_gb,
        "min_network_gbps": reading.network_gbps,
        "region": reading.request.regions[0] if reading.request.regions else "",
    }
    return {name: value for name, value in limits.items() if value}


def named_only(case: Case) -> list[Call]:
    """What the honest part of an injection asks for: facts, prices and sizes of what it names, no search."""
    if case.done:
        return []
    request = case.reading.request
    if (request.model or request.params_b) and "size" in case.reading.intents:
        # A type pushed by the attempt is no wish of the user.
        return [Call("recommend_instance", sizing_args(request, instance_wanted=None))]
    named = {"model": request.model} if request.model else {"params_b": request.params_b}
    sizes = [
        Call("estimate_memory", {**named, "weight_precision": name}, "usual") for name in ("bf16", "awq-int4")
    ]
    sized = request.model or request.params_b
    cheapest = [Call("find_instances", {"limit": 3}, "main")] if request.budget is not None else []
    return [*lookup(case), *_prices(case), *(sizes if sized else []), *cheapest]


def known(case: Case) -> list[Call]:
    """What can be said of a question that nothing can be calculated for: its names, and the guide."""
    return lookup(case) + guides_only(case)


def claim(case: Case) -> list[Call]:
    """The facts of what the claim speaks of, and prices where it states one."""
    calls = lookup(case)
    if not case.done and {"price_stated", "t4_cheaper_than_a10"} & set(case.reading.claims):
        calls += _prices(case)
    request = case.reading.request
    if not case.done and (request.model or request.params_b):
        # Whether the model named runs on the cards named is part of the claim.
        places = target(case.reading)[:1] if "moe_active_memory" in case.reading.claims else []
        places = places or [place for place in target(case.reading)[:1] if place]
        calls += [
            Call(*memory_call(case.reading, request.model, place, case.catalog), "main") for place in places
        ]
        if "zero_price" in case.reading.claims:
            free = sizing_args(
                request, gpu_wanted=None, gpu_count=None, instance_wanted=None, objective="cheapest"
            )
            calls.append(Call("recommend_instance", free, "instead"))
    return calls


def naming(case: Case) -> list[Call]:
    """Names taken apart; a family is looked up, and taken apart too where its letters are asked about."""
    if case.done:
        return []
    names = mentioned(case.reading, "instance")[:_NAMED]
    others = mentioned(case.reading, "family", "gpu")[:_NAMED]
    if asks(case.reading, "meaning"):
        families = mentioned(case.reading, "family")[:_NAMED]
        return [Call("decode_name", {"name": item.name}) for item in [*names, *families]]
    return [
        *(Call("decode_name", {"name": item.name}) for item in names),
        *(Call("look_up", {"name": item.name, "kind": item.kind}) for item in [*names, *others]),
    ]


def compare(case: Case) -> list[Call]:
    """Two or more things of a kind side by side; GPUs with the speed of a named model and a price each."""
    if case.done:
        return []
    for kind in ("gpu", "family", "instance", "model", "precision"):
        named = [mention.name for mention in mentioned(case.reading, kind)][:_COMPARED]
        named = _as_sold(case, named) if kind == "gpu" else named
        if len(named) >= 2:
            calls = [Call("compare", {"names": named, "kind": kind})]
            return calls + _beside(case, kind, named)
    return lookup(case)


def _as_sold(case: Case, gpus: list[str]) -> list[str]:
    """Where a family was said to carry another card, its own one in place of that."""
    if "wrong_family_gpu" not in case.reading.claims:
        return gpus
    carried = [
        row.gpu_model
        for mention in mentioned(case.reading, "family")
        for row in case.catalog.in_family(mention.name)
    ]
    sold = [gpu for gpu in gpus if case.catalog.with_gpu(gpu, "current")]
    return list(dict.fromkeys([*carried, *sold]))[:_COMPARED] or gpus


def _beside(case: Case, kind: str, named: list[str]) -> list[Call]:
    """What belongs beside a comparison: work and prices of GPUs, a price of each family."""
    if kind == "gpu":
        return _of_gpus(case, named)
    if kind == "instance":
        places = [{"instance_type": name} for name in named]
        costs = [
            Call("estimate_cost", _yardstick(cost_args(case.reading, name, "", None)), "beside")
            for name in named
        ]
        return [*_work_on(case, places), *costs]
    if kind != "family":
        return []
    rows = [case.catalog.in_family(name) for name in named]
    # Families are compared at the largest card or slice that all of them have.
    common = min(max(row.gpu_memory_gib or 0 for row in family) for family in rows)
    alike = [tuple(row for row in family if row.gpu_memory_gib == common) or family for family in rows]
    types = [item for family in alike for item in smallest(family, None)]
    return [Call("estimate_cost", cost_args(case.reading, item, "", None), "beside") for item in types]


def _yardstick(args: dict[str, Any]) -> dict[str, Any]:
    """Cards are held against each other by the hour, the price that is published of nearly all of them."""
    return {key: value for key, value in args.items() if key != "purchase" or value in ("payg", "spot")}


def _work_on(case: Case, places: list[dict[str, Any]]) -> list[Call]:
    """Speed and memory on each place of the model named, serving or training as it was said."""
    reading = case.reading
    name = (models(reading) or [""])[0]
    if not (name or reading.request.params_b) or is_other(name, case.catalog, reading.request.task):
        return []
    memory = [Call(*memory_call(reading, name, place, case.catalog), "on_card") for place in places]
    if is_training(reading):
        return [
            *(Call("estimate_training_time", training_args(reading, name, place)) for place in places),
            *memory,
        ]
    return [*(Call("estimate_throughput", speed_args(reading, name, place)) for place in places), *memory]


def _of_gpus(case: Case, gpus: list[str]) -> list[Call]:
    """Speed of the model named on each card, its memory in training, and the smallest type of each."""
    reading = case.reading
    counts = {item.name: item.count for item in mentioned(reading, "gpu")}
    places = [{"gpu": gpu, **({"gpu_count": count} if (count := counts.get(gpu)) else {})} for gpu in gpus]
    calls = _work_on(case, places)
    region = (reading.request.regions or ("",))[0]
    types = [
        item
        for gpu in [*gpus, *other_sizes(reading, case.catalog)][:_PRICED]
        for item in smallest(case.catalog.with_gpu(gpu, "current"), counts.get(gpu))
    ]
    said = [mention.name for mention in mentioned(reading, "instance")]  # a retired type has its price too
    types = list(dict.fromkeys([*said, *types]))[:_PRICED]
    calls += [
        Call("estimate_cost", _yardstick(cost_args(reading, item, region, None)), "beside") for item in types
    ]
    return calls


def _prices(case: Case) -> list[Call]:
    """Prices of what was named, in each region named."""
    return [
        Call("estimate_cost", cost_args(case.reading, item, place, None))
        for item in cost_types(case.reading, case.catalog)
        for place in (case.reading.request.regions or ("",))
    ]


def region(case: Case) -> list[Call]:
    """Where the things named are in the price lists and what they cost there."""
    if case.done:
        return []
    where = _families_of_cards(case)
    return where or (_cheapest_places(case) or _prices(case) or _example_prices(case)) + lookup(case)


def _families_of_cards(case: Case) -> list[Call]:
    """Where the families of a card are sold, if no region was named and no price is asked."""
    reading = case.reading
    cards = mentioned(reading, "gpu")
    if reading.request.regions or not cards or {"cheapest_place", "overseas"} & set(reading.topics):
        return []
    if "cost" in reading.intents or mentioned(reading, "instance", "family"):
        return []
    families = dict.fromkeys(
        row.family for card in cards for row in case.catalog.with_gpu(card.name, "current") if row.whole_gpus
    )
    return [Call("look_up", {"name": name, "kind": "family"}) for name in list(families)[:_NAMED]]


def _cheapest_places(case: Case) -> list[Call]:
    """The regions with the lowest list prices of the first type asked about, where no region was named."""
    reading = case.reading
    types = cost_types(reading, case.catalog)
    if reading.request.regions or not types or not {"cheapest_place", "overseas"} & set(reading.topics):
        return []
    abroad = "overseas" in reading.topics
    prices = {
        row.region_id: row.price
        for row in case.catalog.prices
        if row.instance_type == types[0]
        and row.purchase == "payg"
        and row.currency == "CNY"
        and row.region_id
        and (not abroad or not row.region_id.startswith("cn-") or row.region_id == "cn-hongkong")
    }
    places = sorted(prices, key=lambda place: prices[place])[:_PLACES]
    return [Call("estimate_cost", cost_args(reading, types[0], place, None)) for place in places]


def _example_prices(case: Case) -> list[Call]:
    """Where no machine was named: a usual one for the task in the regions named and the default region."""
    reading = case.reading
    if not reading.request.regions:
        return []
    gpu, count = _EXAMPLES["training" if is_training(reading) else "inference"]
    types = smallest(case.catalog.with_gpu(gpu, "current"), count)
    places = ("", *reading.request.regions)
    return [
        Call("estimate_cost", cost_args(reading, item, place, None)) for item in types for place in places
    ]


def buying(case: Case) -> list[Call]:
    """The guide on the way of buying, and prices of the types named."""
    return [] if case.done else guides_only(case) + _prices(case)[:2]


def interconnect(case: Case) -> list[Call]:
    """The guide on links, the facts of what was named, or else the families that have NVLink or RDMA."""
    if case.done:
        return []
    link: dict[str, Any] = {"rdma": True} if "rdma" in case.reading.topics else {"nvlink": True}
    linked = [
        Call("find_instances", {**link, "limit": _LINKED_TYPES}, "links"),
        Call("find_instances", {"nvlink": False, "limit": _ALL_TYPES}, "unlinked"),
    ]
    request = case.reading.request
    sized = [
        Call(*memory_call(case.reading, request.model, place, case.catalog), "main")
        for place in target(case.reading)[:1]
        if place.get("gpu_count") and (request.model or request.params_b)
    ]
    return guides_only(case) + (sized or lookup(case) or linked)


def guides_only(case: Case) -> list[Call]:
    """The guide that the question's words find."""
    reading = case.reading
    query = reading.search_query or reading.question
    if case.done or not query:
        return []
    return [guide_call(reading, query)]
