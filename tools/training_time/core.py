"""Time per token of training: arithmetic at the share of the peak that kernels reach, links, bubble."""

from __future__ import annotations

from dataclasses import dataclass

from tools.throughput.gpu_shape import GpuShape
from tools.throughput.links import Link
from tools.throughput.model_shape import ModelShape
from tools.training_memory.frameworks import Framework
from tools.training_time.coefficients import TRAINING, TrainingCoefficients
from tools.training_time.parallelism import TrainingPlan


@dataclass(frozen=True, slots=True)
class Job:
    """One training job; `trainable` is the share of parameters that get gradients of their own."""

    frozen: bool  # base weights get no gradient (LoRA, QLoRA)
    quantized_base: bool
    sequence: int
    micro_batch: int
    micro_batches: int  # per optimizer step and data-parallel rank
    recompute: bool
    trainable: float
    fp8: bool


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
    weights are frozen and get no gradient of their own), and three times the causal attention of the
    forward pass (PaLM, appendix B, with the causal half)."""
    passes = 2.0 if frozen else 3.0
    return 2.0 * passes * model.active_params + 3.0 * _attention_flops(model, sequence)


def _attention_flops(model: ModelShape, sequence: int) -> float:
    """Attention of the forward pass per token, which attends to half the sequence on average."""
    attended = sequence / 2
    inside = min(attended, model.window_tokens) if model.window_tokens else 0.0
    return model.attention_flops * attended + model.window_flops * inside


def train_speed(
    model: ModelShape,
    gpu: GpuShape,
    plan: TrainingPlan,
    job: Job,
    framework: Framework,
    inside: Link,
    between: Link,
    fit: TrainingCoefficients = TRAINING,
) -> TrainingSpeed:
    """Speed of one GPU of a job. `inside` is the link in a machine, `between` that over machines."""
    flops = model_flops_per_token(model, job.sequence, job.frozen)
    attention = 3.0 * _attention_flops(model, job.sequence)
    peak = (gpu.bf16_tflops or gpu.fp16_tflops) * 1e12
    rate = peak * fit.share_of(gpu) * framework.share
    width = model.hidden / plan.tensor**0.5
    rate *= width / (width + fit.half_width)
    linear_rate = rate
    if job.fp8 and gpu.fp8_tflops:
        linear_rate *= fit.fp8_gain
    if job.quantized_base:
        linear_rate *= fit.unpacking
    dense, expert = _linear_flops(model, job.frozen, job.recompute)
    seconds = dense / linear_rate
    if expert:
        part = model.expert_params / (3 * model.hidden)
        seconds += expert / (linear_rate * fit.expert_share * part / (part + fit.expert_half_width))
    recomputed = attention / 3 if job.recompute else 0.0
    seconds += (attention + recomputed) / (rate * fit.attention)

    tokens = job.sequence * job.micro_batch * job.micro_batches / (plan.tensor * plan.pipeline * plan.context)
    traffic = _data_parallel_s(model, plan, job, inside, between) / tokens
    traffic += _expert_s(model, plan, inside, between)
    # Traffic hides behind arithmetic up to its length, less a part that always shows.
    exposed = max(fit.exposed * traffic, traffic - (1.0 - fit.exposed) * seconds)
    split = _tensor_s(model, plan, inside, between)
    own = model.total_params / (plan.tensor * plan.pipeline)
    update = fit.optimizer_bytes * own * job.trainable / plan.data / (gpu.bandwidth_gbs * 1e9) / tokens
    if plan.offload:
        update += fit.offload_bytes * own * job.trainable / plan.data / (gpu.pcie_gbs * 1e9) / tokens
    busy = seconds + split
    bubble = (plan.pipeline - 1) / (job.micro_batches * plan.virtual_stages) if plan.pipeline > 1 else 0.0
    total = busy * (1.0 + bubble) + exposed + update + framework.step_ms / 1e3 / tokens
    return TrainingSpeed(
        tokens_per_s=1.0 / total,
        tflops=flops / total / 1e12,
        mfu=flops / total / peak,
        compute_share=seconds / total,
        communication_share=(exposed + split) / total,
        bubble_share=busy * bubble / total,
    )


def _linear_flops(model: ModelShape, frozen: bool, recompute: bool) -> tuple[float, float]:
    """Operations per token in dense matrices and in routed experts; recomputation is one more forward."""
    passes = (2.0 if frozen else 3.0) + (1.0 if recompute else 0.0)
    expert = model.moe_layers * model.top_k * model.expert_params
    return 2.0 * passes * (model.active_params - expert), 2.0 * passes * expert


def _data_parallel_s(model: ModelShape, plan: TrainingPlan, job: Job, inside: Link, between: Link) -> float:
    """Weight and gradient traffic of one optimizer step over data-parallel ranks, seconds of one GPU.

    Gradients are reduced once; sharded weights are gathered for each forward and backward pass.
    """
    if plan.data <= 1:
        return 0.0
    weights = 2.0 * model.total_params / (plan.tensor * plan.pipeline)
    gradients = 2.0 * weights * job.trainable * (plan.data - 1) / plan.data
    gathered = 2.0 * weights * job.micro_batches * (plan.shards - 1) / plan.shards
    inner = plan.gpus_per_node // (plan.tensor * plan.context)
    gather_link = between if plan.shards > max(1, inner) and plan.nodes > 1 else inside
    reduce_link = between if plan.nodes > 1 else inside
    return gathered / (gather_link.gbs * 1e9) + gradients / (reduce_link.gbs * 1e9)


def _tensor_s(model: ModelShape, plan: TrainingPlan, inside: Link, between: Link) -> float:
    """Activation traffic of tensor parallelism per token and GPU, seconds: eight passes of the hidden state
    per layer (gather and scatter around attention and feed-forward, forward and backward)."""
    if plan.tensor <= 1:
        return 0.0
    link = inside if plan.tensor <= plan.gpus_per_node else between
    payload = 8.0 * 2.0 * model.hidden * model.layers
    return payload * (plan.tensor - 1) / plan.tensor / (link.gbs * 1e9)


def _expert_s(model: ModelShape, plan: TrainingPlan, inside: Link, between: Link) -> float:
    """Traffic of routed tokens per token and GPU, seconds: four exchanges per MoE layer, one copy for each
    expert inside a machine, one for each machine over the network."""
    if plan.expert <= 1 or not model.moe_layers:
        return 0.0
    machines = plan.expert * plan.tensor / plan.gpus_per_node
    link, copies = (inside, model.top_k) if machines <= 1 else (between, min(model.top_k, machines - 1))
    payload = 4.0 * 2.0 * model.hidden * copies * model.moe_layers
    return payload * (plan.expert - 1) / plan.expert / (link.gbs * 1e9)
