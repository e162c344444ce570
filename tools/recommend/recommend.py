"""`recommend`: from a workload and its limits to options, fallbacks, rejected families and reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from knowledge.catalog import Catalog
from tools.contracts.base import Remark, SourceRef
from tools.contracts.sizing import Objective, Option, Recommendation, SizingRequest
from tools.recommend.build import option_of
from tools.recommend.candidate import Candidate, best_unpriced, choose, pareto, together
from tools.recommend.found import Found
from tools.recommend.hardware_task import HardwareTask
from tools.recommend.ladder import ladder
from tools.recommend.limits import Limits, resolve_limits
from tools.recommend.machines import Kinds, machines, widened
from tools.recommend.notes import Notes
from tools.recommend.premises import correct_premises
from tools.recommend.reject import rejected
from tools.recommend.remarks import option_remarks, request_remarks
from tools.recommend.tariff import Tariff
from tools.recommend.task import Task
from tools.recommend.tasks import HARDWARE_TASKS, names_model, task_of

_UNPRICED_SHOWN = 2


def recommend(
    request: SizingRequest, catalog: Catalog, default_region: str = "cn-hangzhou"
) -> Recommendation:
    """The machines for a workload, the asked objective's best first.

    Exhaustive over current types, machine counts, precisions and parallel plans; prices are list prices of
    the asked regions (or of `default_region`, which is then said). Options are Pareto-clean in price, speed
    and precision. Types without a list price follow the priced ones. When no option holds the limits,
    `fallback` shows what the budget buys and what the wish costs. Raises `InputError` for names and values
    that cannot be used and `NotKnown` for missing facts.
    """
    notes = Notes()
    limits, tariff = resolve_limits(request, catalog, default_region, names_model(request), notes)
    request = correct_premises(request, catalog, limits, notes)
    task = task_of(request, catalog, tariff, notes)
    kinds, refused = machines(catalog, limits, tariff)
    if not request.regions and (region := widened(kinds, tariff)):
        notes.assume("regions", region, "no_price_in_default_region")
    found = task.run(kinds, limits)
    chosen = choose(found.candidates, _objective(request, limits, notes), task.rungs_compete)
    unpriced = _unpriced(found, chosen, request, tariff)
    if limits.has_budget and not chosen:
        beside, unpriced = unpriced, []  # without a price they cannot be said to hold the budget
    else:
        beside = []
    picks: list[tuple[Candidate, list[Objective]]] = [*chosen, *((candidate, []) for candidate in unpriced)]
    if not chosen and picks:
        picks[0] = (picks[0][0], [request.objective])
    candidates = [candidate for candidate, _ in picks]
    options = [
        option_of(candidate, task, request, catalog, tuple(labels), option_remarks(candidate, candidates))
        for candidate, labels in picks
    ]
    fallback: list[Option] = []
    if not picks:
        fallback = _fallback(request, task, kinds, limits, catalog, tariff)
        unchecked = Remark(code="budget_not_checked")
        fallback += [_option(candidate, task, request, catalog, unchecked) for candidate in beside]
    request_remarks(request, tariff, limits, candidates, notes)
    return Recommendation(
        request=request,
        options=tuple(options),
        fallback=tuple(fallback),
        rejected=rejected(found, refused, candidates, limits),
        precision_ladder=ladder(found, candidates),
        considered=found.considered,
        assumptions=tuple(notes.assumptions),
        warnings=tuple(notes.warnings),
        corrections=tuple(notes.corrections),
        sources=_sources([*options, *fallback]),
    )


def _objective(request: SizingRequest, limits: Limits, notes: Notes) -> Objective:
    """The asked objective; with a budget and no work named, the most that it buys."""
    open_question = limits.has_budget and not names_model(request) and request.task not in HARDWARE_TASKS
    if open_question and request.objective == "balanced":
        notes.assume("objective", "fastest", "most_memory_for_budget")
        return "fastest"
    return request.objective


def _unpriced(
    found: Found, chosen: Sequence[tuple[Candidate, object]], request: SizingRequest, tariff: Tariff
) -> list[Candidate]:
    """Types without a list price beside the priced options: of the first one's precision, or the best."""
    if not request.include_unpriced:
        return []
    unpriced = [c for c in found.candidates if not c.priced and c.within_gpus]
    rung = chosen[0][0].rung if chosen else min((c.rung for c in unpriced), default=0)
    # A figure by a rule that holds exactly would rank the type: it is shown when such figures are asked for.
    truly = [c for c in unpriced if c.rung == rung and not tariff.derivable(c.instance)]
    return best_unpriced(truly, _UNPRICED_SHOWN)


