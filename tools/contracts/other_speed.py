"""Contract of the speed of models that are not text decoders: images, video, speech, encoders, vision."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tools.contracts.base import Assumption, Remark, Report, Request, SourceRef
from tools.contracts.throughput import Bound

OtherKind = Literal["image", "video", "asr", "tts", "embedding", "reranker", "vision"]
# What one unit of the rate is. Speech counts seconds of audio heard or spoken.
Unit = Literal["image", "clip", "audio_second", "text", "pair"]


class OtherSpeedRequest(Request):
    """A job of a model that is not a text decoder. `amount` counts units of work to get through: images,
    clips, texts, pairs, or for speech `audio_hours`."""

    model: str
    task: str = ""
    mode: str = "inference"  # inference; train-full for vision networks
    gpu: str = ""
    instance_type: str = ""
    gpu_count: int | None = Field(default=None, ge=1, le=100_000)
    engine: str = ""  # diffusers, comfyui, tensorrt, torch.compile, faster-whisper, transformers, tei, vllm …
    precision: str = ""
    resolution: str = ""  # "1024x1024", "720p", "512"
    frames: int | None = Field(default=None, ge=1, le=1_000_000)
    duration_s: float | None = Field(default=None, gt=0, le=1e6)  # of a clip
    steps: int | None = Field(default=None, ge=1, le=10_000)
    guidance_passes: int | None = Field(default=None, ge=1, le=8)  # 2 with classifier-free guidance
    batch: int | None = Field(default=None, ge=1, le=1_000_000)
    tokens: int | None = Field(default=None, ge=1, le=10_000_000)  # per text, or per query and passage
    beam: int | None = Field(default=None, ge=1, le=100)  # of speech recognition
    amount: float | None = Field(default=None, gt=0, le=1e15)
    audio_hours: float | None = Field(default=None, gt=0, le=1e12)
    window_hours: float | None = Field(default=None, gt=0, le=1e6)  # in which the amount has to be done


class OtherSpeedReport(Report):
    """Units per second of all GPUs, each working on its own items, and what one takes. `_low`.._`_high`
    covers 80 % of measurements of the kind; `evidence` says whether the card is among those measured."""

    model: str
    kind: OtherKind
    unit: Unit
    mode: str
    gpu: str
    gpu_count: int
    engine: str
    precision: str
    compute_precision: str  # what the GPU really computes in
    batch: int
    resolution: str = ""
    frames: int | None = None
    clip_s: float | None = None  # seconds that a clip shows
    steps: int | None = None
    guidance_passes: int | None = None
    tokens: int | None = None
    beam: int | None = None

    per_s: float
    per_s_low: float
    per_s_high: float
    seconds_each: float  # until one item of a batch is ready on one GPU; of speech, for one second of audio
    seconds_each_low: float
    seconds_each_high: float
    per_minute: float
    per_minute_low: float
    per_minute_high: float
    per_hour: float
    video_s_per_minute: float | None = None  # seconds of video that a minute brings
    tokens_per_s: float | None = None  # encoders: tokens read
    step_s: float | None = None  # denoisers: one step of a batch
    parts_s: dict[str, float] = {}  # seconds of one batch on one GPU by part
    batch_s: float  # their sum
    window_s: float | None = None  # speech recognition: seconds of audio heard at once
    batch_audio_s: float | None = None  # and in a batch
    tflop_each: float  # arithmetic of one unit, 1e12 operations
    sustained_tflops: float  # of the main part, one GPU
    peak_tflops: float  # dense peak in `compute_precision`
    bound: Bound

    amount: float | None = None  # units of work asked for
    hours: float | None = None
    hours_low: float | None = None
    hours_high: float | None = None
    machines: float | None = None  # as asked about, to do the amount within `window_hours`
    machines_low: float | None = None
    machines_high: float | None = None
    machines_whole: int | None = None

    fits: bool | None = None
    evidence: Literal["calibrated", "estimate_only"]
    assumptions: tuple[Assumption, ...] = ()
    warnings: tuple[Remark, ...] = ()
    sources: tuple[SourceRef, ...] = ()
