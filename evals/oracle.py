"""An independent judge of recommendations: catalog facts and lower bounds only, nothing from `tools`.

It reads a recommendation as JSON values and never asks a calculator. Its memory figures are bounds: what
surely does not fit is a violation, and so is a cheaper machine on which the same load surely fits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, get_args

from evals.bounds import Load, fits_surely, for_less, kv_bytes, load_of, weights_gib_at_least
from evals.training_bounds import training_faults
from knowledge.cards import usable_gib
from knowledge.catalog import Catalog
from knowledge.errors import AdvisorError
from knowledge.rows import Gpu, Instance, Purchase

HOURS_PER_MONTH = Decimal(730)
_HOURS = {"hour": Decimal(1), "month": HOURS_PER_MONTH, "year": Decimal(8760), "3 years": Decimal(26280)}
_PRICE_SLACK = Decimal("0.002")  # rounding of shown prices
_MISSED_SLACK = Decimal("0.98")  # a machine must be cheaper by more than this to count as missed
GIB = 2**30

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Violation:
    """One thing in a recommendation that the catalog contradicts."""

    rule: str
    option: str
    detail: str


def judge(recommendation: Values, catalog: Catalog) -> list[Violation]:
    """Every violation of a recommendation (`Recommendation.model_dump(mode="json")`)."""
    request: Values = recommendation["request"]
    found: list[Violation] = []
    for option in [*recommendation["options"], *recommendation.get("fallback", ())]:
        found += _option(option, request, catalog)
    for option in recommendation["options"]:
        found += _within_limits(option, request, catalog)
    found += _missed(recommendation, catalog)
    return found


def _option(option: Values, request: Values, catalog: Catalog) -> Iterator[Violation]:
    name = str(option["instance_type"])
    try:
        instance = catalog.instance(name)
    except AdvisorError as error:
        yield Violation("exists", name, str(error))
        return
    gpu = catalog.gpu_of(instance)
    yield from _facts(option, instance, gpu)
    if instance.status != "current" and not _named(request, instance, catalog):
        yield Violation("current", name, f"status is {instance.status}")
    yield from _price(option, instance, catalog)
    yield from _precision(option, gpu, catalog)
    yield from _memory(option, request, gpu, catalog)
    for rule, detail in training_faults(option, request, gpu, catalog):
        yield Violation(rule, name, detail)


def _facts(option: Values, instance: Instance, gpu: Gpu) -> Iterator[Violation]:
    """The option's own description against the row of its type."""
    expected = {
        "family": instance.family,
        "gpu_model": instance.gpu_model if instance.gpu_count >= 1 else option["gpu_model"],
        "gpu_count": max(instance.whole_gpus, 1),
        "gpu_memory_gib": gpu.memory_gib,
        "vcpu": instance.vcpu,
        "host_memory_gib": instance.memory_gib,
    }
    for field, value in expected.items():
        if value is not None and option[field] != value:
            yield Violation(
                "facts", instance.instance_type, f"{field} is {option[field]}, the catalog has {value}"
            )


def _named(request: Values, instance: Instance, catalog: Catalog) -> bool:
    """Whether the user named the type, its family or its GPU."""
    wanted = {str(item).lower().removeprefix("ecs.") for item in request["instance_wanted"]}
    if wanted & {instance.instance_type.removeprefix("ecs."), instance.family}:
        return True
    return instance.gpu_model in {
        model for name in request["gpu_wanted"] for model in gpu_models(name, catalog)
    }


def gpu_models(name: str, catalog: Catalog) -> set[str]:
    """The GPU models that a name may mean: every memory size of a bare one."""
    bare = name.strip().upper().replace(" ", "")
    sizes = {row.gpu_model for row in catalog.gpus if row.gpu_model.startswith(f"{bare}-")}
    try:
        return sizes | {catalog.gpu(name).gpu_model}
    except AdvisorError:
        return sizes


