"""The measured coefficients of training speed, by what they mean physically."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from knowledge.errors import InputError
from knowledge.names import near, normal
from tools.throughput.gpu_shape import GpuShape


@dataclass(frozen=True, slots=True)
class Framework:
    """A training framework: what it reaches of the best kernels, and its fixed time per optimizer step."""

    name: str
    share: float
    step_ms: float
    recomputes: bool | None = None  # full activation checkpointing by default; None: by model size


@dataclass(frozen=True, slots=True)
class TrainingCoefficients:
    """All coefficients of the training model."""

    cards: Mapping[str, float]  # share of the dense 16-bit peak that wide matrices reach
    generations: Mapping[float, float]  # the same by compute capability
    half_width: float = 290.0  # width per GPU at which matrices reach half of the final share
    attention: float = 0.82  # of the linear layers' rate
    fp8_gain: float = 1.39  # over 16 bit, of a twice higher peak
    unpacking: float = 0.77  # speed of matrices whose frozen base is unpacked first
    expert_share: float = 0.32  # of the linear rate, grouped matrices of wide experts
    expert_half_width: float = 800.0
    exposed: float = 0.02  # of weight, gradient and expert traffic that no arithmetic hides
    optimizer_bytes: float = 26.0  # moved per trainable parameter: weight, gradient, fp32 copy and moments
    offload_bytes: float = 16.0  # moved over PCIe per trainable parameter when states lie in host memory

    def share_of(self, gpu: GpuShape) -> float:
        """The share of the peak on a card, or on its generation where it was not measured."""
        found = self.cards.get(gpu.card)
        if found is not None:
            return found
        levels = [level for level in self.generations if level <= gpu.capability]
        return self.generations[max(levels, default=min(self.generations))]


_FRAMEWORKS = (
    Framework("megatron", 1.25, 0.0, recomputes=False),
    Framework("torchtitan", 0.95, 0.0),
    Framework("fsdp", 0.95, 0.0),
    Framework("internevo", 0.74, 0.0, recomputes=False),
    Framework("colossal-ai", 0.81, 0.0),
    Framework("deepspeed", 0.85, 0.0),
    Framework("litgpt", 1.0, 0.0),
    Framework("transformers", 0.53, 800.0, recomputes=False),
    Framework("unsloth", 0.57, 0.0),
)
FRAMEWORKS = {framework.name: framework for framework in _FRAMEWORKS}
_ALIASES = {
    "megatron": "megatron",
    "nemo": "megatron", "nvidianemo": "megatron", "composer": "fsdp", "llmfoundry": "fsdp",
    "torchtitan": "torchtitan", "pytorchfsdp": "fsdp", "fsdp": "fsdp", "fmsfsdp": "fsdp", "torchtune": "fsdp",
    "internevo": "internevo", "colossalai": "colossal-ai", "deepspeed": "deepspeed", "pytorch": "deepspeed",
    "litgpt": "litgpt", "transformers": "transformers", "hf": "transformers", "trl": "transformers",
    "peft": "transformers", "hftransformers": "transformers", "llamafactory": "transformers",
    "swift": "transformers", "msswift": "transformers", "axolotl": "transformers", "unsloth": "unsloth",
    "accelerate": "transformers", "verl": "fsdp", "fabric": "litgpt",
}  # fmt: skip


def find_framework(name: str) -> tuple[Framework, str]:
    """The framework that a text names and a reason code; `InputError` where it names none we know.

    Without a text: scripts with the Hugging Face trainer, what most single-machine jobs use.
    """
    if not name.strip():
        return FRAMEWORKS["transformers"], "default"
    plain = normal(name)
    for key, found in sorted(_ALIASES.items(), key=lambda item: (item[1] != "unsloth", -len(item[0]))):
        if key in plain:
            return FRAMEWORKS[found], "" if key == plain else "framework_of_equal_kind"
    raise InputError("framework", name, "a known training framework", near(name, _ALIASES))


_CARDS = {
    "A100-40GB": 0.64,
    "A100-80GB": 0.76,
    "B200": 0.60,
    "H100": 0.52,
    "H100-SXM-96GB": 0.41,
    "H200": 0.66,
}
# Without measurements of training a generation takes what its tuned inference kernels suggest.
_GENERATIONS = {7.0: 0.50, 7.5: 0.42, 8.0: 0.70, 8.6: 0.60, 8.9: 0.60, 9.0: 0.52, 10.0: 0.60, 12.0: 0.55}
TRAINING = TrainingCoefficients(MappingProxyType(_CARDS), MappingProxyType(_GENERATIONS))
