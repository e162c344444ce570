"""Contract of inference memory: `MemoryRequest` -> `MemoryReport`. GiB = 2^30 bytes."""

from __future__ import annotations

from pydantic import Field

from tools.contracts.base import Assumption, Remark, Report, Request, SourceRef, Verdict


class MemoryRequest(Request):
    """What to hold in GPU memory. Names are resolved by alias; unset fields come back in `assumptions`."""

    model: str = ""
    params_b: float | None = Field(default=None, gt=0, le=100_000)  # 1e9 parameters, generic shape
    gpu: str = ""
    instance_type: str = ""
    gpu_count: int | None = Field(default=None, ge=1, le=100_000)
    tensor_parallel: int | None = Field(default=None, ge=1, le=4096)
    pipeline_parallel: int | None = Field(default=None, ge=1, le=4096)
    expert_parallel: int | None = Field(default=None, ge=1, le=4096)
    weight_precision: str = ""
    kv_precision: str = ""
    engine: str = ""
    engine_version: str = ""
    context_tokens: int | None = Field(default=None, ge=1, le=100_000_000)
    concurrency: int | None = Field(default=None, ge=1, le=10_000_000)
    output_tokens: int | None = Field(default=None, ge=0, le=100_000_000)  # of the context; rest is prompt
    max_model_len: int | None = Field(default=None, ge=1, le=100_000_000)
    max_num_seqs: int | None = Field(default=None, ge=1, le=1_000_000)
    max_batched_tokens: int | None = Field(default=None, ge=1, le=100_000_000)
    gpu_memory_utilization: float | None = Field(default=None, gt=0, le=1)
    enforce_eager: bool | None = None
    lora_rank: int | None = Field(default=None, ge=1, le=8192)  # a server that lends slots to LoRA adapters
    max_loras: int | None = Field(default=None, ge=1, le=4096)  # adapters in one step; 1 where only a rank


class FitOption(Report):
    """One change that was computed: what the total would be and whether it then fits."""

    change: str  # stable code: kv_fp8, weights_4bit, lower_context, lower_concurrency, more_gpus, …
    field: str
    value: str | int | float
    total_gib_per_gpu: float
    fits: bool


class MemoryReport(Report):
    """Per-GPU parts sum to the total. `kv_bytes_per_token` and `kv_capacity_tokens` count one replica with
    all its GPUs; `kv_cache_gib_per_gpu` is what the request needs, `kv_pool_gib_per_gpu` what the engine
    would have beside the weights (None without a card)."""

    model: str
    gpu: str = ""
    gpu_count: int
    tensor_parallel: int
    pipeline_parallel: int
    weight_precision: str
    kv_precision: str
    engine: str
    context_tokens: int
    concurrency: int

    weights_gib: float
    weights_gib_per_gpu: float
    kv_bytes_per_token: float
    kv_bytes_per_sequence_fixed: float = 0.0  # windows and recurrent states, which stop growing
    kv_cache_gib_per_gpu: float
    activation_gib_per_gpu: float
    overhead_gib_per_gpu: float  # context, graphs, communication buffers
    total_gib_per_gpu: float
    total_gib_per_gpu_low: float
    total_gib_per_gpu_high: float  # low to high covers 90 % of measurements of the kind
    # What nvidia-smi shows: the CUDA context, the whole pool of a server, what a library's allocator keeps.
    device_gib_per_gpu: float | None = None
    device_gib_per_gpu_low: float | None = None
    device_gib_per_gpu_high: float | None = None

    usable_gib_per_gpu: float | None = None
    usable_measured: bool = False
    kv_pool_gib_per_gpu: float | None = None
    kv_capacity_tokens: int | None = None
    max_concurrency: int | None = None  # sequences of `context_tokens` that the pool holds at once
    fits: bool | None = None  # None without a card to fit
    verdict: Verdict | None = None
    margin_gib: float | None = None
    limits: tuple[FitOption, ...] = ()
    nominal_gib_per_gpu: float | None = None
    nominal_gib: float | None = None  # of all GPUs, as are the next two
    usable_gib: float | None = None
    beside_weights_gib: float | None = None  # usable less the weights; negative where they do not fit

    assumptions: tuple[Assumption, ...] = ()
    warnings: tuple[Remark, ...] = ()
    sources: tuple[SourceRef, ...] = ()
