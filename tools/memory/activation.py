"""Working memory of one step, by engine: what the profiling run of a server finds, what a library keeps."""

from __future__ import annotations

from dataclasses import dataclass

from tools.memory.engines import Engine
from tools.memory.formats import WeightFormat
from tools.memory.shape import Shape
from tools.memory.weights import GIB

# fp32 copies of the logits of a full batch that vLLM's profiling run of the sampler keeps, in bytes per
# slot and vocabulary entry. Fit over 14 start-up logs of 5 sources (T4, RTX 4090, H100; 0.7 to 0.11).
SAMPLER_BYTES = 39.0
# vLLM profiles a vision model with its largest image (Qwen2-VL: 12.8 million pixels, 65,536 patches through a
# tower 1,280 wide). Live widths per patch, kept on every rank and divided (two logs, TP 1 and TP 4).
VISION_COPIED, VISION_DIVIDED = 10.0, 25.0
CUBLAS_WORKSPACE = 32 * 2.0**20  # PyTorch's cuBLAS workspace on Hopper (8 MiB before)
SPEECH_CONVOLVED = 1.5  # frames alive at once, before and after a convolution of stride 2, over those before
MINIMUM_GIB = 0.07  # smallest activation budget of aiconfigurator


@dataclass(frozen=True, slots=True)
class Work:
    """One step: sequences and tokens the engine prepares for, and the load it is asked to hold."""

    sequences: int
    tokens: int
    context: int
    concurrency: int
    prompt: int  # tokens of the context that come in as prompt
    tensor: int


def activation_gib(engine: Engine, shape: Shape, weights: WeightFormat, work: Work) -> float:
    """Working memory per GPU in GiB that the engine holds or reserves through its life."""
    if engine.name == "vllm":
        sampler = SAMPLER_BYTES * work.sequences * shape.vocab
        encoder = max(_vision_bytes(shape, work), _speech_bytes(shape, work))
        return max(sampler, layer_bytes(shape, work.tokens, work.tensor), encoder) / GIB
    if engine.name == "llama.cpp":
        return _llama_cpp_bytes(engine, shape, work) / GIB
    if not engine.preallocates:
        return _transformers_bytes(engine, shape, weights, work) / GIB
    logits = 6.0 * work.sequences * shape.vocab  # sampled positions, 16 bit and an fp32 copy
    return max((logits + layer_bytes(shape, work.tokens, work.tensor)) / GIB, MINIMUM_GIB)


def passing_peak_gib(engine: Engine, shape: Shape, work: Work, kv_gib: float) -> float:
    """What Transformers needs for moments beside the total: one layer of all tokens of a prompt that passes
    in one piece, or the copy made when the growing cache is concatenated (the allocator then holds the
    cache about twice: Qwen-7B on A100, batch 16 and 32). No part of the total; the verdict counts it."""
    if engine.name not in ("transformers", "autoawq"):
        return 0.0
    return max(layer_bytes(shape, work.prompt * work.concurrency, 1) / GIB, kv_gib)


def layer_bytes(shape: Shape, tokens: int, tensor: int) -> float:
    """Live 16-bit activations of one layer for `tokens` tokens, bytes (lower bound: the wider of
    attention and gated feed-forward; scores are never stored, as in FlashAttention, arXiv:2205.14135)."""
    attention = 2 * shape.hidden + 2 * (shape.query_heads + shape.kv_heads) * shape.head_dim / tensor
    feed_forward = 2 * shape.hidden + 3 * shape.ffn / tensor
    return 2.0 * tokens * max(attention, feed_forward)


def _vision_bytes(shape: Shape, work: Work) -> float:
    if not shape.tower:
        return 0.0
    widths = VISION_COPIED + VISION_DIVIDED / work.tensor
    return 2.0 * shape.image_patches * shape.tower_width * widths


def _speech_bytes(shape: Shape, work: Work) -> float:
    """A Whisper encoder is profiled with 30 s of audio for every sequence: its convolutions turn 3,000 frames
    into 1,500 of the model's width, both alive in 16 bit (2.75 GiB for large-v3 and 256 sequences; a log of
    vLLM 0.10 says 2.62)."""
    return 2.0 * work.sequences * SPEECH_CONVOLVED * shape.audio_frames * shape.hidden


def _llama_cpp_bytes(engine: Engine, shape: Shape, work: Work) -> float:
    """llama.cpp's compute buffer: fp32 logits of a micro-batch, or without FlashAttention (builds before
    2025) its score matrix, and the layer's own tensors."""
    year_or_build = engine.version[0] if engine.version else 9999
    scores = 4.0 * work.tokens * work.context * shape.query_heads if year_or_build in (2023, 2024) else 0.0
    expanded = _expanded_latents(shape, work) if engine.expands_latents else 0.0
    logits = 4.0 * work.tokens * shape.vocab
    return max(logits, scores, expanded) + layer_bytes(shape, work.tokens, work.tensor) / 2


def _expanded_latents(shape: Shape, work: Work) -> float:
    """Keys and values of one layer computed from the latents of the whole context, in 16 bit: the part of
    the keys that comes from the latent, the keys with their rotary part, and the values (ik_llama.cpp; 3.5
    GiB for DeepSeek-V3 at 32,768 tokens, five logs say 3.3 to 4.2)."""
    widths = 2 * shape.latent_key + shape.rotary_key + shape.latent_value
    return 2.0 * work.context * shape.query_heads * widths


def _transformers_bytes(engine: Engine, shape: Shape, weights: WeightFormat, work: Work) -> float:
    """What Transformers holds beside weights and cache: logits of the sampled positions; before 4.45 (and
    in AutoAWQ) those of the whole prompt (2 + 4 bytes each), and a rotary table per layer. AWQ keeps the
    input and output of the attention projections of every token (16 runs of Qwen3 on H20: 2 x heads x
    width at 16 bit)."""
    whole_prompt = engine.name == "autoawq" or not engine.at_least(4, 45)
    rows = work.prompt * work.concurrency if whole_prompt else work.concurrency
    kept = CUBLAS_WORKSPACE + 6.0 * rows * shape.vocab
    if whole_prompt and engine.name == "transformers":
        kept += 4.0 * shape.layers * shape.max_positions * shape.head_dim
    if weights.name.startswith("awq"):
        kept += 4.0 * shape.query_heads * shape.head_dim * work.context * work.concurrency
    return kept
