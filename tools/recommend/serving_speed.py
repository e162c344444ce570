"""Speed of replicas for the search: every figure of one replica is worked out once and scaled."""

from __future__ import annotations

from dataclasses import dataclass, replace

from knowledge.rows import Precision
from tools.memory.weights import Plan as MemoryLayout
from tools.recommend.offers import Silicon
from tools.recommend.workload import Workload
from tools.throughput.core import Load, Speed, serve_steps
from tools.throughput.links import link_between
from tools.throughput.precision import scheme_for
from tools.throughput.steps import Plan, Stepper, stepper

_Key = tuple[str, str, str, int, int, bool]


@dataclass(frozen=True, slots=True)
class Reach:
    """What one replica carries within the latency targets."""

    concurrency: int
    requests_per_s: float


class ServingSpeed:
    """Speeds of one workload by card, link, format and layout."""

    def __init__(self, work: Workload) -> None:
        self._work = work
        self._replicas: dict[_Key, Stepper] = {}
        self._speeds: dict[tuple[_Key, float], Speed] = {}
        self._reach: dict[_Key, Reach | None] = {}

    @property
    def has_targets(self) -> bool:
        """Whether speed decides how many machines are needed."""
        work = self._work
        return not (work.ttft_ms is None and work.tpot_ms is None and work.requests_per_s is None)

    def reach(self, kind: Silicon, precision: Precision, layout: MemoryLayout, most: int) -> Reach | None:
        """What one replica that memory lets carry `most` requests carries within the targets; None if not
        even one. Without a rate to reach no more than the asked concurrency is looked for."""
        key = _key(kind, precision, layout)
        if key not in self._reach:
            wanted = most if self._work.requests_per_s is not None else min(most, self._work.concurrency)
            self._reach[key] = self._find_reach(kind, precision, layout, max(1, wanted))
        return self._reach[key]

    def _find_reach(
        self, kind: Silicon, precision: Precision, layout: MemoryLayout, limit: int
    ) -> Reach | None:
        """By bisection to an eighth: latencies grow with the requests in flight."""

        def speed(requests: int) -> Speed:
            return self.at(kind, precision, layout, 1, requests)

        top = speed(limit)
        if self._meets(top):
            return Reach(limit, top.requests_per_s)
        if not self._meets(speed(1)):
            return None
        low, high = 1, limit
        while high - low > max(1, low // 8):
            middle = (low + high) // 2
            low, high = (middle, high) if self._meets(speed(middle)) else (low, middle)
        return Reach(low, speed(low).requests_per_s)

    def _meets(self, speed: Speed) -> bool:
        work = self._work
        late = work.ttft_ms is not None and speed.ttft_ms > work.ttft_ms
        return not (late or (work.tpot_ms is not None and speed.tpot_ms > work.tpot_ms))

    def at(
        self, kind: Silicon, precision: Precision, layout: MemoryLayout, replicas: int, concurrency: int
    ) -> Speed:
        """Speed of `replicas` equal replicas that share `concurrency` requests evenly."""
        key = _key(kind, precision, layout)
        each = max(1.0, concurrency / replicas)
        if (key, each) not in self._speeds:
            replica = self._replica(key, kind, precision, layout)
            load = Load(self._work.input_tokens, self._work.output_tokens, each)
            self._speeds[key, each] = serve_steps(replica, load)
        one = self._speeds[key, each]
        busy = min(replicas, max(1, concurrency))
        return replace(
            one,
            output_tokens_per_s=one.output_tokens_per_s * busy,
            requests_per_s=one.requests_per_s * busy,
        )

    def _replica(self, key: _Key, kind: Silicon, precision: Precision, layout: MemoryLayout) -> Stepper:
        if key not in self._replicas:
            assert kind.shape is not None  # machines without published rates are left out before
            engine = self._work.speed_engine
            plan = Plan(layout.tensor, layout.pipeline, micro_batched=engine.splits_tensors)
            kv_bits = self._work.kv.bits if self._work.kv else 16.0
            self._replicas[key] = stepper(
                self._work.shape, kind.shape, scheme_for(kind.shape, precision), engine, plan,
                link_between(kind.shape, _group(kind, layout), kind.link), kv_bits / 8,
            )  # fmt: skip
        return self._replicas[key]


def _key(kind: Silicon, precision: Precision, layout: MemoryLayout) -> _Key:
    over_machines = layout.gpus > kind.count
    return kind.gpu.gpu_model, kind.link, precision.name, layout.tensor, layout.pipeline, over_machines


def _group(kind: Silicon, layout: MemoryLayout) -> int:
    """GPUs of the tensor-parallel group inside one machine; a replica over machines hands over by stages."""
    return layout.tensor if layout.gpus > kind.count else layout.gpus