def _price(option: Values, instance: Instance, catalog: Catalog) -> Iterator[Violation]:
    """The hourly price of an option is the catalog's of that region; a known price is not kept back."""
    name, region = instance.instance_type, str(option["region"])
    known = hourly_price(catalog, name, region, "payg")
    shown = option["hourly_cny"]
    if shown is None:
        if known is not None:
            yield Violation("price", name, f"no price shown, {known} CNY/h is known in {region}")
        return
    if str(option.get("price_basis", "")).startswith("derived"):
        return
    prices = [hourly_price(catalog, name, region, purchase) for purchase in get_args(Purchase)]
    expected = [price * int(option["count"]) for price in prices if price is not None]
    if not any(abs(Decimal(str(shown)) - price) <= _PRICE_SLACK * price for price in expected):
        yield Violation("price", name, f"{shown} CNY/h for {option['count']}, {region} has {known}")


def hourly_price(catalog: Catalog, name: str, region: str, purchase: Purchase) -> Decimal | None:
    """The comparable CNY price of one machine per hour, or None."""
    row = catalog.price(name, region, purchase)
    return row.price / _HOURS[row.unit] if row is not None and row.unit in _HOURS else None


def _precision(option: Values, gpu: Gpu, catalog: Catalog) -> Iterator[Violation]:
    """The GPU can run the precision at all."""
    if not option["precision"] or gpu.compute_capability is None:
        return
    try:
        row = catalog.precision(str(option["precision"]))
    except AdvisorError:
        return  # a recipe such as "bf16+nf4" names no single format
    least = row.min_compute_capability
    if least is not None and gpu.compute_capability < least:
        detail = f"{row.name} needs compute capability {least}, {gpu.gpu_model} has {gpu.compute_capability}"
        yield Violation("precision", str(option["instance_type"]), detail)


