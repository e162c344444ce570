"""A request of this calculator resolved: names to facts, defaults to stated assumptions."""

from __future__ import annotations

from dataclasses import dataclass

from knowledge.catalog import Catalog
from knowledge.errors import InputError, NotKnown
from knowledge.rows import Gpu, Model, Pipeline, SpeechModel
from tools.contracts.other import OtherMemoryRequest
from tools.contracts.other_speed import OtherKind, OtherSpeedRequest, Unit
from tools.notes import Notes
from tools.other_memory.diffusion import Job
from tools.other_memory.estimate import DEFAULT_FPS, find_subject
from tools.other_memory.vision import USUAL_BATCH, Network
from tools.other_memory.words import OffloadPlan, Width, pixels, resolve_mode, width
from tools.other_speed.diffusion import Sampling
from tools.other_speed.engines import engine_of
from tools.other_speed.timing import EngineClass
from tools.throughput.resolve import resolve_gpu, whole_card

_UNITS: dict[OtherKind, Unit] = {
    "image": "image", "video": "clip", "asr": "audio_second", "tts": "audio_second", "embedding": "text",
    "reranker": "pair", "vision": "image",
}  # fmt: skip
# Items worked on together where nobody says: what servers of the kind do by default.
_BATCH: dict[OtherKind, int] = {
    "image": 1, "video": 1, "asr": 16, "tts": 4, "embedding": 32, "reranker": 32, "vision": USUAL_BATCH,
}  # fmt: skip
DEFAULT_STEPS, DEFAULT_PASSES, DEFAULT_TOKENS, DEFAULT_BEAM = 30, 2, 512, 5


@dataclass(frozen=True, slots=True)
class Resolved:
    """Everything that the timings need."""

    subject: Pipeline | Network | Model
    speech: SpeechModel | None
    name: str
    kind: OtherKind
    unit: Unit
    mode: str
    engine: str
    engine_class: EngineClass
    width: Width
    gpu: Gpu
    whole: Gpu | None
    gpu_count: int
    batch: int
    tokens: int
    beam: int
    job: Job
    sampling: Sampling
    fps: float


def resolve(request: OtherSpeedRequest, catalog: Catalog, notes: Notes) -> Resolved:
    """Names looked up and defaults filled in. Raises `InputError` or `NotKnown`."""
    mode = resolve_mode(request.mode)
    gpu, instance, count = resolve_gpu(request.gpu, request.instance_type, request.gpu_count, catalog, notes)
    subject = find_subject(OtherMemoryRequest(model=request.model, task=request.task), catalog, notes)
    kind, name = _kind(subject)
    if mode != "inference" and (kind != "vision" or mode == "train-lora"):
        raise NotKnown("mode", mode, f"training speed of {kind} models was not measured")
    engine, engine_class = engine_of(request.engine, kind)
    if not request.engine:
        notes.assume("engine", engine, "usual_engine")
    speech = _speech(subject, catalog) if kind in ("asr", "tts") else None
    width_ = _width(request, gpu, notes)
    batch = request.batch or _BATCH[kind]
    if request.batch is None:
        notes.assume("batch", batch, "default_batch")
    job, sampling, fps = _picture(subject, request, width_, batch, notes)
    return Resolved(
        subject=subject,
        speech=speech,
        name=name,
        kind=kind,
        unit=_UNITS[kind],
        mode=mode,
        engine=engine,
        engine_class=engine_class,
        width=width_,
        gpu=gpu,
        whole=whole_card(gpu, instance, catalog),
        gpu_count=count,
        batch=batch,
        tokens=_tokens(subject, request, notes) if kind in ("embedding", "reranker") else 0,
        beam=_beam(request, notes) if kind == "asr" and speech and speech.decoder_layers else 1,
        job=job,
        sampling=sampling,
        fps=fps,
    )


def _kind(subject: Pipeline | Network | Model) -> tuple[OtherKind, str]:
    if isinstance(subject, Pipeline):
        if subject.task == "audio":
            raise NotKnown("model", subject.display_name, "the speed of music generation was not measured")
        return subject.task, subject.display_name
    if isinstance(subject, Network):
        return "vision", subject.backbone.display_name
    kinds: dict[str, OtherKind] = {
        "asr": "asr", "tts": "tts", "embedding": "embedding", "reranker": "reranker",
    }  # fmt: skip
    return kinds[subject.kind], subject.model_id


def _speech(subject: Pipeline | Network | Model, catalog: Catalog) -> SpeechModel:
    name = subject.model_id if isinstance(subject, Model) else ""
    found = next((row for row in catalog.speech_models if row.model_id == name), None)
    if found is None:
        raise NotKnown("model", name, f"the layers of {name} are not known, so its speed is not")
    return found


