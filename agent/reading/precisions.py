"""Finds weight and KV-cache precisions, quantisation words and their denial."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from agent.reading.types import Mention
from agent.reading.words import Found, Words
from knowledge.catalog import Catalog
from knowledge.errors import AdvisorError

_NAME = re.compile(
    r"(?<![a-z0-9])(i?q\d_k(?:_[sml])?|q[458]_[01]|iq\d_\w{1,3}|gptq[-\s]?int[348]"
    r"|gptq[-\s]?[48][-\s]?bits?|awq[-\s]?(?:int4|4[-\s]?bits?)?"
    r"|gptq|gguf|nf4|nvfp4|mxfp4|mxfp8|fp4|fp8|float8|int4|int8|int3|w4a16|w8a8|w8a16|w4a8"
    r"|bnb[-\s]?[48]?[-\s]?(?:bits?)?|bitsandbytes"
    r"|exl[23]|aqlm|hqq|smoothquant|load_in_[48]bit|bf16|bfloat16|fp16|float16|f16"
    r"|half[-\s]precision|fp32|float32|tf32|fp64"
    r"|[234568][-\s]?bits?|16[-\s]?bits?|[48]\s?比特|q[4568](?![a-z0-9_]))(?![a-z0-9])"
    r"|半精度|单精度|双精度|double\sprecision|混合精度|mixed[-\s]precision|[48]\s?(?:bit|位)量化"
)
_CANONICAL = {
    "半精度": "fp16", "half precision": "fp16", "half-precision": "fp16", "单精度": "fp32", "双精度": "fp64",
    "double precision": "fp64", "float8": "fp8", "hqq": "int4", "q5": "gguf-q5_k_m", "q6": "gguf-q6_k",
    "q8": "gguf-q8_0",
}  # fmt: skip
_KV_NEAR = re.compile(r"\bkv\b|kv\s?cache|缓存")
_NO_QUANT = re.compile(
    r"不(?:想|要|做|能|可以|用|接受)?(?:使用)?量化|非量化|未量化|无量化|别量化|不降精度|原(?:始)?精度"
    r"|全精度|无损|(?:without|no"
    r"|not?\s(?:want|use)|avoid(?:ing)?|non)[-\s](?:any\s)?"
    r"quanti[sz](?:ation|ed|ing)|un-?quanti[sz]ed|full[-\s]precision|don'?t\squanti[sz]e"
    r"|do\snot\squanti[sz]e|lossless"
)
_WIDE = ("bf16", "fp16", "fp32")
_NO_WEIGHT_FORMAT = ("fp64", "mixed", "tf32")
_DENIED_AFTER = re.compile(
    r"\s*(?:is\s|are\s)?(?:not?\s(?:possible|ok|okay|acceptable|allowed|an\soption)|不行|不可以|不接受"
    r"|不考虑|不能用|太差|won'?t\sdo|不要|isn'?t)"
)
_DENIED_BEFORE = re.compile(
    r"(?:(?<![要用想能])(?:不要|不用|不想用|不能用)|别用|without|not|no|avoid|except|除了)"
    r"\s*(?:any\s|the\s|用)?$"
)


@dataclass(frozen=True)
class PrecisionFound:
    """What a turn says of precision. `names` holds every one, those that are no weight format too."""

    mentions: tuple[Mention, ...] = ()
    names: tuple[str, ...] = ()
    weight: Found | None = None
    kv: Found | None = None
    allow_quantization: Found | None = None

    def slots(self) -> Iterable[Found]:
        return [item for item in (self.weight, self.kv, self.allow_quantization) if item]


def find_precisions(words: Words, catalog: Catalog) -> PrecisionFound:
    """All precision words of a turn; the first affirmed one is the weight precision."""
    mentions: dict[str, Mention] = {}
    names: dict[str, None] = {}
    weight: Found | None = None
    kv: Found | None = None
    denied = ""
    text = words.plain
    for match in _NAME.finditer(text):
        name, said = _canonical(match[0].strip(), catalog), words.said(*match.span())
        if not name:
            continue
        head = text[max(0, match.start() - 12) : match.start()]
        negated = bool(_DENIED_BEFORE.search(head) or _DENIED_AFTER.match(text, match.end()))
        names[name] = None
        if name in _NO_WEIGHT_FORMAT:
            continue
        mentions[name] = Mention(kind="precision", text=said, name=name, negated=negated)
        near = text[max(0, match.start() - 10) : match.end() + 8]
        if negated:
            denied = denied or ("" if name in _WIDE else said)
        elif name[:3] in ("fp8", "int") and _KV_NEAR.search(near):
            kv = kv or Found("kv_precision", name.split("-")[0], 0.9, said)
        elif weight is None:
            weight = Found("precision", name, 0.9, said)
        elif weight.value == "gptq-int4" and name in ("gptq-int8", "int8-w8a8"):
            weight = Found("precision", "gptq-int8", 0.9, said)  # "GPTQ int8"
    return PrecisionFound(tuple(mentions.values()), tuple(names), weight, kv, _allowed(text, weight, denied))


def _allowed(text: str, weight: Found | None, denied: str) -> Found | None:
    """Whether weights may be quantised: said outright, by denying a low format, or by naming one."""
    if match := _NO_QUANT.search(text):
        return Found("allow_quantization", False, 0.9, match[0])
    if weight is not None and weight.value not in _WIDE:
        return Found("allow_quantization", True, 0.9, weight.text)
    return Found("allow_quantization", False, 0.8, denied) if denied and weight is None else None


def _canonical(said: str, catalog: Catalog) -> str:
    if said in ("混合精度", "mixed precision", "mixed-precision"):
        return "mixed"
    if said in ("fp64", "双精度", "double precision"):
        return "fp64"
    name = _CANONICAL.get(said) or re.sub(r"(?:bit|位)量化$", "bit", said)
    name = re.sub(r"bits$", "bit", name)
    try:
        return catalog.precision(name).name
    except AdvisorError:
        return ""
