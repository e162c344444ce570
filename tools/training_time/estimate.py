"""Training time of a request: `TrainingTimeRequest` -> `TrainingTimeReport`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import ceil

from knowledge.catalog import Catalog
from knowledge.errors import InputError
from knowledge.rows import Gpu, Instance, Model
from tools.contracts.base import SourceRef
from tools.contracts.training import Method, TrainingTimeReport, TrainingTimeRequest
from tools.memory.shape import shape_of as memory_shape_of
from tools.notes import Notes
from tools.throughput.gpu_shape import GpuShape, gpu_shape_of
from tools.throughput.links import GPUS_PER_NODE, NETWORK_LATENCY_US, NETWORK_SHARE, Link, link_between
from tools.throughput.model_shape import ModelShape, shape_of
from tools.throughput.ranges import Spread
from tools.throughput.resolve import resolve_gpu, resolve_link, resolve_text_model
from tools.training_memory.activations import adapter_parameters, lora_targets
from tools.training_memory.frameworks import Framework, resolve_framework
from tools.training_memory.recipe import resolve_method
from tools.training_memory.step import ACCUMULATION, settle_rank, settle_step
from tools.training_time.coefficients import TRAINING
from tools.training_time.core import Job, TrainingSpeed, train_speed
from tools.training_time.parallelism import TrainingPlan, plan_of

# Network of one GPU in the reference machines of its generation: HGX A100 200 Gbit/s, HGX H100 and later 400.
REFERENCE_GBPS = {8.0: 200.0, 9.0: 400.0, 10.0: 400.0}
# Tokens between two updates in pre-training (Llama 2, Touvron et al. 2023: 4M); a rank accumulates its share,
# so that the exchange of gradients between machines is paid once in many micro-batches.
PRETRAIN_BATCH_TOKENS = 4 * 2**20
# 80 % of 224 measurements of nine frameworks, widened by a fifth for rows outside the fit.
MEASURED, EXPERTS, UNMEASURED = Spread(0.81, 1.29), Spread(0.80, 2.00), Spread(0.65, 1.45)

_PRECISION = re.compile(
    r"bf16|fp16|fp32|tf32|float|fp8|fp4|int4|int8|nf4|4-?bit|8-?bit|16-?bit|half|amp|mixed", re.I
)


@dataclass(frozen=True)
class ResolvedJob:
    """A request with all names and numbers settled."""

    model: Model
    shape: ModelShape
    gpu_row: Gpu
    gpu: GpuShape
    instance: Instance | None
    method: Method
    plan: TrainingPlan
    job: Job
    framework: Framework
    inside: Link
    between: Link
    notes: Notes


def estimate_training_time(request: TrainingTimeRequest, catalog: Catalog) -> TrainingTimeReport:
    """Tokens per second and GPU, MFU against the dense 16-bit peak, and the hours of the job.

    Raises `InputError` and `NotKnown`. The formulas are those of `core`.
    """
    settled = resolve(request, catalog)
    _refuse_what_no_memory_holds(settled)
    speed = speed_of(settled)
    plan, gpu = settled.plan, settled.gpu
    measured = gpu.card in TRAINING.cards and not gpu.derived
    spread = UNMEASURED if not measured else EXPERTS if settled.shape.experts else MEASURED
    if not measured:
        settled.notes.warn("card_not_measured", gpu=gpu.name)
    values: dict[str, float] = {}
    for name, value in (
        ("tokens_per_s_per_gpu", speed.tokens_per_s),
        ("tflops_per_gpu", speed.tflops),
        ("mfu", speed.mfu),
    ):
        values[name] = value
        values[f"{name}_low"], values[f"{name}_high"] = spread.of(value)
    tokens = _tokens(request, settled.job)
    hours = tokens / (speed.tokens_per_s * plan.gpus) / 3600 if tokens else None
    low, high = spread.inverse.of(hours) if hours else (None, None)
    return TrainingTimeReport(
        model=settled.model.model_id,
        gpu=settled.gpu_row.gpu_model,
        gpu_count=plan.gpus,
        nodes=plan.nodes,
        method=settled.method,
        precision="fp8" if settled.job.fp8 else ("bf16" if gpu.bf16_tflops else "fp16"),
        **values,
        tokens=tokens,
        hours=hours,
        hours_low=low,
        hours_high=high,
        assumptions=tuple(settled.notes.assumptions),
        warnings=tuple(settled.notes.warnings),
        sources=tuple(
            SourceRef(title=item.source, as_of=item.as_of)
            for item in (settled.model, settled.gpu_row)
            if item.source
        ),
    )


# Bytes per parameter below which no trainer goes on the GPUs: 16-bit weights and gradients and 8-bit moments;
# weights of a frozen base; the same in 4 bit.
_LEAST_BYTES: dict[Method, float] = {
    "full": 6.0, "pretrain": 6.0, "freeze": 2.0, "lora": 1.0, "qlora": 0.5,
}  # fmt: skip


def _refuse_what_no_memory_holds(settled: ResolvedJob) -> None:
    """`InputError` where the least states of all parameters exceed the memory of all GPUs: a speed would be
    that of a job which cannot start. Offloaded states lie elsewhere."""
    plan, gpu = settled.plan, settled.gpu
    needed = _LEAST_BYTES[settled.method] * settled.shape.total_params / 2**30
    if plan.offload or needed <= gpu.usable_gib * plan.gpus:
        return
    least = ceil(needed / gpu.usable_gib)
    raise InputError(
        "gpu_count",
        plan.gpus,
        f"{settled.method} training of {settled.model.display_name} holds at least {needed:,.0f} GiB of"
        f" weights and states: {least} or more {gpu.name}",
    )


def speed_of(settled: ResolvedJob) -> TrainingSpeed:
    """The speed of a settled job."""
    return train_speed(
        settled.shape,
        settled.gpu,
        settled.plan,
        settled.job,
        settled.framework,
        settled.inside,
        settled.between,
    )


def resolve(request: TrainingTimeRequest, catalog: Catalog) -> ResolvedJob:
    """Settles every name and default of a request; raises `InputError` and `NotKnown`."""
    notes = Notes()
    if request.precision and not _PRECISION.search(request.precision):
        raise InputError("precision", request.precision, "bf16, fp16, fp32, fp8, or a quantized base")
    row, _tag = resolve_text_model(request.model, request.params_b, catalog, notes)
    gpu_row, instance, count = resolve_gpu(
        request.gpu, request.instance_type, request.gpu_count, catalog, notes
    )
    gpu = gpu_shape_of(gpu_row)
    if gpu.derived:
        notes.assume("gpu", gpu_row.gpu_model, "tensor_rate_derived")
    method, reason = resolve_method(request.method, request.precision)
    if reason:
        notes.assume("method", method, reason)
    framework, reason = resolve_framework(request.framework, request.parallelism)
    if reason:
        notes.assume("framework", framework.name, reason)
    whole = instance.whole_gpus if instance and instance.whole_gpus else GPUS_PER_NODE
    nodes = request.nodes or max(1, -(-count // whole))
    if nodes > count:
        raise InputError("nodes", nodes, f"at most the number of GPUs, {count}")
    sharded = method in ("full", "pretrain", "freeze") or framework.trainer.shards_by_default
    plan = plan_of(request, count, nodes, sharded, framework.trainer.shards_by_default)
    shape = shape_of(row)
    job = _job(request, plan, method, row, shape, framework, notes)
    inside = link_between(
        gpu, min(plan.gpus_per_node, GPUS_PER_NODE), resolve_link(request.interconnect, instance)
    )
    between = _network(request, instance, gpu, plan, notes)
    return ResolvedJob(
        row, shape, gpu_row, gpu, instance, method, plan, job, framework, inside, between, notes
    )


def _network(
    request: TrainingTimeRequest, instance: Instance | None, gpu: GpuShape, plan: TrainingPlan, notes: Notes
) -> Link:
    """The link of one GPU to other machines; `network_gbps` is that of the machine, shared by its GPUs."""
    machine = request.network_gbps or (instance.rdma_gbps or instance.network_gbps if instance else None)
    if machine is None:
        levels = [level for level in REFERENCE_GBPS if level <= gpu.capability]
        machine = REFERENCE_GBPS[max(levels, default=8.0)] * plan.gpus_per_node
        if plan.nodes > 1:
            notes.assume("network_gbps", machine, "reference_machine")
    return Link("network", machine / 8 / plan.gpus_per_node * NETWORK_SHARE, NETWORK_LATENCY_US)


def _job(
    request: TrainingTimeRequest,
    plan: TrainingPlan,
    method: Method,
    model: Model,
    shape: ModelShape,
    framework: Framework,
    notes: Notes,
) -> Job:
    ranks = max(1, plan.data)
    per_rank = request.global_batch / ranks if request.global_batch else None
    step = settle_step(request, framework, shape.total_params, plan.pipeline, plan.context, notes, per_rank)
    if per_rank is None:
        steps = ACCUMULATION * plan.pipeline
        if method == "pretrain":
            steps = max(steps, round(PRETRAIN_BATCH_TOKENS / (ranks * step.micro_batch * step.sequence)))
        notes.assume("global_batch", steps * step.micro_batch * ranks, "default")
    else:
        steps = max(1, round(per_rank / step.micro_batch))
    return Job(
        frozen=method in ("lora", "qlora"),
        quantized_base=method == "qlora",
        sequence=step.sequence,
        micro_batch=step.micro_batch,
        micro_batches=steps,
        recompute=step.recomputes,
        trainable=_trainable(request, method, model, notes),
        fp8=bool(re.search(r"fp8|nvfp4", request.precision.lower())),
    )


def _trainable(request: TrainingTimeRequest, method: Method, model: Model, notes: Notes) -> float:
    """What the adapters of the request add, as a share of the parameters; 1 without adapters."""
    if method not in ("lora", "qlora"):
        return 1.0
    rank, shape = settle_rank(request, method, notes), memory_shape_of(model)
    return min(1.0, adapter_parameters(shape, rank, lora_targets(request.lora_targets)) / shape.total)


def _tokens(request: TrainingTimeRequest, job: Job) -> float | None:
    """Tokens of the whole job, epochs included."""
    if request.tokens is not None:
        return request.tokens
    if request.samples is not None:
        return request.samples * (request.epochs or 1.0) * job.sequence
    return None
