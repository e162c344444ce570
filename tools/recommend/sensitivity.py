"""How a recommendation moves: longer contexts, more requests, the next cheaper option, a higher budget."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Literal

from knowledge.catalog import Catalog
from tools.contracts.base import Remark, Scalar
from tools.contracts.sizing import (
    Budget,
    Option,
    Recommendation,
    Sensitivity,
    SensitivityCase,
    SizingRequest,
)
from tools.contracts.throughput import ThroughputReport
from tools.contracts.training import TrainingTimeReport
from tools.recommend.recommend import recommend

Change = Literal["context_doubled", "concurrency_doubled", "next_cheaper", "budget_raised"]
_FALLBACK_CODES = (
    "what_the_wish_costs", "budget_buys_smaller_load", "budget_buys_machine_only", "without_limit",
)  # fmt: skip
_JUST_BELOW = Decimal("0.995")  # of the first option's price: less than any rounding of a list price


def sensitivity(
    request: SizingRequest,
    catalog: Catalog,
    base: Recommendation | None = None,
) -> Sensitivity:
    """The recommendation again with one thing changed at a time: a recommendation for each case.

    `base` is the recommendation of the request where the caller has it already. Cases that make no sense
    for the task are left out. Raises as `recommend` does.
    """
    base = base or recommend(request, catalog)
    first = next(iter(base.options), None)
    cases = []
    for change, value, changed in _changes(request, base, first):
        found = recommend(changed, catalog)
        option = next(iter(found.options), None)
        if option is None:
            cheap_enough = (o for o in found.fallback if change != "next_cheaper" or _within(o, changed))
            option = next(cheap_enough, None)
        cases.append(_case(change, value, first, option))
    return Sensitivity(request=request, cases=tuple(cases))


def _changes(
    request: SizingRequest, base: Recommendation, first: Option | None
) -> Iterator[tuple[Change, str, SizingRequest]]:
    """The changed requests; loads are those that the base really used, stated or assumed."""
    context = _used(request, base, "context_tokens")
    if context is not None:
        doubled: dict[str, object] = {
            "context_tokens": 2 * context,
            "input_tokens": None,
            "output_tokens": None,
        }
        if request.input_tokens is not None:
            doubled["input_tokens"] = 2 * request.input_tokens
        yield "context_doubled", str(2 * context), request.model_copy(update=doubled)
    concurrency = _used(request, base, "concurrency")
    if concurrency is not None:
        doubled = {"concurrency": 2 * concurrency, "users": None}
        yield "concurrency_doubled", str(2 * concurrency), request.model_copy(update=doubled)
    if first is not None and first.hourly_cny is not None:
        limit = (first.hourly_cny * _JUST_BELOW).quantize(Decimal("0.0001"))
        cheaper = {"budget": Budget(amount=limit, currency="CNY", period="hour")}
        yield "next_cheaper", str(limit), request.model_copy(update=cheaper)
    if request.budget is not None:
        raised = {"budget": request.budget.model_copy(update={"amount": 2 * request.budget.amount})}
        yield "budget_raised", str(2 * request.budget.amount), request.model_copy(update=raised)


def _used(request: SizingRequest, base: Recommendation, field: str) -> int | None:
    given = getattr(request, field)
    if given is not None:
        return int(given)
    assumed = next((a.value for a in base.assumptions if a.field == field), None)
    return int(assumed) if isinstance(assumed, int) and not isinstance(assumed, bool) else None


def _within(option: Option, request: SizingRequest) -> bool:
    limit = request.budget.amount if request.budget else None
    return option.hourly_cny is not None and limit is not None and option.hourly_cny <= limit


def _case(change: Change, value: str, first: Option | None, option: Option | None) -> SensitivityCase:
    same = first is not None and option is not None and _same(first, option)
    gives_up = () if first is None or option is None or same else tuple(_given_up(first, option))
    return SensitivityCase(change=change, value=value, same_option=same, option=option, gives_up=gives_up)


def _same(a: Option, b: Option) -> bool:
    return (a.instance_type, a.count, a.precision) == (b.instance_type, b.count, b.precision)


def _given_up(first: Option, option: Option) -> Iterator[Remark]:
    """What the other option has less of than the first one."""
    if option.precision_rung > first.precision_rung:
        params: dict[str, Scalar] = {"from": first.precision, "to": option.precision}
        yield Remark(code="precision_given_up", params=params)
    before, after = _speed(first), _speed(option)
    if before and after and after < 0.98 * before:
        yield Remark(code="slower", params={"times_speed": round(after / before, 2)})
    if option.total_vram_gib < first.total_vram_gib:
        params = {"from_gib": first.total_vram_gib, "to_gib": option.total_vram_gib}
        yield Remark(code="less_memory", params=params)
    if first.hourly_cny and option.hourly_cny and option.hourly_cny > first.hourly_cny:
        yield Remark(
            code="dearer", params={"times_price": round(float(option.hourly_cny / first.hourly_cny), 2)}
        )
    yield from (remark for remark in option.why if remark.code in _FALLBACK_CODES)


def _speed(option: Option) -> float | None:
    if isinstance(option.speed, ThroughputReport):
        return option.speed.output_tokens_per_s
    if isinstance(option.speed, TrainingTimeReport):
        return option.speed.tokens_per_s_per_gpu * option.speed.gpu_count
    return None
