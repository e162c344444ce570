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
    prompt_layer_us: float = 35.0  # extra of a layer in steps that carry prompts
    host_layer_us: float = 0.0  # launching a layer from the host beside the GPU's work, no captured graphs
    prompt_host_layer_us: float = 0.0  # the same in steps that carry prompts
    split_host_layer_us: float = 0.0  # the same where layers are split over GPUs
    overlap: float = 3.2  # how far reading hides behind arithmetic: 1 not at all, large fully
    bunching: float = 0.15  # newcomers that come together: this times (concurrency^power - 1)
    bunching_power: float = 0.9
    kv_share: float = 1.0  # of the bandwidth that the best engines reach in cache reads
    bandwidth: float = 1.0  # of the bandwidth that the best engines reach
    compute: float = 1.0  # of the matrix rate that the best engines reach
    chunk_tokens: float = 8192.0  # prompt tokens in one step
    portable: bool = False  # kernels written for all cards alike
    splits_tensors: bool = True  # tensor parallel by default; False: layer split
    reserves_output: bool = False  # room for the whole answer is set aside when a request starts
    batches: bool = True  # continuous batching; False: requests run one after another


@dataclass(frozen=True, slots=True)
class Kernels:
    """What one set of kernels reaches of a card's data sheet."""

    bandwidth: float  # share of the memory bandwidth, weights of large matrices
    layer: float  # fixed cost of a layer, relative to tuned kernels on Hopper (portable: to A10)
    compute_16: float  # share of the dense 16-bit peak that large matrices reach
    compute_8: float = 0.40
    compute_4: float = 0.40
    vector: float = 1.0  # share of the fp32 rate left to unpack weights (power and clock limits)
    attention: float = 1.0  # of the rate that attention reaches on recent cards


