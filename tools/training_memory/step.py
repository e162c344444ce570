"""The training step of a request: length, micro-batch and recomputation, the same for memory and speed."""

from __future__ import annotations

from dataclasses import dataclass

from knowledge.errors import InputError
from tools.contracts.training import Method, TrainingMemoryRequest
from tools.notes import Notes
from tools.training_memory.frameworks import Framework

DEFAULT_SEQUENCE = 2048
DEFAULT_RANK = 8
# Micro-batches of an optimizer step and rank where no global batch is stated (LoRA examples of LLaMA-Factory,
# all of Qwen's scripts).
ACCUMULATION = 8
RECOMPUTE_FROM = 10e9  # parameters from which full activation checkpointing is usual in pre-training
_NOT_STATED = ("", "auto", "default", "not stated", "unknown")


@dataclass(frozen=True, slots=True)
class StepSettings:
    """What one rank computes before it updates: `micro_batch` samples of `sequence` tokens at a time."""

    sequence: int
    micro_batch: int
    checkpointing: str  # none, selective, full

    @property
    def recomputes(self) -> bool:
        """Whether every layer is computed a second time in the backward pass."""
        return self.checkpointing == "full"


def settle_step(
    request: TrainingMemoryRequest,
    framework: Framework,
    parameters: float,
    pipeline: int,
    context: int,
    notes: Notes,
    per_rank: float | None = None,
) -> StepSettings:
    """The step of a request for a model of so many parameters, defaults noted as assumptions.

    `per_rank` is the global batch of one data-parallel rank, in samples, where it is stated. Raises
    `InputError` for words of recomputation that nobody knows.
    """
    sequence = request.sequence_length
    if sequence is None:
        sequence = DEFAULT_SEQUENCE
        notes.assume("sequence_length", sequence, "default_sequence")
    micro = request.micro_batch
    if micro is None:
        micro = 1 if pipeline > 1 else max(1, framework.micro_tokens * context // sequence)
        if per_rank is not None:
            micro = max(1, min(micro, round(per_rank)))
        notes.assume("micro_batch", micro, "default_micro_batch")
    checkpointing = _checkpointing(request.gradient_checkpointing)
    if checkpointing is None:
        by_size = parameters >= RECOMPUTE_FROM
        recomputes = by_size if framework.recomputes is None else framework.recomputes
        checkpointing = "full" if recomputes else "none"
        notes.assume("gradient_checkpointing", checkpointing, "default_checkpointing")
    return StepSettings(sequence, micro, checkpointing)


def settle_rank(request: TrainingMemoryRequest, method: Method, notes: Notes) -> int:
    """The rank of adapters, the default noted where the method has adapters."""
    if method in ("lora", "qlora") and request.lora_rank is None:
        notes.assume("lora_rank", DEFAULT_RANK, "default_rank")
    return request.lora_rank or DEFAULT_RANK


def _checkpointing(value: str | bool) -> str | None:
    """none, selective or full, from the words people use; None where they say nothing."""
    if isinstance(value, bool):
        return "full" if value else "none"
    written = value.strip().lower()
    if written in _NOT_STATED:
        return None
    if written in ("no", "none", "off", "false", "0", "disabled"):
        return "none"
    if written in ("on", "true", "1", "enabled") or written.startswith(("yes", "full", "every")):
        return "full"
    if written.startswith("sel"):
        return "selective"
    raise InputError("gradient_checkpointing", value, "none, selective or full")
