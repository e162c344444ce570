"""Parallel plan of a training job: the degrees, and what decides traffic and bubble beside them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tools.contracts.training import TrainingTimeRequest
from tools.training_memory.parallelism import Division, resolve_division

# Words of speed tables that say nothing about degrees: schedules, sharding names, fields that do not apply.
_NOISE = re.compile(
    r"\b(1f1b|interleaved|asynchronous|async|full_shard|no_shard|vp\s*\d*(n/a)?|epn/a|pytorch|with|zero1=-1)\b"
)
_WORDS = ((r"\bshard_grad_op\b", "zero2"), (r"zero1=\d+", "zero1"), (r"data\+tensor\+pipeline", "zero1"))


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """Degrees of one job. `shards` GPUs hold one copy of the weights between them (ZeRO-3, FSDP)."""

    gpus: int
    nodes: int
    tensor: int = 1
    pipeline: int = 1
    context: int = 1
    expert: int = 1
    virtual_stages: int = 1
    shards: int = 1
    offload: bool = False

    @property
    def data(self) -> int:
        return max(1, self.gpus // (self.tensor * self.pipeline * self.context))

    @property
    def gpus_per_node(self) -> int:
        return max(1, self.gpus // self.nodes)


def plan_of(
    request: TrainingTimeRequest, gpus: int, nodes: int, full: bool, fsdp_trainer: bool = False
) -> TrainingPlan:
    """The plan of a request, divided as its memory is; degrees in fields win over those in the text. Raises
    `InputError`."""
    text = request.parallelism.lower()
    virtual = re.search(r"\bvp\s*=?\s*(\d+)", text)
    plain = _NOISE.sub(" ", text)
    for pattern, word in _WORDS:
        plain = re.sub(pattern, word, plain)
    plain = re.sub(r"\s+", " ", plain).strip(" ,+")
    division, count, _reason = resolve_division(
        request.model_copy(update={"parallelism": plain}), gpus, full, fsdp_trainer
    )
    return TrainingPlan(
        gpus=count,
        nodes=nodes,
        tensor=division.tensor,
        pipeline=division.pipeline,
        context=division.context,
        expert=division.expert,
        virtual_stages=int(virtual[1]) if virtual else 2 if "interleaved" in text else 1,
        shards=_shards(division, text, count, nodes),
        offload=division.offload_optimizer or division.offload_parameters,
    )


def _shards(division: Division, text: str, gpus: int, nodes: int) -> int:
    """GPUs over which weights are sharded: with hybrid sharding those of one machine."""
    if division.zero < 3 and "hsdp" not in text:
        return 1
    if "hsdp" in text or "hybrid" in text:
        return min(division.shards, max(1, gpus // nodes))
    return division.shards
