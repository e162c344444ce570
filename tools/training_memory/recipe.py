"""What a job trains and in which number formats: method, precision and optimizer as people write them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from knowledge.catalog import Catalog
from knowledge.errors import InputError
from knowledge.names import near, normal
from knowledge.rows import Model
from tools.contracts.training import Method
from tools.memory.formats import WeightFormat, format_of

_METHODS: dict[str, Method] = {
    "full": "full",
    "fullft": "full",
    "fullfinetuning": "full",
    "fullfinetune": "full",
    "fullparameter": "full",
    "fullparameters": "full",
    "fft": "full",
    "sft": "full",
    "finetune": "full",
    "finetuning": "full",
    "dpo": "full",
    "grpo": "full",
    "ppo": "full",
    "全参": "full",
    "全参数": "full",
    "全量": "full",
    "全量微调": "full",
    "全参微调": "full",
    "全参数微调": "full",
    "微调": "full",
    "freeze": "freeze",
    "frozen": "freeze",
    "冻结": "freeze",
    "lora": "lora",
    "peft": "lora",
    "dora": "lora",
    "adapter": "lora",
    "qlora": "qlora",
    "lora4bit": "qlora",
    "pretrain": "pretrain",
    "pretraining": "pretrain",
    "预训练": "pretrain",
}
METHOD_NAMES = ("full", "freeze", "lora", "qlora", "pretrain")

# Optimizer state: bytes per trainable parameter beside an fp32 master copy (two fp32 moments for
# Adam, ZeRO, arXiv:1910.02054; 8 bits each, arXiv:2110.02861).
_OPTIMIZERS = {
    "adamw": ("adamw", 8.0),
    "adam": ("adamw", 8.0),
    "adamwtorch": ("adamw", 8.0),
    "adamwtorchfused": ("adamw", 8.0),
    "adamw8bit": ("adamw-8bit", 2.0),
    "adamwbnb8bit": ("adamw-8bit", 2.0),
    "adam8bit": ("adamw-8bit", 2.0),
    "pagedadamw8bit": ("paged-adamw-8bit", 2.0),
    "pagedadamw32bit": ("paged-adamw", 8.0),
    "pagedadamw": ("paged-adamw", 8.0),
    "adafactor": ("adafactor", 0.05),
    "sgd": ("sgd", 4.0),
    "muon": ("muon", 4.0),
    "lion": ("lion", 4.0),
    "lion8bit": ("lion-8bit", 1.0),
    "lomo": ("lomo", 0.0),
    "galoreadamw": ("galore-adamw", 4.0),
    "galore": ("galore-adamw", 4.0),
    "mezo": ("mezo", 0.0),
    "mezo(zerothorder)": ("mezo", 0.0),
}


@dataclass(frozen=True, slots=True)
class Optimizer:
    """An optimizer by its memory: `state_bytes` per trainable parameter at fp32 moments."""

    name: str
    state_bytes: float
    paged: bool = False  # state may lie in host memory
    keeps_gradients: bool = True  # False: updates layer by layer in the backward pass, or has none

    @property
    def needs_master(self) -> bool:
        """Whether mixed precision keeps an fp32 copy for it; updates in place go without."""
        return self.name not in ("lomo", "mezo")

    @property
    def moments_follow_weights(self) -> bool:
        """Whether moments take the type of the weights (torch AdamW); 8-bit states do not."""
        return self.name in ("adamw", "sgd", "muon", "lion", "galore-adamw", "adafactor")


@dataclass(frozen=True, slots=True, eq=False)
class Precision:
    """Number formats of a job: bytes of a stored weight, of a gradient, and of a master copy (0 = none)."""

    name: str
    weight_bytes: float
    gradient_bytes: float
    master_bytes: float
    activation_bytes: float
    base: WeightFormat | None  # quantized frozen base of an adapter job
    frozen_bytes: float = 2.0  # of an unquantized frozen weight


def resolve_method(text: str, precision: str) -> tuple[Method, str]:
    """The method of a name and a reason code. LoRA over a quantized base is qlora."""
    method = _METHODS.get(normal(text or "full"))
    if method is None:
        raise InputError("method", text, ", ".join(METHOD_NAMES), near(text, _METHODS))
    if method == "lora" and _base_text(precision):
        return "qlora", "lora_over_quantized_base"
    return method, "" if text else "default_method"


def resolve_optimizer(text: str) -> tuple[Optimizer, str]:
    """The optimizer of a name; AdamW where none is stated."""
    key = normal(text or "adamw")
    found = _OPTIMIZERS.get(key)
    if found is None:
        raise InputError("optimizer", text, "a known optimizer", near(text, _OPTIMIZERS))
    name, state = found
    return (
        Optimizer(name, state, name.startswith("paged"), name not in ("lomo", "mezo")),
        "" if text else "default_optimizer",
    )


def resolve_precision(
    text: str, method: Method, framework_master: bool, catalog: Catalog, model: Model
) -> tuple[Precision, str]:
    """The number formats of a precision text such as "bf16-mixed (fp32 master)" or "fp16+bnb-nf4 base".

    `framework_master` tells whether plain "bf16" keeps fp32 master weights in this framework.
    """
    written = text.strip().lower()
    reason = "" if written else "default_precision"
    base_text = _base_text(written)
    half = "fp16" if "fp16" in written else "bf16"
    base = None
    if method == "qlora" or (method == "freeze" and base_text):
        base = format_of(catalog.precision(base_text or "nf4"), model)
        if not base_text:
            reason = reason or "default_nf4_base"
        return Precision(f"{half}+{base.name}", 4.0, 4.0, 0.0, 2.0, base), reason
    if method == "lora":
        _check_known(written, text)
        width = 4.0 if written == "fp32" else 2.0
        frozen = 4.0 if "fp32 weights" in written else width
        return Precision(written or half, width, width, 0.0, width, None, frozen), reason
    if written in ("fp32", "float32", "tf32", "32-true", "fp32/fp16"):
        return Precision("fp32", 4.0, 4.0, 0.0, 4.0, None), reason
    _check_known(written, text)
    if "fp32 weights" in written:
        return Precision(f"{half}-mixed", 4.0, 4.0, 0.0, 2.0, None), reason
    pure = "pure" in written or "true" in written
    mixed = "mixed" in written or "master" in written or "amp" in written
    if mixed or (framework_master and not pure):
        return Precision(f"{half}-mixed", 2.0, 4.0, 4.0, 2.0, None), reason
    return Precision(half, 2.0, 2.0, 0.0, 2.0, None), reason


def _check_known(written: str, text: str) -> None:
    if written and not re.search(
        r"bf16|fp16|fp32|fp8|bfloat16|float16|float32|16-?bit|half|amp|混合", written
    ):
        raise InputError(
            "precision", text, "bf16, fp16, fp32, fp8, bf16-mixed, pure bf16, or a quantized base"
        )


_BASES = (
    (r"nf4.*(dq|double)", "nf4-dq"),
    (r"nf4|bnb-int4|bnb-4bit|bnb 4", "nf4"),
    (r"gptq.?int8", "gptq-int8"),
    (r"gptq", "gptq-int4"),
    (r"awq", "awq-int4"),
    (r"aqlm|2-?bit", "gptq-int3"),
    (r"int8|8-?bit", "int8-bnb"),
    (r"int4|4-?bit", "nf4"),
)


def _base_text(written: str) -> str:
    """The weight format of the quantized base that a precision text names, "" without one."""
    text = written.lower()
    for pattern, name in _BASES:
        if re.search(pattern, text):
            return name
    return ""
