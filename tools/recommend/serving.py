"""The search for inference: every machine, count, precision and plan that carries the load."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from knowledge.catalog import Catalog
from knowledge.rows import Instance, Precision
from tools.contracts.base import Remark
from tools.memory.formats import format_of, resolve_kv
from tools.memory.plan import Load as MemoryLoad
from tools.memory.plan import MemoryPlan, plan_memory
from tools.memory.weights import Plan as MemoryLayout
from tools.recommend.candidate import Candidate, Layout
from tools.recommend.found import Found, Miss, priced
from tools.recommend.limits import Limits
from tools.recommend.offers import Silicon
from tools.recommend.tariff import Tariff
from tools.recommend.workload import Workload, precision_on
from tools.throughput.core import Load, Speed, serve_steps
from tools.throughput.links import link_between
from tools.throughput.planning import best_concurrency, concurrency_for_rate
from tools.throughput.precision import scheme_for
from tools.throughput.steps import Plan as SpeedPlan
from tools.throughput.steps import Stepper, stepper

MOST_MACHINES = 64
_DEGREES = (1, 2, 4, 8)
_MOST_REPLICA_MACHINES = 4  # machines over which one replica may stretch


@dataclass(frozen=True, slots=True)
class _Fit:
    """One replica's plan that holds the weights: how many requests it carries at once."""

    layout: MemoryLayout
    memory: MemoryPlan  # at one request
    most: int


