"""Where the fit of the speed coefficients starts, how far it may go, and what no kernel exceeds."""

from __future__ import annotations

from tools.throughput.coefficients import Kernels

# Share of the data sheet that no kernel exceeds, whatever a fit would like.
CAPS = {
    "bandwidth": 0.97, "compute_16": 0.90, "compute_8": 0.85, "compute_4": 0.80, "attention": 1.5,
    "prefill_attention": 0.80, "decode_attention": 0.80, "kv_bandwidth": 0.95, "expert_bandwidth": 1.05,
    "expert_compute": 1.0, "nvlink_share": 0.90, "pcie_share": 0.80, "sustained": 1.0, "vector": 1.5,
}  # fmt: skip
# Start and width (of the logarithm) of shared coefficients.
SHARED = {
    "expert_bandwidth": (0.95, 0.10), "expert_compute": (0.80, 0.30), "expert_half_width": (600.0, 0.40),
    "packed_layer_us": (10.0, 2.00), "expert_us": (0.15, 0.60), "expert_layer_us": (40.0, 0.40),
    "latent_layer_us": (35.0, 0.40),
    "kv_bandwidth": (0.85, 0.10), "older_cache": (0.90, 0.30), "prefill_attention": (0.60, 0.20),
    "decode_attention": (0.30, 0.30),
    "activation_bytes": (70.0, 0.40), "host_token_us": (5.0, 0.30), "nvlink_us": (6.0, 0.30),
    "nvlink_share": (0.75, 0.15), "pcie_us": (10.0, 0.30), "pcie_share": (0.40, 0.30),
    "pcie_crowd": (0.50, 1.00),
}  # fmt: skip
UNPACK = {"gguf": (9.0, 0.30), "w4a16": (10.0, 0.30), "w8a16": (5.0, 0.30), "bnb": (25.0, 0.40)}
# Widths of engine and kernel coefficients; an engine's fields that `ENGINES` does not name stay as they are.
ENGINE_WIDTHS = {
    "layer_us": 0.35, "step_ms": 0.60, "sequence_us": 0.60, "request_ms": 0.25, "prompt_layer_us": 0.60,
    "host_layer_us": 0.15, "prompt_host_layer_us": 0.40, "split_layer": 0.40, "unpack": 0.50, "overlap": 0.20,
    "bunching": 0.60, "bunching_power": 0.12, "serial_ms": 0.50, "bandwidth": 0.06, "compute": 0.15,
    "kv_share": 0.20, "attention_share": 0.30, "activation_share": 0.30,
}  # fmt: skip
KERNEL_WIDTHS = {
    "bandwidth": 0.10, "layer": 0.25, "compute_16": 0.25, "compute_8": 0.25, "compute_4": 0.25,
    "vector": 0.20, "attention": 0.30,
}  # fmt: skip
# Where the search starts and what it is held to: engines by their fixed costs, cards by their generation.
ENGINES: dict[str, dict[str, float]] = {
    "vllm": {"layer_us": 45, "step_ms": 0.15, "sequence_us": 20, "request_ms": 8.5, "prompt_layer_us": 70,
             "overlap": 2.5, "bunching": 0.2, "bunching_power": 0.77, "serial_ms": 1.2, "unpack": 0.4},
    "sglang": {"layer_us": 30, "step_ms": 0.6, "sequence_us": 17, "request_ms": 10, "prompt_layer_us": 40,
               "overlap": 2.5, "bunching": 1.5, "bunching_power": 0.75, "bandwidth": 1.0, "compute": 1.0,
               "unpack": 0.4},
    "tensorrt-llm": {"layer_us": 26, "step_ms": 0.8, "sequence_us": 8, "request_ms": 8, "overlap": 2.0,
                     "prompt_layer_us": 100, "bunching": 0.45, "bunching_power": 0.6, "bandwidth": 1.0,
                     "compute": 1.05},
    "lmdeploy": {"layer_us": 38, "step_ms": 0.4, "sequence_us": 15, "bandwidth": 1.0, "compute": 1.0},
    "llama.cpp": {"layer_us": 64, "step_ms": 0.6, "prompt_host_layer_us": 540, "split_layer": 0.5,
                  "kv_share": 0.6, "attention_share": 0.5, "activation_share": 3.0},
    "transformers": {"layer_us": 45, "step_ms": 1.0, "host_layer_us": 850, "kv_share": 0.8, "compute": 0.7},
    "autoawq": {"host_layer_us": 490},
    "tgi": {"layer_us": 60, "step_ms": 1.0, "bandwidth": 1.0, "compute": 1.0},
    "gpt-fast": {"layer_us": 25, "step_ms": 0.2, "bandwidth": 1.0, "compute": 1.0},
    "mlc-llm": {"layer_us": 35, "step_ms": 0.4, "bandwidth": 1.0, "compute": 1.0},
    "fastertransformer": {"layer_us": 50, "step_ms": 0.5, "overlap": 3.2, "bandwidth": 1.0, "compute": 1.0},
    "exllamav2": {"layer_us": 45, "step_ms": 0.4, "bandwidth": 1.0},
    "deepspeed": {"layer_us": 60, "step_ms": 0.8, "bandwidth": 1.0, "compute": 1.0},
}  # fmt: skip
TUNED = {
    5.0: Kernels(0.75, 1.5, 0.50, vector=0.5), 6.0: Kernels(0.75, 1.5, 0.50, vector=0.4),
    7.0: Kernels(0.85, 1.5, 0.50), 7.5: Kernels(0.80, 1.1, 0.40, 0.35, vector=0.6),
    8.0: Kernels(0.85, 1.7, 0.62, 0.45), 8.6: Kernels(0.80, 1.0, 0.45), 8.9: Kernels(0.87, 0.65, 0.45, 0.45),
    9.0: Kernels(0.86, 1.0, 0.65, 0.52), 10.0: Kernels(0.86, 1.0, 0.60, 0.55, 0.50),
    12.0: Kernels(0.88, 0.75, 0.45, 0.45, 0.45),
}  # fmt: skip
PORTABLE = {
    5.0: Kernels(0.70, 2.0, 0.40, vector=0.5), 6.0: Kernels(0.60, 1.6, 0.32, vector=0.45),
    7.0: Kernels(0.87, 1.3, 0.37, attention=0.5), 7.5: Kernels(0.72, 1.1, 0.31, vector=0.58, attention=0.8),
    8.0: Kernels(0.79, 1.4, 0.22, vector=0.9, attention=0.75), 8.6: Kernels(0.81, 0.85, 0.43, attention=1.1),
    8.9: Kernels(0.82, 0.45, 0.48), 9.0: Kernels(0.75, 0.90, 0.145, attention=0.65),
    10.0: Kernels(0.79, 0.85, 0.10), 12.0: Kernels(0.90, 0.60, 0.55, attention=1.2),
}  # fmt: skip
TYPES = {
    "compute_16": ("bf16", "fp16", "fp32"), "compute_8": ("fp8", "int8"), "compute_4": ("fp4",),
}  # fmt: skip
