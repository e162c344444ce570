"""Contract of diffusion, video, speech, embedding and vision memory."""

from __future__ import annotations

from pydantic import Field

from tools.contracts.base import Assumption, Remark, Report, Request, SourceRef, Verdict
from tools.contracts.memory import FitOption


class OtherMemoryRequest(Request):
    """A job of a model that is not a text decoder. `frames` is for video, `duration_s` for audio."""

    model: str
    task: str = ""
    mode: str = "inference"  # inference, train-lora, train-full
    gpu: str = ""
    instance_type: str = ""
    gpu_count: int | None = Field(default=None, ge=1, le=100_000)
    resolution: str = ""  # "1024x1024", "720p", "512"
    frames: int | None = Field(default=None, ge=1, le=1_000_000)
    duration_s: float | None = Field(default=None, gt=0)
    frames_or_duration: str = ""  # as people write it: "81 frames", "5 s"
    batch: int | None = Field(default=None, ge=1, le=1_000_000)
    tokens: int | None = Field(default=None, ge=1, le=10_000_000)  # per text, for encoders
    precision: str = ""
    offload: str = ""
    framework: str = ""
    gradient_checkpointing: str | bool = ""


class OtherMemoryReport(Report):
    """Peak per GPU with its parts by name (text encoders, denoiser, decoder, activations …)."""

    model: str
    task: str
    mode: str
    gpu: str = ""
    gpu_count: int
    parts_gib: dict[str, float] = {}
    peak_gib_per_gpu: float
    peak_gib_per_gpu_low: float
    peak_gib_per_gpu_high: float
    usable_gib_per_gpu: float | None = None
    fits: bool | None = None
    verdict: Verdict | None = None
    margin_gib: float | None = None
    limits: tuple[FitOption, ...] = ()

    assumptions: tuple[Assumption, ...] = ()
    warnings: tuple[Remark, ...] = ()
    sources: tuple[SourceRef, ...] = ()
