"""Seconds of a batch of texts: embedding models and rerankers, one pass over all tokens."""

from __future__ import annotations

from knowledge.rows import Model
from tools.memory.shape import shape_of
from tools.other_memory.words import Width
from tools.other_speed.coefficients import Coefficients
from tools.other_speed.silicon import Silicon
from tools.other_speed.timing import EngineClass, Timing


def encoder_timing(
    model: Model, tokens: int, batch: int, width: Width, card: Silicon, engine: EngineClass, k: Coefficients
) -> Timing:
    """One batch of texts of `tokens` tokens.

    Arithmetic: 2 x parameters without the embedding table x tokens, and 4 x layers x width x tokens^2 of
    attention over the text. The weights are read once a batch; each layer costs its launches.
    """
    shape = shape_of(model)
    body = max(shape.total - shape.embedding - shape.head, 0.1 * shape.total)
    hidden, layers = shape.hidden or 768, shape.layers
    flop = batch * (2.0 * body * tokens + 4.0 * layers * hidden * tokens**2)
    peak, computed = card.peak(width, engine == "optimized")
    share = k.encoder_optimized if engine == "optimized" else k.encoder_eager
    if computed in ("int8", "fp8"):
        share *= k.encoder_int8
    rate = card.sustained(peak, share)
    launch_ms = k.encoder_launch_ms if engine == "optimized" else k.eager.launch_ms
    launch = layers * launch_ms / 1000.0
    read = body * width.weight / (card.shape.bandwidth_gbs * 1e9)
    compute = flop / 1e12 / rate
    parts = {"encoder": compute, "launches": launch + read}
    return Timing(
        parts_s=parts,
        units=float(batch),
        tflop=flop / 1e12,
        sustained_tflops=flop / 1e12 / sum(parts.values()),
        peak_tflops=peak,
        compute_precision=computed,
        bound="compute" if compute >= launch + read else "overhead",
    )
