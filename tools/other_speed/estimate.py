"""The calculator of speed for images, video, speech, embeddings, reranking and vision."""

from __future__ import annotations

import math

from knowledge.catalog import Catalog
from knowledge.errors import AdvisorError
from knowledge.rows import Model, Pipeline
from tools.contracts.base import SourceRef
from tools.contracts.other import OtherMemoryRequest
from tools.contracts.other_speed import OtherSpeedReport, OtherSpeedRequest
from tools.notes import Notes
from tools.other_memory import estimate_other_memory
from tools.other_memory.vision import Network
from tools.other_speed.coefficients import COEFFICIENTS, Coefficients
from tools.other_speed.diffusion import diffusion_timing
from tools.other_speed.encoders import encoder_timing
from tools.other_speed.ranges import evidence_of, spread_of
from tools.other_speed.resolve import Resolved, resolve, source_rows
from tools.other_speed.silicon import silicon_of
from tools.other_speed.speech import recognition_timing, synthesis_timing
from tools.other_speed.timing import Timing
from tools.other_speed.vision import vision_timing


def estimate_other_speed(request: OtherSpeedRequest, catalog: Catalog) -> OtherSpeedReport:
    """Units per second over all GPUs, seconds of one item, and the hours of an amount of work.

    Time is arithmetic over the rate that the card sustains, launches, and what is moved through memory; the
    formulas stand in `diffusion`, `encoders`, `speech` and `vision`. Several GPUs work on items of their own.
    Raises `InputError` for names and values that cannot be used, `NotKnown` where a fact is missing.
    """
    notes = Notes()
    found = resolve(request, catalog, notes)
    timing = timing_of(found, COEFFICIENTS)
    card = found.whole or found.gpu
    fits = _fits(found, request, catalog)
    if fits is False:
        notes.warn("speed_needs_offload", gpu=found.gpu.gpu_model)
    if found.gpu_count > 1:
        notes.warn("one_item_a_gpu", gpu_count=found.gpu_count)
    spread = spread_of(found.kind, found.engine, card.gpu_model, fits)
    rate = timing.units / timing.seconds * found.gpu_count
    each = timing.seconds / (timing.units if found.unit == "audio_second" else 1.0)
    amount = request.amount if request.audio_hours is None else request.audio_hours * 3600.0
    hours = None if amount is None else amount / rate / 3600.0
    machines = hours / request.window_hours if hours is not None and request.window_hours else None
    heard = found.speech.window_s if found.kind == "asr" and found.speech else None
    picture = isinstance(found.subject, Pipeline | Network)
    denoises = isinstance(found.subject, Pipeline)
    return OtherSpeedReport(
        model=found.name,
        kind=found.kind,
        unit=found.unit,
        mode=found.mode,
        gpu=found.gpu.gpu_model,
        gpu_count=found.gpu_count,
        engine=found.engine,
        precision=found.width.name,
        compute_precision=timing.compute_precision,
        batch=found.batch,
        resolution=f"{found.job.width}x{found.job.height}" if picture else "",
        frames=found.job.frames if found.kind == "video" else None,
        clip_s=found.job.frames / found.fps if found.kind == "video" else None,
        steps=found.sampling.steps if denoises else None,
        guidance_passes=found.sampling.passes if denoises else None,
        tokens=found.tokens or None,
        beam=found.beam if found.kind == "asr" else None,
        per_s=rate,
        per_s_low=rate * spread.low,
        per_s_high=rate * spread.high,
        seconds_each=each,
        seconds_each_low=each / spread.high,
        seconds_each_high=each / spread.low,
        per_minute=rate * 60.0,
        per_minute_low=rate * 60.0 * spread.low,
        per_minute_high=rate * 60.0 * spread.high,
        per_hour=rate * 3600.0,
        video_s_per_minute=rate * 60.0 * found.job.frames / found.fps if found.kind == "video" else None,
        tokens_per_s=rate * found.tokens if found.tokens else None,
        step_s=timing.step_s,
        parts_s=timing.parts_s,
        batch_s=timing.seconds,
        window_s=heard,
        batch_audio_s=heard * found.batch if heard else None,
        tflop_each=timing.tflop / timing.units,
        sustained_tflops=timing.sustained_tflops,
        peak_tflops=timing.peak_tflops,
        bound=timing.bound,
        amount=amount,
        hours=hours,
        hours_low=None if hours is None else hours / spread.high,
        hours_high=None if hours is None else hours / spread.low,
        machines=machines,
        machines_low=None if machines is None else machines / spread.high,
        machines_high=None if machines is None else machines / spread.low,
        machines_whole=None if machines is None else max(1, math.ceil(machines)),
        fits=fits,
        evidence=evidence_of(found.kind, card.gpu_model),
        assumptions=tuple(notes.assumptions),
        warnings=tuple(notes.warnings),
        sources=tuple(SourceRef(title=title, as_of=date) for title, date in source_rows(found)),
    )


def timing_of(found: Resolved, k: Coefficients) -> Timing:
    """One batch on one GPU by these coefficients."""
    card = silicon_of(found.gpu, found.whole, k)
    subject, speech, engine = found.subject, found.speech, found.engine_class
    if isinstance(subject, Pipeline):
        return diffusion_timing(subject, found.job, found.sampling, card, engine, k)
    if isinstance(subject, Network):
        area = found.job.width * found.job.height / subject.backbone.input_size**2
        training = found.mode != "inference"
        return vision_timing(subject.backbone, area, found.batch, training, found.width, card, engine, k)
    if speech is None:
        return encoder_timing(subject, found.tokens, found.batch, found.width, card, engine, k)
    if found.kind == "asr":
        return recognition_timing(speech, found.batch, found.beam, found.width, card, engine, k)
    return synthesis_timing(speech, found.batch, found.width, card, engine, k)


def _fits(found: Resolved, request: OtherSpeedRequest, catalog: Catalog) -> bool | None:
    """Whether the job holds in the card's memory without offloading; None where that is not known."""
    try:
        report = estimate_other_memory(
            OtherMemoryRequest(
                model=request.model,
                task=request.task,
                mode=request.mode,
                gpu=request.gpu if not request.instance_type else "",
                instance_type=request.instance_type,
                resolution=request.resolution or _resolution(found),
                frames=found.job.frames if found.kind == "video" else None,
                batch=found.batch,
                tokens=found.tokens or None,
                precision=found.width.name
                if isinstance(found.subject, Pipeline | Model)
                else request.precision,
            ),
            catalog,
        )
    except AdvisorError:
        return None
    return report.fits


def _resolution(found: Resolved) -> str:
    return f"{found.job.width}x{found.job.height}" if isinstance(found.subject, Pipeline) else ""
