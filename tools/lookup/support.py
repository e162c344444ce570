"""Which GPU runs which precision: natively, by unpacking weights, or not at all."""

from __future__ import annotations

from typing import Literal

from knowledge.errors import NotKnown
from knowledge.resolve_precision import UNQUANTIZED
from knowledge.rows import Gpu, Precision
from tools.throughput.gpu_shape import gpu_shape_of
from tools.throughput.precision import computes_in

Level = Literal["native", "weight-only", "falls-back", "no", "unknown"]


def support_level(gpu: Gpu, precision: Precision) -> Level:
    """How a card runs a weight precision, by its compute capability.

    "native": computes in the width of the format; "weight-only": stores it and unpacks to 16 bit;
    "falls-back": the engine takes another 16-bit type (bf16 on Volta and Turing).
    """
    if gpu.compute_capability is None:
        return "unknown"
    try:
        support = computes_in(gpu_shape_of(gpu), precision)
    except NotKnown:
        return "unknown"
    if not support.runs:
        return "no"
    if support.reason == "bf16_not_native" and precision.name == "bf16":
        return "falls-back"
    bits = precision.block_bits or precision.effective_bits or 16.0
    narrow = bits < 8 and support.computes_in != "fp4"
    unpacks = bits < 16 and (narrow or support.computes_in in UNQUANTIZED)
    return "weight-only" if unpacks or precision.name == "int8-bnb" else "native"
