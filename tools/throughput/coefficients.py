"""The measured coefficients of the speed model, by what they mean physically.

Fit by `python -m benchmarks.speed_fit` over about 7,600 measured figures of five sources.
"""

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
    split_layer: float = 0.0  # extra share of a layer's fixed cost where a layer split prevents graphs
    host_overlap: float = 2.0  # how far the GPU's work hides behind the host's
    hop_us: float = 0.0  # handing a token from GPU to GPU of a layer split
    overlap: float = 3.2  # how far reading hides behind arithmetic: 1 not at all, large fully
    bunching: float = 0.15  # newcomers that come together: this times (concurrency^power - 1)
    bunching_power: float = 0.9
    serial_ms: float = 0.8  # host work on each other request of a bunch, one behind the other
    serial_token_us: float = 0.4  # the same for each prompt token
    kv_share: float = 1.0  # of the bandwidth that the best engines reach in cache reads
    copies_cache: bool = False  # appends by copying the cache and repeats it for each query head
    attention_share: float = 1.0  # of the rate that the best engines reach in attention of prompts
    activation_share: float = 1.0  # elementwise traffic, relative to engines with fused kernels
    bandwidth: float = 1.0  # of the bandwidth that the best engines reach
    compute: float = 1.0  # of the matrix rate that the best engines reach
    unpack: float = 1.0  # work to unpack 4- and 8-bit weights, relative to kernels that unpack as they go
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
    expert_bandwidth: float = 1.04  # of the card's share, for weights of experts
    expert_compute: float = 0.776  # of the matrix rate, for grouped matrices of wide experts
    expert_half_width: float = 994  # width of an expert's part at which it reaches half of that
    expert_us: float = 0.069  # each expert of a layer that gets a token
    packed_layer_us: float = 25.6  # extra kernels of a layer with packed 4- or 8-bit weights
    expert_layer_us: float = 33.6  # routing and regrouping of one MoE layer
    latent_layer_us: float = 39.2  # extra kernels of one latent-attention layer
    kv_bandwidth: float = 0.754  # share of the memory bandwidth that cache reads reach
    prefill_attention: float = 0.61  # share of the 16-bit peak
    decode_attention: float = 0.337
    activation_bytes: float = 67  # moved by elementwise kernels, per token, layer and unit of width
    host_token_us: float = 4.32  # tokenizing and copying a prompt token
    nvlink_us: float = 6.46
    nvlink_share: float = 0.878
    pcie_us: float = 15.1
    pcie_share: float = 0.661
    newer_host: float = 0.7  # time of a launch on hosts of Ada and later, relative to hosts of Ampere
    # Extra microseconds a layer of formats whose kernels are made to load, not to be fast, by engine.
    slow_formats: Mapping[tuple[str, str], float] = field(
        default_factory=lambda: MappingProxyType(
            {
                ("transformers", "int8-w8a8"): 4000.0,  # runs as bitsandbytes LLM.int8
                ("transformers", "int8-bnb"): 4000.0,
                ("transformers", "fp8"): 1100.0,
                ("transformers", "fp8-block"): 1100.0,
                ("transformers", "gptq-int8"): 430.0,
                ("transformers", "nf4"): 700.0,
                ("fastertransformer", "int8-w8a8"): 600.0,  # CTranslate2 quantizes activations as it goes
                ("sglang", "gptq-int4 moe"): 670.0,
            }
        )
    )
    unpack: Mapping[str, float] = field(  # fp32 operations per weight, by kernel
        default_factory=lambda: MappingProxyType(
            {"": 0.0, "w4a16": 10.2, "w8a16": 5, "bnb": 28.6, "gguf": 7.89, "fp4": 0.0}
        )
    )


