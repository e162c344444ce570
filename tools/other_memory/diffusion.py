"""Diffusion pipelines: weights by part, denoising and decoding activations, LoRA and full training."""

from __future__ import annotations

from dataclasses import dataclass

from knowledge.rows import Pipeline
from tools.memory.weights import GIB
from tools.other_memory.words import Mode, OffloadPlan, Width

# Live 16-bit values of one denoiser block per token, in widths of the model: fit over published peaks of
# HunyuanVideo (544p, 720p) and Wan 14B (720p), 20 to 47 widths.
DENOISE_WIDTHS = 30.0
# Bytes per token and layer, in widths, that the backward pass keeps (Korthikanti et al., FlashAttention);
# with frozen feed-forward matrices their inputs are not kept (12 less), modulated norms keep 4 more.
TRAIN_BYTES_PER_WIDTH, ADAPTER_BYTES_PER_WIDTH = 34.0, 26.0
UNET_FACTOR = 2.0  # convolutions beside the attention blocks that the token grid counts
# torchao weight-only fp8 keeps dequantized operands in the autograd graph: activations of 6 models grew by a
# factor of 2.7 to 3.9 against bf16 (SimpleTuner, H100).
DEQUANTIZED_FACTOR = 3.2
# Decoder working set per output pixel and frame held at once: about ten (2D) or fourteen (causal 3D) buffers
# of 128 channels at full resolution in 16 bit.
DECODE_BYTES_2D, DECODE_BYTES_3D = 2500.0, 3500.0
AUDIO_TOKENS = 4096.0
TILED_SHARE = 0.25
ADAPTER_SHARE = 0.005  # LoRA parameters of rank 16 on the attention projections, against the denoiser's
TRAINED_BYTES = 16.0  # weight, gradient, master copy and Adam moments of a trained parameter, 16-bit mixed
RUNTIME_GIB = 0.8  # allocator slack, cuDNN workspaces, the few tensors no formula counts


@dataclass(frozen=True, slots=True)
class Job:
    """One run of a pipeline."""

    mode: Mode
    width: int
    height: int
    frames: int
    batch: int
    precision: Width
    offload: OffloadPlan
    checkpointing: bool


def tokens(pipeline: Pipeline, job: Job) -> float:
    """Tokens of one sample: grid cells of the latent and the text."""
    if pipeline.task == "audio":
        return AUDIO_TOKENS + pipeline.text_tokens
    grid = -(-job.width // pipeline.pixel_stride) * -(-job.height // pipeline.pixel_stride)
    frames = min(job.frames, pipeline.window_frames or job.frames)
    slices = 1 + max(0, frames - 1) // pipeline.frame_stride if pipeline.task == "video" else 1
    return float(grid * slices + pipeline.text_tokens)


def diffusion_parts(pipeline: Pipeline, job: Job) -> dict[str, float]:
    """Parts of the peak in GiB by name; they sum to the peak."""
    return _inference(pipeline, job) if job.mode == "inference" else _training(pipeline, job)


def _inference(pipeline: Pipeline, job: Job) -> dict[str, float]:
    denoiser = pipeline.denoiser_b * 1e9 * job.precision.weight / GIB
    encoder = 0.0 if job.offload.encoder_on_host else pipeline.text_encoder_b * 2e9 / GIB
    decoder = pipeline.decoder_b * 2e9 / GIB
    values = job.precision.value * DENOISE_WIDTHS * pipeline.hidden
    if pipeline.backbone == "unet":
        values *= UNET_FACTOR
    denoising = job.batch * tokens(pipeline, job) * values / GIB
    decoding = _decoding(pipeline, job)
    kind = job.offload.kind
    if kind == "none":
        return {
            "denoiser": denoiser,
            "text_encoder": encoder,
            "decoder": decoder,
            "activations": max(denoising, decoding),
            "runtime": RUNTIME_GIB,
        }
    if kind in ("sequential", "ram"):
        resident = denoiser / pipeline.layers * 2
        denoiser = resident
        encoder = min(encoder, 0.5)
    elif kind == "swap":
        denoiser *= max(0.0, 1 - job.offload.blocks / pipeline.layers)
    stages = {
        "text_encoder": (encoder, 0.0),
        "denoiser": (denoiser, denoising),
        "decoder": (decoder, decoding),
    }
    name = max(stages, key=lambda stage: sum(stages[stage]))
    weights, activations = stages[name]
    return {name: weights, "activations": activations, "runtime": RUNTIME_GIB}


def _decoding(pipeline: Pipeline, job: Job) -> float:
    """The decoder's working set in GiB; a tile at a time where tiling is on."""
    per_pixel = DECODE_BYTES_3D if pipeline.task == "video" else DECODE_BYTES_2D
    if pipeline.task == "audio":
        return 0.5
    held = min(job.frames, pipeline.decode_frames) * (job.batch if pipeline.task == "image" else 1)
    working = per_pixel * job.width * job.height * held * job.precision.value / 2
    return working * (TILED_SHARE if job.offload.tiling else 1.0) / GIB


def _training(pipeline: Pipeline, job: Job) -> dict[str, float]:
    """The denoiser alone trains; latents and text embeddings come from a cache."""
    parameters = pipeline.denoiser_b * 1e9
    if job.mode == "train-full":
        states = parameters * (4.0 + TRAINED_BYTES - 2.0 if job.precision.weight == 4.0 else TRAINED_BYTES)
        weights, adapter = states, 0.0
    else:
        weights = parameters * job.precision.weight
        adapter = parameters * ADAPTER_SHARE * TRAINED_BYTES
    if job.offload.kind == "ram":
        weights = weights / pipeline.layers * 2
    elif job.offload.kind == "swap":
        weights *= max(0.0, 1 - job.offload.blocks / pipeline.layers)
    per_layer = job.batch * tokens(pipeline, job) * pipeline.hidden
    adapters_keep_all = job.mode == "train-full" or job.checkpointing
    widths = TRAIN_BYTES_PER_WIDTH if adapters_keep_all else ADAPTER_BYTES_PER_WIDTH
    block = per_layer * widths * job.precision.value / 2
    if pipeline.backbone == "unet":
        block *= UNET_FACTOR
    if job.precision.dequantizing:
        block *= DEQUANTIZED_FACTOR
    kept = block * pipeline.layers
    if job.checkpointing:
        kept = per_layer * job.precision.value * pipeline.layers + block
    return {
        "denoiser": weights / GIB,
        "adapters": adapter / GIB,
        "activations": kept / GIB,
        "runtime": RUNTIME_GIB,
    }
