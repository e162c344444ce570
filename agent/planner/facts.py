"""Plans for facts: look-ups, names, comparisons, regions, buying rules and guides."""

from __future__ import annotations

from agent.planner.calculations import cost_args, cost_types
from agent.planner.requests import mentioned, models, speed_args
from agent.reading.types import Reading
from agent.steps import Call, Findings
from knowledge.catalog import Catalog

_NAMED = 4  # look-ups of one question
_COMPARED = 4


def lookup(reading: Reading, done: Findings, catalog: Catalog) -> list[Call]:
    """What each thing named is."""
    if done:
        return []
    region = reading.request.regions[0] if reading.request.regions else ""
    calls = []
    for mention in mentioned(reading, "instance", "family", "gpu", "model", "precision")[:_NAMED]:
        args = {"name": mention.name, "kind": mention.kind}
        if region and mention.kind in ("instance", "family", "gpu"):
            args["region"] = region
        calls.append(Call("look_up", args))
    return calls


def naming(reading: Reading, done: Findings, catalog: Catalog) -> list[Call]:
    """Names taken apart; a family has no parts to read and is looked up."""
    if done:
        return []
    names = mentioned(reading, "instance", "phantom_instance")[:_NAMED]
    calls = [Call("decode_name", {"name": mention.name}) for mention in names]
    families = mentioned(reading, "family", "gpu")[:_NAMED]
    return calls + [Call("look_up", {"name": item.name, "kind": item.kind}) for item in families]


def compare(reading: Reading, done: Findings, catalog: Catalog) -> list[Call]:
    """Two or more things of a kind side by side, with the speed of a named model on each GPU."""
    if done:
        return []
    for kind in ("gpu", "family", "instance", "model", "precision"):
        named = [mention.name for mention in mentioned(reading, kind)][:_COMPARED]
        if len(named) >= 2:
            calls = [Call("compare", {"names": named, "kind": kind})]
            return calls + (_speeds(reading, named) if kind == "gpu" else [])
    return lookup(reading, done, catalog)


def _speeds(reading: Reading, gpus: list[str]) -> list[Call]:
    name = (models(reading) or [""])[0]
    if not (name or reading.request.params_b):
        return []
    return [Call("estimate_throughput", speed_args(reading, name, {"gpu": gpu})) for gpu in gpus]


def region(reading: Reading, done: Findings, catalog: Catalog) -> list[Call]:
    """Where the things named are in the price lists and what they cost there."""
    if done:
        return []
    calls = [
        Call("estimate_cost", cost_args(reading, item, place, None))
        for item in cost_types(reading, catalog)
        for place in (reading.request.regions or ("",))
    ]
    return calls + lookup(reading, done, catalog)


def buying(reading: Reading, done: Findings, catalog: Catalog) -> list[Call]:
    """The guide on the way of buying, and prices of the types named."""
    if done:
        return []
    calls = [
        Call("estimate_cost", cost_args(reading, item, "", None)) for item in cost_types(reading, catalog)
    ]
    return guides_only(reading, done, catalog) + calls[:2]


def interconnect(reading: Reading, done: Findings, catalog: Catalog) -> list[Call]:
    """The guide on links, the facts of what was named, or else the families that have NVLink or RDMA."""
    if done:
        return []
    named = lookup(reading, done, catalog)
    asked = {"rdma": True} if {"rdma", "erdma"} & set(reading.topics) else {"nvlink": True}
    return guides_only(reading, done, catalog) + (named or [Call("find_instances", {**asked, "limit": 60})])


def guides_only(reading: Reading, done: Findings, catalog: Catalog) -> list[Call]:
    """The guide that the question's words find."""
    if done:
        return []
    query = reading.search_query or reading.question
    return [Call("search_guides", {"query": query, "language": reading.language})] if query else []