_ENGINES = (
    Engine(
        "vllm",
        41.5,
        0.15,
        20.1,
        9.82,
        prompt_layer_us=62,
        overlap=1.55,
        bunching=0.207,
        bunching_power=0.742,
        serial_ms=1.25,
        serial_token_us=0.00378,
        unpack=0.776,
    ),
    Engine(
        "sglang",
        25.9,
        0.671,
        12.2,
        11.4,
        prompt_layer_us=36.8,
        overlap=1.84,
        bunching=1.64,
        bunching_power=0.743,
        bandwidth=0.983,
        compute=1.08,
        unpack=0.42,
    ),
    Engine(
        "tensorrt-llm",
        25.9,
        0.934,
        2.84,
        7.44,
        prompt_layer_us=179,
        overlap=1.1,
        bunching=0.448,
        bunching_power=0.605,
        bandwidth=0.991,
        compute=1.31,
        reserves_output=True,
    ),
    Engine(
        "lmdeploy",
        33.6,
        0.347,
        14.8,
        7.21,
        prompt_layer_us=61,
        overlap=2.99,
        bandwidth=1.03,
        compute=1.1,
        unpack=0.4,
    ),
    Engine(
        "llama.cpp",
        61.5,
        0.72,
        60,
        2,
        prompt_layer_us=0,
        prompt_host_layer_us=554,
        split_layer=0.453,
        hop_us=40,
        overlap=1,
        kv_share=0.602,
        attention_share=0.403,
        activation_share=3.25,
        chunk_tokens=512,
        portable=True,
        splits_tensors=False,
    ),
    Engine(
        "transformers",
        48.3,
        1.13,
        10,
        4.95,
        prompt_layer_us=34.6,
        host_layer_us=877,
        host_overlap=5,
        kv_share=0.636,
        copies_cache=True,
        bandwidth=0.992,
        compute=0.667,
        chunk_tokens=32768,
        splits_tensors=False,
    ),
    Engine(
        "autoawq",
        70.6,
        1.09,
        10,
        4.95,
        prompt_layer_us=34.6,
        host_layer_us=485,
        host_overlap=5,
        bandwidth=0.992,
        compute=0.681,
        chunk_tokens=32768,
        splits_tensors=False,
    ),
    Engine("tgi", 71.4, 2, 21.2, 9.16, bandwidth=0.987, compute=1.05, chunk_tokens=4096),
    Engine("gpt-fast", 18.3, 0.149, 10, 5, bandwidth=0.958),
    Engine("mlc-llm", 27.2, 0.32, 20, 9),
    Engine(
        "fastertransformer",
        76.5,
        0.502,
        15.3,
        5,
        prompt_layer_us=11.2,
        overlap=3.04,
        bandwidth=0.993,
        compute=0.865,
    ),
    Engine("exllamav2", 42.7, 0.363, 30, 5, compute=0.7, splits_tensors=False),
    Engine("deepspeed", 54.6, 0.75, 20, 10, bandwidth=1.01),
)
_TUNED = {
    "A100-40GB": Kernels(0.939, 2.06, 0.552, compute_8=0.45),
    "A100-80GB": Kernels(0.775, 1.81, 0.702, compute_8=0.45, vector=1.1),
    "A100-80GB-PCIe": Kernels(0.701, 1.19, 0.503, compute_8=0.45, vector=1.12),
    "A10G": Kernels(0.763, 0.888, 0.435),
    "B200": Kernels(0.801, 0.997, 0.841, compute_8=0.623, compute_4=0.463),
    "B300": Kernels(0.922, 0.947, 0.6, compute_8=0.58, compute_4=0.549),
    "H100": Kernels(0.895, 0.979, 0.771, compute_8=0.467, vector=0.853),
    "H100-NVL": Kernels(0.821, 0.771, 0.539, compute_8=0.52),
    "H20-96GB": Kernels(0.376, 1.31, 0.592, compute_8=0.653),
    "H200": Kernels(0.886, 1.06, 0.436, compute_8=0.85, vector=0.806),
    "L4": Kernels(0.816, 0.68, 0.286, compute_8=0.45),
    "L40S": Kernels(0.898, 0.532, 0.584, compute_8=0.636),
    "RTX-4090": Kernels(0.844, 0.649, 0.49, compute_8=0.45),
    "RTX-5090": Kernels(0.875, 0.78, 0.338, compute_8=0.304, compute_4=0.45),
    "RTX-PRO-6000-Blackwell-Server": Kernels(0.882, 0.746, 0.45, compute_8=0.45, compute_4=0.516),
}
_PORTABLE = {
    "A10": Kernels(0.799, 0.677, 0.411, attention=1.05),
    "A100-40GB": Kernels(0.864, 1.5, 0.204, vector=1.07, attention=0.619),
    "A100-80GB": Kernels(0.737, 1.35, 0.22, vector=0.904, attention=0.665),
    "A100-80GB-PCIe": Kernels(0.811, 1.11, 0.231, vector=1.01, attention=0.703),
    "A10G": Kernels(0.881, 0.809, 0.508, vector=0.992, attention=1.16),
    "A16-GA107": Kernels(0.746, 1.41, 0.469, vector=1.03, attention=1.49),
    "A40": Kernels(0.83, 0.843, 0.381, attention=1.08),
    "B200": Kernels(0.788, 0.842, 0.103, attention=0.959),
    "H100": Kernels(0.701, 0.814, 0.139, vector=0.983, attention=0.487),
    "H100-PCIe": Kernels(0.778, 0.919, 0.168, vector=1.01, attention=0.467),
    "H200": Kernels(0.658, 0.781, 0.151, vector=0.816, attention=0.531),
    "L4": Kernels(0.779, 0.409, 0.404, attention=1.12),
    "L40S": Kernels(0.86, 0.454, 0.634, attention=0.814),
    "M60": Kernels(0.624, 2.78, 0.514, vector=0.542, attention=1.24),
    "P100": Kernels(0.344, 1.7, 0.309, vector=0.521, attention=0.962),
    "Quadro-RTX-5000": Kernels(0.818, 0.973, 0.363, vector=0.633, attention=0.833),
    "RTX-4090": Kernels(0.821, 0.447, 0.561, attention=1.02),
    "RTX-PRO-6000-Blackwell-Server": Kernels(0.924, 0.616, 0.598, attention=1.25),
    "T4": Kernels(0.623, 1.37, 0.271, vector=0.43, attention=0.629),
    "V100-16GB": Kernels(0.902, 1.21, 0.388, vector=1.11, attention=0.382),
    "V100-32GB": Kernels(0.881, 1.52, 0.363, vector=1.16, attention=0.715),
    "V100-PCIe-16GB": Kernels(0.929, 1.29, 0.405, vector=1.14, attention=0.503),
    "V100S-PCIe-32GB": Kernels(0.818, 1.36, 0.339, vector=1.22, attention=0.459),
}
_TUNED_GENERATIONS = {
    5.0: Kernels(0.75, 1.5, 0.5, vector=0.5),
    6.0: Kernels(0.75, 1.5, 0.5, vector=0.4),
    7.0: Kernels(0.85, 1.5, 0.5),
    7.5: Kernels(0.8, 1.1, 0.4, compute_8=0.35, vector=0.6),
    8.0: Kernels(0.799, 1.65, 0.58, compute_8=0.45, vector=1.07),
    8.6: Kernels(0.763, 0.888, 0.435),
    8.9: Kernels(0.852, 0.617, 0.434, compute_8=0.505),
    9.0: Kernels(0.867, 0.927, 0.566, compute_8=0.591, vector=0.883),
    10.0: Kernels(0.859, 0.972, 0.71, compute_8=0.601, compute_4=0.504),
    12.0: Kernels(0.878, 0.763, 0.39, compute_8=0.37, compute_4=0.482),
}
_PORTABLE_GENERATIONS = {
    5.0: Kernels(0.624, 2.78, 0.514, vector=0.542, attention=1.24),
    6.0: Kernels(0.344, 1.7, 0.309, vector=0.521, attention=0.962),
    7.0: Kernels(0.881, 1.34, 0.373, vector=1.16, attention=0.501),
    7.5: Kernels(0.714, 1.15, 0.314, vector=0.522, attention=0.724),
    8.0: Kernels(0.802, 1.31, 0.218, vector=0.992, attention=0.662),
    8.6: Kernels(0.812, 0.898, 0.44, vector=1, attention=1.19),
    8.9: Kernels(0.82, 0.436, 0.523, attention=0.975),
    9.0: Kernels(0.711, 0.836, 0.152, vector=0.931, attention=0.494),
    10.0: Kernels(0.788, 0.842, 0.103, attention=0.959),
    12.0: Kernels(0.924, 0.616, 0.598, attention=1.25),
}
_SUSTAINED = {"A10G": 0.581, "L4": 0.5, "T4": 0.804}
COEFFICIENTS = Coefficients(
    engines=MappingProxyType({engine.name: engine for engine in _ENGINES}),
    tuned=MappingProxyType(_TUNED),
    portable=MappingProxyType(_PORTABLE),
    tuned_generations=MappingProxyType(_TUNED_GENERATIONS),
    portable_generations=MappingProxyType(_PORTABLE_GENERATIONS),
    sustained=MappingProxyType(_SUSTAINED),
)


def kernels_of(
    card: str, capability: float, engine: Engine, fit: Coefficients = COEFFICIENTS, same_chip: str = ""
) -> Kernels:
    """The coefficients of an engine's kernels on a card; where it was not measured on one of the same chip,
    else on its generation."""
    cards, levels = fit.tuned, fit.tuned_generations
    if engine.portable:
        cards, levels = fit.portable, fit.portable_generations
    found = cards.get(card) or cards.get(same_chip)
    if found is not None:
        return found
    return levels[max((level for level in levels if level <= capability), default=min(levels))]


def sustained_of(card: str, fit: Coefficients = COEFFICIENTS, same_chip: str = "") -> float:
    """The share of a card's burst matrix rate that is left when prompts keep it busy."""
    return fit.sustained.get(card, fit.sustained.get(same_chip, 1.0))
