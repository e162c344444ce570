"""Calls for a question whether a card or family is still worth its price: newer cards on sale beside it."""

from __future__ import annotations

from agent.planner.calculations import smallest
from agent.planner.requests import mentioned
from agent.reading.asks import asks
from agent.steps import Call, Case
from knowledge.catalog import Catalog

_WEIGHING = frozenset({"lookup", "howto", "claim", "vague", "size"})
_WEIGHED = 4  # newer cards that one is held against


def worth_calls(case: Case) -> list[Call]:
    """Prices of the one card that the question weighs and of the newer cards on sale."""
    card = weighed_card(case)
    if not card:
        return []
    names = [card, *_newer_cards(case.catalog, card)]
    region = {"region": case.reading.request.regions[0]} if case.reading.request.regions else {}
    types = [item for name in names for item in smallest(case.catalog.with_gpu(name, "current"), None)]
    return [Call("estimate_cost", {"instance_type": item, **region}, "worth") for item in types]


def weighed_card(case: Case) -> str:
    """The one card, by its own name or by its family's, whose worth is asked; "" where there is none."""
    if case.reading.intent not in _WEIGHING or not asks(case.reading, "worth"):
        return ""
    cards = {mention.name for mention in mentioned(case.reading, "gpu")}
    for mention in mentioned(case.reading, "family"):
        cards |= {row.gpu_model for row in case.catalog.in_family(mention.name)}
    for mention in mentioned(case.reading, "instance"):
        cards.add(case.catalog.instance(mention.name).gpu_model)
    return cards.pop() if len(cards) == 1 else ""


def _newer_cards(catalog: Catalog, card: str) -> list[str]:
    """Cards on sale of a later compute capability that have a list price, oldest first."""
    priced = {row.instance_type for row in catalog.prices if row.comparable and row.purchase == "payg"}
    age = catalog.gpu(card).compute_capability or 0.0
    newer = {
        row.gpu_model: catalog.gpu(row.gpu_model).compute_capability or 0.0
        for row in catalog.instances
        if row.status == "current" and row.whole_gpus and row.instance_type in priced
    }
    later = sorted((capability, name) for name, capability in newer.items() if capability > age)
    return [name for _, name in later][:_WEIGHED]
