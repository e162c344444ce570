"""The order in which the intents of a question are answered."""

from __future__ import annotations

from agent.planner.money import asks_interruptions
from agent.planner.plan import further_intents
from agent.reading.types import Intent
from agent.steps import Case
from tools.contracts.cost import CostReport

TOLD_BY_GUIDE: frozenset[Intent] = frozenset({"troubleshoot", "howto", "buying", "region"})


def in_order(case: Case) -> tuple[Intent, ...]:
    """The main intent, then the further ones; a price that was asked, or the work lost on spot, stands before
    the guide on paying."""
    main, further = case.reading.intent, further_intents(case.reading)
    asked = "cost" in further or asks_interruptions(case.reading)
    priced = main in TOLD_BY_GUIDE and asked and case.done.first(CostReport) is not None
    return ("cost", main, *(item for item in further if item != "cost")) if priced else (main, *further)
