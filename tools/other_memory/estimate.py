"""The calculator of diffusion, speech, encoder and vision memory."""

from __future__ import annotations

import re
from functools import lru_cache

from knowledge.catalog import Catalog
from knowledge.derived import per_catalog
from knowledge.errors import InputError, NotKnown
from knowledge.names import near, normal
from knowledge.rows import Model, Pipeline
from tools.contracts.base import SourceRef, Verdict
from tools.contracts.memory import FitOption
from tools.contracts.other import OtherMemoryReport, OtherMemoryRequest
from tools.memory.card import Card
from tools.memory.engines import CUDA_CONTEXT_GIB
from tools.memory.plan import TIGHT_SHARE
from tools.memory.request import resolve_target
from tools.notes import Notes
from tools.other_memory.diffusion import Job, diffusion_parts
from tools.other_memory.sequence import encoder_parts, recognition_parts, synthesis_parts
from tools.other_memory.vision import USUAL_BATCH, Network, find_network, vision_parts
from tools.other_memory.words import (
    Mode,
    Width,
    checkpointed,
    length,
    offload_plan,
    pixels,
    resolve_mode,
    width,
)

DEFAULT_FPS = 16.0
# Measured over estimated peak, about the 5th and 95th percentile of each kind (benchmarks/memory).
_RANGES = {
    "diffusion": (0.46, 3.5),
    "diffusion training": (0.75, 2.7),
    "diffusion training, nothing recomputed": (0.5, 5.5),
    "vision": (0.9, 1.35),
    "sequence": (0.85, 1.3),
}
_GENERIC_TASKS = re.compile(r"image|video|diffusion|music|audio", re.I)


def estimate_other_memory(request: OtherMemoryRequest, catalog: Catalog) -> OtherMemoryReport:
    """Peak GPU memory of a model that is not a text decoder, GiB on one GPU, with its parts.

    Raises `InputError` for names and values that cannot be used, `NotKnown` for models whose parts the
    catalog lacks.
    """
    notes = Notes()
    mode = resolve_mode(request.mode)
    card, instance_gpus = resolve_target(request.gpu, request.instance_type, catalog, notes)
    found = find_subject(request, catalog, notes)
    if isinstance(found, Pipeline):
        name, task, kind = found.display_name, request.task or found.task, "diffusion"
        parts = _diffusion(found, request, mode, notes)
        source = SourceRef(title=found.source, as_of=found.as_of)
    elif isinstance(found, Network):
        name, task, kind = found.backbone.display_name, request.task or "vision", "vision"
        parts = _vision(found, request, mode, notes)
        source = SourceRef(title=found.backbone.source, as_of=found.backbone.as_of)
    else:
        name, task, kind = found.model_id, request.task or found.kind, "sequence"
        parts = _sequence(found, request, mode, notes)
        source = SourceRef(title=found.source, as_of=found.as_of)
    peak = sum(parts.values())
    below, above = _RANGES[_kind(kind, mode, request)]
    margin = None if card is None else card.usable - CUDA_CONTEXT_GIB - peak
    return OtherMemoryReport(
        model=name,
        task=task,
        mode=mode,
        gpu=card.name if card else "",
        gpu_count=request.gpu_count or instance_gpus or 1,
        parts_gib=parts,
        peak_gib_per_gpu=peak,
        peak_gib_per_gpu_low=peak * below,
        peak_gib_per_gpu_high=peak * above,
        usable_gib_per_gpu=card.usable if card else None,
        fits=None if margin is None else margin >= 0,
        verdict=_verdict(margin, card),
        margin_gib=margin,
        limits=_limits(found, request, mode, margin, card),
        assumptions=tuple(notes.assumptions),
        warnings=tuple(notes.warnings),
        sources=(source,),
    )


# Requests that would take less, tried where a pipeline does not fit: field, value, code.
_SAVINGS = (
    ("offload", "model cpu offload", "offload_models"),
    ("offload", "sequential cpu offload", "offload_layers"),
    ("precision", "fp8", "weights_8bit"),
    ("precision", "nf4", "weights_4bit"),
    ("gradient_checkpointing", True, "recompute_activations"),
)


