"""Training of a language model as a task of the recommender: methods, divisions and machine counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from knowledge.catalog import Catalog
from knowledge.rows import Instance
from tools.contracts.base import Remark, Scalar
from tools.contracts.sizing import Plan, SizingRequest
from tools.contracts.training import (
    TrainingMemoryReport,
    TrainingMemoryRequest,
    TrainingTimeReport,
    TrainingTimeRequest,
)
from tools.lookup.support import support_level
from tools.notes import Notes
from tools.recommend.candidate import Candidate, Layout
from tools.recommend.found import Found, Miss, cheapest_type, priced
from tools.recommend.limits import Limits
from tools.recommend.offers import Silicon
from tools.recommend.tariff import Tariff
from tools.training_memory import estimate_training_memory
from tools.training_memory.recipe import resolve_method
from tools.training_time import estimate_training_time

# An estimate of training memory is less certain than one of inference: a margin below this is tight.
TRAINING_TIGHT_SHARE = 0.10
_COUNTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
# A plan over machines whose network leaves less of the arithmetic than this is no plan: reported trainings
# over RDMA reach 0.1 and more, and below a fiftieth a single machine would be as fast.
LEAST_MFU = 0.02
_PIPELINES = (2, 4, 8, 16)  # of a mixture of experts over machines, each with whole experts per GPU
_LOWEST_CAPABILITY = 7.0  # tensor cores, and what current PyTorch builds still train on


@dataclass(frozen=True)
class TrainingTask:
    """A model to train. Implements `tools.recommend.task.Task`. Rungs are methods, the asked one first."""

    request: SizingRequest
    methods: tuple[str, ...]
    tariff: Tariff
    catalog: Catalog
    _memory: dict[tuple[str, int, Layout], TrainingMemoryReport] = field(default_factory=dict)
    _speeds: dict[tuple[str, str, str, int, Layout], TrainingTimeReport] = field(default_factory=dict)

    @property
    def rungs_compete(self) -> bool:
        return True

    def run(self, machines: Sequence[tuple[Silicon, list[Instance]]], limits: Limits) -> Found:
        found = Found()
        largest = _largest(machines)
        for kind, instances in machines:
            miss: Miss | None = None
            before = len(found.candidates)
            for rung, method in enumerate(self.methods):
                precision = self._precision(kind, method)
                if precision is None or kind.card is None or kind.shape is None:
                    miss = miss or _unsupported(kind, instances[0], self.request.precision)
                    continue
                counts = self._counts(kind, instances, limits, kind.count == largest[kind.model])
                for machines_ in counts:
                    candidate, failure = self._try(
                        kind, instances, machines_, method, rung, precision, limits, found
                    )
                    if failure is not None:
                        miss = failure if miss is None or failure.shortfall < miss.shortfall else miss
                    if candidate is not None:
                        found.candidates.append(candidate)
                        break
            if len(found.candidates) == before and miss is not None:
                found.misses.append(miss)
        return found

    def _precision(self, kind: Silicon, method: str) -> str | None:
        """What the card trains in: as asked where it can, else bf16, on older cards fp16."""
        capability = kind.gpu.compute_capability or 0.0
        if capability < _LOWEST_CAPABILITY:
            return None
        if method == "qlora":
            return "nf4"
        asked = self.request.precision.lower()
        if asked.startswith("bf16"):
            return "bf16" if support_level(kind.gpu, self.catalog.precision("bf16")) == "native" else None
        if asked.startswith("fp8"):
            return "fp8" if support_level(kind.gpu, self.catalog.precision("fp8")) == "native" else None
        return "bf16" if capability >= 8.0 and not asked.startswith("fp16") else "fp16"

    def _counts(
        self, kind: Silicon, instances: list[Instance], limits: Limits, largest: bool
    ) -> Iterator[int]:
        """Machine counts to try: more than one only of the machine with most of these GPUs, or as asked.
        PCIe cards in machines without RDMA are joined only when they were asked for: the network would stall
        them."""
        if limits.gpu_count is not None:
            if limits.gpu_count % kind.count == 0 and (largest or limits.gpu_count == kind.count):
                yield limits.gpu_count // kind.count
            return
        most = limits.max_gpus or _COUNTS[-1] * kind.count
        families = {row.family for row in instances}
        rdma = any(facts.erdma for name in families if (facts := self.catalog.facts_of_family(name)))
        spread = largest and (kind.link == "nvlink" or rdma or bool(self.request.gpu_wanted))
        yield from (count for count in _COUNTS if count * kind.count <= most and (count == 1 or spread))

    def _try(
        self,
        kind: Silicon,
        instances: list[Instance],
        machines: int,
        method: str,
        rung: int,
        precision: str,
        limits: Limits,
        found: Found,
    ) -> tuple[Candidate | None, Miss | None]:
        """The fastest division that fits on this many machines; a miss for memory or the deadline."""
        instance, _ = cheapest_type(instances, self.tariff, self.catalog)
        usable = kind.card.usable if kind.card else 0.0
        layouts = list(_layouts(kind, machines, method, self.has_experts))
        found.considered += len(layouts)
        peaks = {each: self.memory(method, machines * kind.count, each).peak_gib_per_gpu for each in layouts}
        speeds = {
            each: self.speed(kind, instance, machines, method, each)
            for each, peak in peaks.items()
            if peak <= usable
        }
        if not speeds:
            return None, _too_small(kind, instance, machines, method, min(peaks.values()))
        if machines > 1:
            speeds = {each: speed for each, speed in speeds.items() if speed.mfu >= LEAST_MFU}
        if not speeds:
            reason = Remark(code="no_rdma_between_machines", params={"family": instance.family})
            return None, Miss(instance, reason, 0.5)
        layout = max(speeds, key=lambda each: speeds[each].tokens_per_s_per_gpu)
        speed, spare = speeds[layout], usable - peaks[layout]
        deadline = self.request.deadline_hours
        if deadline is not None and speed.hours is not None and speed.hours > deadline:
            reason = Remark(
                code="deadline_missed",
                params={
                    "gpus": machines * kind.count,
                    "hours": round(speed.hours, 1),
                    "deadline_hours": deadline,
                },
            )
            return None, Miss(instance, reason, speed.hours / deadline - 1)
        return priced(
            kind, instances, machines, self.tariff, limits, self.catalog,
            precision=precision,
            rung=rung,
            layout=layout,
            speed=speed.tokens_per_s_per_gpu * machines * kind.count,
            hours=speed.hours,
            tight=spare < TRAINING_TIGHT_SHARE * usable,
            method=method,
        ), None  # fmt: skip

    def memory(self, method: str, gpus: int, layout: Layout) -> TrainingMemoryReport:
        """Peak per GPU, which does not depend on the card."""
        key = (method, gpus, layout)
        if key not in self._memory:
            self._memory[key] = estimate_training_memory(
                self._memory_request(method, gpus, layout), self.catalog
            )
        return self._memory[key]

    def speed(
        self, kind: Silicon, instance: Instance, machines: int, method: str, layout: Layout
    ) -> TrainingTimeReport:
        """Speed and hours on a type; machines of equal silicon share it, but for their network."""
        network = instance.instance_type if machines > 1 else f"{kind.model} {kind.count} {kind.link}"
        key = (method, kind.gpu.gpu_model, network, machines, layout)
        if key not in self._speeds:
            request = self.request
            dataset, epochs = request.dataset_tokens, request.epochs or 1.0
            self._speeds[key] = estimate_training_time(
                TrainingTimeRequest(
                    **self._memory_request(method, machines * kind.count, layout).model_dump(
                        exclude_unset=True
                    ),
                    instance_type=instance.instance_type,
                    nodes=machines,
                    tokens=None if dataset is None else max(dataset * epochs, 1.0),
                    samples=request.dataset_samples,
                    epochs=request.epochs,
                ),
                self.catalog,
            )
        return self._speeds[key]

    def _memory_request(self, method: str, gpus: int, layout: Layout) -> TrainingMemoryRequest:
        request = self.request
        quantized = method == "qlora" and request.method != "qlora"
        return TrainingMemoryRequest(
            model=request.model,
            params_b=request.params_b,
            method=method,
            objective=request.training_objective,
            precision="" if quantized else request.precision,
            lora_rank=request.lora_rank,
            sequence_length=request.sequence_length or request.context_tokens,
            micro_batch=request.micro_batch or request.batch,
            zero_stage=layout.zero,
            tensor_parallel=layout.tensor,
            pipeline_parallel=layout.pipeline,
            expert_parallel=layout.expert if layout.expert > 1 else None,
            framework="megatron" if layout.expert > 1 else "",
            gpu_count=gpus,
        )

    @property
    def has_experts(self) -> bool:
        """Whether the model is a mixture of experts."""
        row = self.catalog.find_model(self.request.model) if self.request.model else None
        return bool(row and row.num_experts)

    def reports(self, candidate: Candidate) -> tuple[TrainingMemoryReport, TrainingTimeReport]:
        request = self._memory_request(candidate.method, candidate.gpus, candidate.layout)
        memory = estimate_training_memory(
            request.model_copy(update={"instance_type": candidate.instance.instance_type}), self.catalog
        )
        speed = self.speed(
            candidate.silicon, candidate.instance, candidate.machines, candidate.method, candidate.layout
        )
        return memory, speed

    def plan(self, candidate: Candidate) -> Plan:
        layout = candidate.layout
        return Plan(
            tensor_parallel=layout.tensor,
            pipeline_parallel=layout.pipeline,
            data_parallel=layout.data,
            expert_parallel=layout.expert,
            zero_stage=layout.zero,
            engine="megatron" if layout.expert > 1 else "deepspeed" if layout.zero else "torchrun",
        )

    @property
    def load(self) -> Mapping[str, Scalar]:
        return {"method": self.request.method or None, "sequence_length": self.request.sequence_length}

    def smaller(self) -> Sequence[TrainingTask]:
        """The lightest job: QLoRA with one short sequence at a time and no deadline."""
        request = self.request.model_copy(
            update={"method": "qlora", "micro_batch": 1, "sequence_length": 1024, "deadline_hours": None}
        )
        if self.methods == ("pretrain",) or (self.methods == ("qlora",) and request == self.request):
            return ()
        return (TrainingTask(request, ("qlora",), self.tariff, self.catalog),)


def _largest(machines: Sequence[tuple[Silicon, list[Instance]]]) -> dict[str, int]:
    """Most GPUs of one machine, by GPU model."""
    found: dict[str, int] = {}
    for kind, _ in machines:
        found[kind.model] = max(kind.count, found.get(kind.model, 0))
    return found


def _layouts(kind: Silicon, machines: int, method: str, experts: bool) -> Iterator[Layout]:
    """Divisions to try: copies, then sharded states; for pre-training also tensor parallel in a machine,
    which trainers for fine-tuning do not offer. A mixture of experts over machines also goes by stages with
    whole experts per GPU (Megatron), since gathering all experts for each step is too slow over a network."""
    gpus = machines * kind.count
    if gpus == 1:
        yield Layout(zero=0)
        return
    stages = (0, 3) if method in ("lora", "qlora") else (2, 3)
    yield from (Layout(data=gpus, zero=stage) for stage in stages)
    if method == "pretrain" and kind.link == "nvlink":
        yield Layout(tensor=kind.count, data=machines, zero=1)
        if machines > 1:
            yield Layout(tensor=kind.count, pipeline=machines, zero=1)
    if experts and machines > 1 and method in ("full", "pretrain"):
        for depth in _PIPELINES:
            if machines % depth == 0:
                yield Layout(pipeline=depth, data=gpus // depth, zero=1, expert=kind.count)


def _too_small(kind: Silicon, instance: Instance, machines: int, method: str, needed: float) -> Miss:
    usable = kind.card.usable if kind.card else 1.0
    params: dict[str, Scalar] = {
        "method": method,
        "gpus": machines * kind.count,
        "needed_gib_per_gpu": round(needed, 1),
        "usable_gib_per_gpu": round(usable, 1),
    }
    return Miss(instance, Remark(code="memory_too_small", params=params), needed / usable - 1)


def _unsupported(kind: Silicon, instance: Instance, precision: str) -> Miss:
    if kind.card is None or kind.shape is None:
        return Miss(instance, Remark(code="gpu_figures_missing", params={"gpu": kind.model}), 1e6)
    params: dict[str, Scalar] = {
        "precision": precision or "fp16",
        "gpu": kind.model,
        "compute_capability": kind.gpu.compute_capability,
    }
    return Miss(instance, Remark(code="precision_not_supported", params=params), 1e6)


def training_task(request: SizingRequest, catalog: Catalog, tariff: Tariff, notes: Notes) -> TrainingTask:
    """The task of a fine-tuning or pre-training request. Raises `InputError` and `NotKnown`."""
    if request.method:
        method = resolve_method(request.method, request.precision)[0]
    else:
        method = "pretrain" if request.task == "pretrain" else "lora"
        notes.assume("method", method, "default_method")
    methods = (method, "qlora") if method == "lora" and request.allow_quantization else (method,)
    task = TrainingTask(request, methods, tariff, catalog)
    first = task.memory(method, 1, Layout(zero=0))  # raises for unknown names, and states its defaults
    by_plan = {"parallelism", "gpu"}
    if task.has_experts and method in ("full", "pretrain"):  # each plan then has a framework of its own
        by_plan |= {"framework", "gradient_checkpointing", "fused_loss"}
    for assumption in first.assumptions:
        if assumption.field not in by_plan:
            notes.assume(assumption.field, assumption.value, assumption.reason)
    return task