class ServingSearch:
    """One inference workload against the catalog. Memory is worked out once per card, format and plan."""

    def __init__(self, work: Workload, limits: Limits, tariff: Tariff, catalog: Catalog) -> None:
        self.work, self.limits, self.tariff, self.catalog = work, limits, tariff, catalog
        self._memory: dict[tuple[str, str, int, int], MemoryPlan] = {}

    def run(self, silicon: Iterable[tuple[Silicon, list[Instance]]]) -> Found:
        """All candidates on these machines and the misses of the others."""
        found = Found()
        for kind, instances in silicon:
            before = len(found.candidates)
            miss: Miss | None = None
            for index, rung in enumerate(self.work.ladder):
                precision = precision_on(rung, kind.gpu, self.catalog)
                if precision is None or kind.shape is None or kind.card is None:
                    miss = miss or _no_precision(kind, instances[0], rung.names[0])
                    continue
                candidates, failure = self._on(kind, instances, precision, index, found)
                found.candidates += candidates
                miss = failure if failure and (miss is None or failure.shortfall < miss.shortfall) else miss
            if len(found.candidates) == before and miss is not None:
                found.misses.append(miss)
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
            for machines, speed in self._sized(kind, precision, fit):
                candidate = self._candidate(kind, instances, precision, rung, fit, machines, speed)
                known = best.get(machines)
                if known is None or candidate.speed > known.speed:
                    best[machines] = candidate
        found.partial += self._partial(kind, instances, precision, rung, part)
        if not best:
            return [], Miss(instances[0], Remark(code="targets_missed", params={"gpu": kind.model}), 0.5)
        return list(best.values()), None

    # Memory

    def _fits(self, kind: Silicon, precision: Precision, found: Found) -> Iterator[_Fit]:
        """Plans of one replica that hold the weights and a request, within a machine or over several."""
        inside = list(self._layouts(kind.count))
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

    def _layouts(self, count: int) -> Iterator[MemoryLayout]:
        if self.work.memory_engine.layer_split:
            yield from (MemoryLayout(1, stages) for stages in _DEGREES if stages <= count)
            return
        for tensor in _DEGREES:
            if tensor > self._tensor_limit(count):
                continue
            yield from (
                MemoryLayout(tensor, stages)
                for stages in _DEGREES
                if tensor * stages <= count and count % (tensor * stages) == 0
            )

    def _tensor_limit(self, count: int) -> int:
        """The largest tensor-parallel degree: it divides the attention heads."""
        heads = self.work.shape.heads
        return max(degree for degree in _DEGREES if degree <= count and heads % degree == 0)

    def _fit(self, kind: Silicon, precision: Precision, layout: MemoryLayout, found: Found) -> _Fit | None:
        found.considered += 1
        memory = self._plan(kind, precision, layout)
        most = _most_requests(memory)
        return _Fit(layout, memory, most) if most >= 1 else None

    def _plan(self, kind: Silicon, precision: Precision, layout: MemoryLayout) -> MemoryPlan:
        key = (kind.gpu.gpu_model, precision.name, layout.tensor, layout.pipeline)
        if key not in self._memory:
            weights = format_of(precision, self.work.model)
            kv = self.work.kv or resolve_kv("", self.catalog, weights)[0]
            self._memory[key] = plan_memory(
                self.work.model, weights, self.work.memory_engine, layout,
                MemoryLoad(self.work.context_tokens, 1), kv, kind.card,
            )  # fmt: skip
        return self._memory[key]

    # Speed

    def _sized(self, kind: Silicon, precision: Precision, fit: _Fit) -> Iterator[tuple[int, Speed]]:
        """The fewest machines that carry the load with this plan, with their speed; none if targets fail."""
        replica_machines = max(1, fit.layout.gpus // kind.count)
        replicas = max(1, kind.count // fit.layout.gpus)
        most = fit.most * replicas  # of one machine, or of one group of machines
        groups = math.ceil(self.work.concurrency / most)
        if self.limits.gpu_count is not None:
            groups = max(groups, self.limits.gpu_count // (kind.count * replica_machines))
        while groups * replica_machines <= MOST_MACHINES:
            replica = self._replica(kind, precision, fit, replicas * groups)
            speed = self._speed(replica, most * groups)
            if speed is not None:
                yield groups * replica_machines, speed
                return
            if not self._more_helps(replica):
                return
            groups = groups + 1 if groups < 4 else math.ceil(groups * 1.25)

    def _speed(self, replica: Stepper, most: int) -> Speed | None:
        """Speed at the load; None where the rate or a latency target is missed."""
        work = self.work
        concurrency = work.concurrency
        if work.requests_per_s is not None:
            needed = concurrency_for_rate(
                replica, work.input_tokens, work.output_tokens, work.requests_per_s, most
            )
            if needed is None:
                return None
            concurrency = max(needed, concurrency)
        speed = serve_steps(replica, Load(work.input_tokens, work.output_tokens, concurrency))
        late = work.ttft_ms is not None and speed.ttft_ms > work.ttft_ms
        slow = work.tpot_ms is not None and speed.tpot_ms > work.tpot_ms
        return None if late or slow else speed

    def _more_helps(self, replica: Stepper) -> bool:
        """Whether more replicas can meet the targets: a single request must meet them."""
        work = self.work
        if work.ttft_ms is None and work.tpot_ms is None:
            return work.requests_per_s is not None
        served, _ = best_concurrency(
            replica, work.input_tokens, work.output_tokens, 1, work.ttft_ms, work.tpot_ms
        )
        return served >= 1

    def _replica(self, kind: Silicon, precision: Precision, fit: _Fit, replicas: int) -> Stepper:
        assert kind.shape is not None  # machines without published rates are left out before
        engine, layout = self.work.speed_engine, fit.layout
        plan = SpeedPlan(layout.tensor, layout.pipeline, replicas, micro_batched=engine.splits_tensors)
        inside = layout.tensor if layout.gpus > kind.count else layout.gpus
        link = link_between(kind.shape, inside, kind.link)
        kv_bits = self.work.kv.bits if self.work.kv else 16.0
        scheme = scheme_for(kind.shape, precision)
        return stepper(self.work.shape, kind.shape, scheme, engine, plan, link, kv_bits / 8)

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

    def _candidate(
        self,
        kind: Silicon,
        instances: list[Instance],
        precision: Precision,
        rung: int,
        fit: _Fit,
        machines: int,
        speed: Speed,
    ) -> Candidate:
        replicas = max(1, kind.count * machines // fit.layout.gpus)
        in_flight = speed.requests_per_s * (speed.ttft_ms + speed.tpot_ms * self.work.output_tokens) / 1e3
        each = math.ceil(max(self.work.concurrency, in_flight) / replicas)
        spare = (fit.memory.pool or 0.0) - fit.memory.kv * min(each, fit.most)
        return priced(
            kind, instances, machines, self.tariff, self.limits, self.catalog,
            precision=precision.name,
            rung=rung,
            layout=Layout(fit.layout.tensor, fit.layout.pipeline, replicas),
            speed=speed.output_tokens_per_s,
            tight=spare < 0.05 * (fit.memory.usable or 0.0),
            max_concurrency=fit.most * replicas,
            concurrency=max(self.work.concurrency, math.ceil(in_flight - 1e-6)),
        )  # fmt: skip

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


def _no_precision(kind: Silicon, instance: Instance, name: str) -> Miss:
    if kind.shape is None or kind.card is None:
        reason = Remark(code="gpu_figures_missing", params={"gpu": kind.model})
    else:
        capability = kind.gpu.compute_capability
        reason = Remark(
            code="precision_not_supported",
            params={"precision": name, "gpu": kind.model, "compute_capability": capability},
        )
    return Miss(instance, reason, 1e6)