def _limits(
    found: Pipeline | Network | Model,
    request: OtherMemoryRequest,
    mode: Mode,
    margin: float | None,
    card: Card | None,
) -> tuple[FitOption, ...]:
    """Changes computed for a pipeline that does not fit, those that fit first."""
    if not isinstance(found, Pipeline) or card is None or margin is None or margin >= 0:
        return ()
    options = []
    for field, value, change in _SAVINGS:
        if (
            getattr(request, field) == value
            or field == ("offload", "gradient_checkpointing")[mode == "inference"]
        ):
            continue
        changed = request.model_copy(update={field: value})
        peak = sum(_diffusion(found, changed, mode, Notes()).values())
        fits = peak <= card.usable - CUDA_CONTEXT_GIB
        options.append(FitOption(change=change, field=field, value=value, total_gib_per_gpu=peak, fits=fits))
    return tuple(sorted(options, key=lambda option: not option.fits))


def _kind(kind: str, mode: Mode, request: OtherMemoryRequest) -> str:
    """The line of `_RANGES`."""
    if kind != "diffusion" or mode == "inference":
        return kind
    recomputed = checkpointed(request.gradient_checkpointing, default=True)
    return "diffusion training" if recomputed else "diffusion training, nothing recomputed"


def find_subject(request: OtherMemoryRequest, catalog: Catalog, notes: Notes) -> Pipeline | Network | Model:
    """The pipeline, network or model of a name; a size in an unknown name ("14B") gives a generic denoiser
    for generation tasks. Raises `InputError` with near matches, `NotKnown` for text decoders."""
    pipeline = pipeline_names(catalog).get(normal(request.model))
    if pipeline is None:
        pipeline = pipeline_names(catalog).get(normal(request.model.rsplit("/", 1)[-1]))
    if pipeline is not None:
        return pipeline
    network = find_network(request.model, catalog)
    if network is not None:
        row = network.backbone
        if normal(request.model) not in {normal(text) for text in (row.name, row.display_name, *row.aliases)}:
            notes.assume("model", row.display_name, "backbone_of_name")
        return network
    model = catalog.find_model(request.model)
    if model is not None and model.kind in ("embedding", "reranker", "asr", "tts"):
        return model
    size = re.search(
        r"(?<![\d.])(\d+(?:\.\d+)?)\s*b\b", request.model.lower().replace("_", " ").replace("-", " ")
    )
    if model is None and size and _GENERIC_TASKS.search(f"{request.task} {request.model}"):
        notes.assume("model", f"{size[1]}B", "generic_denoiser")
        return generic_pipeline(float(size[1]), "video" if "video" in request.task.lower() else "image")
    if model is not None:
        raise NotKnown("model", request.model, f"the parts of {model.model_id} are not known")
    if catalog.missing_model(request.model):
        raise NotKnown("model", request.model, f"the parts of {request.model!r} are not known")
    names = {key: row.display_name for key, row in pipeline_names(catalog).items()}
    names |= {normal(row.name): row.display_name for row in catalog.vision_backbones}
    raise InputError("model", request.model, "a known model", near(request.model.rsplit("/", 1)[-1], names))


@per_catalog
def pipeline_names(catalog: Catalog) -> dict[str, Pipeline]:
    """Normal form of every pipeline name and alias."""
    return {
        normal(name): row for row in catalog.pipelines for name in (row.name, row.display_name, *row.aliases)
    }


@lru_cache(maxsize=64)
def generic_pipeline(size_b: float, task: str) -> Pipeline:
    """A diffusion transformer of this size in the proportions of published ones (12 h^2 a layer, h / 64
    layers) with a 5B text encoder."""
    hidden = max(512, round((size_b * 1e9 * 64 / 12) ** (1 / 3) / 64) * 64)
    return Pipeline(
        name=f"generic-{size_b:g}b",
        display_name=f"generic {size_b:g}B denoiser",
        task="video" if task == "video" else "image",
        backbone="dit",
        denoiser_b=size_b,
        text_encoder_b=5.0,
        decoder_b=0.2,
        layers=max(4, round(size_b * 1e9 / (12.0 * hidden**2))),
        hidden=hidden,
        pixel_stride=16,
        frame_stride=4 if task == "video" else 1,
        default_frames=81 if task == "video" else 1,
        text_tokens=512,
        source="generic shape in the proportions of published diffusion transformers",
    )


