"""The limits of a request: which machines may be offered and what they may cost."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from knowledge.calendar import HOURS_PER_DAY, HOURS_PER_MONTH
from knowledge.catalog import Catalog
from knowledge.errors import NotKnown
from knowledge.rows import Family, Instance
from tools.contracts.base import Remark
from tools.contracts.sizing import SizingRequest
from tools.cost.extras import cny_per_usd
from tools.cost.purchase import PAYG, purchase_of
from tools.lookup.describe import stand_ins
from tools.lookup.name import decode_name
from tools.notes import Notes
from tools.recommend.offers import Silicon
from tools.recommend.tariff import Tariff, always_on

_DAYS_PER_MONTH = Decimal(HOURS_PER_MONTH) / HOURS_PER_DAY
# Families that are for another purpose than model work; they are offered when named.
_SPECIAL = {
    "graphics": "no_cuda_compute",
    "arm-media": "arm_host",
    "confidential": "confidential_computing",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """A request's limits, names resolved. Money is CNY of all machines together."""

    gpus: frozenset[str]  # wanted GPU models; empty: any
    old_gpus: frozenset[str]  # of those, the ones that no current type carries
    excluded: frozenset[str]
    types: frozenset[str]  # named types
    families: frozenset[str]  # named families
    max_hourly: Decimal | None
    max_monthly: Decimal | None
    max_total: Decimal | None  # of a job whose hours are known
    gpu_count: int | None
    max_gpus: int | None
    needs_nvlink: bool
    bare_metal: bool | None
    model_work: bool
    min_gpu_memory_gib: float | None

    def names(self, instance: Instance) -> bool:
        """Whether the user named this type, its family or its GPU."""
        return self._names_type(instance) or instance.gpu_model in self.gpus

    def _names_type(self, instance: Instance) -> bool:
        return instance.instance_type in self.types or instance.family in self.families

    def refusal(self, instance: Instance, silicon: Silicon, facts: Family | None) -> Remark | None:
        """Why a type may not be offered at all, whatever it computes; None if it may."""
        if self.types or self.families:
            if not self._names_type(instance):
                return Remark(code="not_the_named_type")
        elif self.gpus and instance.gpu_model not in self.gpus:
            return Remark(code="not_the_wanted_gpu", params={"gpu": instance.gpu_model})
        if instance.gpu_model in self.excluded:
            return Remark(code="gpu_excluded", params={"gpu": instance.gpu_model})
        named = self.names(instance)
        only_old = instance.gpu_model in self.gpus and instance.gpu_model in self.old_gpus
        if instance.status != "current" and not only_old and not self._names_type(instance):
            return Remark(code=f"{instance.status}_status", params={"status": instance.status})
        if self.model_work and silicon.vgpu and not self._names_type(instance):
            return Remark(code="vgpu_for_graphics", params={"family": instance.family})
        if self.model_work and not named and facts is not None and facts.purpose in _SPECIAL:
            return Remark(code=_SPECIAL[facts.purpose], params={"family": instance.family})
        if self.bare_metal is not None and instance.bare_metal != self.bare_metal:
            return Remark(code="bare_metal" if instance.bare_metal else "not_bare_metal")
        if self.needs_nvlink and silicon.link != "nvlink" and silicon.count > 1:
            return Remark(code="no_nvlink", params={"interconnect": silicon.link or "none"})
        memory = silicon.gpu.memory_gib or 0.0
        if self.min_gpu_memory_gib is not None and memory < self.min_gpu_memory_gib:
            return Remark(
                code="gpu_memory_below", params={"gib": memory, "wanted_gib": self.min_gpu_memory_gib}
            )
        return None

    def allows_cost(
        self, hourly: Decimal | None, monthly: Decimal | None, hours: float | None = None
    ) -> bool:
        """Whether a price holds the budget; without a price it cannot be checked and is let through."""
        if hourly is not None and self.max_total is not None and hours is not None:
            return hourly * Decimal(str(hours)) <= self.max_total
        if hourly is not None and self.max_hourly is not None and hourly > self.max_hourly:
            return False
        return not (monthly is not None and self.max_monthly is not None and monthly > self.max_monthly)

    @property
    def has_budget(self) -> bool:
        return self.max_hourly is not None or self.max_monthly is not None

    def allows_gpus(self, gpus: int) -> bool:
        """Whether this many GPUs in all are wanted."""
        if self.gpu_count is not None and gpus != self.gpu_count:
            return False
        return self.max_gpus is None or gpus <= self.max_gpus


