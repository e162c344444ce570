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
    split_host_layer_us: float = 0.0  # the same where layers are split over GPUs
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
    expert_bandwidth: float = 1.02  # of the card's share, for weights of experts
    expert_compute: float = 0.737  # of the matrix rate, for grouped matrices of wide experts
    expert_half_width: float = 1040  # width of an expert's part at which it reaches half of that
    expert_us: float = 0.0926  # each expert of a layer that gets a token
    expert_layer_us: float = 30.7  # routing and regrouping of one MoE layer
    latent_layer_us: float = 37.5  # extra kernels of one latent-attention layer
    kv_bandwidth: float = 0.749  # share of the memory bandwidth that cache reads reach
    prefill_attention: float = 0.619  # share of the 16-bit peak
    decode_attention: float = 0.346
    activation_bytes: float = 70.3  # moved by elementwise kernels, per token, layer and unit of width
    host_token_us: float = 4.59  # tokenizing and copying a prompt token
    nvlink_us: float = 6.33
    nvlink_share: float = 0.9
    pcie_us: float = 15.1
    pcie_share: float = 0.616
    newer_host: float = 0.7  # time of a launch on hosts of Ada and later, relative to hosts of Ampere
    # Extra microseconds a layer of formats whose kernels are made to load, not to be fast, by engine.
    slow_formats: Mapping[tuple[str, str], float] = field(
        default_factory=lambda: MappingProxyType(
            {
                ("transformers", "int8-w8a8"): 4000.0,  # runs as bitsandbytes LLM.int8
                ("transformers", "int8-bnb"): 4000.0,
                ("transformers", "fp8"): 1100.0,
                ("transformers", "fp8-block"): 1100.0,
                ("transformers", "gptq-int8"): 350.0,
                ("transformers", "nf4"): 700.0,
                ("fastertransformer", "int8-w8a8"): 600.0,  # CTranslate2 quantizes activations as it goes
                ("sglang", "gptq-int4 moe"): 550.0,
            }
        )
    )
    unpack: Mapping[str, float] = field(  # fp32 operations per weight, by kernel
        default_factory=lambda: MappingProxyType(
            {"": 0.0, "w4a16": 12.9, "w8a16": 5.24, "bnb": 28.6, "gguf": 7.53, "fp4": 0.0}
        )
    )


