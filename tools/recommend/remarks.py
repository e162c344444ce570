"""Reasons of options and warnings of a recommendation, as codes with their figures."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from tools.contracts.base import Remark, Scalar
from tools.contracts.sizing import SizingRequest
from tools.notes import Notes
from tools.recommend.candidate import Candidate
from tools.recommend.limits import Limits
from tools.recommend.tariff import Tariff


def option_remarks(candidate: Candidate, chosen: Sequence[Candidate]) -> tuple[Remark, ...]:
    """Why an option stands where it does: what it gives up, and how it compares with the first."""
    found = []
    if candidate.rung > 0:
        code = "precision_given_up" if candidate.precision else "not_a_whole_gpu"
        found.append(Remark(code=code, params={"precision": candidate.precision}))
    if candidate.machines > 1:
        found.append(Remark(code="several_machines", params={"count": candidate.machines}))
    first = chosen[0]
    if candidate is not first and first.speed and candidate.speed:
        params: dict[str, Scalar] = {
            "times_speed": round(candidate.speed / first.speed, 2),
            "times_price": round(candidate.cost / first.cost, 2)
            if candidate.priced and first.priced and first.cost
            else None,
        }
        found.append(Remark(code="against_first", params=params))
    return tuple(found)


def request_remarks(
    request: SizingRequest,
    tariff: Tariff,
    limits: Limits,
    chosen: Sequence[Candidate],
    notes: Notes,
) -> None:
    """Warnings about the answer as a whole: a cheaper region, how long a total lasts, unchecked prices."""
    if not chosen:
        notes.warn("nothing_within_limits")
        return
    first = chosen[0]
    elsewhere = tariff.elsewhere(first.instance)
    if elsewhere is not None and first.hourly is not None:
        each = first.hourly / first.machines
        if elsewhere.hourly < each:
            notes.warn(
                "cheaper_region",
                instance_type=first.instance.instance_type,
                region=elsewhere.region,
                hourly_cny=float(elsewhere.hourly * first.machines),
                percent_less=round(100 * float(1 - elsewhere.hourly / each), 1),
            )
    if not first.priced and elsewhere is not None:
        notes.warn(
            "priced_elsewhere",
            instance_type=first.instance.instance_type,
            region=elsewhere.region,
            hourly_cny=float(elsewhere.hourly * first.machines),
        )
    if not first.priced and limits.has_budget:
        notes.warn("budget_not_checked", instance_type=first.instance.instance_type)
    _total_budget(request, first, limits, notes)


def _total_budget(request: SizingRequest, first: Candidate, limits: Limits, notes: Notes) -> None:
    """How long a total lasts, and whether the job's hours fit it."""
    budget = request.budget
    if budget is None or budget.period != "total" or first.hourly is None or limits.max_hourly is None:
        return
    total = limits.max_hourly if request.hours is None else limits.max_hourly * Decimal(str(request.hours))
    lasts = float(total / first.hourly)
    notes.warn("budget_lasts_hours", hours=round(lasts, 1), hourly_cny=float(first.hourly))
    if first.hours is not None and first.hours > lasts:
        notes.warn("job_exceeds_budget", job_hours=round(first.hours, 1), budget_hours=round(lasts, 1))
