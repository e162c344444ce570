"""`recommend`: from a workload and its limits to options, fallbacks, rejected families and reasons."""

from __future__ import annotations

from collections.abc import Sequence

from knowledge.catalog import Catalog
from tools.contracts.base import SourceRef
from tools.contracts.sizing import Objective, Option, Recommendation, SizingRequest
from tools.notes import Notes
from tools.recommend.candidate import Candidate, choose
from tools.recommend.case import Case
from tools.recommend.fallback import fallback
from tools.recommend.found import Found
from tools.recommend.ladder import ladder
from tools.recommend.limits import resolve_limits
from tools.recommend.machines import machines, widened
from tools.recommend.premises import correct_premises
from tools.recommend.reject import rejected
from tools.recommend.remarks import option_remarks, request_remarks
from tools.recommend.tasks import HARDWARE_TASKS, names_model, task_of

_Pick = tuple[Candidate, list[Objective]]


def recommend(request: SizingRequest, catalog: Catalog) -> Recommendation:
    """The machines for a workload, the asked objective's best first.

    Exhaustive over current types, machine counts, precisions and parallel plans; prices are list prices of
    the asked regions (or of the catalog's default region, which is then said). Options are Pareto-clean in
    price, speed and precision. Types without a list price follow the priced ones. When no option holds the
    limits, `fallback` shows what the budget buys and what the wish costs. Raises `InputError` for names and
    values that cannot be used and `NotKnown` for missing facts.
    """
    notes = Notes()
    limits, tariff = resolve_limits(request, catalog, names_model(request), notes)
    request = correct_premises(request, catalog, limits, notes)
    task = task_of(request, catalog, tariff, notes)
    kinds, refused = machines(catalog, limits, tariff)
    if not request.regions and (region := widened(kinds, tariff)):
        notes.assume("regions", region, "no_price_in_default_region")
    case = Case(request, catalog, limits, tariff, task, kinds)
    found = task.run(kinds, limits)
    picks, aside = _picks(case, found, notes)
    shown = [candidate for candidate, _ in picks]
    options = [case.option(each, option_remarks(each, shown), labels) for each, labels in picks]
    outside = [] if picks else fallback(case, aside)
    request_remarks(request, tariff, limits, shown, notes)
    return Recommendation(
        request=request,
        options=tuple(options),
        fallback=tuple(outside),
        rejected=rejected(found, refused, shown, limits),
        precision_ladder=ladder(found, shown),
        considered=found.considered,
        assumptions=tuple(notes.assumptions),
        warnings=tuple(notes.warnings),
        corrections=tuple(notes.corrections),
        sources=_sources([*options, *outside]),
    )


def _picks(case: Case, found: Found, notes: Notes) -> tuple[list[_Pick], list[Candidate]]:
    """What is offered with its labels, and types without a price that a budget sets aside: nobody can say
    that they hold it."""
    chosen = choose(found.candidates, _objective(case, notes), case.task.rungs_compete)
    unpriced = case.unpriced(found.candidates, chosen[0][0].rung if chosen else None)
    if chosen:
        return [*chosen, *((candidate, []) for candidate in unpriced)], []
    if case.limits.has_budget:
        return [], unpriced
    return [(each, [case.request.objective] if each is unpriced[0] else []) for each in unpriced], []


def _objective(case: Case, notes: Notes) -> Objective:
    """The asked objective; with a budget and no work named, the most that it buys."""
    request = case.request
    open_question = not names_model(request) and request.task not in HARDWARE_TASKS
    if case.limits.has_budget and open_question and request.objective == "balanced":
        notes.assume("objective", "fastest", "most_memory_for_budget")
        return "fastest"
    return request.objective


def _sources(options: Sequence[Option]) -> tuple[SourceRef, ...]:
    refs: list[SourceRef] = []
    for option in options:
        for report in (option.memory, option.speed, option.cost):
            refs += () if report is None else report.sources
    return tuple(dict.fromkeys(refs))