_ENGINES = (
    Engine(
        "vllm",
        42.7,
        0.143,
        16.4,
        8.48,
        prompt_layer_us=84,
        overlap=1.73,
        bunching=0.203,
        bunching_power=0.738,
        serial_ms=1.28,
        serial_token_us=0.00378,
    ),
    Engine(
        "sglang",
        25.3,
        1,
        11.2,
        11.3,
        prompt_layer_us=31.5,
        overlap=2.01,
        bunching=1.91,
        bunching_power=0.71,
        bandwidth=1,
        compute=1.09,
    ),
    Engine(
        "tensorrt-llm",
        22.6,
        1.32,
        2.95,
        7.56,
        prompt_layer_us=140,
        overlap=1.07,
        bunching=0.542,
        bunching_power=0.566,
        bandwidth=0.983,
        compute=1.31,
        reserves_output=True,
    ),
    Engine(
        "lmdeploy", 33.9, 0.341, 14.8, 7.21, prompt_layer_us=61, overlap=2.99, bandwidth=1.03, compute=1.01
    ),
    Engine(
        "llama.cpp",
        67.3,
        0.65,
        60,
        2,
        prompt_layer_us=0,
        prompt_host_layer_us=573,
        split_host_layer_us=64.3,
        hop_us=40,
        overlap=1,
        kv_share=0.601,
        attention_share=0.402,
        activation_share=3.2,
        chunk_tokens=512,
        portable=True,
        splits_tensors=False,
    ),
    Engine(
        "transformers",
        70.6,
        1.09,
        10,
        4.95,
        prompt_layer_us=34.6,
        host_layer_us=875,
        host_overlap=5,
        kv_share=0.8,
        copies_cache=True,
        bandwidth=0.992,
        compute=0.681,
        chunk_tokens=32768,
        splits_tensors=False,
    ),
    Engine(  # transformers with fused layers
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
    Engine("tgi", 73.1, 2.25, 21.2, 9.16, bandwidth=0.989, compute=1.04, chunk_tokens=4096),
    Engine("gpt-fast", 18.4, 0.146, 10, 5, bandwidth=0.967),
    Engine("mlc-llm", 29.8, 0.349, 20, 9, bandwidth=0.987),
    Engine(
        "fastertransformer",
        87.7,
        0.608,
        15.3,
        5,
        prompt_layer_us=11.2,
        overlap=3.37,
        bandwidth=1.02,
        compute=1.05,
    ),
    Engine("exllamav2", 43.8, 0.382, 30, 5, compute=0.7, splits_tensors=False),
    Engine("deepspeed", 52.4, 0.736, 20, 10, bandwidth=1.01),
)
_TUNED = {
    "A100-40GB": Kernels(0.933, 1.99, 0.553, compute_8=0.45),
    "A100-80GB": Kernels(0.786, 2.1, 0.735, compute_8=0.45, vector=1.17),
    "A100-80GB-PCIe": Kernels(0.693, 1.15, 0.502, compute_8=0.45, vector=1.11),
    "A10G": Kernels(0.751, 0.882, 0.429, vector=0.99),
    "B200": Kernels(0.834, 1.03, 0.822, compute_8=0.62, compute_4=0.453),
    "B300": Kernels(0.939, 0.951, 0.6, compute_8=0.544, compute_4=0.51),
    "H100": Kernels(0.886, 0.964, 0.773, compute_8=0.481, vector=0.854),
    "H100-NVL": Kernels(0.819, 0.767, 0.526, compute_8=0.52),
    "H20-96GB": Kernels(0.383, 1.24, 0.716, compute_8=0.657, vector=0.562),
    "H200": Kernels(0.888, 1.04, 0.431, compute_8=0.85, vector=0.885),
    "L4": Kernels(0.819, 0.689, 0.305, compute_8=0.45),
    "L40S": Kernels(0.896, 0.528, 0.567, compute_8=0.674),
    "RTX-4090": Kernels(0.835, 0.697, 0.503, compute_8=0.45),
    "RTX-5090": Kernels(0.874, 0.803, 0.341, compute_8=0.311, compute_4=0.45),
    "RTX-PRO-6000-Blackwell-Server": Kernels(0.884, 0.743, 0.45, compute_8=0.45, compute_4=0.546),
}
_PORTABLE = {
    "A10": Kernels(0.792, 0.657, 0.412, attention=1.05),
    "A100-40GB": Kernels(0.823, 1.65, 0.205, vector=1.01, attention=0.627),
    "A100-80GB": Kernels(0.728, 1.47, 0.219, vector=0.846, attention=0.695),
    "A100-80GB-PCIe": Kernels(0.798, 1.19, 0.232, vector=0.988, attention=0.709),
    "A10G": Kernels(0.864, 0.855, 0.509, vector=0.984, attention=1.15),
    "A16-GA107": Kernels(0.755, 1.57, 0.471, vector=1.01, attention=1.48),
    "A40": Kernels(0.825, 0.805, 0.382, attention=1.09),
    "B200": Kernels(0.786, 0.796, 0.103, attention=0.963),
    "H100": Kernels(0.669, 0.845, 0.138, vector=0.983, attention=0.497),
    "H100-PCIe": Kernels(0.763, 0.906, 0.168, attention=0.468),
    "H200": Kernels(0.643, 0.8, 0.15, vector=0.835, attention=0.545),
    "L4": Kernels(0.776, 0.376, 0.404, attention=1.1),
    "L40S": Kernels(0.825, 0.365, 0.629, attention=0.778),
    "M60": Kernels(0.624, 2.59, 0.514, vector=0.537, attention=1.23),
    "P100": Kernels(0.343, 1.59, 0.309, vector=0.512, attention=0.953),
    "Quadro-RTX-5000": Kernels(0.813, 0.931, 0.364, vector=0.625, attention=0.829),
    "RTX-4090": Kernels(0.782, 0.456, 0.56, attention=1.02),
    "RTX-PRO-6000-Blackwell-Server": Kernels(0.866, 0.544, 0.586, attention=1.23),
    "T4": Kernels(0.613, 1.28, 0.271, vector=0.449, attention=0.625),
    "V100-16GB": Kernels(0.906, 1.17, 0.388, vector=1.1, attention=0.38),
    "V100-32GB": Kernels(0.88, 1.42, 0.364, vector=1.14, attention=0.711),
    "V100-PCIe-16GB": Kernels(0.931, 1.25, 0.405, vector=1.14, attention=0.501),
    "V100S-PCIe-32GB": Kernels(0.816, 1.29, 0.34, vector=1.21, attention=0.456),
}
_TUNED_GENERATIONS = {
    5.0: Kernels(0.75, 1.5, 0.5, vector=0.5),
    6.0: Kernels(0.75, 1.5, 0.5, vector=0.4),
    7.0: Kernels(0.85, 1.5, 0.5),
    7.5: Kernels(0.8, 1.1, 0.4, compute_8=0.35, vector=0.6),
    8.0: Kernels(0.798, 1.69, 0.589, compute_8=0.45, vector=1.09),
    8.6: Kernels(0.751, 0.882, 0.429, vector=0.99),
    8.9: Kernels(0.849, 0.633, 0.443, compute_8=0.515),
    9.0: Kernels(0.864, 0.917, 0.56, compute_8=0.597, vector=0.911),
    10.0: Kernels(0.885, 0.987, 0.702, compute_8=0.581, compute_4=0.481),
    12.0: Kernels(0.879, 0.772, 0.392, compute_8=0.374, compute_4=0.496),
}
_PORTABLE_GENERATIONS = {
    5.0: Kernels(0.624, 2.59, 0.514, vector=0.537, attention=1.23),
    6.0: Kernels(0.343, 1.59, 0.309, vector=0.512, attention=0.953),
    7.0: Kernels(0.882, 1.28, 0.373, vector=1.15, attention=0.498),
    7.5: Kernels(0.706, 1.09, 0.314, vector=0.53, attention=0.72),
    8.0: Kernels(0.782, 1.42, 0.218, vector=0.945, attention=0.676),
    8.6: Kernels(0.808, 0.918, 0.441, attention=1.18),
    8.9: Kernels(0.794, 0.397, 0.522, attention=0.954),
    9.0: Kernels(0.69, 0.849, 0.151, vector=0.937, attention=0.502),
    10.0: Kernels(0.786, 0.796, 0.103, attention=0.963),
    12.0: Kernels(0.866, 0.544, 0.586, attention=1.23),
}
_SUSTAINED = {"A10G": 0.619, "L4": 0.504, "T4": 0.742}
# The same chip at the same memory bandwidth, sold under another name or with a slower NVLink.
_SAME_CHIP = {"A10": "A10G", "A800-80GB": "A100-80GB", "H800": "H100", "GB200": "B200", "A10G": "A10"}
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
    found = cards.get(card) or cards.get(_SAME_CHIP.get(card, ""))
    if found is not None:
        return found
    return levels[max((level for level in levels if level <= capability), default=min(levels))]


def sustained_of(card: str, fit: Coefficients = COEFFICIENTS) -> float:
    """The share of a card's burst matrix rate that is left when prompts keep it busy."""
    return fit.sustained.get(card, fit.sustained.get(_SAME_CHIP.get(card, ""), 1.0))