def _memory(option: Values, request: Values, gpu: Gpu, catalog: Catalog) -> Iterator[Violation]:
    """Weights and KV cache of the load, both bounded from below, fit the usable memory."""
    load = load_of(option, request, catalog)
    if load is None:
        return
    plan: Values = option["plan"]
    gpus = int(plan["tensor_parallel"]) * int(plan["pipeline_parallel"])
    replicas = max(int(plan["data_parallel"]), 1)
    if gpus * replicas > max(int(option["gpu_count"]), 1) * int(option["count"]):
        yield Violation(
            "plan", str(option["instance_type"]), f"{replicas} x {gpus} GPUs are more than there are"
        )
    share = -(-load.concurrency // replicas)
    need = weights_gib_at_least(load) / gpus + kv_bytes(load, share) / gpus / GIB
    usable = usable_gib(gpu)[0]
    if need > usable:
        yield Violation(
            "memory", str(option["instance_type"]), f"at least {need:.1f} GiB per GPU, usable {usable:.1f}"
        )


def _within_limits(option: Values, request: Values, catalog: Catalog) -> Iterator[Violation]:
    name = str(option["instance_type"])
    limit = budget_hourly(request, catalog)
    if limit is not None and option["hourly_cny"] is not None:
        hourly = Decimal(str(option["hourly_cny"]))
        if hourly > limit * (1 + _PRICE_SLACK):
            yield Violation("budget", name, f"{hourly} CNY/h, the budget is {limit:.3f} CNY/h")
    if request["regions"] and option["region"] not in {
        catalog.region(region).region_id for region in request["regions"]
    }:
        yield Violation("region", name, f"{option['region']} was not asked for")
    gpu = str(option["gpu_model"])
    excluded = {model for item in request["gpu_excluded"] for model in gpu_models(item, catalog)}
    if gpu in excluded:
        yield Violation("excluded", name, f"{gpu} was excluded")
    gpus = max(int(option["gpu_count"]), 1) * int(option["count"])
    if request["max_gpus"] is not None and gpus > request["max_gpus"]:
        yield Violation("max_gpus", name, f"{gpus} GPUs, at most {request['max_gpus']} wanted")


def budget_hourly(request: Values, catalog: Catalog) -> Decimal | None:
    """The budget as CNY per hour of use where that needs no further assumption, else None."""
    budget: Values | None = request["budget"]
    if not budget:
        return None
    amount = Decimal(str(budget["amount"]))
    if budget["currency"] == "USD":
        rule = catalog.billing_rule("exchange_rate", "USD")
        given = request.get("cny_per_usd")
        if given is None and (rule is None or rule.value is None):
            return None
        amount *= Decimal(str(given)) if given is not None else rule.value  # type: ignore[union-attr,operator]
    if budget["period"] == "hour":
        return amount
    if request["purchase"] not in ("", "payg", "spot"):
        return None  # a month's price of its own
    hours = Decimal(str(request.get("hours_per_month") or HOURS_PER_MONTH))
    if budget["period"] == "total":
        return amount / Decimal(str(request["hours"])) if request.get("hours") else None
    months = {"day": Decimal(365) / 12, "month": Decimal(1), "year": Decimal(1) / 12}
    return amount * months[str(budget["period"])] / hours if hours else None


def _missed(recommendation: Values, catalog: Catalog) -> Iterator[Violation]:
    """A cheaper single machine that surely holds the same load in the same precision, or any at all where
    nothing was recommended."""
    request: Values = recommendation["request"]
    options = [item for item in recommendation["options"] if item["hourly_cny"] is not None]
    if not _comparable(request):
        return
    if options:
        best = min(options, key=lambda item: Decimal(str(item["hourly_cny"])))
        limit, region = Decimal(str(best["hourly_cny"])) * _MISSED_SLACK, str(best["region"])
    else:
        fallback = [item for item in recommendation.get("fallback") or [] if not for_less(item)]
        budget = budget_hourly(request, catalog)
        if not fallback or budget is None:
            return
        best, limit, region = fallback[0], budget, str(fallback[0]["region"])
    load = load_of(best, request, catalog)
    if load is None:
        return
    for instance in _alternatives(request, load, catalog):
        price = hourly_price(catalog, instance.instance_type, region, "payg")
        if price is not None and price < limit and fits_surely(load, instance, catalog):
            detail = f"{instance.instance_type} costs {price} CNY/h in {region} and surely holds the load"
            yield Violation("missed", str(best["instance_type"]), detail)


def _comparable(request: Values) -> bool:
    """Whether memory alone decides what fits: no speed target, no other purchase, no wish for a machine."""
    speed = ("ttft_ms", "tpot_ms", "requests_per_second")
    wishes = ("instance_wanted", "gpu_count", "bare_metal", "needs_nvlink", "min_gpu_memory_gib")
    return (
        request["task"] == "inference"
        and request["purchase"] in ("", "payg")
        and not any(request[field] for field in (*speed, *wishes))
    )


def _alternatives(request: Values, load: Load, catalog: Catalog) -> Iterator[Instance]:
    """Current types of open, general families whose GPU may be used and runs the precision."""
    wanted = {model for item in request["gpu_wanted"] for model in gpu_models(item, catalog)}
    excluded = {model for item in request["gpu_excluded"] for model in gpu_models(item, catalog)}
    for instance in catalog.instances:
        family = catalog.facts_of_family(instance.family)
        if instance.status != "current" or instance.gpu_count < 1 or family is None:
            continue
        if family.access != "open" or family.purpose != "general" or family.cpu_arch != "x86":
            continue
        if instance.gpu_model in excluded or (wanted and instance.gpu_model not in wanted):
            continue
        if request["max_gpus"] is not None and instance.whole_gpus > request["max_gpus"]:
            continue
        capability = catalog.gpu_of(instance).compute_capability
        least = load.precision.min_compute_capability
        if capability is not None and (least is None or capability >= least):
            yield instance
