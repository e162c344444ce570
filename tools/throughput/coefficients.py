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
    hop_us: float = 0.0  # handing a token from GPU to GPU of a layer split
    overlap: float = 3.2  # how far reading hides behind arithmetic: 1 not at all, large fully
    bunching: float = 0.15  # newcomers that come together: this times (concurrency^power - 1)
    bunching_power: float = 0.9
    kv_share: float = 1.0  # of the bandwidth that the best engines reach in cache reads
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
    expert_bandwidth: float = 0.97  # of the card's share, for weights of experts
    expert_compute: float = 0.839  # of the matrix rate, for grouped matrices of wide experts
    expert_half_width: float = 1232  # width of an expert's part at which it reaches half of that
    expert_us: float = 0.0572  # each expert of a layer that gets a token
    expert_layer_us: float = 25.8  # routing and regrouping of one MoE layer
    latent_layer_us: float = 35.2  # extra kernels of one latent-attention layer
    kv_bandwidth: float = 0.748  # share of the memory bandwidth that cache reads reach
    prefill_attention: float = 0.942  # share of the 16-bit peak
    decode_attention: float = 0.284
    activation_bytes: float = 77.1  # moved by elementwise kernels, per token, layer and unit of width
    host_token_us: float = 6.01  # tokenizing and copying a prompt token
    nvlink_us: float = 4.69
    nvlink_share: float = 1.96
    pcie_us: float = 15.7
    pcie_share: float = 0.664
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
            {"": 0.0, "w4a16": 13.8, "w8a16": 5.62, "bnb": 30, "gguf": 9.5, "fp4": 0.0}
        )
    )


