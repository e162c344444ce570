"""The plan of a question: which planner answers for its intent, and the calls that every intent shares."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from agent.planner import calculations, facts, launch, other_speed, sizing
from agent.planner.asked import parallel_sizes
from agent.planner.guides import guide_call
from agent.planner.logs import log_comparison, log_is_sound
from agent.planner.money import asks_interruptions
from agent.planner.worth import worth_calls
from agent.premises import claim_ids
from agent.reading.types import Intent, Reading
from agent.steps import Call, Case, Findings
from knowledge.catalog import Catalog

Planner = Callable[[Case], list[Call]]

_PLANNERS: dict[Intent, Planner] = {
    "size": other_speed.size,
    "vague": sizing.vague,
    "memory": calculations.memory,
    "speed": other_speed.speed,
    "cost": other_speed.cost,
    "buying": facts.buying,
    "compare": facts.compare,
    "lookup": facts.lookup,
    "naming": facts.naming,
    "region": facts.region,
    "interconnect": facts.interconnect,
    "claim": facts.claim,
    "injection": facts.named_only,
    "troubleshoot": facts.guides_only,
    "howto": facts.guides_only,
}
# Further intents of a calculated answer: facts of every name in it would bury the answer.
_BESIDE_CALCULATION: dict[Intent, Planner] = {
    "interconnect": facts.guides_only,
    "lookup": facts.guides_only,
    "claim": facts.guides_only,
    "naming": facts.guides_only,
}
_CALCULATED: frozenset[Intent] = frozenset({"size", "memory", "speed", "cost"})
_SILENT: frozenset[Intent] = frozenset({"greeting", "reset", "out_of_scope", "empty"})
ASKED_WITH_SIZES = frozenset({"task", "task_and_model"})  # questions back that come with usual sizes
_LIMIT = 16  # calls of one run; a question that names twenty things is answered for the first ones


def plan(reading: Reading, done: Findings, catalog: Catalog, has_guides: bool = True) -> list[Call]:
    """The next calls for a question, or none when the answer can be written. Deterministic."""
    if reading.intent in _SILENT or reading.unreadable or len(done) >= _LIMIT:
        return []
    case = Case(reading, done, catalog)
    calls = launch.kit(case) if launch.wants_kit(reading) else _PLANNERS[reading.intent](case)
    if not done:
        if not calls and reading.intent != "injection":
            calls = facts.known(case)
        calls = [*_shared(reading), *log_comparison(reading), *calls]
        calls += [*parallel_sizes(case), *worth_calls(case)]
        if asks_interruptions(reading) and reading.intent == "howto":
            calls += calculations.cost(case)
        if reading.intent in ("compare", "cost", "lookup", "claim", "howto"):
            calls += sizing.hpc_cards(case)
        if reading.clarify in ASKED_WITH_SIZES:
            calls += sizing.usual_cases(case)
        for intent in further_intents(reading):
            calls += _further(reading.intent, intent)(case)
    guided = has_guides and not log_is_sound(reading)
    calls = [call for call in calls if guided or call.name != "search_guides"]
    return list(_fresh(calls, done))[: _LIMIT - len(done)]


def further_intents(reading: Reading) -> list[Intent]:
    """Intents answered beside the main one. A vague question is asked back first, an injection gets facts
    alone, and there is nothing to size where neither work nor money was named."""
    if reading.intent in ("vague", "injection") or "zero_price" in reading.claims:
        return []
    request = reading.request
    sizable = request.model or request.params_b or request.budget or reading.intent in _CALCULATED
    known: list[Intent] = [
        item
        for item in reading.intents
        if item in _PLANNERS and item != "vague" and (item != "size" or sizable)
    ]
    return known[: 1 if reading.intent in _CALCULATED else 2]


def _further(main: Intent, intent: Intent) -> Planner:
    if main == "speed" and intent == "cost":
        return _later  # a job's cost follows from its hours, which the speed planner waits for
    if main == "troubleshoot" and intent == "interconnect":
        return facts.guides_only  # the families with links are no repair
    planners = {**_PLANNERS, **_BESIDE_CALCULATION} if main in _CALCULATED else _PLANNERS
    return planners[intent]


def _later(_case: Case) -> list[Call]:
    return []


def _shared(reading: Reading) -> list[Call]:
    """Claims to correct, phantom names to explain, and guides that the question asks for."""
    calls: list[Call] = []
    known = claim_ids(reading.claims)
    if known:
        calls.append(Call("check_claims", {"claim_ids": known}))
    calls += [
        Call("decode_name", {"name": mention.name}, "phantom")
        for mention in reading.mentions
        if mention.kind in ("phantom_instance", "phantom_family") and not mention.negated
    ]
    if reading.search_query and reading.intent != "injection":
        calls.append(guide_call(reading, reading.search_query))
    return calls


def _fresh(calls: Iterable[Call], done: Findings) -> Iterable[Call]:
    """The calls that were not made before, each once."""
    seen = [(step.call.name, step.call.args) for step in done]
    for call in calls:
        if (call.name, call.args) not in seen:
            seen.append((call.name, call.args))
            yield call