def _fallback(
    request: SizingRequest, task: Task, kinds: Kinds, limits: Limits, catalog: Catalog, tariff: Tariff
) -> list[Option]:
    """What the wish costs, or which limit stands in its way; then what the budget buys."""
    options = _wish(request, task, kinds, limits, catalog) if limits.has_budget else []
    options = options or _relaxed(request, task, limits, catalog, tariff)
    return options + _within_budget(request, task, kinds, limits, catalog, tariff)


def _wish(request: SizingRequest, task: Task, kinds: Kinds, limits: Limits, catalog: Catalog) -> list[Option]:
    """The cheapest that does it without the budget: in the best precision, and in any."""
    candidates = task.run(kinds, _without_budget(limits)).candidates
    front = pareto(together([c for c in candidates if c.priced and c.within_gpus]))
    if not front:
        return []
    best = min(candidate.rung for candidate in front)
    cheapest = next(candidate for candidate in front if candidate.rung == best)
    options = [_option(cheapest, task, request, catalog, Remark(code="what_the_wish_costs"))]
    if front[0] is not cheapest:
        code = "wish_in_lower_precision" if front[0].precision else "wish_in_a_slice"
        options.append(_option(front[0], task, request, catalog, Remark(code=code)))
    return options


def _without_budget(limits: Limits) -> Limits:
    return replace(limits, max_hourly=None, max_monthly=None, max_total=None)


def _option(
    candidate: Candidate, task: Task, request: SizingRequest, catalog: Catalog, why: Remark
) -> Option:
    return option_of(candidate, task, request, catalog, (), (why,))


def _relaxed(
    request: SizingRequest, task: Task, limits: Limits, catalog: Catalog, tariff: Tariff
) -> list[Option]:
    """No machine that was asked for does it: the cheapest without the wish for its count, then its kind."""
    steps: list[tuple[str, Limits]] = []
    if limits.gpu_count is not None or limits.max_gpus is not None:
        steps.append(("gpu_count", replace(limits, gpu_count=None, max_gpus=None)))
    if limits.gpus or limits.types or limits.families:
        free = replace(limits, gpus=frozenset(), types=frozenset(), families=frozenset())
        steps.append(("gpu_wanted", free))
        steps.append(("gpu_wanted_and_count", replace(free, gpu_count=None, max_gpus=None)))
    if limits.needs_nvlink or limits.bare_metal is not None:
        steps.append(
            ("machine_kind", replace(steps[-1][1] if steps else limits, needs_nvlink=False, bare_metal=None))
        )
    for field, relaxed in steps:
        kinds, _ = machines(catalog, relaxed, tariff)
        candidates = task.run(kinds, _without_budget(relaxed)).candidates
        chosen = choose(candidates, request.objective)
        picks = [chosen[0][0]] if chosen else best_unpriced(candidates, 1)
        if picks:
            return [
                _option(
                    picks[0], task, request, catalog, Remark(code="without_limit", params={"field": field})
                )
            ]
    return []


def _within_budget(
    request: SizingRequest, task: Task, kinds: Kinds, limits: Limits, catalog: Catalog, tariff: Tariff
) -> list[Option]:
    """The same work under the smallest load within the budget, or else just a machine."""
    if not limits.has_budget:
        return []
    smaller = task.smaller()
    chosen = choose(smaller.run(kinds, limits).candidates, "balanced") if smaller else []
    if smaller and chosen:
        return [_option(chosen[0][0], smaller, request, catalog, Remark(code="budget_buys_smaller_load"))]
    hardware = HardwareTask(request, tariff, catalog)
    any_machine, _ = machines(catalog, replace(limits, model_work=False), tariff)
    chosen = choose(hardware.run(any_machine, limits).candidates, "fastest")
    if not chosen:
        return []
    return [_option(chosen[0][0], hardware, request, catalog, Remark(code="budget_buys_machine_only"))]


def _sources(options: Sequence[Option]) -> tuple[SourceRef, ...]:
    refs: list[SourceRef] = []
    for option in options:
        for report in (option.memory, option.speed, option.cost):
            refs += () if report is None else report.sources
    return tuple(dict.fromkeys(refs))
