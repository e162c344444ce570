"""Why families lost: refused, too small, over budget, or beaten by an option."""

from __future__ import annotations

from collections.abc import Sequence

from tools.contracts.base import Remark, Scalar
from tools.contracts.sizing import Rejected
from tools.recommend.candidate import Candidate
from tools.recommend.found import Found
from tools.recommend.limits import Limits
from tools.recommend.machines import Refused

# Reasons that say nothing a user would ask about: the type was simply not asked for.
_SILENT = ("not_the_named_type", "not_the_wanted_gpu")
_MOST = 16


def rejected(
    found: Found, refused: Sequence[Refused], chosen: Sequence[Candidate], limits: Limits
) -> tuple[Rejected, ...]:
    """One line per family that is in no option: its best try and the reason. Named families come first."""
    shown = {candidate.instance.family for candidate in chosen}
    lines: dict[str, Rejected] = {}
    for candidate in sorted(found.candidates, key=_best_try):
        row = candidate.instance
        reason = _lost(candidate, chosen, limits)
        _add(lines, shown, row.family, row.gpu_model, row.instance_type, reason)
    for miss in sorted(found.misses, key=lambda miss: miss.shortfall):
        row = miss.instance
        _add(lines, shown, row.family, row.gpu_model, row.instance_type, miss.reason)
    for item in refused:
        if item.reason.code not in _SILENT and (
            item.instance.status == "current" or limits.names(item.instance)
        ):
            row = item.instance
            _add(lines, shown, row.family, row.gpu_model, row.instance_type, item.reason)
    ordered = sorted(lines.values(), key=lambda line: line.family not in limits.families)
    return tuple(ordered[:_MOST])


def _best_try(candidate: Candidate) -> tuple[bool, int, float, int, float]:
    """Order of a family's candidates: the smallest machine stands for a family without prices."""
    unpriced_gpus = 0 if candidate.priced else candidate.gpus
    return (
        not candidate.within_limits,
        candidate.rung,
        float(candidate.cost),
        unpriced_gpus,
        -candidate.speed,
    )


def _add(
    lines: dict[str, Rejected], shown: set[str], family: str, gpu: str, instance_type: str, reason: Remark
) -> None:
    if family not in shown and family not in lines:
        lines[family] = Rejected(family=family, gpu_model=gpu, instance_type=instance_type, reason=reason)


def _lost(candidate: Candidate, chosen: Sequence[Candidate], limits: Limits) -> Remark:
    """Why a candidate that does the work is in no option."""
    params: dict[str, Scalar] = {
        "count": candidate.machines,
        "precision": candidate.precision,
        "hourly_cny": None if candidate.hourly is None else round(float(candidate.hourly), 4),
    }
    if not candidate.within_gpus:
        return Remark(code="gpu_count_not_wanted", params={**params, "gpus": candidate.gpus})
    if not candidate.within_budget:
        limit = limits.max_hourly if limits.max_hourly is not None else limits.max_monthly
        params["limit_cny"] = None if limit is None else round(float(limit), 4)
        return Remark(code="over_budget", params=params)
    if not candidate.priced:
        return Remark(code="no_list_price", params=params)
    if not chosen:
        return Remark(code="not_chosen", params=params)
    first = chosen[0]
    if candidate.rung > first.rung:
        code = "lower_precision" if candidate.precision else "not_a_whole_gpu"
        return Remark(code=code, params=params)
    params["times_price"] = round(candidate.cost / first.cost, 2) if first.priced and first.cost else None
    params["times_speed"] = round(candidate.speed / first.speed, 2) if first.speed else None
    if candidate.cost >= first.cost and candidate.speed <= first.speed:
        return Remark(code="dearer_and_not_faster", params=params)
    return Remark(code="dearer" if candidate.cost > first.cost else "slower", params=params)
