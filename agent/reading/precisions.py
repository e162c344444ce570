"""Finds weight and KV-cache precisions, quantisation words and their denial."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.reading.types import Mention
from agent.reading.words import Words
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
    "double precision": "fp64", "float8": "fp8", "hqq": "int4", "q5": "gguf-q5_k_m", "q6": "gguf-q6_k", "q8": "gguf-q8_0",
}  # fmt: skip
_KV_NEAR = re.compile(r"\bkv\b|kv\s?cache|缓存")
_NO_QUANT = re.compile(
    r"不(?:想|要|做|能|可以|用|接受)?(?:使用)?量化|非量化|未量化|无量化|别量化|不降精度|原(?:始)?精度|全精度|无损|(?:without|no"
    r"|not?\s(?:want|use)|avoid(?:ing)?|non)[-\s](?:any\s)?"
    r"quanti[sz](?:ation|ed|ing)|un-?quanti[sz]ed|full[-\s]precision|don'?t\squanti[sz]e"
    r"|do\snot\squanti[sz]e|lossless"
)
_QUANT = re.compile(r"量化|quanti[sz]")
_DENIED_AFTER = re.compile(
    r"\s*(?:is\s|are\s)?(?:not?\s(?:possible|ok|okay|acceptable|allowed|an\soption)|不行|不可以|不接受"
    r"|不考虑|不能用|太差|won'?t\sdo|不要|isn'?t)"
)
_DENIED_BEFORE = re.compile(
    r"(?:不要|不用|别用|不想用|不能用|without|not|no|avoid|except|除了)\s*(?:any\s|the\s|用)?$"
)


@dataclass(frozen=True)
class PrecisionFound:
    """What a turn says of precision: canonical names, "" where nothing is said."""

    mentions: tuple[Mention, ...] = ()
    weight: str = ""
    weight_text: str = ""
    kv: str = ""
    allow_quantization: bool | None = None


def find_precisions(words: Words, catalog: Catalog) -> PrecisionFound:
    """All precision words of a turn; the first affirmed one is the weight precision."""
    mentions: list[Mention] = []
    weight = weight_text = kv = ""
    denied_low = False
    text = words.plain
    for match in _NAME.finditer(text):
        said = match[0].strip()
        name = _canonical(said, catalog)
        if not name:
            continue
        is_kv = bool(_KV_NEAR.search(text[max(0, match.start() - 10) : match.end() + 8])) and name[:3] in (
            "fp8",
            "int",
        )
        negated = bool(
            _DENIED_BEFORE.search(text[max(0, match.start() - 12) : match.start()])
            or _DENIED_AFTER.match(text, match.end())
        )
        mentions.append(Mention(kind="precision", text=words.said(*match.span()), name=name, negated=negated))
        if negated:
            denied_low |= name not in ("bf16", "fp16", "fp32", "fp64")
        elif is_kv and not kv:
            kv = "fp8" if name.startswith("fp8") else name.split("-")[0]
        elif not weight and name not in ("fp64", "mixed", "tf32"):
            weight, weight_text = name, words.said(*match.span())
        elif weight in ("gptq-int4", "awq-int4", "gguf-q4_k_m") and name in (
            "gptq-int4",
            "awq-int4",
            "gptq-int8",
            "nf4",
        ):
            weight = _join(weight, name)
    no_quant = _NO_QUANT.search(text)
    allow = (
        False
        if no_quant or (denied_low and not weight)
        else True
        if weight and weight[:2] not in ("bf", "fp")
        else None
    )
    return PrecisionFound(tuple(mentions), weight, weight_text, kv, allow)


def _join(first: str, second: str) -> str:
    """ "GPTQ 4bit" and "AWQ int4" say one thing: the method of the first word stands."""
    return "gptq-int8" if first == "gptq-int4" and second.endswith("int8") else first


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


def wants_quantized(words: Words) -> bool:
    """Whether a turn speaks of quantising without naming a format."""
    return bool(_QUANT.search(words.plain)) and not _NO_QUANT.search(words.plain)
