"""How a training job is divided: "zero3", "fsdp8+tp8+pp8", "TP8 PP2 DP4" and request fields to degrees."""

from __future__ import annotations

import re
from dataclasses import dataclass

from knowledge.errors import InputError
from tools.contracts.training import TrainingMemoryRequest

_DEGREE = re.compile(r"\b(tp|pp|dp|cp|sp|ep|fsdp|ddp|hsdp)[ =:x-]?(\d+)\b", re.I)
_LONG = (
    (r"tensor[ -]?parallel\w*", "tp"),
    (r"pipeline[ -]?parallel\w*", "pp"),
    (r"(sequence|context)[ -]?parallel\w*", "cp"),
    (r"expert[ -]?parallel\w*", "ep"),
    (r"data[ -]?parallel\w*", "dp"),
    (r"张量并行", "tp"),
    (r"流水线并行", "pp"),
    (r"数据并行", "dp"),
)
_WORDS = re.compile(
    r"^(none|no|single|fsdp2?|fully|shard\w*|sharded|hybrid|ddp|zero|deepspeed|stage|device|map|layer|split|cpu|"
    r"param\w*|optimizer|offload\w*|and|or|not|stated|without|no|tp|pp|dp|cp|sp|ep|hsdp|ulysses|ring|"
    r"tensor|pipeline|data|expert|sequence|context|parallel\w*|gpu\w*|\d+|megatron|3d|nvme)$"
)


@dataclass(frozen=True, slots=True)
class Division:
    """Degrees of parallelism and what is sharded over the data-parallel group."""

    tensor: int = 1
    pipeline: int = 1
    context: int = 1
    expert: int = 1
    data: int = 1
    zero: int = 0  # 0 copies everything, 1 optimizer, 2 gradients too, 3 parameters too (FSDP)
    offload_optimizer: bool = False
    offload_parameters: bool = False
    layer_split: bool = False  # whole layers per GPU without pipelining (device_map)

    @property
    def shards(self) -> int:
        """Ranks over which sharded states divide: data and context parallel ranks hold different slices."""
        return self.data * self.context


def resolve_division(
    request: TrainingMemoryRequest, gpus: int | None, full: bool, fsdp_trainer: bool = False
) -> tuple[Division, int, str]:
    """The division of a request, its GPU count and a reason code ("" where everything was stated).

    Raises `InputError` for words nobody knows and degrees that do not divide the GPU count.
    """
    text = request.parallelism.lower()
    degrees = _degrees(text)
    tensor = request.tensor_parallel or degrees.get("tp", 1)
    pipeline = request.pipeline_parallel or degrees.get("pp", 1)
    context = request.context_parallel or degrees.get("cp", degrees.get("sp", 1))
    expert = request.expert_parallel or degrees.get("ep", 1)
    model_ranks = tensor * pipeline * context
    sharded = degrees.get("fsdp", 1) if degrees.get("fsdp", 1) > 2 or "fsdp2" not in text else 1
    stated = max(degrees.get("dp", 1), degrees.get("ddp", 1), sharded)
    count = gpus or max(model_ranks * stated, expert)
    if count % model_ranks:
        allowed = f"a multiple of tensor x pipeline x context parallel = {model_ranks}"
        raise InputError("gpu_count", count, allowed)
    data = max(1, count // model_ranks)
    zero, reason = (
        (3, "") if fsdp_trainer and data * context > 1 else _stage(request, text, data * context, full)
    )
    away = _offload(request, text)
    division = Division(
        tensor=tensor,
        pipeline=pipeline,
        context=context,
        expert=expert,
        data=data,
        zero=zero,
        offload_optimizer=bool(away),
        offload_parameters=bool(away) and zero == 3 and "optimizer" not in away,
        layer_split="device_map" in text or "layer split" in text,
    )
    return division, count, reason


def _degrees(text: str) -> dict[str, int]:
    for pattern, short in _LONG:
        text = re.sub(pattern + r"[ =:x]*(\d+)", rf"{short}\g<{re.compile(pattern).groups + 1}>", text)
    found = {key.lower(): int(value) for key, value in _DEGREE.findall(text)}
    rest = _DEGREE.sub(" ", text)
    for word in re.split(r"[^a-z0-9_]+", rest.replace("_", " ")):
        if word and not _WORDS.match(word) and not re.match(r"^zero-?\d$|^z\d$", word):
            raise InputError(
                "parallelism", text, "words such as none, ddp, zero2, zero3, fsdp, tp8, pp2, dp4, cp2, ep4"
            )
    return found


def _offload(request: TrainingMemoryRequest, text: str) -> str:
    """What goes to host memory in words, "" where nothing does."""
    if isinstance(request.offload, bool):
        return "all" if request.offload else ""
    stated = request.offload.lower()
    if stated in ("no", "none", "false", "off"):
        return ""
    return stated or (text if "offload" in text else "")


def _stage(request: TrainingMemoryRequest, text: str, ranks: int, full: bool) -> tuple[int, str]:
    if request.zero_stage is not None:
        return request.zero_stage, ""
    stated = re.search(r"(?:zero|stage|\bz)[ -]?(\d)", text)
    if stated and not re.search(r"no zero", text):
        return min(3, int(stated[1])), ""
    fsdp = request.fsdp if isinstance(request.fsdp, bool) else request.fsdp.lower()
    if fsdp and fsdp not in ("no", "none", "false"):
        return (2 if fsdp in ("shard_grad_op", "grad_op") else 3), ""
    if "fsdp" in text or "fully shard" in text:
        return 3, ""
    if ranks == 1 or text in ("none", "no", "ddp") or "ddp" in text or "device_map" in text:
        return 0, ""
    if re.search(r"\b(tp|pp|dp|cp|sp|ep)\d", text):
        return 1, "distributed_optimizer"
    return (3, "sharded_by_default") if full else (0, "copied_by_default")
