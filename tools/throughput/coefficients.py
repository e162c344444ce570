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
    captured_tokens: float = 0.0  # largest step with prompts that replays captured graphs (vLLM: 512)
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
    expert_bandwidth: float = 0.962  # of the card's share, for weights of experts
    expert_compute: float = 0.779  # of the matrix rate, for grouped matrices of wide experts
    expert_half_width: float = 620  # width of an expert's part at which it reaches half of that
    expert_us: float = 0.133  # each expert of a layer that gets a token
    packed_layer_us: float = 26.1  # extra kernels of a layer with packed 4- or 8-bit weights
    expert_layer_us: float = 35.1  # routing and regrouping of one MoE layer
    latent_layer_us: float = 34.8  # extra kernels of one latent-attention layer
    kv_bandwidth: float = 0.847  # share of the memory bandwidth that cache reads reach
    older_cache: float = 0.819  # of that, with attention kernels made before Hopper
    prefill_attention: float = 0.6  # share of the 16-bit peak
    decode_attention: float = 0.3
    activation_bytes: float = 64.3  # moved by elementwise kernels, per token, layer and unit of width
    host_token_us: float = 5.03  # tokenizing and copying a prompt token
    nvlink_us: float = 5.97
    nvlink_share: float = 0.769
    pcie_us: float = 10.1
    pcie_share: float = 0.458
    pcie_crowd: float = 0.347  # passing a payload over PCIe takes (cards / 2) to this power longer
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
            {"": 0.0, "w4a16": 9.96, "w8a16": 5, "bnb": 26.1, "gguf": 8.82, "fp4": 0.0}
        )
    )


