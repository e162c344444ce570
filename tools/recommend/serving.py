"""The search for inference: every machine, count, precision and plan that carries the load."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from knowledge.catalog import Catalog
from knowledge.rows import Instance, Precision
from tools.contracts.base import Remark, Scalar
from tools.memory.formats import format_of, resolve_kv
from tools.memory.plan import TIGHT_SHARE, MemoryPlan, plan_memory
from tools.memory.plan import Load as MemoryLoad
from tools.memory.weights import Plan as MemoryLayout
from tools.recommend.candidate import Candidate, Layout
from tools.recommend.found import Found, Miss, cheapest_type, priced
from tools.recommend.limits import Limits
from tools.recommend.offers import Silicon
from tools.recommend.serving_speed import Reach, ServingSpeed
from tools.recommend.tariff import Tariff
from tools.recommend.workload import Workload, precision_on

MOST_MACHINES = 64
# vLLM before its 2026 lines and LMDeploy start at compute capability 7.0 (compatibility table, vllm_min_cc).
ENGINE_CAPABILITY = 7.0
_UNKNOWN = Remark(code="gpu_figures_missing")
_DEGREES = (1, 2, 4, 8)
_MOST_REPLICA_MACHINES = 4  # machines over which one replica may stretch


@dataclass(frozen=True, slots=True)
class _Fit:
    """One replica's plan that holds the weights: how many requests it carries at once."""

    layout: MemoryLayout
    memory: MemoryPlan  # at one request
    most: int


@dataclass(frozen=True, slots=True)
class ServingFigures:
    """A workload with what was worked out for it: searches under other limits use it again."""

    work: Workload
    speed: ServingSpeed
    memory: dict[tuple[str, str, int, int, int], MemoryPlan] = field(default_factory=dict)


