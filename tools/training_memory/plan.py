"""The core of training memory: states, activations and logits of one GPU as plain floats."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tools.contracts.training import Method
from tools.memory.shape import Shape
from tools.memory.weights import GIB, weight_bytes_per_gpu
from tools.memory.weights import Plan as WeightPlan
from tools.training_memory.activations import (
    TABLES,
    Step,
    activation_bytes,
    adapter_parameters,
    logits_bytes,
)
from tools.training_memory.parallelism import Division
from tools.training_memory.recipe import Optimizer, Precision
from tools.training_memory.trainers import Trainer

FREEZE_LAYERS = 2  # LLaMA-Factory trains the last two layers unless told otherwise
COMMUNICATION_GIB = 1.0  # NCCL and reduce buckets, when several GPUs train together
LIVE_PARAMETERS = 1e9  # DeepSpeed ZeRO-3: stage3_max_live_parameters
GIGABYTE = 2.0  # bytes per gathered 16-bit parameter


@dataclass(frozen=True, slots=True)
class Copies:
    """Models beside the policy: frozen ones (reference, reward) and trained ones (critic)."""

    frozen: float = 0.0
    trained: float = 0.0
    batch_factor: float = 1.0  # preference pairs run chosen and rejected together
    rollout: float = 0.0  # weight copies in a rollout engine on the same GPUs


@dataclass(frozen=True, slots=True)
class TrainingJob:
    """Everything that decides the memory of a step."""

    shape: Shape
    method: Method
    precision: Precision
    optimizer: Optimizer
    division: Division
    step: Step
    trainer: Trainer
    rank: int = 8
    targets: frozenset[str] = frozenset()
    copies: Copies = Copies()


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """Parts of the fullest GPU in GiB; they sum to `peak`."""

    parameters: float
    gradients: float
    optimizer: float
    activations: float
    logits: float
    overhead: float
    host: float
    trainable: float  # parameters, not bytes

    @property
    def peak(self) -> float:
        return (
            self.parameters + self.gradients + self.optimizer + self.activations + self.logits + self.overhead
        )


def plan_training(job: TrainingJob) -> TrainingPlan:
    """Memory of one training step on the fullest GPU: states as ZeRO counts
    and divides them (arXiv:1910.02054), activations and logits as in arXiv:2205.05198, then what the
    framework holds besides."""
    division, trained_copies = job.division, 1 + job.copies.trained
    weights, gathered, host_weights = _weights(job)
    gradients, states, host_states = _states(job)
    activations, logits = _activations(job)
    if division.layer_split:
        weights, gradients, states = (part / division.data for part in (weights, gradients, states))
        activations /= division.data
    sums = (weights * trained_copies + gathered, gradients * trained_copies, states * trained_copies)
    held = sum(sums) + activations + logits
    several = division.tensor * division.pipeline * division.shards > 1
    overhead = (
        job.trainer.libraries_gib
        + job.trainer.allocator_share * held / GIB
        + (COMMUNICATION_GIB if several and not division.layer_split else 0.0)
    )
    ranks = division.tensor * division.pipeline * division.shards
    return TrainingPlan(
        parameters=sums[0] / GIB,
        gradients=sums[1] / GIB,
        optimizer=sums[2] / GIB,
        activations=activations / GIB,
        logits=logits / GIB,
        overhead=overhead,
        host=(host_weights + host_states) * ranks / GIB,
        trainable=_trainable(job),
    )


def _local(job: TrainingJob) -> float:
    """Parameters of one model-parallel rank: experts divide by the expert degree, the rest by tensor
    parallel, layers by pipeline."""
    division, shape = job.division, job.shape
    experts = max(division.expert, division.tensor if division.expert == 1 else 1)
    return ((shape.total - shape.experts) / division.tensor + shape.experts / experts) / division.pipeline


def _weights(job: TrainingJob) -> tuple[float, float, float]:
    """(bytes held, bytes gathered for the moment, bytes in host memory) of the weights."""
    shape, division, precision = job.shape, job.division, job.precision
    local = _local(job)
    if job.method in ("lora", "qlora") or precision.base is not None:
        base = precision.frozen_bytes * local
        if precision.base is not None:
            base = weight_bytes_per_gpu(shape, precision.base, WeightPlan()) * local / shape.total
            if job.trainer.upcasts_base and precision.base.name.startswith(("nf4", "int8-bnb")):
                base += 2.0 * (shape.embedding + shape.head) * local / shape.total
        held = base + _trainable(job) * precision.weight_bytes * local / shape.total
    else:
        held = local * precision.weight_bytes
    held += (job.copies.frozen + job.copies.rollout) * 2.0 * local
    if division.zero < 3 or division.shards == 1:
        return held, 0.0, 0.0
    held /= division.shards
    host = held if division.offload_parameters else 0.0
    return held - host, _gathered(job, local), host


def _gathered(job: TrainingJob, local: float) -> float:
    """16-bit parameters gathered by ZeRO-3 and FSDP: the layer in use and the next, or a whole table;
    DeepSpeed lets up to 1e9 parameters live."""
    shape = job.shape
    per_layer = (shape.total - shape.embedding - shape.head) / shape.layers
    alive = max(2 * per_layer, shape.embedding + shape.head)
    if job.trainer.gathers_live_parameters:
        alive = max(alive, LIVE_PARAMETERS)
    return min(alive, local) * min(job.precision.weight_bytes, GIGABYTE)


def _states(job: TrainingJob) -> tuple[float, float, float]:
    """(gradient bytes, optimizer bytes, optimizer bytes in host memory) of one rank. Without a master copy
    torch moments take the type of the weights; unfused AdamW holds one temporary of their size. Paged
    states lie in unified memory and move to the host when the card is full."""
    precision, optimizer, division = job.precision, job.optimizer, job.division
    trainable = _trainable(job) * _local(job) / job.shape.total
    per_state = optimizer.state_bytes
    if precision.master_bytes == 0 and precision.weight_bytes == 2.0 and optimizer.moments_follow_weights:
        per_state /= 2
    master = precision.master_bytes if optimizer.needs_master else 0.0
    states = trainable * (master + per_state)
    gradients = trainable * precision.gradient_bytes if optimizer.keeps_gradients else 0.0
    if job.trainer.foreach_temporary and optimizer.name == "adamw" and division.zero == 0:
        states += trainable * precision.weight_bytes
    if division.zero >= 2:
        gradients /= division.shards
    if division.zero >= 1:
        states /= division.shards
    if division.offload_optimizer or optimizer.paged:
        return gradients, 0.0, states
    return gradients, states, 0.0


def _activations(job: TrainingJob) -> tuple[float, float]:
    """(activation bytes, logit bytes). The first pipeline stage keeps one micro-batch per stage alive."""
    division, step = job.division, job.step
    tokens = step.tokens * job.copies.batch_factor / division.context
    in_flight = 1
    if division.pipeline > 1:
        in_flight = division.pipeline
        if job.trainer.splits_batch:
            tokens = max(tokens / division.pipeline, step.sequence / division.context)
    batch = replace(step, tokens=tokens)
    layers = job.shape.layers / division.pipeline * in_flight
    kept = activation_bytes(job.shape, batch, division.tensor, layers, job.trainer.offloads_checkpoints)
    return kept, logits_bytes(job.shape, batch, division.tensor, job.trainer.loss_bytes)


def _trainable(job: TrainingJob) -> float:
    """Trained parameters of the whole model."""
    shape = job.shape
    if job.method in ("lora", "qlora"):
        tables = shape.embedding * ("embedding" in job.targets) + shape.head * ("head" in job.targets)
        return adapter_parameters(shape, job.rank, job.targets - TABLES) + tables
    if job.method == "freeze":
        body = shape.total - shape.embedding - shape.head - shape.tower
        return body * min(1.0, FREEZE_LAYERS / shape.layers)
    return shape.total
