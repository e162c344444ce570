"""Diffusion, video, speech, embedding and vision as tasks of the recommender: memory decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from knowledge.catalog import Catalog
from knowledge.errors import AdvisorError
from knowledge.names import normal
from knowledge.rows import TEXT_KINDS, Instance
from tools.contracts.base import Remark, Scalar
from tools.contracts.other import OtherMemoryReport, OtherMemoryRequest
from tools.contracts.sizing import Plan, SizingRequest
from tools.notes import Notes
from tools.other_memory import estimate_other_memory
from tools.other_memory.estimate import find_subject
from tools.recommend.candidate import Candidate, Layout
from tools.recommend.found import Found, Miss, priced
from tools.recommend.limits import Limits
from tools.recommend.offers import Silicon
from tools.recommend.tariff import Tariff

_TASKS = ("diffusion", "video", "asr", "tts", "vision", "embedding", "reranker")
_LOWEST_CAPABILITY = 7.0
_FP8_CAPABILITY = 8.9  # tensor cores with FP8: Ada and Hopper
TRAIN_BATCH = 8  # texts or images of one step of full training; accumulation makes larger batches of it


@dataclass(frozen=True, slots=True)
class Setting:
    """One way to run the model; later ones give up quality or speed."""

    precision: str
    offload: str


@dataclass(frozen=True)
class OtherTask:
    """A model that is no text decoder. Implements `tools.recommend.task.Task`. The speed of a candidate is
    the 16-bit rate of its GPUs: these models are bound by arithmetic."""

    request: SizingRequest
    mode: str
    settings: tuple[Setting, ...]
    batch: int | None  # where the request names none
    tariff: Tariff
    catalog: Catalog

    @property
    def rungs_compete(self) -> bool:
        return True

    def run(self, machines: Sequence[tuple[Silicon, list[Instance]]], limits: Limits) -> Found:
        found = Found()
        for rung, setting in enumerate(self.settings):
            needs = self._report(setting)
            for kind, instances in machines:
                if not self._wanted(kind, limits):
                    continue
                found.considered += 1
                candidate = self._candidate(kind, instances, limits, setting, rung, needs)
                if isinstance(candidate, Candidate):
                    found.candidates.append(candidate)
                else:
                    found.misses.append(candidate)
        done = {id(candidate.silicon) for candidate in found.candidates}
        kinds = {id(row): id(kind) for kind, rows in machines for row in rows}
        found.misses = [miss for miss in found.misses if kinds[id(miss.instance)] not in done]
        return found

    def _wanted(self, kind: Silicon, limits: Limits) -> bool:
        """One GPU does one job; machines with more only where a number of GPUs is asked."""
        if limits.gpu_count is not None:
            return limits.gpu_count % kind.count == 0
        return kind.count == 1 or bool(limits.types or limits.families)

    def _candidate(
        self,
        kind: Silicon,
        instances: list[Instance],
        limits: Limits,
        setting: Setting,
        rung: int,
        needs: OtherMemoryReport,
    ) -> Candidate | Miss:
        capability = kind.gpu.compute_capability or 0.0
        if kind.card is None or kind.shape is None or capability < _LOWEST_CAPABILITY:
            reason = Remark(code="gpu_figures_missing", params={"gpu": kind.model})
            return Miss(instances[0], reason, 1e6)
        if setting.precision == "fp8" and capability < 8.0:
            reason = Remark(code="precision_not_supported", params={"precision": "fp8", "gpu": kind.model})
            return Miss(instances[0], reason, 1e6)
        report = self._report(setting, instances[0].instance_type)
        if not report.fits:
            usable = report.usable_gib_per_gpu or 0.0
            params: dict[str, Scalar] = {
                "needed_gib_per_gpu": round(needs.peak_gib_per_gpu, 1),
                "usable_gib_per_gpu": round(usable, 1),
            }
            reason = Remark(code="memory_too_small", params=params)
            return Miss(instances[0], reason, needs.peak_gib_per_gpu / max(usable, 0.1) - 1)
        machines = 1 if limits.gpu_count is None else limits.gpu_count // kind.count
        rate = kind.shape.bf16_tflops or kind.shape.fp16_tflops
        offload = Remark(code="offload_needed", params={"offload": setting.offload})
        slower = 0.5 if setting.offload else 1.0  # weights cross PCIe for every step or stage
        return priced(
            kind, instances, machines, self.tariff, limits, self.catalog,
            precision=_precision_on(setting, kind),
            rung=rung,
            layout=Layout(data=machines * kind.count),
            speed=rate * machines * kind.count * slower,
            tight=report.verdict == "tight",
            method=setting.offload,
            remarks=(offload,) if setting.offload else (),
        )  # fmt: skip

    def _report(self, setting: Setting, instance_type: str = "") -> OtherMemoryReport:
        request = self.request
        return estimate_other_memory(
            OtherMemoryRequest(
                model=request.model or f"{request.params_b or 0:g}B",
                task=request.task if request.task in _TASKS else "",
                mode=self.mode,
                instance_type=instance_type,
                resolution=request.resolution,
                frames=request.frames,
                batch=_batch(request) or (None if self._generates else request.concurrency) or self.batch,
                tokens=request.context_tokens or request.sequence_length,
                precision=setting.precision or request.precision,
                offload=setting.offload,
            ),
            self.catalog,
        )

    def reports(self, candidate: Candidate) -> tuple[OtherMemoryReport, None]:
        rung = self.settings[candidate.rung]
        return self._report(rung, candidate.instance.instance_type), None

    def plan(self, candidate: Candidate) -> Plan:
        return Plan(data_parallel=candidate.layout.data, engine="diffusers" if self._generates else "")

    @property
    def _generates(self) -> bool:
        return self.request.task in ("diffusion", "video")

    @property
    def load(self) -> Mapping[str, Scalar]:
        return {}

    def smaller(self) -> Sequence[OtherTask]:
        return ()


def is_other(request: SizingRequest, catalog: Catalog) -> bool:
    """Whether the model is no text decoder, whatever the task is called."""
    if not request.model:
        return request.task in ("diffusion", "video") and request.params_b is not None
    model = catalog.find_model(request.model)
    if model is not None and model.kind in TEXT_KINDS:
        return False
    task = request.task if request.task in _TASKS else ""
    try:
        find_subject(OtherMemoryRequest(model=request.model, task=task), catalog, Notes())
    except AdvisorError:
        return request.task in _TASKS
    return True


def _precision_on(setting: Setting, kind: Silicon) -> str:
    """The name of what a card does: fp8 weights without FP8 units are stored in 8 bit and computed in 16."""
    if setting.precision == "fp8" and (kind.gpu.compute_capability or 0.0) < _FP8_CAPABILITY:
        return "fp8-w8a16"
    shape = kind.shape
    return setting.precision or ("bf16" if shape is not None and shape.bf16_tflops else "fp16")


def other_task(request: SizingRequest, catalog: Catalog, tariff: Tariff, notes: Notes) -> OtherTask:
    """The task of such a request. Raises `InputError` and `NotKnown` for models nobody knows."""
    trains = request.method or request.task in ("finetune", "pretrain")
    mode = "inference"
    if trains:
        mode = "train-lora" if "lora" in normal(request.method) or not request.method else "train-full"
    settings = [Setting("", "")]
    generates = request.task in ("diffusion", "video")
    if generates and not trains and request.allow_quantization and not request.precision:
        settings += [Setting("fp8", ""), Setting("", "model")]
    batch = TRAIN_BATCH if mode == "train-full" else None
    if batch and not (_batch(request) or request.concurrency):
        notes.assume("batch", batch, "default_batch")
    task = OtherTask(request, mode, tuple(settings), batch, tariff, catalog)
    for assumption in task._report(settings[0]).assumptions:
        notes.assume(assumption.field, assumption.value, assumption.reason)
    return task


def _batch(request: SizingRequest) -> int | None:
    """Items of one step: a training's micro-batch is the same thing."""
    return request.batch or request.micro_batch