class ServingSearch:
    """One inference workload against the catalog. Memory is worked out once per card, format and plan."""

    def __init__(
        self, figures: ServingFigures, limits: Limits, tariff: Tariff, catalog: Catalog, compare: bool
    ) -> None:
        self.work, self.limits, self.tariff, self.catalog = figures.work, limits, tariff, catalog
        self.compare_precisions = compare  # lower precisions compete though a better one does it
        self.speed = figures.speed
        self._memory = figures.memory
        self._served = len(self.work.ladder)  # the best step that has a priced candidate within the limits

    def run(self, silicon: Iterable[tuple[Silicon, list[Instance]]]) -> Found:
        """All candidates on these machines and the misses of the others."""
        found = Found()
        machines = list(silicon)
        misses: dict[int, Miss] = {}
        for rung, step in enumerate(self.work.ladder):
            if self.speed.has_targets and rung > self._served and not self.compare_precisions:
                break  # targets are costly to check, and a better precision meets them
            for index, (kind, instances) in enumerate(machines):
                precision = precision_on(step, kind.gpu, self.catalog)
                reason = self._unable(kind, precision, step.names[0])
                if precision is None or reason is not None:
                    misses.setdefault(index, Miss(instances[0], reason or _UNKNOWN, 1e6))
                    continue
                candidates, miss = self._on(kind, instances, precision, rung, found)
                found.candidates += candidates
                if miss is not None and (index not in misses or miss.shortfall < misses[index].shortfall):
                    misses[index] = miss
            if any(c.priced and c.within_limits for c in found.candidates):
                self._served = min(self._served, rung)
        done = {id(candidate.silicon) for candidate in found.candidates}
        found.misses = [miss for index, miss in misses.items() if id(machines[index][0]) not in done]
        return found

    def _on(
        self, kind: Silicon, instances: list[Instance], precision: Precision, rung: int, found: Found
    ) -> tuple[list[Candidate], Miss | None]:
        """Candidates of one kind of machine in one precision: the fastest plan for each machine count."""
        fits = list(self._fits(kind, precision, found))
        if not fits:
            return [], self._too_small(kind, instances[0], precision)
        best: dict[int, Candidate] = {}
        part = max(fits, key=lambda fit: fit.most * max(1, kind.count // fit.layout.gpus))
        for fit in fits:
            candidate = self._sized(kind, instances, precision, rung, fit)
            if candidate is None:
                continue
            known = best.get(candidate.machines)
            if known is None or candidate.speed > known.speed:
                best[candidate.machines] = candidate
        found.partial += self._partial(kind, instances, precision, rung, part)
        if not best:
            return [], Miss(instances[0], Remark(code="targets_missed", params={"gpu": kind.model}), 0.5)
        return list(best.values()), None

    def _unable(self, kind: Silicon, precision: Precision | None, asked: str) -> Remark | None:
        """Why a card cannot run the engine or the precision at all; None if it can."""
        if kind.shape is None or kind.card is None:
            return Remark(code="gpu_figures_missing", params={"gpu": kind.model})
        capability = kind.gpu.compute_capability
        params: dict[str, Scalar] = {"gpu": kind.model, "compute_capability": capability}
        if self.work.memory_engine.preallocates and (capability or 0.0) < ENGINE_CAPABILITY:
            return Remark(code="engine_not_on_gpu", params={**params, "engine": self.work.memory_engine.name})
        if precision is None:
            return Remark(code="precision_not_supported", params={**params, "precision": asked})
        return None

    # Memory

    def _fits(self, kind: Silicon, precision: Precision, found: Found) -> Iterator[_Fit]:
        """Plans of one replica that hold the weights and a request, within a machine or over several."""
        inside = list(self._layouts(kind))
        fitting = [fit for layout in inside if (fit := self._fit(kind, precision, layout, found)) is not None]
        if fitting or (kind.count < max(_DEGREES) and not self._largest(kind)):
            yield from fitting
            return
        for machines in range(2, _MOST_REPLICA_MACHINES + 1):
            layout = MemoryLayout(self._tensor_limit(kind.count), machines)
            if layout.gpus == kind.count * machines and (fit := self._fit(kind, precision, layout, found)):
                yield fit
                return

    def _largest(self, kind: Silicon) -> bool:
        """Whether no machine with more of these GPUs is sold."""
        return kind.count > 1 and all(
            row.gpu_count <= kind.count for row in self.catalog.with_gpu(kind.model, "current")
        )

    def _layouts(self, kind: Silicon) -> Iterator[MemoryLayout]:
        """Tensor x pipeline degrees of a replica in one machine. Over NVLink stages only make up for heads
        that do not divide; over PCIe they compete, as they move less data."""
        count = kind.count
        if self.work.memory_engine.layer_split:
            yield from (MemoryLayout(1, stages) for stages in _DEGREES if stages <= count)
            return
        for tensor in _DEGREES:
            if tensor > self._tensor_limit(count):
                continue
            for stages in _DEGREES:
                divides = tensor * stages <= count and count % (tensor * stages) == 0
                if divides and (stages == 1 or kind.link != "nvlink" or tensor == self._tensor_limit(count)):
                    yield MemoryLayout(tensor, stages)

    def _tensor_limit(self, count: int) -> int:
        """The largest tensor-parallel degree: it divides the attention heads."""
        heads = self.work.shape.heads
        return max(degree for degree in _DEGREES if degree <= count and heads % degree == 0)

    def _fit(self, kind: Silicon, precision: Precision, layout: MemoryLayout, found: Found) -> _Fit | None:
        found.considered += 1
        memory = self._plan(kind, precision, layout)
        most = self._fitting(kind, precision, layout, _most_requests(memory))
        return _Fit(layout, memory, most) if most >= 1 else None

    def _fitting(self, kind: Silicon, precision: Precision, layout: MemoryLayout, most: int) -> int:
        """The requests that really fit: engines whose working memory grows with the load hold fewer."""

        def fits(requests: int) -> bool:
            return bool(self._plan(kind, precision, layout, requests).fits)

        wanted = most if self.work.requests_per_s is not None else self.work.concurrency
        low, high = 1, max(1, min(most, wanted))
        if most <= 1 or fits(high):
            return most
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        return low

    def _plan(
        self, kind: Silicon, precision: Precision, layout: MemoryLayout, requests: int = 1
    ) -> MemoryPlan:
        key = (kind.gpu.gpu_model, precision.name, layout.tensor, layout.pipeline, requests)
        if key not in self._memory:
            weights = format_of(precision, self.work.model)
            kv = self.work.kv or resolve_kv("", self.catalog, weights)[0]
            load = MemoryLoad(self.work.context_tokens, requests, max_num_seqs=self.work.max_num_seqs)
            self._memory[key] = plan_memory(
                self.work.model, weights, self.work.memory_engine, layout, load, kv, kind.card
            )
        return self._memory[key]

    # Load

    def _sized(
        self, kind: Silicon, instances: list[Instance], precision: Precision, rung: int, fit: _Fit
    ) -> Candidate | None:
        """The fewest machines that carry the load with this plan; None where a target or count fails."""
        work = self.work
        group = max(1, fit.layout.gpus // kind.count)  # machines that one replica needs together
        per_group = max(1, kind.count // fit.layout.gpus)  # replicas on them
        groups = math.ceil(work.concurrency / (fit.most * per_group))
        reach: Reach | None = None
        measured = not self.speed.has_targets or self._affordable(instances, groups * group)
        if self.speed.has_targets and measured:
            reach = self.speed.reach(kind, precision, fit.layout, fit.most)
            if reach is None:
                return None
            groups = math.ceil(work.concurrency / (reach.concurrency * per_group))
            if work.requests_per_s is not None:
                groups = max(groups, math.ceil(work.requests_per_s / (reach.requests_per_s * per_group)))
        if self.limits.gpu_count is not None:
            groups = max(groups, self.limits.gpu_count // (kind.count * group))
        if groups * group > MOST_MACHINES:
            return None
        replicas = per_group * groups
        concurrency = self._concurrency(reach, replicas)
        spare = (fit.memory.pool or 0.0) - fit.memory.kv * math.ceil(concurrency / replicas)
        candidate = priced(
            kind, instances, groups * group, self.tariff, self.limits, self.catalog,
            precision=precision.name,
            rung=rung,
            layout=Layout(fit.layout.tensor, fit.layout.pipeline, replicas),
            speed=0.0,
            tight=spare < TIGHT_SHARE * (fit.memory.usable or 0.0),
            concurrency=concurrency,
            measured=measured,
            max_concurrency=fit.most * replicas,
            remarks=_ways(kind, precision),
        )  # fmt: skip
        if not self._speed_matters(candidate):
            return candidate
        if reach is not None and work.requests_per_s is not None:
            # All candidates deliver the asked rate; what tells them apart is the rate they could.
            return replace(candidate, speed=reach.requests_per_s * replicas * work.output_tokens)
        speed = self.speed.at(kind, precision, fit.layout, replicas, concurrency)
        return replace(candidate, speed=speed.output_tokens_per_s)

    def _affordable(self, instances: list[Instance], machines: int) -> bool:
        """Whether the fewest machines that memory allows hold the budget; if not, their speed is idle."""
        instance, quote = cheapest_type(instances, self.tariff, self.catalog)
        if quote is None:
            return True
        monthly = self.tariff.monthly(instance, quote) * machines
        return self.limits.allows_cost(quote.hourly * machines, monthly)

    def _concurrency(self, reach: Reach | None, replicas: int) -> int:
        """Requests in flight: as asked, or for a rate its share of what the replicas carry at most."""
        rate = self.work.requests_per_s
        if reach is None or rate is None:
            return self.work.concurrency
        used = min(1.0, rate / (reach.requests_per_s * replicas))
        return max(self.work.concurrency, math.ceil(reach.concurrency * replicas * used))

    def _speed_matters(self, candidate: Candidate) -> bool:
        """Whether the candidate can be chosen: within limits, and no better precision is yet."""
        return candidate.within_limits and (self.compare_precisions or candidate.rung <= self._served)

    # Results

    def _partial(
        self, kind: Silicon, instances: list[Instance], precision: Precision, rung: int, fit: _Fit
    ) -> list[Candidate]:
        """One machine (or one group) that holds the model but fewer requests than asked."""
        replicas = max(1, kind.count // fit.layout.gpus)
        most = fit.most * replicas
        if most >= self.work.concurrency:
            return []
        candidate = priced(
            kind, instances, max(1, fit.layout.gpus // kind.count), self.tariff, self.limits, self.catalog,
            precision=precision.name,
            rung=rung,
            layout=Layout(fit.layout.tensor, fit.layout.pipeline, replicas),
            speed=0.0,
            max_concurrency=most,
        )  # fmt: skip
        return [candidate]

    def _too_small(self, kind: Silicon, instance: Instance, precision: Precision) -> Miss:
        """How much the largest machine of this kind lacks for the weights and one request."""
        layout = MemoryLayout(self._tensor_limit(kind.count), 1)
        memory = self._plan(kind, precision, layout)
        needed, usable = memory.total, memory.usable or 1.0
        return Miss(
            instance,
            Remark(
                code="memory_too_small",
                params={
                    "precision": precision.name,
                    "gpus": layout.gpus,
                    "needed_gib_per_gpu": round(needed, 1),
                    "usable_gib_per_gpu": round(usable, 1),
                },
            ),
            max(0.0, needed / usable - 1),
        )


def _most_requests(memory: MemoryPlan) -> int:
    """Requests that one replica holds at once, by its margin at one request."""
    margin, each = memory.margin, memory.kv
    if margin is None or margin < 0 or not memory.max_concurrency:
        return 0
    return min(memory.max_concurrency, 1 + int(margin / each)) if each > 0 else memory.max_concurrency


def _ways(kind: Silicon, precision: Precision) -> tuple[Remark, ...]:
    """A format that the card only stores: weights are unpacked to 16 bit before each product."""
    if precision.name == "fp8-w8a16":
        return (Remark(code="weight_only", params={"precision": "fp8", "gpu": kind.model}),)
    return ()