def _width(request: OtherSpeedRequest, gpu: Gpu, notes: Notes) -> Width:
    found, assumed = width(request.precision, "bf16" if (gpu.compute_capability or 0) >= 8 else "fp16")
    if assumed:
        notes.assume("precision", found.name, "default_precision")
    return found


def _tokens(subject: Pipeline | Network | Model, request: OtherSpeedRequest, notes: Notes) -> int:
    longest = (subject.max_position_embeddings if isinstance(subject, Model) else None) or 0
    if request.tokens is None:
        value = min(DEFAULT_TOKENS, longest or DEFAULT_TOKENS)
        notes.assume("tokens", value, "default_tokens")
        return value
    if longest and request.tokens > longest:
        notes.warn("text_cut", tokens=request.tokens, longest=longest)
        return longest
    return request.tokens


def _beam(request: OtherSpeedRequest, notes: Notes) -> int:
    if request.beam is None:
        notes.assume("beam", DEFAULT_BEAM, "default_beam")
    return request.beam or DEFAULT_BEAM


def _picture(
    subject: Pipeline | Network | Model, request: OtherSpeedRequest, width_: Width, batch: int, notes: Notes
) -> tuple[Job, Sampling, float]:
    """Size, length and sampling of a picture or clip; of other kinds nothing but the batch."""
    if isinstance(subject, Pipeline):
        size = _size(subject, request, notes)
        frames, fps = _frames(subject, request, notes)
        sampling = _sampling(subject, request, notes)
    elif isinstance(subject, Network):
        side = subject.backbone.input_size
        size, frames, fps, sampling = pixels(request.resolution) or (side, side), 1, 0.0, Sampling(1, 1)
        if not request.resolution:
            notes.assume("resolution", f"{side}x{side}", "default_resolution")
    else:
        size, frames, fps, sampling = (1, 1), 1, 0.0, Sampling(1, 1)
    if min(size) < 1 or max(size) > 16384:
        raise InputError("resolution", request.resolution, "1 to 16,384 pixels a side")
    job = Job("inference", size[0], size[1], frames, batch, width_, OffloadPlan("none"), checkpointing=False)
    return job, sampling, fps


def _size(pipeline: Pipeline, request: OtherSpeedRequest, notes: Notes) -> tuple[int, int]:
    size = pixels(request.resolution)
    if size is None:
        small = pipeline.backbone == "unet" and pipeline.pixel_stride == 16
        size = (832, 480) if pipeline.task == "video" else (512, 512) if small else (1024, 1024)
        notes.assume("resolution", f"{size[0]}x{size[1]}", "default_resolution")
    return size


def _frames(pipeline: Pipeline, request: OtherSpeedRequest, notes: Notes) -> tuple[int, float]:
    """(frames, frames a second)."""
    fps = pipeline.fps or DEFAULT_FPS
    if pipeline.task != "video":
        return 1, 0.0
    if request.frames:
        return request.frames, fps
    if request.duration_s:
        frames = max(1, round(request.duration_s * fps)) + 1
        notes.assume("frames", frames, "frames_of_the_model")
        return min(frames, 1_000_000), fps
    notes.assume("frames", pipeline.default_frames, "default_frames")
    return pipeline.default_frames, fps


def _sampling(pipeline: Pipeline, request: OtherSpeedRequest, notes: Notes) -> Sampling:
    """Steps and passes: as asked, else the pipeline's usual ones."""
    steps = request.steps or pipeline.steps or DEFAULT_STEPS
    passes = request.guidance_passes or pipeline.guidance_passes or DEFAULT_PASSES
    if request.steps is None:
        notes.assume("steps", steps, "steps_of_the_pipeline" if pipeline.steps else "default_steps")
    if request.guidance_passes is None:
        notes.assume("guidance_passes", passes, "passes_of_the_pipeline")
    return Sampling(steps, passes)


def source_rows(found: Resolved) -> list[tuple[str, str]]:
    """(title, date) of the facts behind an estimate, each once."""
    rows: dict[tuple[str, str], None] = {(found.gpu.source, found.gpu.as_of): None}
    subject = found.subject
    if isinstance(subject, Pipeline):
        rows[(subject.source, subject.as_of)] = None
        if subject.speed_source:
            rows[(subject.speed_source, "")] = None
    elif isinstance(subject, Network):
        rows[(subject.backbone.gflop_source, subject.backbone.as_of)] = None
    elif found.speech is not None:
        rows[(found.speech.source, found.speech.as_of)] = None
    else:
        rows[(subject.source, subject.as_of)] = None
    return list(rows)
