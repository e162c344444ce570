"""When nothing holds the limits: what the wish costs, which limit stands in its way, what the budget buys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tools.contracts.base import Remark
from tools.contracts.sizing import Option
from tools.recommend.candidate import Candidate, best_unpriced, choose, pareto, together
from tools.recommend.case import Case
from tools.recommend.hardware_task import HardwareTask
from tools.recommend.limits import Limits
from tools.recommend.machines import machines


def fallback(case: Case, unpriced: list[Candidate]) -> list[Option]:
    """Options outside the limits, the most telling first; types without a price close the list."""
    budget = case.limits.has_budget
    options = _wish(case) if budget else []
    options = options or _relaxed(case)
    if budget:
        options += _within_budget(case)
    return options + [case.option(each, (Remark(code="budget_not_checked"),)) for each in unpriced]


def _wish(case: Case) -> list[Option]:
    """The cheapest that does it without the budget: in the best precision, and in any."""
    candidates = case.task.run(case.kinds, _without_budget(case.limits)).candidates
    front = pareto(together([c for c in candidates if c.priced and c.within_gpus]))
    if not front:
        return []
    best = min(candidate.rung for candidate in front)
    cheapest = next(candidate for candidate in front if candidate.rung == best)
    options = [case.option(cheapest, (Remark(code="what_the_wish_costs"),))]
    if front[0] is not cheapest:
        code = "wish_in_lower_precision" if front[0].precision else "wish_in_a_slice"
        options.append(case.option(front[0], (Remark(code=code),)))
    return options


def _without_budget(limits: Limits) -> Limits:
    return replace(limits, max_hourly=None, max_monthly=None, max_total=None)


def _relaxed(case: Case) -> list[Option]:
    """No machine that was asked for does it: the best without the wish for its count, then for its kind."""
    for field, limits in _looser(case.limits):
        kinds, _ = machines(case.catalog, limits, case.tariff)
        candidates = case.task.run(kinds, limits).candidates
        chosen = choose(candidates, case.request.objective)
        picks = [chosen[0][0]] if chosen else best_unpriced(candidates, 1)
        if picks:
            return [case.option(picks[0], (Remark(code="without_limit", params={"field": field}),))]
    return []


def _looser(limits: Limits) -> Iterator[tuple[str, Limits]]:
    """Limits with one wish less at a time, and its name; budgets are left out."""
    limits = _without_budget(limits)
    if limits.gpu_count is not None or limits.max_gpus is not None:
        yield "gpu_count", _any_count(limits)
    if limits.gpus or limits.types or limits.families:
        limits = replace(limits, gpus=frozenset(), types=frozenset(), families=frozenset())
        yield "gpu_wanted", limits
        yield "gpu_wanted_and_count", _any_count(limits)
    if limits.needs_nvlink or limits.bare_metal is not None:
        yield "machine_kind", replace(_any_count(limits), needs_nvlink=False, bare_metal=None)


def _any_count(limits: Limits) -> Limits:
    return replace(limits, gpu_count=None, max_gpus=None)


def _within_budget(case: Case) -> list[Option]:
    """The same work under the largest load within the budget, or else just a machine."""
    smaller = case.task.smaller()
    # Most budgets that miss are far too small: whether any load fits is asked first.
    if smaller and choose(smaller[-1].run(case.kinds, case.limits).candidates, "balanced"):
        for task in smaller:
            chosen = choose(task.run(case.kinds, case.limits).candidates, "balanced")
            if chosen:
                asked = {f"asked_{name}": value for name, value in case.task.load.items()}
                why = Remark(code="budget_buys_smaller_load", params={**task.load, **asked})
                return [case.option(chosen[0][0], (why,), task=task)]
    hardware = HardwareTask(case.request, case.tariff, case.catalog)
    any_machine, _ = machines(case.catalog, replace(case.limits, model_work=False), case.tariff)
    chosen = choose(hardware.run(any_machine, case.limits).candidates, "fastest")
    if not chosen:
        return []
    return [case.option(chosen[0][0], (Remark(code="budget_buys_machine_only"),), task=hardware)]