@dataclass(frozen=True, slots=True)
class Coefficients:
    """All coefficients of the step model."""

    engines: Mapping[str, Engine]
    tuned: Mapping[str, Kernels]  # by card, for engines with kernels per generation
    portable: Mapping[str, Kernels]  # by card, for llama.cpp
    tuned_generations: Mapping[float, Kernels]  # by compute capability, for cards without measurements
    portable_generations: Mapping[float, Kernels]
    sustained: Mapping[str, float]  # of the burst matrix rate, left under continuous load (power limit)
    expert_bandwidth: float = 1.0  # of the card's share, for weights of experts
    expert_compute: float = 0.8  # of the matrix rate, for grouped matrices of wide experts
    expert_half_width: float = 600.0  # width of an expert's part at which it reaches half of that
    expert_us: float = 0.2  # each expert of a layer that gets a token
    expert_layer_us: float = 45.0  # routing and regrouping of one MoE layer
    latent_layer_us: float = 35.0  # extra kernels of one latent-attention layer
    kv_bandwidth: float = 0.90  # share of the memory bandwidth that cache reads reach
    prefill_attention: float = 0.60  # share of the 16-bit peak
    decode_attention: float = 0.30
    activation_bytes: float = 75.0  # moved by elementwise kernels, per token, layer and unit of width
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
                ("sglang", "gptq-int4 moe"): 550.0,
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
    Engine("sglang", 24, 0.5, 17, 9, bunching=0.5),
    Engine("tensorrt-llm", 27, 0.5, 16, 8, bunching=0.5, bunching_power=0.7, reserves_output=True),
    Engine("lmdeploy", 35, 0.4, 15, 9),
    Engine(
        "llama.cpp",
        80,
        0.1,
        60,
        2,
        0,
        prompt_host_layer_us=400,
        split_host_layer_us=115,
        overlap=1.1,
        chunk_tokens=512,
        portable=True,
        splits_tensors=False,
    ),
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
_TUNED = {
    "A100-40GB": Kernels(0.80, 1.6, 0.60),
    "A100-80GB": Kernels(0.86, 1.6, 0.60),
    "A100-80GB-PCIe": Kernels(0.80, 1.4, 0.50),
    "A10": Kernels(0.80, 1.0, 0.45),
    "A10G": Kernels(0.79, 1.0, 0.45),
    "B200": Kernels(0.75, 0.90, 0.55, 0.55, 0.55),
    "B300": Kernels(0.85, 0.90, 0.55, 0.55, 0.55),
    "H100": Kernels(0.84, 1.0, 0.70, 0.49),
    "H100-NVL": Kernels(0.83, 1.0, 0.60, 0.49),
    "H200": Kernels(0.92, 1.05, 0.65, 0.55),
    "H20-96GB": Kernels(0.42, 1.1, 0.63, 0.49),
    "L4": Kernels(0.80, 0.68, 0.42, 0.35),
    "L40S": Kernels(0.89, 0.68, 0.47, 0.42),
}
_PORTABLE = {
    "A10": Kernels(0.80, 0.80, 0.36),
    "A100-40GB": Kernels(0.80, 1.3, 0.24),
    "A100-80GB": Kernels(0.80, 1.3, 0.24),
    "A100-80GB-PCIe": Kernels(0.80, 1.2, 0.24),
    "T4": Kernels(0.70, 1.1, 0.30, vector=0.6),
    "P100": Kernels(0.70, 1.4, 0.40, vector=0.4),
    "V100-32GB": Kernels(0.90, 1.4, 0.36, attention=0.3),
}
_TUNED_GENERATIONS = {
    5.0: Kernels(0.75, 1.5, 0.50, vector=0.5),
    6.0: Kernels(0.75, 1.5, 0.50, vector=0.4),
    7.0: Kernels(0.85, 1.5, 0.50),
    7.5: Kernels(0.80, 1.1, 0.40, 0.35, vector=0.6),
    8.0: Kernels(0.83, 1.6, 0.58, 0.45),
    8.6: Kernels(0.80, 1.0, 0.45),
    8.9: Kernels(0.86, 0.68, 0.45),
    9.0: Kernels(0.85, 1.0, 0.65, 0.49),
    10.0: Kernels(0.78, 0.90, 0.55, 0.55, 0.55),
    12.0: Kernels(0.88, 0.75, 0.45, 0.45, 0.45),
}
_PORTABLE_GENERATIONS = {
    5.0: Kernels(0.75, 1.5, 0.30, vector=0.5),
    6.0: Kernels(0.75, 1.5, 0.40, vector=0.4),
    7.0: Kernels(0.90, 1.4, 0.36, attention=0.3),
    7.5: Kernels(0.75, 1.0, 0.30, vector=0.6),
    8.0: Kernels(0.80, 1.3, 0.24),
    8.6: Kernels(0.80, 0.80, 0.38),
    8.9: Kernels(0.84, 0.70, 0.37),
    9.0: Kernels(0.80, 1.0, 0.14),
    10.0: Kernels(0.80, 1.0, 0.10),
    12.0: Kernels(0.95, 0.75, 0.42),
}
_SUSTAINED = {"A10": 0.55, "A10G": 0.55, "L4": 0.55, "T4": 0.6}
COEFFICIENTS = Coefficients(
    engines=MappingProxyType({engine.name: engine for engine in _ENGINES}),
    tuned=MappingProxyType(_TUNED),
    portable=MappingProxyType(_PORTABLE),
    tuned_generations=MappingProxyType(_TUNED_GENERATIONS),
    portable_generations=MappingProxyType(_PORTABLE_GENERATIONS),
    sustained=MappingProxyType(_SUSTAINED),
)


def kernels_of(card: str, capability: float, engine: Engine, fit: Coefficients = COEFFICIENTS) -> Kernels:
    """The coefficients of an engine's kernels on a card, or on its generation where it was not measured."""
    cards, levels = fit.tuned, fit.tuned_generations
    if engine.portable:
        cards, levels = fit.portable, fit.portable_generations
    found = cards.get(card)
    if found is not None:
        return found
    return levels[max((level for level in levels if level <= capability), default=min(levels))]
