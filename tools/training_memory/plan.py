"""The core of training memory: states, activations and logits of one GPU as plain floats."""

from __future__ import annotations

from dataclasses import dataclass

from tools.contracts.training import Method
from tools.memory.shape import Shape
from tools.memory.weights import GIB, Plan, weight_bytes_per_gpu
from tools.training_memory.activations import (
    Step,
    activation_bytes,
    adapter_parameters,
    logits_bytes,
)
from tools.training_memory.parallelism import Division
from tools.training_memory.recipe import Optimizer, Precision

FREEZE_LAYERS = 2  # LLaMA-Factory trains the last two layers unless told otherwise
LIBRARIES_GIB = 1.0  # CUDA context, cuBLAS workspaces, allocator rounding
COMMUNICATION_GIB = 1.0  # NCCL and reduce buckets, when several GPUs train together


@dataclass(frozen=True, slots=True)
class Copies:
    """Models beside the policy: frozen ones (reference, reward) and trained ones (critic)."""

    frozen: float = 0.0
    trained: float = 0.0
    batch_factor: float = 1.0  # preference pairs run chosen and rejected together
    rollout: float = 0.0  # weight copies in a rollout engine on the same GPUs


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


def plan_training(
    shape: Shape,
    method: Method,
    precision: Precision,
    optimizer: Optimizer,
    division: Division,
    step: Step,
    rank: int = 8,
    targets: frozenset[str] = frozenset(),
    copies: Copies | None = None,
) -> TrainingPlan:
    """Memory of one training step on the fullest GPU: states by sections 5 and 8 of the memory formulas,
    activations by section 6, logits by section 7."""
    copies = copies or Copies()
    ranks = division.tensor * division.pipeline
    local = shape.total / ranks
    shards = division.shards
    trainable = _trainable(shape, method, rank, targets) / ranks
    weights = _stored_weights(shape, method, precision, local, trainable)
    weights += copies.frozen * 2.0 * local
    sharded_weights = weights / shards if division.zero == 3 else weights
    gathered = _working_set(shape, precision, local) if division.zero == 3 and shards > 1 else 0.0
    gradients = trainable * precision.gradient_bytes if optimizer.keeps_gradients else 0.0
    states = _optimizer_bytes(trainable, precision, optimizer)
    if division.zero >= 2:
        gradients /= shards
    if division.zero >= 1:
        states /= shards
    if copies.trained:
        gradients *= 1 + copies.trained
        states *= 1 + copies.trained
        sharded_weights *= 1 + copies.trained
    host = 0.0
    if division.offload_optimizer:
        host, states = states, 0.0
    if division.offload_parameters:
        host, sharded_weights = host + sharded_weights, 0.0
    layers = shape.layers / division.pipeline
    in_flight = float(division.pipeline)  # the first stage holds one micro-batch per stage
    batch = Step(
        step.tokens * copies.batch_factor / division.context,
        step.sequence,
        step.checkpointing,
        step.flash,
        step.fused_loss,
        step.bytes_per_value,
    )
    activations = activation_bytes(shape, batch, division.tensor, layers * in_flight)
    split = division.data if division.layer_split else 1
    several = ranks * shards > 1
    return TrainingPlan(
        parameters=(sharded_weights / split + gathered + copies.rollout * 2.0 * local) / GIB,
        gradients=gradients / split / GIB,
        optimizer=states / split / GIB,
        activations=activations / split / GIB,
        logits=logits_bytes(shape, batch, division.tensor) / GIB,
        overhead=LIBRARIES_GIB + (COMMUNICATION_GIB if several else 0.0),
        host=host * shards * ranks / GIB,
        trainable=trainable * ranks,
    )


def _trainable(shape: Shape, method: Method, rank: int, targets: frozenset[str]) -> float:
    if method in ("lora", "qlora"):
        return adapter_parameters(shape, rank, targets)
    if method == "freeze":
        body = shape.total - shape.embedding - shape.head - shape.tower
        return body * min(1.0, FREEZE_LAYERS / shape.layers)
    return shape.total


def _stored_weights(
    shape: Shape, method: Method, precision: Precision, local: float, trainable: float
) -> float:
    """Bytes of weights in the working type on one model-parallel rank, before sharding."""
    if method in ("lora", "qlora"):
        base = 2.0 * local
        if precision.base is not None:
            base = weight_bytes_per_gpu(shape, precision.base, Plan()) * local / shape.total
        return base + trainable * precision.weight_bytes
    return local * precision.weight_bytes


def _optimizer_bytes(trainable: float, precision: Precision, optimizer: Optimizer) -> float:
    """Master copy and moments. Without a master copy torch moments take the type of the weights."""
    state = optimizer.state_bytes
    if precision.master_bytes == 0 and precision.weight_bytes == 2.0 and optimizer.moments_follow_weights:
        state /= 2
    return trainable * (precision.master_bytes + state)


def _working_set(shape: Shape, precision: Precision, local: float) -> float:
    """Gathered 16-bit parameters of ZeRO-3/FSDP: one layer in use and one prefetched, or the embedding."""
    per_layer = (shape.total - shape.embedding - shape.head) / shape.layers
    width = min(precision.weight_bytes, 2.0)
    return min(max(2 * per_layer, shape.embedding + shape.head), local) * width
