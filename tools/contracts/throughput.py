"""Contract of serving speed: `ThroughputRequest` -> `ThroughputReport`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tools.contracts.base import Assumption, Remark, Report, Request, SourceRef

Bound = Literal["compute", "bandwidth", "communication", "overhead"]


class ThroughputRequest(Request):
    """A serving load. `concurrency` counts requests in flight over all replicas, or is "max"."""

    model: str = ""
    params_b: float | None = Field(default=None, gt=0, le=100_000)
    gpu: str = ""
    instance_type: str = ""
    gpu_count: int | None = Field(default=None, ge=1, le=100_000)
    tensor_parallel: int | None = Field(default=None, ge=1, le=4096)
    pipeline_parallel: int | None = Field(default=None, ge=1, le=4096)
    data_parallel: int | None = Field(default=None, ge=1, le=4096)
    expert_parallel: int | None = Field(default=None, ge=1, le=4096)
    attention_data_parallel: int | None = Field(default=None, ge=1, le=4096)
    interconnect: str = ""  # nvlink, pcie-p2p, pcie (through host memory); "" = as the card has it
    weight_precision: str = ""
    kv_precision: str = ""
    engine: str = ""
    engine_version: str = ""
    input_tokens: int | None = Field(default=None, ge=0, le=100_000_000)
    output_tokens: int | None = Field(default=None, ge=0, le=100_000_000)
    concurrency: int | Literal["max"] | None = None
    arrival: str = ""  # closed (the next request follows an answer), paced (evenly spaced); "" = not known
    ttft_ms: float | None = Field(
        default=None, gt=0
    )  # targets: the report then says how much load keeps them
    tpot_ms: float | None = Field(default=None, gt=0)
    think_time_s: float | None = Field(
        default=None, ge=0, le=86_400
    )  # between an answer and the next question


class Capacity(Report):
    """The most load that keeps the targets and fits the KV cache, and the users behind it: a closed loop in
    which each waits `think_time_s` between an answer and the next question."""

    ttft_target_ms: float | None
    tpot_target_ms: float | None
    concurrency: int  # 0: not even one request keeps them
    output_tokens_per_s: float
    requests_per_s: float
    ttft_ms: float
    tpot_ms: float
    limited_by: Literal["kv_cache", "targets"]
    think_time_s: float
    users: int


class ThroughputReport(Report):
    """Rates cover all replicas; `ttft_ms` and `tpot_ms` are medians. `_low`.._`_high` covers 80 % of
    measurements of the kind; `evidence` says how well the card and engine are covered."""

    model: str
    gpu: str
    gpu_count: int
    tensor_parallel: int
    pipeline_parallel: int
    data_parallel: int
    weight_precision: str
    kv_precision: str
    engine: str
    input_tokens: int
    output_tokens: int
    concurrency: int
    max_concurrency: int | None = None  # what memory allows at this length, all replicas

    output_tokens_per_s: float
    output_tokens_per_s_low: float
    output_tokens_per_s_high: float
    total_tokens_per_s: float
    total_tokens_per_s_low: float
    total_tokens_per_s_high: float
    requests_per_s: float
    requests_per_s_low: float
    requests_per_s_high: float
    ttft_ms: float
    ttft_ms_low: float
    ttft_ms_high: float
    tpot_ms: float
    tpot_ms_low: float
    tpot_ms_high: float
    single_stream_tokens_per_s: float
    single_stream_tokens_per_s_low: float
    single_stream_tokens_per_s_high: float
    prefill_tokens_per_s: float
    prefill_tokens_per_s_low: float
    prefill_tokens_per_s_high: float

    capacity: Capacity | None = None  # where targets were given

    prefill_bound: Bound
    decode_bound: Bound
    compute_precision: str  # what the GPU really computes in (fp16 on Volta, weight-only fp8 on Ampere)
    evidence: Literal["calibrated", "estimate_only"]

    assumptions: tuple[Assumption, ...] = ()
    warnings: tuple[Remark, ...] = ()
    sources: tuple[SourceRef, ...] = ()