def _diffusion(pipeline: Pipeline, request: OtherMemoryRequest, mode: Mode, notes: Notes) -> dict[str, float]:
    default = (
        (832, 480) if pipeline.task == "video" else (512, 512) if pipeline.hidden < 1000 else (1024, 1024)
    )
    size = pixels(request.resolution)
    if size is None and pipeline.task != "audio":
        notes.assume("resolution", f"{default[0]}x{default[1]}", "default_resolution")
    frames, seconds = length(request.frames_or_duration)
    frames = request.frames or frames
    seconds = request.duration_s or seconds
    if frames is None and seconds is not None and pipeline.task == "video":
        frames = round(seconds * DEFAULT_FPS) + 1
        notes.assume("frames", frames, "frames_at_16_per_second")
    if frames is None:
        frames = pipeline.default_frames
        if pipeline.task == "video":
            notes.assume("frames", frames, "default_frames")
    if mode != "inference":
        notes.assume("text_encoder", "cached", "encoder_outputs_cached")
    checkpointing = checkpointed(request.gradient_checkpointing, default=True)
    if mode != "inference" and request.gradient_checkpointing == "":
        notes.assume("gradient_checkpointing", True, "default_checkpointing")
    job = Job(
        mode=mode,
        width=(size or default)[0],
        height=(size or default)[1],
        frames=frames,
        batch=_batch(request, 1, notes),
        precision=_precision(request, "bf16", notes),
        offload=offload_plan(request.offload),
        checkpointing=checkpointing,
    )
    return diffusion_parts(pipeline, job)


def _vision(network: Network, request: OtherMemoryRequest, mode: Mode, notes: Notes) -> dict[str, float]:
    size = pixels(request.resolution)
    if size is None:
        side = network.backbone.input_size
        size = (side, side)
        notes.assume("resolution", f"{side}x{side}", "default_resolution")
    default = "fp32" if mode != "inference" else "fp16"
    precision = _precision(request, default, notes)
    batch = _batch(request, 1 if mode == "inference" else USUAL_BATCH, notes)
    return vision_parts(network, mode, size[0], size[1], batch, precision)


def _sequence(model: Model, request: OtherMemoryRequest, mode: Mode, notes: Notes) -> dict[str, float]:
    precision = _precision(request, "fp16", notes)
    if model.kind == "asr":
        if mode != "inference":
            raise NotKnown("mode", mode, "training memory of speech recognizers was not measured")
        return recognition_parts(model, _batch(request, 1, notes), precision)
    if model.kind == "tts":
        return synthesis_parts(model, mode, _batch(request, 1, notes), precision)
    tokens = request.tokens
    if tokens is None:
        tokens = min(512, model.max_position_embeddings or 512)
        notes.assume("tokens", tokens, "default_tokens")
    batch = _batch(request, 32, notes)
    checkpointing = checkpointed(request.gradient_checkpointing, default=False)
    return encoder_parts(model, mode, batch, tokens, precision, checkpointing)


def _batch(request: OtherMemoryRequest, default: int, notes: Notes) -> int:
    if request.batch is None:
        notes.assume("batch", default, "default_batch")
    return request.batch or default


def _precision(request: OtherMemoryRequest, default: str, notes: Notes) -> Width:
    found, assumed = width(request.precision, default)
    if assumed:
        notes.assume("precision", found.name, "default_precision")
    return found


def _verdict(margin: float | None, card: Card | None) -> Verdict | None:
    if margin is None or card is None:
        return None
    if margin < 0:
        return "does_not_fit"
    return "tight" if margin < TIGHT_SHARE * card.usable else "fits"
