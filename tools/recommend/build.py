"""From a candidate to a full option, and from misses to rejected families."""

from __future__ import annotations

from decimal import Decimal

from knowledge.catalog import Catalog
from knowledge.rows import Family
from tools.contracts.base import Remark
from tools.contracts.cost import CostReport, CostRequest
from tools.contracts.sizing import Objective, Option, SizingRequest
from tools.contracts.throughput import ThroughputReport
from tools.cost import estimate_cost
from tools.recommend.candidate import Candidate
from tools.recommend.task import AnySpeed, Task

_ACCESS_CODES = {"contact-sales": "contact_sales", "invitation": "invitation_only", "ticket": "ticket_needed"}


def option_of(
    candidate: Candidate,
    task: Task,
    request: SizingRequest,
    catalog: Catalog,
    labels: tuple[Objective, ...] = (),
    why: tuple[Remark, ...] = (),
) -> Option:
    """The option of a candidate with its memory, speed and cost reports."""
    memory, speed = task.reports(candidate)
    instance, gpu = candidate.instance, candidate.silicon.gpu
    cost = _cost(candidate, speed, request, catalog)
    nominal = gpu.memory_gib or 0.0
    return Option(
        instance_type=instance.instance_type,
        family=instance.family,
        count=candidate.machines,
        gpu_model=candidate.silicon.model,
        gpu_count=candidate.silicon.count,
        vgpu=candidate.silicon.vgpu,
        gpu_memory_gib=nominal,
        total_vram_gib=nominal * candidate.gpus,
        vcpu=instance.vcpu,
        host_memory_gib=instance.memory_gib,
        plan=task.plan(candidate),
        precision=candidate.precision,
        memory=memory,
        speed=speed,
        cost=cost,
        hourly_cny=candidate.hourly,
        monthly_cny=candidate.monthly,
        region=candidate.region,
        price_basis=candidate.basis,
        precision_rung=candidate.rung,
        job_cny=_job(candidate, request),
        labels=labels,
        why=why + candidate.remarks + _facts(candidate, catalog.facts_of_family(instance.family)),
    )


def _cost(candidate: Candidate, speed: AnySpeed, request: SizingRequest, catalog: Catalog) -> CostReport:
    rates: dict[str, float] = {}
    if isinstance(speed, ThroughputReport):
        rates = {
            "output_tokens_per_s": max(speed.output_tokens_per_s, 1e-6),
            "total_tokens_per_s": max(speed.total_tokens_per_s, 1e-6),
            "prefill_tokens_per_s": max(speed.prefill_tokens_per_s, 1e-6),
        }
    currency = request.budget.currency if request.budget else "CNY"

    def report(currency: str) -> CostReport:
        return estimate_cost(
            CostRequest(
                instance_type=candidate.instance.instance_type,
                count=candidate.machines,
                region=candidate.region,
                purchase=request.purchase,
                hours=_hours(candidate, request),
                hours_per_month=request.hours_per_month,
                currency=currency,
                cny_per_usd=request.cny_per_usd,
                allow_derived=request.allow_derived_prices,
                **rates,
            ),
            catalog,
        )

    cost = report(currency)
    if cost.price is None and currency == "CNY":
        dollars = report("USD")  # shown where only the USD list has the type; it never ranks
        return dollars if dollars.price is not None else cost
    return cost


def _hours(candidate: Candidate, request: SizingRequest) -> float | None:
    hours = candidate.hours if candidate.hours is not None else request.hours
    return None if hours is None else min(max(hours, 1e-6), 10_000_000.0)


def _job(candidate: Candidate, request: SizingRequest) -> Decimal | None:
    hours = _hours(candidate, request)
    if hours is None or candidate.hourly is None:
        return None
    return (candidate.hourly * Decimal(str(hours))).quantize(Decimal("0.0001"))


def _talks_across(candidate: Candidate) -> bool:
    """Whether machines exchange data: a job over several of them; replicas of their own do not."""
    layout, gpus = candidate.layout, candidate.silicon.count
    training = bool(candidate.method) or layout.zero is not None
    return candidate.machines > 1 and (training or layout.tensor * layout.pipeline > gpus)


def _facts(candidate: Candidate, facts: Family | None) -> tuple[Remark, ...]:
    """What a buyer must know of the machine: how it is bought, its image, little room, a price elsewhere."""
    found = []
    if candidate.instance.status != "current":
        found.append(Remark(code=f"{candidate.instance.status}_type"))
    if candidate.tight:
        found.append(Remark(code="little_memory_to_spare"))
    if not candidate.priced:
        found.append(Remark(code="no_list_price", params={"region": candidate.region}))
    if facts is None:
        found.append(Remark(code="only_in_api", params={"family": candidate.instance.family}))
        return tuple(found)
    if facts.access in _ACCESS_CODES:
        found.append(Remark(code=_ACCESS_CODES[facts.access], params={"family": facts.family}))
    if facts.uefi_image:
        found.append(Remark(code="uefi_image_needed", params={"family": facts.family}))
    if _talks_across(candidate) and facts.erdma is False:
        found.append(Remark(code="no_rdma_between_machines", params={"family": facts.family}))
    return tuple(found)