_ENGINES = (
    Engine(
        "vllm",
        42.3,
        0.147,
        22.3,
        9.08,
        prompt_layer_us=83.9,
        overlap=2.46,
        bunching=0.196,
        bunching_power=0.767,
        serial_ms=1.24,
        serial_token_us=0.00378,
        unpack=0.405,
        captured_tokens=512,
    ),
    Engine(
        "sglang",
        29.7,
        0.602,
        16.6,
        10,
        prompt_layer_us=39.5,
        overlap=2.5,
        bunching=1.53,
        bunching_power=0.75,
        compute=1.02,
        unpack=0.4,
    ),
    Engine(
        "tensorrt-llm",
        27.7,
        0.869,
        7.5,
        8.01,
        prompt_layer_us=107,
        overlap=1.99,
        bunching=0.468,
        bunching_power=0.601,
        compute=1.08,
        reserves_output=True,
    ),
    Engine("lmdeploy", 37.9, 0.399, 15, 7.21, prompt_layer_us=61, overlap=2.99, unpack=0.4),
    Engine(
        "llama.cpp",
        62.3,
        0.719,
        60,
        2,
        prompt_layer_us=0,
        prompt_host_layer_us=551,
        split_layer=0.401,
        hop_us=40,
        overlap=1,
        kv_share=0.55,
        attention_share=0.413,
        activation_share=3.32,
        chunk_tokens=512,
        portable=True,
        splits_tensors=False,
    ),
    Engine(
        "transformers",
        45.1,
        1,
        10,
        4.95,
        prompt_layer_us=34.6,
        host_layer_us=857,
        host_overlap=5,
        kv_share=0.794,
        copies_cache=True,
        bandwidth=0.992,
        compute=0.7,
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
        host_layer_us=490,
        host_overlap=5,
        bandwidth=0.992,
        compute=0.681,
        chunk_tokens=32768,
        splits_tensors=False,
    ),
    Engine("tgi", 60.3, 1.01, 21.2, 9.16, chunk_tokens=4096),
    Engine("gpt-fast", 24.8, 0.199, 10, 5),
    Engine("mlc-llm", 35, 0.399, 20, 9),
    Engine("fastertransformer", 50.8, 0.502, 15.3, 5, prompt_layer_us=11.2),
    Engine("exllamav2", 44.9, 0.399, 30, 5, compute=0.7, splits_tensors=False),
    Engine("deepspeed", 60, 0.8, 20, 10),
)
_TUNED = {
    "A100-40GB": Kernels(0.849, 1.8, 0.61, compute_8=0.45),
    "A100-80GB": Kernels(0.837, 1.77, 0.637, compute_8=0.45),
    "A100-80GB-PCIe": Kernels(0.846, 1.57, 0.614, compute_8=0.45),
    "A10G": Kernels(0.798, 0.996, 0.447),
    "B200": Kernels(0.855, 1.01, 0.603, compute_8=0.55, compute_4=0.497),
    "B300": Kernels(0.866, 0.958, 0.6, compute_8=0.546, compute_4=0.5),
    "H100": Kernels(0.863, 1, 0.702, compute_8=0.509, vector=0.989),
    "H100-NVL": Kernels(0.859, 0.975, 0.641, compute_8=0.52),
    "H20-96GB": Kernels(0.367, 1.02, 0.647, compute_8=0.521),
    "H200": Kernels(0.862, 0.995, 0.642, compute_8=0.59),
    "L4": Kernels(0.858, 0.663, 0.424, compute_8=0.45),
    "L40S": Kernels(0.874, 0.633, 0.458, compute_8=0.457),
    "RTX-4090": Kernels(0.868, 0.652, 0.451, compute_8=0.45),
    "RTX-5090": Kernels(0.88, 0.751, 0.447, compute_8=0.447, compute_4=0.45),
    "RTX-PRO-6000-Blackwell-Server": Kernels(0.88, 0.75, 0.45, compute_8=0.45, compute_4=0.454),
}
_PORTABLE = {
    "A10": Kernels(0.799, 0.682, 0.411, attention=1.04),
    "A100-40GB": Kernels(0.871, 1.52, 0.204, vector=1.14, attention=0.613),
    "A100-80GB": Kernels(0.747, 1.37, 0.22, vector=0.971, attention=0.66),
    "A100-80GB-PCIe": Kernels(0.815, 1.12, 0.231, vector=1.08, attention=0.697),
    "A10G": Kernels(0.88, 0.821, 0.509, vector=0.989, attention=1.16),
    "A16-GA107": Kernels(0.751, 1.44, 0.469, vector=1.03, attention=1.48),
    "A40": Kernels(0.832, 0.837, 0.38, attention=1.06),
    "B200": Kernels(0.788, 0.849, 0.103, attention=0.959),
    "H100": Kernels(0.704, 0.833, 0.139, vector=0.978, attention=0.486),
    "H100-PCIe": Kernels(0.781, 0.927, 0.168, vector=1.01, attention=0.463),
    "H200": Kernels(0.679, 0.796, 0.151, vector=0.767, attention=0.531),
    "L4": Kernels(0.78, 0.421, 0.404, attention=1.11),
    "L40S": Kernels(0.86, 0.465, 0.636, attention=0.809),
    "M60": Kernels(0.626, 2.76, 0.513, vector=0.556, attention=1.22),
    "P100": Kernels(0.345, 1.68, 0.309, vector=0.552, attention=0.95),
    "Quadro-RTX-5000": Kernels(0.825, 0.972, 0.363, vector=0.66, attention=0.825),
    "RTX-4090": Kernels(0.821, 0.446, 0.561, attention=1.02),
    "RTX-PRO-6000-Blackwell-Server": Kernels(0.924, 0.631, 0.601, attention=1.24),
    "T4": Kernels(0.639, 1.37, 0.271, vector=0.426, attention=0.622),
    "V100-16GB": Kernels(0.906, 1.19, 0.387, vector=1.14, attention=0.379),
    "V100-32GB": Kernels(0.884, 1.5, 0.363, vector=1.22, attention=0.705),
    "V100-PCIe-16GB": Kernels(0.932, 1.27, 0.404, vector=1.19, attention=0.501),
    "V100S-PCIe-32GB": Kernels(0.819, 1.35, 0.339, vector=1.3, attention=0.455),
}
_TUNED_GENERATIONS = {
    5.0: Kernels(0.75, 1.5, 0.5, vector=0.5),
    6.0: Kernels(0.75, 1.5, 0.5, vector=0.4),
    7.0: Kernels(0.85, 1.5, 0.5),
    7.5: Kernels(0.8, 1.1, 0.4, compute_8=0.35, vector=0.6),
    8.0: Kernels(0.844, 1.71, 0.62, compute_8=0.45),
    8.6: Kernels(0.798, 0.996, 0.447),
    8.9: Kernels(0.867, 0.649, 0.444, compute_8=0.452),
    9.0: Kernels(0.861, 0.991, 0.661, compute_8=0.538, vector=0.995),
    10.0: Kernels(0.86, 0.985, 0.602, compute_8=0.548, compute_4=0.499),
    12.0: Kernels(0.88, 0.75, 0.448, compute_8=0.449, compute_4=0.452),
}
_PORTABLE_GENERATIONS = {
    5.0: Kernels(0.626, 2.76, 0.513, vector=0.556, attention=1.22),
    6.0: Kernels(0.345, 1.68, 0.309, vector=0.552, attention=0.95),
    7.0: Kernels(0.884, 1.32, 0.373, vector=1.21, attention=0.497),
    7.5: Kernels(0.726, 1.15, 0.314, vector=0.53, attention=0.716),
    8.0: Kernels(0.81, 1.33, 0.218, vector=1.06, attention=0.656),
    8.6: Kernels(0.814, 0.906, 0.439, vector=1.01, attention=1.17),
    8.9: Kernels(0.82, 0.444, 0.524, attention=0.971),
    9.0: Kernels(0.72, 0.851, 0.152, vector=0.912, attention=0.493),
    10.0: Kernels(0.788, 0.849, 0.103, attention=0.959),
    12.0: Kernels(0.924, 0.631, 0.601, attention=1.24),
}
_SUSTAINED = {"A10G": 0.579, "L4": 0.5, "T4": 0.804}
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
