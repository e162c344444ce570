"""Contracts of training: memory (`TrainingMemoryRequest`) and time (`TrainingTimeRequest`)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tools.contracts.base import Assumption, Remark, Report, Request, SourceRef, Verdict
from tools.contracts.memory import FitOption

Method = Literal["full", "freeze", "lora", "qlora", "pretrain"]


class TrainingMemoryRequest(Request):
    """A training job on one replica group. `parallelism` is text as people write it: "zero3", "TP8 PP2"."""

    model: str = ""
    params_b: float | None = Field(default=None, gt=0, le=100_000)
    method: str = "full"
    precision: str = ""
    optimizer: str = ""
    lora_rank: int | None = Field(default=None, ge=1, le=8192)
    lora_targets: str = ""
    sequence_length: int | None = Field(default=None, ge=1, le=100_000_000)
    micro_batch: int | None = Field(default=None, ge=1, le=1_000_000)
    gradient_checkpointing: str | bool = ""
    flash_attention: bool | None = None
    fused_loss: bool | None = None
    zero_stage: int | None = Field(default=None, ge=0, le=3)
    fsdp: str | bool = ""
    offload: str | bool = ""
    tensor_parallel: int | None = Field(default=None, ge=1, le=4096)
    pipeline_parallel: int | None = Field(default=None, ge=1, le=4096)
    expert_parallel: int | None = Field(default=None, ge=1, le=4096)
    context_parallel: int | None = Field(default=None, ge=1, le=4096)
    objective: str = ""  # sft, dpo, grpo, ppo
    gpu: str = ""
    instance_type: str = ""
    gpu_count: int | None = Field(default=None, ge=1, le=1_000_000)
    framework: str = ""
    parallelism: str = ""


class TrainingMemoryReport(Report):
    """Parts are per GPU and sum to the peak; `low`..`high` covers 90 % of measurements of the kind."""

    model: str
    gpu: str = ""
    gpu_count: int
    method: Method
    precision: str
    optimizer: str

    parameters_gib: float
    gradients_gib: float
    optimizer_gib: float
    activations_gib: float
    logits_gib: float
    overhead_gib: float
    peak_gib_per_gpu: float
    peak_gib_per_gpu_low: float
    peak_gib_per_gpu_high: float
    trainable_params_b: float
    total_params_b: float | None = None
    # All GPUs together, before activations: 16 bytes per trained parameter (weights 2, gradients 2, fp32 copy
    # and Adam moments 12), 2 per frozen one; None where weights are quantized or the optimizer is another.
    states_gib: float | None = None
    nominal_gib_per_gpu: float | None = None
    host_memory_gib: float = 0.0  # what offload moves to the host, all GPUs of one node together

    usable_gib_per_gpu: float | None = None
    fits: bool | None = None
    verdict: Verdict | None = None
    margin_gib: float | None = None
    limits: tuple[FitOption, ...] = ()

    assumptions: tuple[Assumption, ...] = ()
    warnings: tuple[Remark, ...] = ()
    sources: tuple[SourceRef, ...] = ()


class TrainingTimeRequest(TrainingMemoryRequest):
    """The training fields and the size of the job; without tokens (or samples and epochs) hours is None."""

    global_batch: int | None = Field(default=None, ge=1, le=100_000_000)  # sequences per optimizer step
    nodes: int | None = Field(default=None, ge=1, le=100_000)
    interconnect: str = ""  # nvlink, pcie
    network_gbps: float | None = Field(default=None, gt=0)
    tokens: float | None = Field(default=None, gt=0)  # tokens of the whole job, epochs included
    samples: float | None = Field(default=None, gt=0)
    epochs: float | None = Field(default=None, gt=0)


class TrainingTimeReport(Report):
    """Speed per GPU and the hours of the job, each with the range that holds 80 % of measurements."""

    model: str
    gpu: str
    gpu_count: int
    nodes: int
    method: Method
    precision: str

    tokens_per_s_per_gpu: float
    tokens_per_s_per_gpu_low: float
    tokens_per_s_per_gpu_high: float
    tflops_per_gpu: float
    tflops_per_gpu_low: float
    tflops_per_gpu_high: float
    mfu: float
    mfu_low: float
    mfu_high: float
    tokens: float | None = None
    hours: float | None = None
    hours_low: float | None = None
    hours_high: float | None = None

    assumptions: tuple[Assumption, ...] = ()
    warnings: tuple[Remark, ...] = ()
    sources: tuple[SourceRef, ...] = ()
