"""Time per token of training: arithmetic at the share of the peak that kernels reach, links, bubble."""

from __future__ import annotations

from dataclasses import dataclass

from tools.throughput.gpu_shape import GpuShape
from tools.throughput.links import Link
from tools.throughput.model_shape import ModelShape
from tools.training_time.parallelism import TrainingPlan

# Share of the dense peak that large matrices of training reach: first values, by tensor-core generation
# (calibration notes, section 6: A100 0.55-0.62, H100 0.40-0.55, B200 0.36-0.45; FP8 against its own peak).
SHARE_OF_PEAK = {7.0: 0.45, 7.5: 0.40, 8.0: 0.68, 8.6: 0.55, 8.9: 0.55, 9.0: 0.50, 10.0: 0.45, 12.0: 0.45}
FP8_SHARE = 0.75  # of the bf16 share, against the twice higher peak
HALF_EFFICIENCY_HIDDEN = 350.0  # width per GPU at which matrices reach half of the final share
ATTENTION_SHARE = 0.7  # of the linear layers' share
OVERLAP = 0.7  # of weight-shard traffic hidden behind arithmetic
OPTIMIZER_BYTES = (
    26.0  # moved per trainable parameter by an Adam step: 16-bit weight and gradient, fp32 states
)
DEQUANT_SLOWDOWN = 0.80  # of LoRA speed that 4-bit bases reach


@dataclass(frozen=True, slots=True)
class Job:
    """One training job; `trainable` is the share of parameters that get gradients of their own."""

    method: str
    sequence: int
    micro_batch: int
    micro_batches: int  # per optimizer step and data-parallel rank
    recompute: bool
    trainable: float
    fp8: bool
    quantized_base: bool


@dataclass(frozen=True, slots=True)
class TrainingSpeed:
    """Per GPU: tokens per second, model TFLOPS and utilisation of the 16-bit peak, and where time goes."""

    tokens_per_s: float
    tflops: float
    mfu: float
    compute_share: float
    communication_share: float
    bubble_share: float


def model_flops_per_token(model: ModelShape, sequence: int, frozen: bool) -> float:
    """Forward and backward operations of one token, recomputation not counted: 6 per parameter (4 when
    weights are frozen and get no gradient), and three times the causal attention of the forward pass."""
    passes = 2.0 if frozen else 3.0
    return 2.0 * passes * model.active_params + 3.0 * model.attention_flops * sequence / 2


def share_of_peak(gpu: GpuShape, model: ModelShape, tensor: int) -> float:
    """Share of the dense 16-bit peak of a card's linear layers, smaller for narrow or split matrices."""
    known = max((level for level in SHARE_OF_PEAK if level <= gpu.capability), default=7.0)
    width: float = model.hidden / tensor**0.5
    return SHARE_OF_PEAK[known] * width / (width + HALF_EFFICIENCY_HIDDEN)


def train_speed(
    model: ModelShape, gpu: GpuShape, plan: TrainingPlan, job: Job, inside: Link, between: Link
) -> TrainingSpeed:
    """Speed of one GPU of a job. `inside` is the link in a machine, `between` that over machines."""
    frozen = job.method in ("lora", "qlora")
    flops = model_flops_per_token(model, job.sequence, frozen)
    attention = 3.0 * model.attention_flops * job.sequence / 2
    linear = flops - attention
    extra = (2.0 * model.prefill_params + attention / 3) if job.recompute else 0.0
    rate = (gpu.bf16_tflops or gpu.fp16_tflops) * 1e12 * share_of_peak(gpu, model, plan.tensor)
    linear_rate = rate * (2 * FP8_SHARE if job.fp8 and gpu.fp8_tflops else 1.0)
    linear_rate *= DEQUANT_SLOWDOWN if job.quantized_base else 1.0
    seconds = (linear + extra) / linear_rate + attention / (rate * ATTENTION_SHARE)
    tokens_per_gpu = (
        job.sequence * job.micro_batch * job.micro_batches / (plan.tensor * plan.pipeline * plan.context)
    )
    link = _communication_s(model, plan, job, inside, between) / tokens_per_gpu
    link = max(0.0, link - OVERLAP * seconds) + 0.15 * link
    split = _tensor_split_s(model, plan, inside, between)
    optimizer = (
        (OPTIMIZER_BYTES * model.total_params * job.trainable / (plan.tensor * plan.pipeline * plan.data))
        / (gpu.bandwidth_gbs * 1e9)
        / tokens_per_gpu
    )
    bubble = (plan.pipeline - 1) / (job.micro_batches * plan.virtual_stages) if plan.pipeline > 1 else 0.0
    busy = seconds + split
    total = busy * (1 + bubble) + link + optimizer
    tokens = 1 / total
    peak = (gpu.bf16_tflops or gpu.fp16_tflops) * 1e12
    return TrainingSpeed(
        tokens,
        tokens * flops / 1e12,
        tokens * flops / peak,
        seconds / total,
        (link + split) / total,
        busy * bubble / total,
    )


def _communication_s(model: ModelShape, plan: TrainingPlan, job: Job, inside: Link, between: Link) -> float:
    """Weight and gradient traffic of one optimizer step over data-parallel ranks, per GPU."""
    weights = 2.0 * model.total_params / (plan.tensor * plan.pipeline)
    if plan.data <= 1:
        return 0.0
    link = (
        between
        if plan.nodes > 1 and plan.data > plan.gpus_per_node // (plan.tensor * plan.context)
        else inside
    )
    gradients = 2.0 * weights * job.trainable * (plan.data - 1) / plan.data
    gathered = 0.0
    if plan.shards > 1:
        gathered = 2.0 * weights * job.micro_batches * (plan.shards - 1) / plan.shards
    return (gradients + gathered) / (link.gbs * 1e9)


def _tensor_split_s(model: ModelShape, plan: TrainingPlan, inside: Link, between: Link) -> float:
    """Activation traffic of tensor parallelism per token and GPU: eight passes of the hidden state per
    layer, forward and backward, all-gather and reduce-scatter."""
    if plan.tensor <= 1:
        return 0.0
    link = inside if plan.tensor <= plan.gpus_per_node else between
    payload = 8.0 * 2.0 * model.hidden * model.layers / plan.pipeline
    return payload * (plan.tensor - 1) / plan.tensor / (link.gbs * 1e9) * plan.pipeline
