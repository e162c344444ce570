"""Encoders, speech recognition and speech synthesis: weights and the working set of one batch."""

from __future__ import annotations

from knowledge.rows import Model
from tools.memory.shape import Shape, shape_of
from tools.memory.weights import GIB
from tools.other_memory.words import Mode, Width

STATE_BYTES = 16.0
ADAPTER_SHARE = 0.02
RUNTIME_GIB = 0.3
# Speech runs are measured by nvidia-smi: CUDA context, convolution workspaces, beam search.
SPEECH_RUNTIME_GIB = 1.2
WHISPER_FRAMES = 1500  # encoder positions of a 30 s window
SYNTHESIS_GIB = 1.0  # flow matching and vocoder beside the language model


def encoder_parts(
    model: Model, mode: Mode, batch: int, tokens: int, precision: Width, checkpointing: bool
) -> dict[str, float]:
    """An embedding or reranking model: batch x length decides, not the weights. Scores of all heads are kept
    without FlashAttention in training; inference keeps one layer."""
    shape = shape_of(model)
    rows = float(batch * tokens)
    hidden = shape.hidden or 768
    ffn = shape.ffn or 4 * hidden
    layer = precision.value * rows * (6 * hidden + 2 * ffn)
    scores = precision.value * batch * shape.query_heads * tokens**2
    if mode == "inference":
        weights, adapters = shape.total * precision.weight, 0.0
        kept = layer + scores
    else:
        trained = 1.0 if mode == "train-full" else ADAPTER_SHARE
        weights = shape.total * (precision.weight if mode == "train-lora" else 0.0)
        adapters = shape.total * trained * STATE_BYTES
        kept = (layer * 1.5 + 2.5 * scores) * shape.layers
        if checkpointing:
            kept = precision.value * rows * hidden * shape.layers + layer * 1.5 + 2.5 * scores
    return {
        "weights": weights / GIB,
        "trained_states": adapters / GIB,
        "activations": kept / GIB,
        "runtime": RUNTIME_GIB,
    }


def recognition_parts(model: Model, batch: int, precision: Width) -> dict[str, float]:
    """A Whisper-like recognizer: weights, cross-attention keys and values of each 30 s window (2 x decoder
    layers x 1,500 x width), and a fixed runtime."""
    shape = shape_of(model)
    decoder_layers = max(1, shape.layers // 2)
    hidden = shape.hidden or 1024
    cross = 2.0 * decoder_layers * WHISPER_FRAMES * hidden * 2.0 * batch
    return {
        "weights": shape.total * precision.weight / GIB,
        "kv_cache": cross / GIB,
        "runtime": SPEECH_RUNTIME_GIB,
    }


def synthesis_parts(model: Model, mode: Mode, batch: int, precision: Width) -> dict[str, float]:
    """A speech synthesizer: language model, flow and vocoder."""
    shape: Shape = shape_of(model)
    states = {"inference": precision.weight, "train-lora": precision.weight + 0.3, "train-full": STATE_BYTES}
    return {
        "weights": shape.total * states[mode] / GIB,
        "activations": (0.25 if mode == "inference" else 4.0) * batch,
        "runtime": SYNTHESIS_GIB + RUNTIME_GIB,
    }