_ENGINES = (
    Engine("vllm", 47.5, 0.0588, 16.1, 6.31, prompt_layer_us=78.6, overlap=1.73, bunching_power=0.814),
    Engine(
        "sglang",
        35,
        0.829,
        19.1,
        41.1,
        prompt_layer_us=40.2,
        overlap=2.18,
        bunching=1.71,
        bunching_power=0.735,
        bandwidth=1.11,
        compute=1.11,
    ),
    Engine(
        "tensorrt-llm",
        24.7,
        1.54,
        2.02,
        24.8,
        prompt_layer_us=174,
        overlap=1.24,
        bunching=0.303,
        bunching_power=0.678,
        bandwidth=1.02,
        compute=1.12,
        reserves_output=True,
    ),
    Engine(
        "lmdeploy", 41.1, 0.266, 16, 8.08, prompt_layer_us=52.3, overlap=3.06, bandwidth=1.08, compute=0.862
    ),
    Engine(
        "llama.cpp",
        64,
        0.672,
        60,
        2,
        prompt_layer_us=0,
        prompt_host_layer_us=569,
        split_host_layer_us=66.9,
        hop_us=40,
        overlap=1,
        kv_share=0.521,
        attention_share=0.397,
        activation_share=2.95,
        chunk_tokens=512,
        portable=True,
        splits_tensors=False,
    ),
    Engine(
        "transformers",
        188,
        1.37,
        10,
        4.84,
        prompt_layer_us=34.8,
        host_layer_us=627,
        kv_share=0.078,
        bandwidth=1.2,
        compute=0.783,
        chunk_tokens=32768,
        splits_tensors=False,
    ),
    Engine("tgi", 72.3, 2.84, 20.6, 9.39, bandwidth=1.03, compute=1.08, chunk_tokens=4096),
    Engine("gpt-fast", 19.3, 0.0942, 10, 5, bandwidth=0.921),
    Engine("mlc-llm", 21.5, 0.242, 20, 9, bandwidth=1.02),
    Engine(
        "fastertransformer",
        108,
        0.626,
        15.1,
        5.23,
        prompt_layer_us=16.7,
        overlap=3.67,
        bandwidth=1.13,
        compute=1.15,
    ),
    Engine("exllamav2", 47, 0.33, 30, 5, bandwidth=1.04, compute=0.7, splits_tensors=False),
    Engine("deepspeed", 54, 0.734, 20, 10, bandwidth=1.05),
)
_TUNED = {
    "A100-40GB": Kernels(0.972, 1.94, 0.544),
    "A100-80GB": Kernels(0.816, 2.23, 0.81, vector=1.43),
    "A100-80GB-PCIe": Kernels(0.654, 1.06, 0.459, vector=1.11),
    "A10G": Kernels(0.717, 0.834, 0.43, vector=0.937),
    "B200": Kernels(0.862, 1.13, 0.941, compute_8=0.581, compute_4=0.421),
    "B300": Kernels(1.03, 1.08, 0.55, compute_8=0.5, compute_4=0.426),
    "H100": Kernels(0.874, 1.01, 0.728, compute_8=0.507, vector=0.904),
    "H100-NVL": Kernels(0.824, 0.761, 0.49, compute_8=0.49),
    "H20-96GB": Kernels(0.356, 1.16, 0.701, compute_8=0.787, vector=0.57),
    "H200": Kernels(0.892, 1.15, 0.456, compute_8=0.731, vector=0.988),
    "L4": Kernels(0.81, 0.627, 0.279, compute_8=0.35),
    "L40S": Kernels(0.907, 0.546, 0.534, compute_8=0.805),
    "RTX-4090": Kernels(0.797, 0.72, 0.517, vector=0.993),
    "RTX-5090": Kernels(0.874, 0.782, 0.293, compute_8=0.243, compute_4=0.45),
    "RTX-PRO-6000-Blackwell-Server": Kernels(0.87, 0.745, 0.45, compute_8=0.45, compute_4=0.651),
}
_PORTABLE = {
    "A10": Kernels(0.79, 0.674, 0.411, attention=1.08),
    "A100-40GB": Kernels(0.79, 1.73, 0.203, attention=0.672),
    "A100-80GB": Kernels(0.768, 1.51, 0.216, vector=0.65, attention=0.773),
    "A100-80GB-PCIe": Kernels(0.746, 1.24, 0.229, vector=0.993, attention=0.778),
    "A10G": Kernels(0.834, 0.793, 0.512, attention=1.17),
    "A16-GA107": Kernels(0.748, 1.64, 0.47, vector=1.01, attention=1.57),
    "A40": Kernels(0.826, 0.831, 0.38, attention=1.12),
    "B200": Kernels(0.791, 0.819, 0.104, vector=0.995, attention=0.931),
    "H100": Kernels(0.668, 0.857, 0.131, vector=0.99, attention=0.612),
    "H100-PCIe": Kernels(0.765, 0.947, 0.166, attention=0.524),
    "H200": Kernels(0.607, 0.773, 0.142, vector=0.922, attention=0.706),
    "L4": Kernels(0.772, 0.382, 0.402, attention=1.14),
    "L40S": Kernels(0.828, 0.368, 0.634, attention=0.791),
    "M60": Kernels(0.617, 2.7, 0.512, vector=0.54, attention=1.29),
    "P100": Kernels(0.322, 1.63, 0.316, vector=0.484, attention=0.982),
    "Quadro-RTX-5000": Kernels(0.804, 0.962, 0.363, vector=0.598, attention=0.889),
    "RTX-PRO-6000-Blackwell-Server": Kernels(0.86, 0.55, 0.584, attention=1.25),
    "T4": Kernels(0.595, 1.32, 0.27, vector=0.547, attention=0.657),
    "V100-16GB": Kernels(0.88, 1.19, 0.396, vector=1.06, attention=0.342),
    "V100-32GB": Kernels(0.866, 1.48, 0.364, vector=1.12, attention=0.718),
    "V100-PCIe-16GB": Kernels(0.898, 1.21, 0.415, vector=1.06, attention=0.404),
    "V100S-PCIe-32GB": Kernels(0.793, 1.34, 0.344, vector=1.15, attention=0.441),
}
_TUNED_GENERATIONS = {
    5.0: Kernels(0.75, 1.5, 0.5, vector=0.5),
    6.0: Kernels(0.75, 1.5, 0.5, vector=0.4),
    7.0: Kernels(0.85, 1.5, 0.5),
    7.5: Kernels(0.8, 1.1, 0.4, compute_8=0.35, vector=0.6),
    8.0: Kernels(0.804, 1.66, 0.587, vector=1.17),
    8.6: Kernels(0.717, 0.834, 0.43, vector=0.937),
    8.9: Kernels(0.837, 0.627, 0.426, compute_8=0.483),
    9.0: Kernels(0.863, 0.96, 0.546, compute_8=0.566, vector=0.963),
    10.0: Kernels(0.94, 1.1, 0.719, compute_8=0.539, compute_4=0.424),
    12.0: Kernels(0.872, 0.764, 0.363, compute_8=0.331, compute_4=0.541),
}
_PORTABLE_GENERATIONS = {
    5.0: Kernels(0.617, 2.7, 0.512, vector=0.54, attention=1.29),
    6.0: Kernels(0.322, 1.63, 0.316, vector=0.484, attention=0.982),
    7.0: Kernels(0.858, 1.3, 0.379, vector=1.1, attention=0.458),
    7.5: Kernels(0.692, 1.13, 0.313, vector=0.572, attention=0.764),
    8.0: Kernels(0.768, 1.48, 0.216, vector=0.865, attention=0.739),
    8.6: Kernels(0.799, 0.924, 0.44, attention=1.22),
    8.9: Kernels(0.799, 0.375, 0.505, attention=0.951),
    9.0: Kernels(0.677, 0.856, 0.146, vector=0.969, attention=0.61),
    10.0: Kernels(0.791, 0.819, 0.104, vector=0.995, attention=0.931),
    12.0: Kernels(0.86, 0.55, 0.584, attention=1.25),
}
_SUSTAINED = {"A10": 0.55, "A10G": 0.685, "L20": 0.848, "L4": 0.664, "T4": 0.656}
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
