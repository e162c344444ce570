"""Words of a diffusion, speech or vision request: resolution, frames, seconds, precision, offload, mode."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from knowledge.errors import InputError
from knowledge.names import near, normal

Mode = Literal["inference", "train-lora", "train-full"]
Offload = Literal["none", "model", "sequential", "ram", "swap"]

_MODES: dict[str, Mode] = {
    "": "inference",
    "inference": "inference",
    "infer": "inference",
    "generate": "inference",
    "generation": "inference",
    "推理": "inference",
    "生成": "inference",
    "trainlora": "train-lora",
    "lora": "train-lora",
    "qlora": "train-lora",
    "lokr": "train-lora",
    "dreambooth": "train-lora",
    "trainfull": "train-full",
    "train": "train-full",
    "training": "train-full",
    "full": "train-full",
    "finetune": "train-full",
    "finetuning": "train-full",
    "训练": "train-full",
    "微调": "train-lora",
}
# Lines of a named video height and the width of its usual 16:9 format, rounded as the models round it.
_HEIGHTS = {360: 640, 480: 832, 540: 960, 576: 1024, 720: 1280, 768: 1360, 1080: 1920, 2160: 3840}


def resolve_mode(text: str) -> Mode:
    """inference, train-lora or train-full."""
    mode = _MODES.get(normal(text))
    if mode is None:
        raise InputError("mode", text, "inference, train-lora or train-full", near(text, _MODES))
    return mode


def pixels(text: str) -> tuple[int, int] | None:
    """(width, height) of "1024x1024", "720p", "512", "short side 800"; None for empty text."""
    written = text.strip().lower()
    if not written:
        return None
    size = re.search(r"(\d{2,5})\s*[x×*]\s*(\d{2,5})", written)
    if size:
        return int(size[1]), int(size[2])
    lines = re.search(r"(\d{3,4})\s*p\b", written)
    if lines:
        height = int(lines[1])
        return _HEIGHTS.get(height, round(height * 16 / 9)), height
    if "2k" in written:
        return 2048, 2048
    if "4k" in written:
        return 3840, 2160
    short = re.search(r"short side (\d{3,4})", written)
    if short:
        return round(int(short[1]) * 5 / 3), int(short[1])
    side = re.fullmatch(r"(\d{2,5})\s*(px|pixels)?", written)
    if side:
        return int(side[1]), int(side[1])
    raise InputError("resolution", text, "width x height, such as 1024x1024, or 720p")


def length(text: str) -> tuple[int | None, float | None]:
    """(frames, seconds) of "81 frames", "5 s", "13 min audio", "1800 frames (60 s)"."""
    written = text.strip().lower()
    if not written:
        return None, None
    frames = re.search(r"(\d+)\s*(frames?|帧|f\b)", written)
    if frames:
        return int(frames[1]), None
    minutes = re.search(r"(\d+(?:\.\d+)?)\s*(min|分钟)", written)
    if minutes:
        return None, 60 * float(minutes[1])
    seconds = re.search(r"(\d+(?:\.\d+)?)\s*(s\b|sec|seconds?|秒)", written)
    if seconds:
        return None, float(seconds[1])
    if re.fullmatch(r"\d+", written):
        return int(written), None
    raise InputError("frames_or_duration", text, "frames or seconds, such as '81 frames' or '5 s'")


@dataclass(frozen=True, slots=True)
class Width:
    """Bytes of a stored weight of the main network and of its working values. `dequantizing` formats keep
    wide copies for the backward pass (torchao weight-only fp8)."""

    name: str
    weight: float
    value: float
    dequantizing: bool = False


def width(text: str, default: str) -> tuple[Width, bool]:
    """The number format of a precision text, and whether it was the default."""
    written = text.strip().lower()
    if not written:
        return width(default, default)[0], True
    for pattern, name, weight in (
        (r"nf4|fp4|int4|4-?bit|q4|nvfp4|mxfp4", "4bit", 0.56),
        (r"fp8|float8|qfloat8", "fp8", 1.0),
        (r"int8|8-?bit|q8", "int8", 1.0),
        (r"fp16|float16|half", "fp16", 2.0),
        (r"bf16|bfloat16|mixed|amp", "bf16", 2.0),
        (r"fp32|float32|tf32|full", "fp32", 4.0),
    ):
        if re.search(pattern, written):
            value = 4.0 if name == "fp32" else 2.0
            return Width(name, weight, value, "torchao" in written and name == "fp8"), False
    raise InputError("precision", text, "fp32, fp16, bf16, fp8, int8 or nf4")


@dataclass(frozen=True, slots=True)
class OffloadPlan:
    """What of the weights stays off the GPU, and whether the decoder works in tiles."""

    kind: Offload
    blocks: int = 0  # swapped blocks of the denoiser
    tiling: bool = False
    encoder_on_host: bool = False


def offload_plan(text: str) -> OffloadPlan:
    """The plan of an offload text: none, model, sequential, weights in host memory, blocks swapped."""
    written = text.strip().lower()
    tiling = "tiling" in written or "slicing" in written
    host_encoder = "t5 on cpu" in written or "text encoder on cpu" in written or "t5_cpu" in written
    if written in ("", "none", "no", "false", "none or partial"):
        return OffloadPlan("none")
    swapped = re.search(r"(\d+) blocks?", written)
    if swapped:
        return OffloadPlan("swap", int(swapped[1]))
    if "ramtorch" in written or "host ram" in written:
        return OffloadPlan("ram")
    if re.search(r"sequential|group|low-?memory|dynamic|layer", written):
        return OffloadPlan("sequential", tiling=tiling, encoder_on_host=host_encoder)
    return OffloadPlan("model", tiling=tiling, encoder_on_host=host_encoder)


def checkpointed(value: str | bool, default: bool) -> bool:
    """Whether blocks are recomputed in the backward pass."""
    if isinstance(value, bool):
        return value
    written = value.strip().lower()
    if not written:
        return default
    return written not in ("none", "no", "off", "false", "0")
