"""Inference of a language model as a task of the recommender: its search and its full reports."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from knowledge.catalog import Catalog
from knowledge.rows import Instance
from tools.contracts.base import Scalar
from tools.contracts.memory import MemoryReport, MemoryRequest
from tools.contracts.sizing import Plan, SizingRequest
from tools.contracts.throughput import ThroughputReport, ThroughputRequest
from tools.memory import estimate_memory
from tools.notes import Notes
from tools.recommend.candidate import Candidate
from tools.recommend.found import Found
from tools.recommend.limits import Limits
from tools.recommend.offers import Silicon
from tools.recommend.serving import ServingFigures, ServingSearch
from tools.recommend.serving_speed import ServingSpeed
from tools.recommend.tariff import Tariff
from tools.recommend.workload import Workload, resolve_workload
from tools.throughput import estimate_throughput

_LEAST_CONTEXT = 2048  # tokens that are still useful for a chat
_RATE_HALVINGS = 8


@dataclass(frozen=True)
class ServingTask:
    """A language model to serve. Implements `tools.recommend.task.Task`."""

    request: SizingRequest
    figures: ServingFigures
    tariff: Tariff
    catalog: Catalog

    @property
    def work(self) -> Workload:
        return self.figures.work

    @property
    def rungs_compete(self) -> bool:
        return True

    def run(self, machines: Sequence[tuple[Silicon, list[Instance]]], limits: Limits) -> Found:
        compare = self.request.objective == "cheapest"
        return ServingSearch(self.figures, limits, self.tariff, self.catalog, compare).run(machines)

    def reports(self, candidate: Candidate) -> tuple[MemoryReport, ThroughputReport]:
        layout, work = candidate.layout, self.work
        each = math.ceil(candidate.concurrency / layout.data)
        memory = estimate_memory(
            MemoryRequest(
                model=self.request.model,
                params_b=self.request.params_b,
                instance_type=candidate.instance.instance_type,
                gpu_count=layout.tensor * layout.pipeline,
                tensor_parallel=layout.tensor,
                pipeline_parallel=layout.pipeline,
                weight_precision=candidate.precision,
                kv_precision=self.request.kv_precision,
                engine=work.memory_engine.name,
                context_tokens=work.context_tokens,
                max_num_seqs=work.max_num_seqs,
                concurrency=min(each, max(1, (candidate.max_concurrency or 1) // layout.data)),
            ),
            self.catalog,
        )
        speed = estimate_throughput(
            ThroughputRequest(
                model=self.request.model,
                params_b=self.request.params_b,
                instance_type=candidate.instance.instance_type,
                gpu_count=candidate.gpus,
                tensor_parallel=layout.tensor,
                pipeline_parallel=layout.pipeline,
                data_parallel=layout.data,
                weight_precision=candidate.precision,
                kv_precision=self.request.kv_precision,
                engine=work.speed_engine.name,
                input_tokens=work.input_tokens,
                output_tokens=work.output_tokens,
                concurrency=candidate.concurrency,
            ),
            self.catalog,
        )
        return memory, speed

    def plan(self, candidate: Candidate) -> Plan:
        return Plan(
            tensor_parallel=candidate.layout.tensor,
            pipeline_parallel=candidate.layout.pipeline,
            data_parallel=candidate.layout.data,
            engine=self.work.memory_engine.name,
            max_model_len=self.work.context_tokens,
            max_num_seqs=self.work.max_num_seqs,
        )

    @property
    def load(self) -> Mapping[str, Scalar]:
        return {
            "concurrency": self.work.concurrency,
            "context_tokens": self.work.context_tokens,
            "requests_per_s": self.work.requests_per_s,
        }

    def smaller(self) -> Sequence[ServingTask]:
        """The load without latency targets; half the requests of the same length, and so on; then one short
        request at a time."""
        context, concurrency, rate = self.work.context_tokens, self.work.concurrency, self.work.requests_per_s
        asked = (context, concurrency, rate)
        if rate is not None:
            loads = [(context, concurrency, rate / 2**times) for times in range(1, _RATE_HALVINGS)]
        else:
            loads = [(context, concurrency >> times, None) for times in range(1, concurrency.bit_length())]
        loads += [(context, 1, None), (min(context, _LEAST_CONTEXT), 1, None)]
        fewer = dict.fromkeys(load for load in loads if load != asked)
        targets = self.work.ttft_ms is not None or self.work.tpot_ms is not None
        tried = (*((asked,) if targets else ()), *fewer)
        return [replace(self, figures=_figures(self._load(*load))) for load in tried]

    def _load(self, context: int, concurrency: int, rate: float | None) -> Workload:
        outputs = max(1, min(self.work.output_tokens, context // 4))
        if context == self.work.context_tokens:
            outputs = self.work.output_tokens
        return replace(
            self.work,
            context_tokens=context,
            input_tokens=max(1, min(self.work.input_tokens, context - outputs)),
            output_tokens=outputs,
            concurrency=concurrency,
            max_num_seqs=None if self.work.max_num_seqs is None else 16,
            requests_per_s=rate,
            ttft_ms=None,
            tpot_ms=None,
        )


def serving_task(request: SizingRequest, catalog: Catalog, tariff: Tariff, notes: Notes) -> ServingTask:
    """The task of an inference request; raises `InputError` and `NotKnown` for its names."""
    return ServingTask(request, _figures(resolve_workload(request, catalog, notes)), tariff, catalog)


def _figures(work: Workload) -> ServingFigures:
    return ServingFigures(work, ServingSpeed(work))
