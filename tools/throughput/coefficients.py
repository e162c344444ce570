"""The measured coefficients of the speed model, by what they mean physically."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Engine:
    """Fixed costs and shares of one engine."""

    name: str
    layer_us: float  # one layer of one step: launches, norms, small kernels
    step_ms: float  # one step: scheduler, sampling, host
    sequence_us: float  # each running sequence in a step: sampling, detokenizing, block tables
    request_ms: float  # each request before its first token: HTTP, scheduling
    bandwidth: float = 1.0  # of the bandwidth that the best engines reach
    compute: float = 1.0  # of the matrix rate that the best engines reach
    chunk_tokens: float = 8192.0  # prompt tokens in one step
    splits_tensors: bool = True  # tensor parallel by default; False: layer split
    batches: bool = True  # continuous batching; False: requests run one after another


@dataclass(frozen=True, slots=True)
class Card:
    """What a card reaches of its data sheet."""

    bandwidth: float  # share of the memory bandwidth, weights of large matrices
    layer: float  # fixed cost of a layer relative to Hopper
    compute_16: float  # share of the dense peak that large matrices reach
    compute_8: float
    compute_4: float
    vector: float = 1.0  # share of the fp32 rate left to unpack weights (power and clock limits)


@dataclass(frozen=True, slots=True)
class Coefficients:
    """All coefficients of the step model."""

    engines: Mapping[str, Engine]
    cards: Mapping[str, Card]
    generations: Mapping[float, Card]  # by compute capability, for cards without measurements
    expert_bandwidth: float = 1.0  # of the card's share, for weights of experts
    expert_compute: float = 0.25  # of the matrix rate, for grouped expert matrices
    expert_tile: float = 28.0  # rows that an expert computes at least
    expert_layer_us: float = 45.0  # routing and regrouping of one MoE layer
    latent_layer_us: float = 35.0  # extra kernels of one latent-attention layer
    overlap_power: float = 3.6  # how sharply the roofline bends where reading meets arithmetic
    kv_bandwidth: float = 0.90  # share of the memory bandwidth that cache reads reach
    prefill_attention: float = 0.60  # share of the 16-bit peak
    decode_attention: float = 0.30
    activation_bytes: float = 75.0  # moved by elementwise kernels, per token, layer and unit of width
    eager_layer_us: float = 28.0  # extra of a layer in steps that carry prompts (no captured graph)
    host_token_us: float = 5.0  # tokenizing and copying a prompt token
    nvlink_us: float = 7.0
    nvlink_share: float = 0.75
    pcie_us: float = 9.0
    pcie_share: float = 0.30
    unpack: Mapping[str, float] = field(  # fp32 operations per weight, by kernel
        default_factory=lambda: MappingProxyType(
            {"": 0.0, "w4a16": 3.0, "w8a16": 2.0, "bnb": 20.0, "gguf": 9.5, "fp4": 0.0}
        )
    )


_ENGINES = (
    Engine("vllm", 41, 0.15, 25, 9),
    Engine("sglang", 24, 0.5, 17, 9),
    Engine("tensorrt-llm", 27, 0.5, 16, 8),
    Engine("lmdeploy", 35, 0.4, 15, 9),
    Engine("llama.cpp", 80, 0.1, 60, 2, compute=0.55, chunk_tokens=512, splits_tensors=False),
    Engine("transformers", 480, 2.0, 10, 5, compute=0.8, chunk_tokens=32768, splits_tensors=False),
    Engine("tgi", 60, 1.0, 20, 10, chunk_tokens=4096),
    Engine("gpt-fast", 30, 0.2, 10, 5),
    Engine("mlc-llm", 40, 0.4, 20, 9),
    Engine("fastertransformer", 40, 0.4, 15, 5),
    Engine("exllamav2", 45, 0.4, 30, 5, compute=0.7, splits_tensors=False),
    Engine("deepspeed", 80, 1.0, 20, 10),
)
_CARDS = {
    "A100-40GB": Card(0.80, 1.6, 0.60, 0.40, 0.40),
    "A100-80GB": Card(0.86, 1.6, 0.60, 0.40, 0.40),
    "A100-80GB-PCIe": Card(0.80, 1.6, 0.50, 0.40, 0.40),
    "A10": Card(0.80, 1.0, 0.45, 0.40, 0.40),
    "A10G": Card(0.79, 1.0, 0.45, 0.40, 0.40),
    "B200": Card(0.75, 0.87, 0.55, 0.55, 0.55),
    "B300": Card(0.85, 0.87, 0.55, 0.55, 0.55),
    "H100": Card(0.84, 1.0, 0.70, 0.49, 0.40),
    "H100-NVL": Card(0.83, 1.0, 0.60, 0.49, 0.40),
    "H200": Card(0.92, 1.0, 0.70, 0.49, 0.40),
    "L4": Card(0.80, 0.68, 0.40, 0.35, 0.40),
    "L40S": Card(0.89, 0.68, 0.45, 0.40, 0.40),
    "T4": Card(0.80, 1.1, 0.40, 0.35, 0.40, 0.55),
}
_GENERATIONS = {
    5.0: Card(0.75, 1.5, 0.50, 0.40, 0.40, 0.5),
    6.0: Card(0.75, 1.5, 0.50, 0.40, 0.40, 0.4),
    7.0: Card(0.85, 1.5, 0.50, 0.40, 0.40),
    7.5: Card(0.80, 1.1, 0.40, 0.35, 0.40, 0.6),
    8.0: Card(0.83, 1.6, 0.58, 0.45, 0.40),
    8.6: Card(0.80, 1.0, 0.45, 0.40, 0.40),
    8.9: Card(0.86, 0.68, 0.45, 0.40, 0.40),
    9.0: Card(0.85, 1.0, 0.65, 0.49, 0.40),
    10.0: Card(0.78, 0.87, 0.55, 0.55, 0.55),
    12.0: Card(0.88, 0.75, 0.45, 0.45, 0.45),
}
COEFFICIENTS = Coefficients(
    engines=MappingProxyType({engine.name: engine for engine in _ENGINES}),
    cards=MappingProxyType(_CARDS),
    generations=MappingProxyType(_GENERATIONS),
)


def card_of(name: str, capability: float, coefficients: Coefficients = COEFFICIENTS) -> Card:
    """The coefficients of a card, or of its generation where the card was not measured."""
    found = coefficients.cards.get(name)
    if found is not None:
        return found
    generations = coefficients.generations
    level = max((level for level in generations if level <= capability), default=min(generations))
    return generations[level]
