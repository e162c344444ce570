"""Fitted coefficients of this model, each with its physical meaning; made by `benchmarks.other_speed_fit`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """How one class of engines runs: eager PyTorch, or compiled and fused kernels."""

    matmul: float  # share of the peak that large matrix products and attention reach
    convolution: float  # the same of U-Nets and decoders, convolutions and small attention together
    launch_ms: float  # host and launch time of one layer, ms
    passes: float  # times that an element of a layer's width is written or read outside products
    unet_passes: float  # the same of a U-Net, whose blocks of convolution stand beside its attention layers


@dataclass(frozen=True, slots=True)
class Coefficients:
    """Shares are of dense peaks, times in the unit of their name."""

    eager: Pace
    optimized: Pace
    # Hopper's peak needs its own instructions, which attention of eager PyTorch (FlashAttention 2) lacks.
    old_attention_on_hopper: float
    # Encoders, whose products are narrower than a denoiser's.
    encoder_optimized: float
    encoder_eager: float
    encoder_int8: float  # of the int8 peak, over the share of 16 bit
    encoder_launch_ms: float  # of a fused layer
    # Networks of vision: arithmetic, and activations moved through memory.
    vision_share: float
    vision_passes_cnn: float  # times that an activation element is written or read
    vision_passes_vit: float
    vision_launch_eager_ms: float  # of one forward pass
    vision_launch_optimized_ms: float
    # Speech: a step of the decoder takes its layers' launches and the reading of its weights and caches.
    recognition_launch_eager_ms: float  # per decoder layer, beam search and sampling included
    recognition_launch_optimized_ms: float
    synthesis_launch_eager_ms: float  # per decoder layer
    synthesis_launch_optimized_ms: float
    step_bandwidth: float  # share of the memory bandwidth reached
    host_eager: float  # seconds of host work per second of audio: resampling, features, text
    host_optimized: float
    batch_s: float  # seconds per batch of windows: transfers, search for silence, repeated windows
    synthesis_tail: float  # TFLOP of flow matching and vocoder per second of audio, small kernels counted in
    gflop_per_joule_12nm: float
    gflop_per_joule_8nm: float
    gflop_per_joule_4nm: float


COEFFICIENTS = Coefficients(
    eager=Pace(matmul=0.85, convolution=0.94, launch_ms=0.98, passes=147.0, unet_passes=400.0),
    optimized=Pace(matmul=0.94, convolution=0.86, launch_ms=0.46, passes=14.0, unet_passes=218.0),
    old_attention_on_hopper=0.71,
    encoder_optimized=0.88,
    encoder_eager=0.46,
    encoder_int8=0.81,
    encoder_launch_ms=0.037,
    vision_share=0.93,
    vision_passes_cnn=6.1,
    vision_passes_vit=3.0,
    vision_launch_eager_ms=8.4,
    vision_launch_optimized_ms=0.9,
    recognition_launch_eager_ms=1.1,
    recognition_launch_optimized_ms=0.225,
    synthesis_launch_eager_ms=0.51,
    synthesis_launch_optimized_ms=0.05,
    step_bandwidth=0.94,
    host_eager=0.0026,
    host_optimized=0.0002,
    batch_s=0.86,
    synthesis_tail=3.8,
    gflop_per_joule_12nm=291.0,
    gflop_per_joule_8nm=520.0,
    gflop_per_joule_4nm=676.0,
)
