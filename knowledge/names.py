"""Names as people write them: normal forms, alias tables, near matches. Unknown is an error."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from rapidfuzz import fuzz, process

_GPU_NOISE = re.compile(r"\b(nvidia|tesla|geforce|gpu|graphics|card|gtx|rtx)(?=\b|\d)|显卡|英伟达")
_MODEL_NOISE = re.compile(r"满血版?|完整版|原版|官方|大?模型|(?<![a-z])model(?![a-z])")
_QUANT_SUFFIX = re.compile(
    r"[-_. ]?(?P<tag>awq|gptq(?:[-_ ]?int[348])?|gptq[-_ ]?[348]bits?|int4|int8|w8a8|w4a16"
    r"|fp8(?:[-_ ]?dynamic|[-_ ]?block)?|nvfp4|mxfp4|fp4|bnb[-_ ]?(?:4|8)bit|bnb|4bit|8bit|gguf"
    r"|i?q\d[\w]*|bf16|fp16|f16|quantized)$"
)


def normal(name: str) -> str:
    """The form in which names are compared: lower case, no spaces, hyphens or underscores; dots stay."""
    return re.sub(r"[\s_\-‐-―]+", "", name.strip().lower())


def normal_gpu(name: str) -> str:
    """As `normal`, without maker and line names ("NVIDIA Tesla T4" and "T4" are one)."""
    text = name.lower().replace("-", " ").replace("_", " ")
    stripped = _GPU_NOISE.sub(" ", text)
    return normal(stripped) or normal(name)


def normal_model(name: str) -> str:
    """As `normal`, without words that qualify a model but do not name another one ("满血版 R1")."""
    return normal(_MODEL_NOISE.sub(" ", name.lower())) or normal(name)


def strip_quantization(name: str) -> tuple[str, str]:
    """Splits a model or file name into its base name and the quantization tag it ends in ("" if none).

    `Qwen2.5-72B-Instruct-AWQ` gives (`Qwen2.5-72B-Instruct`, `awq`);
    `Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf` gives (`Meta-Llama-3.1-8B-Instruct`, `gguf-q4_k_m`).
    """
    base = name.strip()
    is_gguf = base.lower().endswith((".gguf", "-gguf", "_gguf"))
    base = re.sub(r"[-_.]gguf$", "", base, flags=re.IGNORECASE)
    base = re.sub(r"-\d{5}-of-\d{5}$", "", base)
    tag = ""
    while True:
        match = _QUANT_SUFFIX.search(base.lower())
        if match is None or match.start() == 0:
            break
        tag = match["tag"] + (f"-{tag}" if tag and match["tag"] in ("gptq", "bnb") else "")
        base = base[: match.start()]
    tag = tag.strip("-_. ").replace(" ", "-")
    if is_gguf or re.fullmatch(r"i?q\d\w*", tag):
        tag = f"gguf-{tag}" if tag and tag != "gguf" else "gguf"
    return base, tag


def near(name: str, known: Iterable[str] | Mapping[str, str], limit: int = 5) -> list[str]:
    """Up to `limit` known names close to `name`, nearest first; for a mapping its distinct values."""
    keys = list(known)
    found = process.extract(
        normal(name), keys, scorer=fuzz.WRatio, processor=normal, limit=4 * limit, score_cutoff=60
    )
    names: list[str] = []
    for key, _score, _index in found:
        target = known[key] if isinstance(known, Mapping) else key
        if target not in names:
            names.append(target)
    return names[:limit]
