"""Serving engines: what each reserves beside weights and KV cache, and the defaults it starts with."""

from __future__ import annotations

import re
from dataclasses import dataclass

from knowledge.errors import InputError
from knowledge.names import near, normal
from tools.memory.card import Card
from tools.memory.shape import Shape
from tools.memory.weights import GIB

Version = tuple[int, ...]

# fp32 copies of the logits of a full batch that vLLM's profiling run of the sampler keeps, in bytes per
# slot and vocabulary entry. Fit over 14 start-up logs of 5 sources (T4, RTX 4090, H100; 0.7 to 0.11).
SAMPLER_BYTES = 39.0
CUDA_CONTEXT_GIB = 0.5  # driver context with cuBLAS, about 550 MB on A100/H100/L40S (aiconfigurator)


@dataclass(frozen=True, slots=True, eq=False)
class Engine:
    """One engine at one version. Memory figures are GiB per GPU."""

    name: str
    version: Version
    preallocates: bool  # takes a share of the card at start and gives what is left to the KV pool
    layer_split: bool  # more GPUs without a plan mean whole layers per GPU, not tensor parallel
    keeps_windows: bool  # window layers stop growing
    utilization: float  # default share of the card
    host_embedding: bool = False  # the token embedding stays in host memory

    def at_least(self, *version: int) -> bool:
        """Whether the version is this one or newer; an unstated version counts as the newest."""
        return not self.version or self.version >= version

    def default_sequences(self, card: Card | None) -> int:
        """Sequences per step where the request states none (vLLM: 1,024 on large cards, else 256)."""
        if self.name == "vllm":
            return 1024 if card is not None and card.large_not_a100 and self.at_least(0, 8, 3) else 256
        return 256

    def default_batched_tokens(self, card: Card | None) -> int:
        """Tokens of one step where the request states none."""
        if self.name == "vllm" and card is not None and card.large_not_a100 and self.at_least(0, 8, 3):
            return 8192
        return 8192 if self.name in ("sglang", "tensorrt-llm") else 2048

    def activation_gib(self, shape: Shape, sequences: int, tokens: int, tensor: int) -> float:
        """Peak working memory of one step: the sampler's logits or one layer, whichever is larger."""
        layer = layer_bytes(shape, tokens, tensor)
        if self.name == "vllm":
            return max(SAMPLER_BYTES * sequences * shape.vocab, layer) / GIB
        if self.name in ("transformers", "llama.cpp"):
            return (layer_bytes(shape, min(tokens, 512), tensor) + 6.0 * shape.vocab) / GIB
        return max(6.0 * sequences * shape.vocab + layer, 0.07 * GIB) / GIB

    def overhead_gib(self, tensor: int) -> float:
        """Libraries outside the tensor allocator that count against the engine's share."""
        if not self.preallocates:
            return 0.0
        return 0.15 if tensor == 1 else 0.55

    def graphs_gib(self, eager: bool) -> float:
        """Captured CUDA graphs; none in eager mode."""
        return 0.0 if eager or not self.preallocates else 0.6

    def graphs_inside_share(self) -> bool:
        """vLLM counts graphs inside its share since 0.21; before they came out of the rest of the card."""
        return self.name != "vllm" or self.at_least(0, 21)


def layer_bytes(shape: Shape, tokens: int, tensor: int) -> float:
    """Live 16-bit activations of one layer for `tokens` tokens, bytes (section 3, lower bound)."""
    attention = 2 * shape.hidden + 2 * (shape.query_heads + shape.kv_heads) * shape.head_dim / tensor
    feed_forward = 2 * shape.hidden + 3 * shape.ffn / tensor
    return 2.0 * tokens * max(attention, feed_forward)


_NAMES = {
    "vllm": "vllm",
    "vllm(fork)": "vllm",
    "vllm(intel)": "vllm",
    "sglang": "sglang",
    "tensorrtllm": "tensorrt-llm",
    "trtllm": "tensorrt-llm",
    "tensorrt": "tensorrt-llm",
    "lmdeploy": "lmdeploy",
    "turbomind": "lmdeploy",
    "lmdeploy(turbomind)": "lmdeploy",
    "tgi": "tgi",
    "textgenerationinference": "tgi",
    "llama.cpp": "llama.cpp",
    "llamacpp": "llama.cpp",
    "ikllama.cpp": "llama.cpp",
    "ollama": "llama.cpp",
    "lmstudio": "llama.cpp",
    "transformers": "transformers",
    "huggingface": "transformers",
    "hf": "transformers",
    "pytorch": "transformers",
    "autoawq": "transformers",
    "autogptq": "transformers",
    "gptqforllama(triton)": "transformers",
    "gptqforllama": "transformers",
    "acceleratebigmodelinference": "transformers",
    "accelerate": "transformers",
}


def resolve_engine(name: str, version: str = "") -> tuple[Engine, str]:
    """The engine of a name and the reason code of what was assumed. Raises `InputError` for unknown names."""
    reason = ""
    if not name:
        name, reason = "vllm", "default_engine"
    match = re.match(r"^(.*?)[\s:=@]*v?(\d+(?:\.\d+)+.*)?$", name.strip(), re.S)
    bare, attached = (match[1], match[2] or "") if match else (name, "")
    known = _NAMES.get(normal(bare))
    if known is None:
        raise InputError("engine", name, "a known serving engine", near(bare, _NAMES))
    if normal(bare) != normal(known) and not reason:
        reason = "engine_of_equal_kind"
    return _engine(known, parse_version(version or attached)), reason


def parse_version(text: str) -> Version:
    """The numbers of a version text ("v0.11.0rc2" gives (0, 11, 0)); () where there are none."""
    found = re.search(r"\d+(?:\.\d+)*", text)
    return tuple(int(part) for part in found[0].split(".")[:4]) if found else ()


def _engine(name: str, version: Version) -> Engine:
    newest = not version
    if name == "vllm":
        share = 0.92 if newest or version >= (0, 22) else 0.9
        return Engine(name, version, True, False, newest or version >= (0, 9), share)
    if name == "sglang":
        return Engine(name, version, True, False, True, 0.88)
    if name == "tensorrt-llm":
        return Engine(name, version, True, False, True, 0.9)
    if name == "lmdeploy":
        return Engine(name, version, True, False, False, 0.8)
    if name == "tgi":
        return Engine(name, version, True, False, False, 0.95)
    if name == "llama.cpp":
        return Engine(name, version, False, True, True, 1.0, host_embedding=True)
    return Engine(name, version, False, True, False, 1.0)
