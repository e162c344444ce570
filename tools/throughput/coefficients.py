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
    prompt_layer_us: float = 35.0  # extra of a layer in steps that carry prompts (no captured graph)
    host_layer_us: float = 0.0  # launching a layer from Python without captured graphs
    bunching: float = 0.4  # newcomers that come together: this times (concurrency^power - 1)
    bandwidth: float = 1.0  # of the bandwidth that the best engines reach
    compute: float = 1.0  # of the matrix rate that the best engines reach
    chunk_tokens: float = 8192.0  # prompt tokens in one step
    portable: bool = False  # matrix kernels written for older tensor cores (no Hopper instructions)
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
    portable: float = 0.30  # share of the 16-bit peak that portable kernels with packed weights reach
    vector: float = 1.0  # share of the fp32 rate left to unpack weights (power and clock limits)
    sustained: float = 1.0  # of the burst matrix rate that is left under continuous load (power limit)


@dataclass(frozen=True, slots=True)
class Coefficients:
    """All coefficients of the step model."""

    engines: Mapping[str, Engine]
    cards: Mapping[str, Card]
    generations: Mapping[float, Card]  # by compute capability, for cards without measurements
    expert_bandwidth: float = 1.0  # of the card's share, for weights of experts
    expert_compute: float = 0.8  # of the matrix rate, for grouped matrices of wide experts
    expert_half_width: float = 600.0  # width of an expert's part at which it reaches half of that
    expert_us: float = 0.2  # each expert of a layer that gets a token
    expert_layer_us: float = 45.0  # routing and regrouping of one MoE layer
    latent_layer_us: float = 35.0  # extra kernels of one latent-attention layer
    overlap_power: float = 3.6  # how sharply the roofline bends where reading meets arithmetic
    kv_bandwidth: float = 0.90  # share of the memory bandwidth that cache reads reach
    prefill_attention: float = 0.60  # share of the 16-bit peak
    decode_attention: float = 0.30
    activation_bytes: float = 75.0  # moved by elementwise kernels, per token, layer and unit of width
    bunching_power: float = 0.6
    host_token_us: float = 5.0  # tokenizing and copying a prompt token
    nvlink_us: float = 7.0
    nvlink_share: float = 0.75
    pcie_us: float = 9.0
    pcie_share: float = 0.30
    # Extra microseconds a layer of formats whose kernels are made to load, not to be fast, by engine.
    slow_formats: Mapping[tuple[str, str], float] = field(
        default_factory=lambda: MappingProxyType(
            {
                ("transformers", "int8-w8a8"): 4000.0,  # runs as bitsandbytes LLM.int8
                ("transformers", "int8-bnb"): 4000.0,
                ("transformers", "fp8"): 900.0,
                ("transformers", "fp8-block"): 900.0,
            }
        )
    )
    unpack: Mapping[str, float] = field(  # fp32 operations per weight, by kernel
        default_factory=lambda: MappingProxyType(
            {"": 0.0, "w4a16": 8.0, "w8a16": 5.0, "bnb": 20.0, "gguf": 9.5, "fp4": 0.0}
        )
    )


_ENGINES = (
    Engine("vllm", 41, 0.15, 25, 9),
    Engine("sglang", 24, 0.5, 17, 9, bunching=2.0),
    Engine("tensorrt-llm", 27, 0.5, 16, 8, bunching=0.8),
    Engine("lmdeploy", 35, 0.4, 15, 9),
    Engine("llama.cpp", 85, 0.1, 60, 2, 100, chunk_tokens=512, portable=True, splits_tensors=False),
    Engine(
        "transformers",
        45,
        1.0,
        10,
        5,
        host_layer_us=750,
        compute=0.8,
        chunk_tokens=32768,
        splits_tensors=False,
    ),
    Engine("tgi", 60, 1.0, 20, 10, chunk_tokens=4096),
    Engine("gpt-fast", 30, 0.2, 10, 5),
    Engine("mlc-llm", 40, 0.4, 20, 9),
    Engine("fastertransformer", 40, 0.4, 15, 5),
    Engine("exllamav2", 45, 0.4, 30, 5, compute=0.7, splits_tensors=False),
    Engine("deepspeed", 80, 1.0, 20, 10),
)
_CARDS = {
    "A100-40GB": Card(0.80, 1.6, 0.60, 0.40, 0.40, 0.22),
    "A100-80GB": Card(0.86, 1.6, 0.60, 0.40, 0.40, 0.22),
    "A100-80GB-PCIe": Card(0.80, 1.6, 0.50, 0.40, 0.40, 0.22),
    "A10": Card(0.80, 1.0, 0.45, 0.40, 0.40, 0.33, sustained=0.55),
    "A10G": Card(0.79, 1.0, 0.45, 0.40, 0.40, 0.42, sustained=0.55),
    "B200": Card(0.75, 0.87, 0.55, 0.55, 0.55, 0.10),
    "B300": Card(0.85, 0.87, 0.55, 0.55, 0.55, 0.10),
    "H100": Card(0.84, 1.0, 0.70, 0.49, 0.40, 0.12),
    "H100-NVL": Card(0.83, 1.0, 0.60, 0.49, 0.40, 0.12),
    "H200": Card(0.92, 1.0, 0.70, 0.49, 0.40, 0.12),
    "L4": Card(0.80, 0.68, 0.40, 0.35, 0.40, 0.28, sustained=0.55),
    "L40S": Card(0.89, 0.68, 0.45, 0.40, 0.40, 0.36),
    "T4": Card(0.80, 1.1, 0.40, 0.35, 0.40, 0.28, 0.55, 0.6),
}
_CARDS["H20-96GB"] = Card(0.42, 1.1, 0.63, 0.49, 0.40, 0.14)
_GENERATIONS = {
    5.0: Card(0.75, 1.5, 0.50, 0.40, 0.40, 0.20, 0.5),
    6.0: Card(0.75, 1.5, 0.50, 0.40, 0.40, 0.30, 0.4),
    7.0: Card(0.85, 1.5, 0.50, 0.40, 0.40, 0.34),
    7.5: Card(0.80, 1.1, 0.40, 0.35, 0.40, 0.28, 0.6),
    8.0: Card(0.83, 1.6, 0.58, 0.45, 0.40, 0.22),
    8.6: Card(0.80, 1.0, 0.45, 0.40, 0.40, 0.36),
    8.9: Card(0.86, 0.68, 0.45, 0.40, 0.40, 0.34),
    9.0: Card(0.85, 1.0, 0.65, 0.49, 0.40, 0.14),
    10.0: Card(0.78, 0.87, 0.55, 0.55, 0.55, 0.10),
    12.0: Card(0.88, 0.75, 0.45, 0.45, 0.45, 0.40),
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
