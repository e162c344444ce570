"""Seconds of speech work: recognition (encoder, decoder steps, host) and synthesis (steps, flow, vocoder)."""

from __future__ import annotations

from knowledge.rows import SpeechModel
from tools.other_memory.words import Width
from tools.other_speed.coefficients import Coefficients
from tools.other_speed.silicon import Silicon
from tools.other_speed.timing import EngineClass, Timing

TEXT_TOKENS_PER_S = 4.0  # of speech: about 150 English words or 240 Chinese characters a minute


def _step_s(
    model: SpeechModel, launch_ms: float, width: Width, cache_bytes: float, card: Silicon, k: Coefficients
) -> float:
    """One decoder step of a batch: launches of its layers, then its weights and the caches from memory."""
    moved = model.decoder_b * 1e9 * width.weight + cache_bytes
    reading = moved / (k.step_bandwidth * card.shape.bandwidth_gbs * 1e9)
    return model.decoder_layers * launch_ms / 1000.0 + reading


def recognition_timing(
    model: SpeechModel,
    batch: int,
    beam: int,
    width: Width,
    card: Silicon,
    engine: EngineClass,
    k: Coefficients,
) -> Timing:
    """A batch of windows: the encoder once, then a step for each token of text for the whole batch."""
    heard = batch * model.window_s
    positions = model.positions_per_s * model.window_s
    hidden, layers = model.encoder_hidden, model.encoder_layers
    flop = batch * layers * (24.0 * hidden**2 * positions + 4.0 * hidden * positions**2)
    peak, computed = card.peak(width, optimized=False)
    share = k.encoder_optimized if engine == "optimized" else k.encoder_eager
    encode = flop / 1e12 / card.sustained(peak, share)
    caches = batch * beam * model.window_s * model.cross_bytes_per_s
    steps = TEXT_TOKENS_PER_S * model.window_s * model.steps_per_token
    fused = engine == "optimized"
    launch = k.recognition_launch_optimized_ms if fused else k.recognition_launch_eager_ms
    decode = steps * _step_s(model, launch, width, caches, card, k) if model.decoder_layers else 0.0
    host = heard * (k.host_optimized if fused else k.host_eager) + k.batch_s
    parts = {"encoder": encode, "decoder": decode, "host": host}
    flop += 2.0 * model.decoder_b * 1e9 * steps * batch * beam
    longest = max(parts, key=lambda part: parts[part])
    return Timing(
        parts_s=parts,
        units=heard,
        tflop=flop / 1e12,
        sustained_tflops=flop / 1e12 / sum(parts.values()),
        peak_tflops=peak,
        compute_precision=computed,
        bound="compute" if longest == "encoder" else "bandwidth" if longest == "decoder" else "overhead",
    )


def synthesis_timing(
    model: SpeechModel, batch: int, width: Width, card: Silicon, engine: EngineClass, k: Coefficients
) -> Timing:
    """One second of audio of each stream of a batch: decoder steps together, flow and vocoder one by one."""
    steps = (model.tokens_per_s or 25.0) * model.steps_per_token
    launch = k.synthesis_launch_optimized_ms if engine == "optimized" else k.synthesis_launch_eager_ms
    decode = steps * _step_s(model, launch, width, 0.0, card, k)
    peak, computed = card.peak(width, optimized=False)
    tail = batch * k.synthesis_tail / card.sustained(peak, k.eager.matmul)
    flop = batch * (2.0 * model.decoder_b * 1e9 * steps / 1e12 + k.synthesis_tail)
    return Timing(
        parts_s={"decoder": decode, "flow_and_vocoder": tail},
        units=float(batch),
        tflop=flop,
        sustained_tflops=flop / (decode + tail),
        peak_tflops=peak,
        compute_precision=computed,
        bound="bandwidth" if decode >= tail else "compute",
    )
