"""Weight and KV-cache formats: bits per weight, which tensors they cover, and names as people write them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from knowledge.catalog import Catalog
from knowledge.errors import InputError, NotKnown
from knowledge.rows import Model, Precision

# all: every tensor; matrices: every decoder matrix; experts: routed experts alone; feed_forward: feed-forward
# matrices of the inner layers; file: a GGUF file, which gives embedding and head types of their own.
Scope = Literal["all", "matrices", "experts", "feed_forward", "file"]

# Names in logs and model cards that are no rows of the precision table, and the row whose layout they share.
_WRITTEN = {
    "autoround-int4": "gptq-int4",
    "bnb-fp4": "nf4",
    "bnb-nf4 (dynamic)": "nf4",
    "gguf-q4 (qat mix)": "gguf-q4_0",
    "int8 (torchao dq)": "int8-w8a8",
    "int8 (w8a8)": "int8-w8a8",
}
# The published file averages of GGUF types were measured on Llama 3.1 8B: its parameters and one table.
_GGUF_REFERENCE, _GGUF_TABLE = 8.0303e9, 128_256 * 4096.0
_GGUF_OUTPUT_BITS = 6.5625  # output.weight is Q6_K unless the file type is wider (llama.cpp quantize)


@dataclass(frozen=True, slots=True, eq=False)
class WeightFormat:
    """How weights lie in memory: `bits` for the covered tensors, 16 (or 32) for the others."""

    name: str
    bits: float
    scope: Scope
    other_bits: float = 16.0
    table_bits: float = 16.0  # embedding
    head_bits: float = 16.0  # output head; of a tied model the one table
    category: str = "float"
    compute_dtype: str = "bf16"
    min_capability: float | None = None
    made_at_start: bool = False  # the engine loads 16-bit weights and quantizes them on the GPU


@dataclass(frozen=True, slots=True, eq=False)
class KvFormat:
    """How the KV cache lies in memory. Scales per head and token (`scale_bytes`) come on top of `bits`."""

    name: str
    bits: float
    scale_bytes: float = 0.0  # per head and token, for K and for V each


BF16_KV = KvFormat("bf16", 16.0)
SIXTEEN_BIT = WeightFormat("bf16", 16.0, "all")

# llama.cpp blocks of 32 with one fp16 scale each (ggml type sizes).
_BLOCK_KV = {"q8_0": 8.5, "q5_1": 6.0, "q5_0": 5.5, "q4_1": 5.0, "q4_0": 4.5, "iq4_nl": 4.5}


def resolve_weights(text: str, catalog: Catalog, model: Model) -> tuple[WeightFormat, str]:
    """The weight format of a name, and the reason code of what was assumed ("" for a name taken as it is).

    Empty text takes the precision of the model's released files. Raises `InputError` with near matches.
    """
    if not text:
        return native_format(catalog, model)
    written = text.strip().lower()
    reason = ""
    if written in _WRITTEN:
        written, reason = _WRITTEN[written], "format_of_equal_layout"
    row = catalog.precision(written)
    if row.name == "awq-int4" and "awq" not in written:
        reason = "int4_means_awq"
    found = format_of(row, model)
    return (_made_at_start(found) if "torchao" in text.lower() else found), reason


@lru_cache(maxsize=4096)
def _made_at_start(weights: WeightFormat) -> WeightFormat:
    return replace(weights, made_at_start=True)


def native_format(catalog: Catalog, model: Model) -> tuple[WeightFormat, str]:
    """The format of the released files (`native_dtype` of the model)."""
    native = model.native_dtype.lower()
    if native.startswith("mxfp4"):
        name = "mxfp4"
    elif "fp4" in native:
        name = "fp4-experts"
    elif native.startswith("int4"):
        name = "int4-g32-sym"
    elif native.startswith("int8"):
        name = "int8-w8a8"
    elif native.startswith("fp8"):
        name = "fp8-block"
    elif native in ("fp16", "bf16"):
        name = native
    else:
        name = "bf16"
    return format_of(catalog.precision(name), model), "released_precision"


@lru_cache(maxsize=4096)
def format_of(row: Precision, model: Model) -> WeightFormat:
    """The format of a precision row for one model. `NotKnown` where the row states no bits."""
    bits = row.block_bits if row.block_bits is not None else row.effective_bits
    if bits is None:
        raise NotKnown("weight_precision", row.name, f"bits per weight of {row.name} are chosen per file")
    if row.category == "gguf":
        return _gguf(row, float(bits))
    scope: Scope = "matrices"
    if row.name in ("fp32", "tf32", "fp16", "bf16"):
        scope = "all"
    elif row.name in ("mxfp4", "fp4-experts", "int4-g32-sym") and model.num_experts:
        scope = "experts"
    elif row.name == "fp8-fbgemm":
        scope = "feed_forward"
    wide = float(bits) if scope == "all" else 16.0
    return WeightFormat(
        name=row.name,
        bits=float(bits),
        scope=scope,
        other_bits=8.0 if row.name == "fp4-experts" else wide,
        table_bits=wide,
        head_bits=wide,
        category=row.category,
        compute_dtype=row.compute_dtype or "bf16",
        min_capability=row.min_compute_capability,
    )


def _gguf(row: Precision, block: float) -> WeightFormat:
    """A GGUF type: embedding at the block's bits, head at Q6_K or wider, and the body at what the published
    file average leaves for it. Files of other shapes then get their own average."""
    average = row.effective_bits if row.effective_bits is not None else block
    head = max(_GGUF_OUTPUT_BITS, block)
    body = (average * _GGUF_REFERENCE - (block + head) * _GGUF_TABLE) / (_GGUF_REFERENCE - 2 * _GGUF_TABLE)
    return WeightFormat(
        name=row.name,
        bits=max(body, block),
        scope="file",
        table_bits=block,
        head_bits=head,
        category="gguf",
        compute_dtype="fp16",
        min_capability=row.min_compute_capability,
    )


def resolve_kv(text: str, catalog: Catalog, weights: WeightFormat) -> tuple[KvFormat, str]:
    """The KV format of a name; empty text takes the 16-bit type that the weights compute in."""
    if not text:
        name = weights.compute_dtype if weights.compute_dtype in ("fp16", "fp32") else "bf16"
        return kv_format(catalog.kv_precision(name)), "kv_follows_compute_type"
    written = text.strip().lower()
    if written in ("auto", "default"):
        return resolve_kv("", catalog, weights)
    if written in _BLOCK_KV:
        return KvFormat(written, _BLOCK_KV[written]), ""
    if written in ("f16", "f32"):
        written = f"fp{written[1:]}"
    return kv_format(catalog.kv_precision(written)), ""


@lru_cache(maxsize=64)
def kv_format(row: Precision) -> KvFormat:
    """The KV format of a precision row; two fp16 values per head and token for integer formats."""
    name = row.name.removeprefix("kv-")
    if name in ("bf16", "fp16", "fp32"):
        return KvFormat(name, 32.0 if name == "fp32" else 16.0)
    if name == "int8":
        return KvFormat(name, 8.0, scale_bytes=4.0)
    if name == "int4":
        return KvFormat(name, 4.0, scale_bytes=4.0)
    if name in ("fp8", "mla-fp8"):
        return KvFormat(name, 8.0)
    raise InputError("kv_precision", row.name, "bf16, fp16, fp32, fp8, int8 or int4")
