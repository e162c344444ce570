"""Parallel degrees of a training job, from fields and from text as people write it ("TP8 PP2", "zero3")."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tools.contracts.training import TrainingTimeRequest


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """Degrees of one job; `data` is what remains of the GPUs. `shards` GPUs hold one copy of the weights
    between them (ZeRO-3, FSDP); 1 when every data-parallel rank holds them whole."""

    gpus: int
    nodes: int
    tensor: int = 1
    pipeline: int = 1
    context: int = 1
    expert: int = 1
    virtual_stages: int = 1
    shards: int = 1
    zero_stage: int = 0
    offload: bool = False

    @property
    def data(self) -> int:
        return max(1, self.gpus // (self.tensor * self.pipeline * self.context))

    @property
    def gpus_per_node(self) -> int:
        return max(1, self.gpus // self.nodes)


def plan_of(request: TrainingTimeRequest, gpus: int, nodes: int) -> TrainingPlan:
    """The plan of a request; degrees in fields win over those in the text."""
    text = request.parallelism.lower()
    tensor = request.tensor_parallel or _degree(text, r"\btp\s*=?\s*(\d+)") or 1
    pipeline = request.pipeline_parallel or _degree(text, r"\bpp\s*=?\s*(\d+)") or 1
    context = request.context_parallel or _degree(text, r"\bcp\s*=?\s*(\d+)") or 1
    expert = request.expert_parallel or _degree(text, r"\bep\s*=?\s*(\d+)") or 1
    stage = request.zero_stage
    if stage is None:
        stage = _stage(text, str(request.fsdp).lower())
    data = max(1, gpus // (tensor * pipeline * context))
    shards = 1
    if stage == 3:
        shards = _degree(text, r"\bfsdp\s*(\d+)") or data
        if "hsdp" in text or "hybrid" in text:
            shards = min(data, max(1, gpus // nodes))
    return TrainingPlan(
        gpus=gpus,
        nodes=nodes,
        tensor=tensor,
        pipeline=pipeline,
        context=context,
        expert=expert,
        virtual_stages=_degree(text, r"\bvp\s*=?\s*(\d+)") or (2 if "interleaved" in text else 1),
        shards=min(shards, data),
        zero_stage=stage,
        offload=_offloads(request.offload) or "offload" in text,
    )


def _degree(text: str, pattern: str) -> int | None:
    found = re.search(pattern, text)
    return int(found[1]) if found and int(found[1]) > 0 else None


def _stage(text: str, fsdp: str) -> int:
    found = re.search(r"zero[-_ ]?(?:stage)?[-_ ]?([0-3])", text)
    if found:
        return int(found[1])
    if "shard_grad_op" in text or "grad_op" in fsdp:
        return 2
    if "fsdp" in text or "hsdp" in text or fsdp not in ("", "no", "none", "false", "no_shard"):
        return 3
    return 0


def _offloads(value: str | bool) -> bool:
    if isinstance(value, bool):
        return value
    return value.strip().lower() not in ("", "no", "none", "false", "off", "0")
