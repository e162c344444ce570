"""Training time of a request: `TrainingTimeRequest` -> `TrainingTimeReport`."""

from __future__ import annotations

from knowledge.catalog import Catalog
from knowledge.errors import InputError
from knowledge.names import near, normal
from tools.contracts.base import SourceRef
from tools.contracts.training import Method, TrainingTimeReport, TrainingTimeRequest
from tools.memory.request import Notes
from tools.throughput.gpu_shape import gpu_shape_of
from tools.throughput.links import GPUS_PER_NODE, link_between
from tools.throughput.model_shape import shape_of
from tools.throughput.ranges import CALIBRATED_GPUS, Spread
from tools.throughput.resolve import resolve_gpu, resolve_link, resolve_text_model
from tools.training_time.core import Job, train_speed
from tools.training_time.parallelism import TrainingPlan, plan_of

DEFAULT_SEQUENCE = 2048
DEFAULT_MICRO_BATCH = 1
DEFAULT_ACCUMULATION = 8
LORA_SHARE = 0.01  # of the parameters, typical for rank 16 on all linear layers
MEASURED = Spread(0.65, 1.40)
UNMEASURED = Spread(0.5, 1.5)

_METHODS: dict[str, Method] = {
    "full": "full", "fullft": "full", "sft": "full", "finetune": "full", "fullfinetune": "full",
    "freeze": "freeze", "lora": "lora", "dora": "lora", "qlora": "qlora", "pretrain": "pretrain",
    "pretraining": "pretrain", "cpt": "pretrain", "continuedpretraining": "pretrain",
}  # fmt: skip


def estimate_training_time(request: TrainingTimeRequest, catalog: Catalog) -> TrainingTimeReport:
    """Tokens per second and GPU, MFU against the dense 16-bit peak, and the hours of the job.

    Raises `InputError` and `NotKnown`. The formulas are those of `core`.
    """
    notes = Notes()
    row, _tag = resolve_text_model(request.model, request.params_b, catalog, notes)
    model = shape_of(row)
    gpu_row, instance, count = resolve_gpu(
        request.gpu, request.instance_type, request.gpu_count, catalog, notes
    )
    gpu = gpu_shape_of(gpu_row)
    method = method_of(request.method)
    nodes = request.nodes or max(
        1, -(-count // (instance.whole_gpus if instance and instance.whole_gpus else GPUS_PER_NODE))
    )
    if nodes > count:
        raise InputError("nodes", nodes, f"at most the number of GPUs, {count}")
    plan = plan_of(request, count, nodes)
    job = _job(request, plan, method, notes)
    inside = link_between(gpu, 1, resolve_link(request.interconnect, instance))
    network = request.network_gbps or (instance.rdma_gbps or instance.network_gbps if instance else None)
    if nodes > 1 and network is None:
        notes.assume("network_gbps", 200, "default")
    between = link_between(gpu, GPUS_PER_NODE + 1, network_gbps=(network or 200.0))
    speed = train_speed(model, gpu, plan, job, inside, between)
    spread = MEASURED if gpu.name in CALIBRATED_GPUS and not gpu.derived else UNMEASURED
    tokens = _tokens(request, job)
    values: dict[str, float] = {}
    for name, value in (
        ("tokens_per_s_per_gpu", speed.tokens_per_s), ("tflops_per_gpu", speed.tflops), ("mfu", speed.mfu)
    ):  # fmt: skip
        values[name] = value
        values[f"{name}_low"], values[f"{name}_high"] = spread.of(value)
    hours = tokens / (speed.tokens_per_s * count) / 3600 if tokens else None
    low, high = spread.inverse.of(hours) if hours else (None, None)
    return TrainingTimeReport(
        model=model.name,
        gpu=gpu_row.gpu_model,
        gpu_count=count,
        nodes=nodes,
        method=method,
        precision="fp8" if job.fp8 else ("bf16" if gpu.bf16_tflops else "fp16"),
        **values,
        tokens=tokens,
        hours=hours,
        hours_low=low,
        hours_high=high,
        assumptions=tuple(notes.assumptions),
        warnings=tuple(notes.warnings),
        sources=tuple(
            SourceRef(title=item.source, as_of=item.as_of) for item in (row, gpu_row) if item.source
        ),
    )


def method_of(name: str) -> Method:
    """The training method of this name; `InputError` with near matches."""
    found = _METHODS.get(normal(name) or "full")
    if found is None:
        raise InputError("method", name, "full, freeze, lora, qlora or pretrain", near(name, _METHODS))
    return found


def _job(request: TrainingTimeRequest, plan: TrainingPlan, method: Method, notes: Notes) -> Job:
    sequence = request.sequence_length or DEFAULT_SEQUENCE
    if request.sequence_length is None:
        notes.assume("sequence_length", sequence, "default")
    micro = request.micro_batch or DEFAULT_MICRO_BATCH
    if request.micro_batch is None:
        notes.assume("micro_batch", micro, "default")
    if request.global_batch is None:
        steps = DEFAULT_ACCUMULATION * plan.pipeline
        notes.assume("global_batch", steps * micro * plan.data, "default")
    else:
        steps = max(1, round(request.global_batch / (plan.data * micro)))
    text = request.precision.lower()
    recompute = request.gradient_checkpointing
    wanted = str(recompute).lower() in ("true", "yes", "full", "1", "on")
    if recompute == "":
        wanted = method in ("full", "freeze", "lora", "qlora")
        notes.assume("gradient_checkpointing", wanted, "default")
    return Job(
        method=method,
        sequence=sequence,
        micro_batch=micro,
        micro_batches=steps,
        recompute=wanted,
        trainable=LORA_SHARE if method in ("lora", "qlora") else 1.0,
        fp8=any(word in text for word in ("fp8", "mxfp8", "nvfp4")),
        quantized_base=method == "qlora",
    )


def _tokens(request: TrainingTimeRequest, job: Job) -> float | None:
    if request.tokens is not None:
        return request.tokens
    if request.samples is not None:
        return request.samples * (request.epochs or 1.0) * job.sequence
    return None
