"""Contract of the log comparison: a start-up log, an OOM trace or nvidia-smi beside the estimate."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tools.contracts.base import Assumption, Remark, Report, Request, Scalar
from tools.contracts.memory import MemoryReport

LogKind = Literal["vllm", "sglang", "llama.cpp", "out_of_memory", "nvidia_smi"]


class CompareLogRequest(Request):
    """A pasted log. Fields that the log does not state may be given; what it states wins."""

    text: str = Field(min_length=1, max_length=2_000_000)
    model: str = ""
    gpu: str = ""
    gpu_count: int | None = Field(default=None, ge=1, le=100_000)
    weight_precision: str = ""
    kv_precision: str = ""
    max_num_seqs: int | None = Field(default=None, ge=1, le=1_000_000)
    max_model_len: int | None = Field(default=None, ge=1, le=100_000_000)


class PartDifference(Report):
    """One part of the memory: what the log says, what the estimate says, and the flag that changes it."""

    part: str  # weights, activation, libraries, graphs, kv_pool, kv_tokens, kv_cache, total
    unit: Literal["GiB", "tokens"]
    measured: float
    estimated: float | None = None
    relative: float | None = None  # estimated over measured, less one
    differs: bool = False
    flag: str = ""


class FlagEffect(Report):
    """What one engine flag would change: the pool per GPU and the tokens it holds, before and after."""

    flag: str
    value: Scalar
    kv_pool_gib_per_gpu: float
    kv_pool_change_gib: float
    kv_capacity_tokens: int | None = None
    kv_capacity_change: int | None = None
    total_gib_per_gpu: float


class CompareLogReport(Report):
    """What was read, the parts side by side, the one that differs most, and what flags would change."""

    kind: LogKind
    engine: str = ""
    engine_version: str = ""
    read: dict[str, Scalar] = {}  # every figure and flag found in the log
    parts: tuple[PartDifference, ...] = ()
    cause: str = ""  # stable code of what explains a failure or the largest difference
    effects: tuple[FlagEffect, ...] = ()
    estimate: MemoryReport | None = None
    assumptions: tuple[Assumption, ...] = ()
    warnings: tuple[Remark, ...] = ()
