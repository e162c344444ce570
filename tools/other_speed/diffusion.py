"""Seconds of an image or a clip: denoising steps on latent tokens, text encoding, decoding to pixels."""

from __future__ import annotations

from dataclasses import dataclass

from knowledge.errors import NotKnown
from knowledge.rows import Pipeline
from tools.other_memory.diffusion import Job, tokens
from tools.other_speed.coefficients import Coefficients
from tools.other_speed.silicon import Silicon
from tools.other_speed.timing import EngineClass, Timing, slower

# Arithmetic of a latent decoder per pixel of the picture: 1.24e12 multiply-adds for 512 x 512 in that of
# Stable Diffusion; causal 3D decoders spend about as much on each frame.
DECODER_FLOP_PER_PIXEL = 9.5e6
_UNET_TOKENS_A_SIDE = 32  # of a picture of the usual size: 512 pixels at a stride of 16, 1,024 at one of 32


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a pipeline is run: denoising steps, and passes of each (two with classifier-free guidance)."""

    steps: int
    passes: int


def pass_tflop(pipeline: Pipeline, job: Job) -> tuple[float, float]:
    """Arithmetic of one denoiser pass for one sample, 1e12 operations: (matrix products, attention).

    A transformer: 2 x parameters that a token meets x tokens, and 4 x layers x width x tokens^2 of attention
    (all tokens see each other). Parameters of a token: as stated, else 12 width^2 a layer, which leaves out
    modulation and the text half of two-stream blocks. A U-Net: its published pass, by area. Raises `NotKnown`
    for a U-Net without one.
    """
    if pipeline.backbone == "unet":
        if pipeline.pass_tflop is None:
            raise NotKnown("model", pipeline.display_name, "the arithmetic of its U-Net is not known")
        usual = _UNET_TOKENS_A_SIDE * pipeline.pixel_stride
        return pipeline.pass_tflop * job.width * job.height / usual**2, 0.0
    count = tokens(pipeline, job)
    widths = 12.0 * pipeline.hidden**2 * pipeline.layers
    params = (pipeline.token_params_b or 0.0) * 1e9 or min(widths, pipeline.denoiser_b * 1e9)
    return 2.0 * params * count / 1e12, 4.0 * pipeline.layers * pipeline.hidden * count**2 / 1e12


def windows(pipeline: Pipeline, frames: int) -> int:
    """How often the denoiser runs over a clip that is longer than what it sees at once."""
    return -(-frames // pipeline.window_frames) if pipeline.window_frames else 1


def _moved_s(pipeline: Pipeline, job: Job, passes: float, card: Silicon) -> float:
    """Seconds of one pass for what the layers move through memory outside their products: norms, modulation,
    rotation, activations."""
    elements = tokens(pipeline, job) * pipeline.hidden * pipeline.layers * passes
    return elements * job.precision.value / (card.shape.bandwidth_gbs * 1e9)


def diffusion_timing(
    pipeline: Pipeline, job: Job, sampling: Sampling, card: Silicon, engine: EngineClass, k: Coefficients
) -> Timing:
    """Seconds of one batch of images or clips on one GPU."""
    pace = k.optimized if engine == "optimized" else k.eager
    peak, computed = card.peak(job.precision, engine == "optimized")
    unet = pipeline.backbone == "unet"
    share, passes = (pace.convolution, pace.unet_passes) if unet else (pace.matmul, pace.passes)
    rate = card.sustained(peak, share)
    samples = float(job.batch * sampling.passes)
    products, attention = pass_tflop(pipeline, job)
    old = k.old_attention_on_hopper if engine == "eager" and card.hopper else 1.0
    attending = attention / min(rate, card.sustained(card.half_tflops, share * old))
    compute = samples * (products / rate + attending + _moved_s(pipeline, job, passes, card))
    layers = pipeline.layers * (2.0 if unet else 1.0)
    launch = layers * pace.launch_ms / 1000.0
    step = slower(compute, launch)
    work = samples * (products + attention)
    times = sampling.steps * windows(pipeline, job.frames)
    half = min(card.half_tflops, peak)
    pixels = float(job.width * job.height * job.batch * (job.frames if pipeline.task == "video" else 1))
    decode = pixels * DECODER_FLOP_PER_PIXEL / 1e12
    encode = (
        2.0 * pipeline.text_encoder_b * pipeline.text_tokens * min(sampling.passes, 2) * job.batch / 1000.0
    )
    return Timing(
        parts_s={
            "text_encoder": encode / card.sustained(half, pace.matmul),
            "denoiser": step * times,
            "decoder": decode / card.sustained(half, pace.convolution),
        },
        units=float(job.batch),
        tflop=work * times + decode + encode,
        sustained_tflops=work / step,
        peak_tflops=peak,
        compute_precision=computed,
        bound="overhead" if launch > compute else "compute",
        step_s=step,
    )
