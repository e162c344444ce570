"""What training frameworks hold in memory beside the textbook states."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Trainer:
    """One way to train. Its flags name mechanisms, each documented by the framework itself."""

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


HUGGING_FACE = Trainer(keeps_master=False, foreach_temporary=True, upcasts_base=True, allocator_share=0.06)
DEEPSPEED = Trainer(keeps_master=True, upcasts_base=True, gathers_live_parameters=True, allocator_share=0.06)
MEGATRON = Trainer(keeps_master=True, allocator_share=0.06, loss_bytes=6.0)
FSDP = Trainer(keeps_master=True, shards_by_default=True)
TORCHTITAN = Trainer(keeps_master=True, shards_by_default=True, splits_batch=True, loss_bytes=10.0)
TORCHTUNE = Trainer(keeps_master=False, fused_loss=True, libraries_gib=0.3)
XTUNER = Trainer(keeps_master=True, fused_loss=True, shards_by_default=True)
LITGPT = Trainer(keeps_master=False, libraries_gib=0.5)
UNSLOTH = Trainer(keeps_master=False, fused_loss=True, offloads_checkpoints=True, libraries_gib=0.5)
