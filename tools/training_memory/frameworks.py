"""Training frameworks: one table of names, memory, speed and the step that each runs by default."""

from __future__ import annotations

from dataclasses import dataclass, replace

from knowledge.errors import InputError
from knowledge.names import near, normal
from tools.training_memory import trainers
from tools.training_memory.trainers import Trainer

# Scripts and recipes of pre-training fill the card with a micro-batch of about this many tokens; trainers
# for fine-tuning start from one sample (LLaMA-Factory's and Qwen's examples).
PRETRAINING_TOKENS = 8192


@dataclass(frozen=True, slots=True)
class Framework:
    """A training framework. `share` is what it reaches of the best kernels, `step_ms` its fixed time per
    optimizer step: fits over the measured speeds in `benchmarks`, at the step that its defaults run."""

    name: str
    trainer: Trainer
    share: float
    step_ms: float = 0.0
    recomputes: bool | None = None  # full activation checkpointing by default; None: by model size
    micro_tokens: int = PRETRAINING_TOKENS  # of a micro-batch; 0: one sample

    @property
    def fine_tunes(self) -> bool:
        """Whether scripts with Hugging Face's trainer stand behind the name: ZeRO makes them DeepSpeed's."""
        return self.trainer is trainers.HUGGING_FACE


_TABLE = (
    Framework("megatron", trainers.MEGATRON, 1.25, recomputes=False),
    Framework("torchtitan", trainers.TORCHTITAN, 0.95),
    Framework("torchtune", trainers.TORCHTUNE, 0.95, recomputes=True, micro_tokens=0),
    Framework("xtuner", trainers.XTUNER, 0.95, recomputes=True, micro_tokens=0),
    Framework("fsdp", trainers.FSDP, 0.95),
    Framework("internevo", trainers.DEEPSPEED, 0.74, recomputes=False),
    Framework("colossal-ai", trainers.DEEPSPEED, 0.81),
    Framework("deepspeed", trainers.DEEPSPEED, 0.85),
    Framework("litgpt", trainers.LITGPT, 1.0),
    Framework("transformers", trainers.HUGGING_FACE, 0.76, 800.0, recomputes=True, micro_tokens=0),
    Framework("unsloth", trainers.UNSLOTH, 0.86, recomputes=True, micro_tokens=0),
)
FRAMEWORKS = {framework.name: framework for framework in _TABLE}
DEFAULT_FRAMEWORK = "transformers"
_ALIASES = {
    "megatron": "megatron",
    "nemo": "megatron", "nvidianemo": "megatron", "composer": "fsdp", "llmfoundry": "fsdp",
    "torchtitan": "torchtitan", "pytorchfsdp": "fsdp", "fsdp": "fsdp", "fmsfsdp": "fsdp",
    "torchtune": "torchtune", "xtuner": "xtuner", "verl": "fsdp",
    "internevo": "internevo", "colossalai": "colossal-ai", "deepspeed": "deepspeed", "pytorch": "deepspeed",
    "litgpt": "litgpt", "fabric": "litgpt", "unsloth": "unsloth",
    "transformers": "transformers", "hf": "transformers", "huggingface": "transformers",
    "hftransformers": "transformers", "trl": "transformers", "peft": "transformers",
    "accelerate": "transformers", "llamafactory": "transformers", "swift": "transformers",
    "msswift": "transformers", "axolotl": "transformers",
}  # fmt: skip
# Scripts of papers and model makers: all train with Hugging Face's trainer and models.
_SCRIPTS = ("finetune", "qlora", "lomo", "mezo", "ptuning")
_FIRST = ("megatron", "unsloth")  # named beside another, they do the work: "ms-swift (Megatron)"


def resolve_framework(text: str, parallelism: str = "") -> tuple[Framework, str]:
    """The framework that a text names and a reason code, "" where it is named as the table names it.

    Without a text: Hugging Face's trainer under DeepSpeed's mixed precision, what most fine-tuning runs.
    `parallelism` is the text of the plan: ZeRO in it makes Hugging Face's trainer hold DeepSpeed's states.
    Raises `InputError` where the text names no known framework.
    """
    default = FRAMEWORKS[DEFAULT_FRAMEWORK]
    if not text.strip():
        return replace(default, trainer=trainers.DEEPSPEED), "default"
    plain = normal(text)
    named = [key for key in (*_ALIASES, *_SCRIPTS) if key in plain]
    if not named:
        raise InputError("framework", text, "a known training framework", near(text, _ALIASES))
    kinds = {_ALIASES.get(key, DEFAULT_FRAMEWORK) for key in named}
    deepspeed = "deepspeed" in plain or "zero" in parallelism.lower() or "deepspeed" in parallelism.lower()
    key = min(named, key=lambda key: (_ALIASES.get(key) not in _FIRST, -len(key)))
    name = _ALIASES.get(key, DEFAULT_FRAMEWORK)
    if name == "deepspeed" and DEFAULT_FRAMEWORK in kinds:
        name = DEFAULT_FRAMEWORK
    found = FRAMEWORKS[name]
    if found.fine_tunes and deepspeed:
        found = replace(found, trainer=trainers.DEEPSPEED)
    return found, "" if key == plain else "framework_of_equal_kind"
