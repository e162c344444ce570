"""Training frameworks by what they hold beside the textbook states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["hf", "deepspeed", "megatron", "torchtitan", "torchtune", "unsloth", "litgpt"]


@dataclass(frozen=True, slots=True)
class Trainer:
    """One framework. Its flags name mechanisms, each documented by the framework itself."""

    kind: Kind
    keeps_master: bool  # plain "bf16" full training keeps an fp32 copy of the weights
    fused_loss: bool = False  # logits are never whole (chunked or fused cross-entropy)
    foreach_temporary: bool = False  # unfused torch AdamW holds one temporary the size of the weights
    offloads_checkpoints: bool = False  # layer inputs wait in host memory (Unsloth)
    upcasts_base: bool = False  # PEFT casts embedding and head of a bitsandbytes base to fp32
    shards_by_default: bool = False  # FSDP whenever there are several data-parallel ranks
    splits_batch: bool = False  # under pipelining the stated batch is cut into one micro-batch per stage
    gathers_live_parameters: bool = False  # DeepSpeed ZeRO-3 keeps up to 1e9 gathered parameters alive
    allocator_share: float = 0.03  # cached blocks that the allocator cannot give back
    libraries_gib: float = 1.0  # CUDA context, cuBLAS workspaces
    # Bytes per logit: 16-bit logits, fp32 copy, log-softmax and its fp32 gradient (12 measured with Qwen's
    # script, 26 with ms-swift); vocabulary-parallel and compiled losses keep fewer copies.
    loss_bytes: float = 14.0


_HF = Trainer("hf", keeps_master=False, foreach_temporary=True, upcasts_base=True, allocator_share=0.06)
_DEEPSPEED = Trainer(
    "deepspeed", keeps_master=True, upcasts_base=True, gathers_live_parameters=True, allocator_share=0.06
)
_MEGATRON = Trainer("megatron", keeps_master=True, allocator_share=0.06, loss_bytes=6.0)
_BY_START: tuple[tuple[str, Trainer], ...] = (
    ("megatron", _MEGATRON),
    ("nemo", _MEGATRON),
    (
        "torchtitan",
        Trainer("torchtitan", True, shards_by_default=True, splits_batch=True, loss_bytes=10.0),
    ),
    ("torchtune", Trainer("torchtune", False, fused_loss=True, libraries_gib=0.3)),
    ("litgpt", Trainer("litgpt", False, libraries_gib=0.5)),
    (
        "unsloth",
        Trainer("unsloth", False, fused_loss=True, offloads_checkpoints=True, libraries_gib=0.5),
    ),
    ("xtuner", Trainer("torchtitan", True, fused_loss=True, shards_by_default=True)),
    ("ms-swift", _HF),
    ("swift", _HF),
    ("llama-factory", _HF),
    ("llamafactory", _HF),
    ("trl", _HF),
    ("axolotl", _HF),
    ("lomo", _HF),
    ("mezo", _HF),
)


def resolve_trainer(framework: str, parallelism: str) -> Trainer:
    """The trainer of a framework text; DeepSpeed wherever ZeRO is named, Hugging Face's trainer otherwise."""
    name, text = framework.strip().lower(), parallelism.lower()
    if "megatron" in name:
        return _MEGATRON
    zero = "zero" in text or "deepspeed" in text
    for start, trainer in _BY_START:
        if name.startswith(start):
            return _DEEPSPEED if zero and trainer.kind == "hf" else trainer
    if zero or "deepspeed" in name:
        return _DEEPSPEED
    return _HF if name else _DEEPSPEED
