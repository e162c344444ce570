"""Contract of the recommender: `SizingRequest` -> `Recommendation`."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from pydantic import Field

from tools.contracts.base import Assumption, Remark, Report, Request, SourceRef
from tools.contracts.cost import CostReport, Money
from tools.contracts.memory import MemoryReport
from tools.contracts.other import OtherMemoryReport
from tools.contracts.throughput import ThroughputReport
from tools.contracts.training import TrainingMemoryReport, TrainingTimeReport

Task = Literal[
    "inference", "finetune", "pretrain", "embedding", "reranker", "diffusion", "video", "asr", "tts",
    "vision", "graphics", "transcoding", "hpc", "development",
]  # fmt: skip
Objective = Literal["cheapest", "balanced", "fastest"]


class Budget(Request):
    """What may be spent: per hour, day, month, year, or in total."""

    amount: Decimal = Field(gt=0, le=10**15)
    currency: Literal["CNY", "USD"] = "CNY"
    period: Literal["hour", "day", "month", "year", "total"] = "hour"


class SizingRequest(Request):
    """A workload and its limits. Only `task` and a model (or `params_b`) are needed for model work."""

    task: Task = "inference"
    model: str = ""
    params_b: float | None = Field(default=None, gt=0, le=100_000)
    precision: str = ""
    kv_precision: str = ""
    engine: str = ""
    context_tokens: int | None = Field(default=None, ge=1, le=100_000_000)
    input_tokens: int | None = Field(default=None, ge=0, le=100_000_000)
    output_tokens: int | None = Field(default=None, ge=0, le=100_000_000)
    concurrency: int | None = Field(default=None, ge=1, le=10_000_000)
    users: int | None = Field(default=None, ge=1, le=10_000_000_000)
    requests_per_second: float | None = Field(default=None, gt=0)
    ttft_ms: float | None = Field(default=None, gt=0)
    tpot_ms: float | None = Field(default=None, gt=0)
    method: str = ""
    training_objective: str = ""  # sft, dpo, grpo, ppo …: what is held beside the trained model
    lora_rank: int | None = Field(default=None, ge=1, le=8192)
    sequence_length: int | None = Field(default=None, ge=1, le=100_000_000)
    micro_batch: int | None = Field(default=None, ge=1, le=1_000_000)
    resolution: str = ""
    frames: int | None = Field(default=None, ge=1, le=1_000_000)
    batch: int | None = Field(default=None, ge=1, le=1_000_000)
    dataset_tokens: float | None = Field(default=None, gt=0)
    dataset_samples: float | None = Field(default=None, gt=0)
    epochs: float | None = Field(default=None, gt=0)
    deadline_hours: float | None = Field(default=None, gt=0)
    budget: Budget | None = None
    hours_per_month: float | None = Field(default=None, gt=0, le=744)
    hours: float | None = Field(default=None, gt=0, le=10_000_000)  # of use in all: "for a week" is 168
    cny_per_usd: Decimal | None = Field(default=None, ge=Decimal("0.01"), le=1000)
    min_gpu_memory_gib: float | None = Field(default=None, gt=0, le=10_000)  # nominal, one GPU or slice
    purchase: str = ""
    regions: tuple[str, ...] = ()
    gpu_wanted: tuple[str, ...] = ()
    gpu_excluded: tuple[str, ...] = ()
    instance_wanted: tuple[str, ...] = ()  # types or families the user named
    gpu_count: int | None = Field(default=None, ge=1, le=100_000)
    max_gpus: int | None = Field(default=None, ge=1, le=100_000)
    needs_nvlink: bool = False
    bare_metal: bool | None = None
    allow_quantization: bool = True
    include_unpriced: bool = True
    allow_derived_prices: bool = False
    objective: Objective = "balanced"


class Plan(Report):
    """How the work is laid over the GPUs of an option."""

    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    data_parallel: int = 1  # replicas, or data-parallel ranks in training
    expert_parallel: int = 1
    zero_stage: int | None = None
    engine: str = ""
    max_model_len: int | None = None
    max_num_seqs: int | None = None  # None: the engine's default


class Option(Report):
    """One way to do it. `labels` say for which objectives it is the answer."""

    instance_type: str
    family: str
    count: int
    gpu_model: str
    gpu_count: int  # GPUs of one machine
    vgpu: bool = False  # a slice of a GPU
    gpu_memory_gib: float  # nominal, one GPU
    total_vram_gib: float  # nominal, all GPUs of all machines
    vcpu: int
    host_memory_gib: float
    plan: Plan
    precision: str
    memory: MemoryReport | TrainingMemoryReport | OtherMemoryReport | None = None
    speed: ThroughputReport | TrainingTimeReport | None = None
    cost: CostReport | None = None
    hourly_cny: Money | None = None  # all machines
    monthly_cny: Money | None = None
    region: str
    price_basis: str = ""  # list, derived-linear …; "" without a price
    precision_rung: int = 0  # 0: the best precision tried; higher gives up quality
    job_cny: Money | None = None  # of the whole job, where its hours are known
    labels: tuple[Objective, ...] = ()
    why: tuple[Remark, ...] = ()


class LadderStep(Report):
    """What one precision needs on the GPU of the first option: the fewest that carry the load, or that hold
    the weights and some requests (`carries_load` False)."""

    precision: str
    rung: int
    gpu_model: str
    instance_type: str
    count: int
    gpus: int  # of all machines
    region: str
    hourly_cny: Money | None = None
    carries_load: bool
    max_concurrency: int | None = None
    within_limits: bool  # budget and GPU count
    chosen: bool = False


class Rejected(Report):
    """A family that was considered, its best try, and why it lost."""

    family: str
    gpu_model: str
    instance_type: str = ""
    reason: Remark


class Recommendation(Report):
    """Options, best for the request's objective first; empty when nothing meets the limits. `fallback`
    then shows what the budget buys and what the wish costs."""

    request: SizingRequest
    options: tuple[Option, ...] = ()
    fallback: tuple[Option, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    precision_ladder: tuple[LadderStep, ...] = ()
    considered: int = 0  # combinations of type, count, precision and plan that were computed
    assumptions: tuple[Assumption, ...] = ()
    warnings: tuple[Remark, ...] = ()
    corrections: tuple[Remark, ...] = ()
    sources: tuple[SourceRef, ...] = ()


class SensitivityCase(Report):
    """The best option when one thing changes; `same_option` says that the first one still does it."""

    change: Literal["context_doubled", "concurrency_doubled", "next_cheaper", "budget_raised"]
    value: str
    same_option: bool
    option: Option | None = None
    gives_up: tuple[Remark, ...] = ()


class Sensitivity(Report):
    """How the recommendation moves with the load, and what a lower price would cost in other terms."""

    request: SizingRequest
    cases: tuple[SensitivityCase, ...] = ()
