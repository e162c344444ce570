"""What a card sustains in this work: its rate by number format, held down by its power, and its bandwidth."""

from __future__ import annotations

from dataclasses import dataclass

from knowledge.rows import Gpu
from tools.other_memory.words import Width
from tools.other_speed.coefficients import Coefficients
from tools.throughput.gpu_shape import GpuShape, gpu_shape_of

DEFAULT_TDP_W = 300.0  # where none is published


@dataclass(frozen=True, slots=True)
class Silicon:
    """One GPU, or a vGPU slice, as this model sees it. `gflop_per_joule` is what its process spends on dense
    16-bit products; `share` is the part of the card that a slice gets."""

    name: str
    card: str
    shape: GpuShape
    tdp_w: float
    gflop_per_joule: float
    share: float = 1.0

    @property
    def half_tflops(self) -> float:
        """16-bit products summed in 32 bit, dense. GeForce cards state a doubled fp16 rate beside it."""
        half, brain = self.shape.fp16_tflops, self.shape.bf16_tflops
        return min(half, brain) if brain else half

    @property
    def hopper(self) -> bool:
        return 9.0 <= self.shape.capability < 10.0

    def peak(self, width: Width, optimized: bool) -> tuple[float, str]:
        """(TFLOPS, format that the GPU computes in). Stored 4-bit weights, and 8-bit ones outside compiled
        engines, are widened to 16 bit first."""
        shape = self.shape
        if width.name == "fp32":
            return shape.fp32_tflops, "fp32"
        if width.name == "fp8" and optimized and shape.fp8_tflops:
            return shape.fp8_tflops, "fp8"
        if width.name == "int8" and optimized and shape.int8_tops:
            return shape.int8_tops, "int8"
        return self.half_tflops, "bf16" if shape.bf16_tflops and width.name != "fp16" else "fp16"

    def sustained(self, peak_tflops: float, efficiency: float) -> float:
        """TFLOPS held in long runs: the share of the peak that kernels reach, slowed as the card nears the
        product of its power and what a joule buys (narrower formats buy as much more as their peak is
        higher). The smaller of the two, softly where they are near."""
        ratio = peak_tflops / self.half_tflops if peak_tflops > self.half_tflops else 1.0
        powered = self.gflop_per_joule * self.tdp_w * self.share * ratio / 1000.0
        reached = efficiency * peak_tflops
        return float((reached**-4 + powered**-4) ** -0.25)


def silicon_of(gpu: Gpu, whole: Gpu | None, k: Coefficients) -> Silicon:
    """The card of a row, or a slice of `whole`; `NotKnown` without a bandwidth or any compute rate."""
    shape = gpu_shape_of(gpu, whole)
    card = whole or gpu
    return Silicon(
        name=gpu.gpu_model,
        card=card.gpu_model,
        shape=shape,
        tdp_w=card.tdp_w or DEFAULT_TDP_W,
        gflop_per_joule=_per_joule(shape.capability, k),
        share=shape.time_share,
    )


def _per_joule(capability: float, k: Coefficients) -> float:
    """Dense 16-bit GFLOP per joule of board power: 12 nm to Turing, 7 and 8 nm Ampere, 4 nm after."""
    if capability < 8.0:
        return k.gflop_per_joule_12nm
    return k.gflop_per_joule_8nm if capability < 8.9 else k.gflop_per_joule_4nm