def resolve_limits(
    request: SizingRequest, catalog: Catalog, model_work: bool, notes: Notes
) -> tuple[Limits, Tariff]:
    """Limits and tariff of a request. Raises `InputError` for unknown names."""
    regions = tuple(dict.fromkeys(catalog.region(name).region_id for name in request.regions))
    if not regions:
        regions = (catalog.region_asked().region_id,)
        notes.assume("regions", regions[0], "default_region")
    types, families = _named(request.instance_wanted, catalog, notes)
    purchase = purchase_of(request.purchase) if request.purchase else PAYG
    hours = always_on() if request.hours_per_month is None else Decimal(str(request.hours_per_month))
    max_hourly, max_monthly = _budget(request, catalog, notes)
    total = request.budget is not None and request.budget.period == "total" and request.hours is None
    if request.hours_per_month is None and (max_monthly is not None or purchase != PAYG):
        notes.assume("hours_per_month", float(hours), "always_on")
    gpus = frozenset(name for wanted in request.gpu_wanted for name in _wanted(wanted, catalog, notes))
    limits = Limits(
        gpus=gpus,
        old_gpus=frozenset(name for name in gpus if not catalog.with_gpu(name, "current")),
        excluded=_excluded(request.gpu_excluded, catalog),
        types=types,
        families=families,
        max_hourly=max_hourly,
        max_monthly=max_monthly,
        max_total=max_hourly if total else None,
        gpu_count=request.gpu_count,
        max_gpus=request.max_gpus,
        needs_nvlink=request.needs_nvlink,
        bare_metal=request.bare_metal,
        model_work=model_work,
        min_gpu_memory_gib=request.min_gpu_memory_gib,
    )
    by_month = purchase.startswith("subscription")
    return limits, Tariff(catalog, regions, hours, by_month, request.allow_derived_prices)


def _named(wanted: tuple[str, ...], catalog: Catalog, notes: Notes) -> tuple[frozenset[str], frozenset[str]]:
    """Named types and families; a CPU family (g6, g6e) is corrected and passed over."""
    types, families = set(), set()
    for name in wanted:
        key = name.strip().lower().removeprefix("ecs.")
        if key in catalog.families:
            families.add(key)
        elif any(remark.code == "cpu_family" for remark in decode_name(name, catalog).remarks):
            notes.correct("not_a_gpu_family", family=key)
        else:
            types.add(catalog.instance(name).instance_type)
    return frozenset(types), frozenset(families)


def _wanted(name: str, catalog: Catalog, notes: Notes) -> tuple[str, ...]:
    """The GPU models that a wished GPU stands for: all sizes of a bare name, stand-ins of one not sold."""
    sizes = catalog.gpu_sizes(name)
    if sizes:
        return sizes
    gpu, note = catalog.gpu_with_note(name)
    if note:
        notes.assume("gpu_wanted", gpu.gpu_model, note)
    if catalog.with_gpu(gpu.gpu_model):
        return (gpu.gpu_model,)
    near = stand_ins(gpu, catalog)
    notes.correct("gpu_not_sold", gpu=gpu.gpu_model, stand_ins=", ".join(near))
    return near


def _excluded(names: tuple[str, ...], catalog: Catalog) -> frozenset[str]:
    found = set()
    for name in names:
        key = name.strip().upper().replace(" ", "")
        found |= {row.gpu_model for row in catalog.gpus if row.gpu_model.startswith(f"{key}-")}
        try:
            found.add(catalog.gpu(name).gpu_model)
        except NotKnown:
            continue
    return frozenset(found)


def _budget(request: SizingRequest, catalog: Catalog, notes: Notes) -> tuple[Decimal | None, Decimal | None]:
    """The budget as CNY per hour or per month of all machines. A total needs the hours of use; without
    them it bounds one hour only, and the answer says how long it lasts."""
    budget = request.budget
    if budget is None:
        return None, None
    amount = budget.amount
    if budget.currency == "USD":
        rate, _, _ = cny_per_usd(catalog, request.cny_per_usd)
        amount *= rate
        notes.assume(
            "cny_per_usd", float(rate), "exchange_rate_given" if request.cny_per_usd else "exchange_rate"
        )
    if budget.period == "hour":
        return amount, None
    if budget.period == "total":
        return (amount / Decimal(str(request.hours)) if request.hours else amount), None
    per_month = {"day": amount * _DAYS_PER_MONTH, "month": amount, "year": amount / 12}[budget.period]
    return None, per_month
