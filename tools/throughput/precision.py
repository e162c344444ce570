"""Weight formats as the GPU meets them: bytes stored, and the type it really computes in."""

from __future__ import annotations

from dataclasses import dataclass

from knowledge.errors import InputError, NotKnown
from knowledge.rows import Precision
from tools.throughput.gpu_shape import GpuShape

# Kinds of kernel that unpack weights; each pays its own cost per weight.
DEQUANT = {
    "awq-int4": "w4a16", "gptq-int4": "w4a16", "gptq-int3": "w4a16", "w4afp8": "w4a16",
    "int4-g32": "w4a16", "int4-g32-sym": "w4a16",
    "gptq-int8": "w8a16", "fp8-w8a16": "w8a16", "int8-bnb": "bnb", "nf4": "bnb", "nf4-dq": "bnb",
    "mxfp4": "w4a16", "nvfp4": "w4a16", "fp4-experts": "w4a16", "aqlm-2bit": "w4a16", "exl2": "w4a16",
}  # fmt: skip
_TENSOR_WEIGHTS_IN_16_BIT = 16.0
# Formats that pack only the experts, and the bits of the other layers.
_EXPERTS_ONLY = {"mxfp4": 16.0, "int4-g32-sym": 16.0, "fp4-experts": 8.0}
# What the Q6_K output matrix adds to the average bits of a file, on the 8B models whose averages are quoted.
GGUF_OUTPUT_BITS = 0.1


@dataclass(frozen=True, slots=True)
class Scheme:
    """A weight format on a certain GPU. Bits are stored bits per weight, scales included."""

    name: str
    body_bits: float  # layers
    expert_bits: float
    head_bits: float  # output head; 16 unless the format covers it
    computes_in: str  # fp32, fp16, bf16, int8, fp8, fp4
    peak_tflops: float  # dense rate of that type
    dequant: str  # "", w4a16, w8a16, bnb, gguf: kernel that unpacks weights to `computes_in`


@dataclass(frozen=True, slots=True)
class Support:
    """Whether a GPU runs a precision, what it computes in, and a stable code where that differs."""

    runs: bool
    computes_in: str
    reason: str = ""


def computes_in(gpu: GpuShape, precision: Precision) -> Support:
    """What `gpu` really computes in for a weight precision.

    Engines fall back as their documents say: bf16 becomes fp16 below capability 8.0 (Volta, Turing) and fp32
    below 5.3; fp8 and fp4 become weight-only with 16-bit arithmetic where the tensor cores lack them (fp8
    below 8.9, fp4 below 10.0); int8 needs 7.5. `runs` is False below the format's own minimum.
    """
    minimum = precision.min_compute_capability
    wanted = precision.compute_dtype or "bf16"
    sixteen = "bf16" if gpu.bf16_tflops else ("fp16" if gpu.capability >= 5.3 else "fp32")
    if precision.name == "bf16" and gpu.capability < 8.0:
        return Support(True, sixteen, "bf16_not_native")
    if precision.name == "fp16" and gpu.capability < 5.3:
        return Support(True, "fp32", "fp16_not_native")
    if precision.name in ("fp8", "fp8-block") and not gpu.fp8_tflops:
        return Support(gpu.capability >= 8.0, sixteen, "fp8_weight_only")
    if precision.name == "nvfp4" and not gpu.fp4_tflops:
        return Support(gpu.capability >= 8.0, sixteen, "fp4_weight_only")
    if minimum is not None and gpu.capability < minimum:
        return Support(False, sixteen, "capability_too_low")
    if wanted in ("bf16", "fp16") and precision.name != "fp16":
        return Support(True, sixteen, "" if sixteen == wanted else "bf16_not_native")
    if wanted == "tf32":
        return Support(True, "fp32")
    return Support(True, wanted)


def scheme_for(gpu: GpuShape, precision: Precision) -> Scheme:
    """The scheme of a precision on a GPU. `InputError` where the card cannot run it, `NotKnown` where the
    format's size is not fixed (mixed formats)."""
    support = computes_in(gpu, precision)
    if not support.runs:
        raise InputError(
            "weight_precision",
            precision.name,
            f"{gpu.name} has compute capability {gpu.capability:g}, {precision.name} needs"
            f" {precision.min_compute_capability or 8.0:g} or more",
            ["fp16", "gptq-int4", "gguf-q4_k_m"],
        )
    bits = precision.block_bits or precision.effective_bits
    if bits is None:
        raise NotKnown("weight_precision", precision.name, f"{precision.name} has no fixed size per weight")
    body = head = experts = bits
    dequant = ""
    if precision.category == "gguf":
        whole = precision.effective_bits or bits  # the file's average, its Q6_K output matrix included
        head = max(whole, 6.5625) if whole < 8 else whole
        body = experts = max(bits, whole - GGUF_OUTPUT_BITS) if whole < 8 else whole
        dequant = "gguf"
    elif bits < 16:
        head = _TENSOR_WEIGHTS_IN_16_BIT
        if precision.name in _EXPERTS_ONLY:
            body = _EXPERTS_ONLY[precision.name]
        if support.computes_in not in ("int8", "fp8", "fp4"):
            dequant = DEQUANT.get(precision.name, "w8a16")
        elif precision.name in ("int8-bnb", "w4afp8"):  # stored otherwise than computed
            dequant = DEQUANT[precision.name]
    return Scheme(
        precision.name, body, experts, head, support.computes_in, peak(gpu, support.computes_in), dequant
    )


def peak(gpu: GpuShape, dtype: str) -> float:
    """Dense TFLOPS (TOPS) of a compute type."""
    rates = {
        "fp32": gpu.fp32_tflops, "fp16": gpu.fp16_tflops, "bf16": gpu.bf16_tflops or gpu.fp16_tflops,
        "int8": gpu.int8_tops, "fp8": gpu.fp8_tflops, "fp4": gpu.fp4_tflops,
    }  # fmt: skip
    return rates[dtype]
