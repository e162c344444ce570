"""What a GPU really computes in, as engines fall back."""

from __future__ import annotations

import pytest

from knowledge.catalog import shipped_catalog
from tools.throughput.gpu_shape import gpu_shape_of
from tools.throughput.precision import computes_in, scheme_for

CATALOG = shipped_catalog()


@pytest.mark.parametrize(
    ("gpu", "precision", "runs", "type_", "reason"),
    [
        ("V100-32GB", "bf16", True, "fp16", "bf16_not_native"),
        ("T4", "bf16", True, "fp16", "bf16_not_native"),
        ("A10", "bf16", True, "bf16", ""),
        ("A100-80GB", "fp8", True, "bf16", "fp8_weight_only"),
        ("A10", "fp8", True, "bf16", "fp8_weight_only"),
        ("T4", "fp8", False, "fp16", "fp8_weight_only"),
        ("L20", "fp8", True, "fp8", ""),
        ("H20", "nvfp4", True, "bf16", "fp4_weight_only"),
        ("B200", "nvfp4", True, "fp4", ""),
        ("T4", "int8-w8a8", True, "int8", ""),
        ("V100-32GB", "int8-w8a8", False, "fp16", "capability_too_low"),
        ("V100-32GB", "gptq-int4", True, "fp16", "bf16_not_native"),
        ("M60", "gguf-q4_k_m", True, "fp32", "bf16_not_native"),
    ],
)
def test_what_a_card_computes_in(gpu: str, precision: str, runs: bool, type_: str, reason: str) -> None:
    support = computes_in(gpu_shape_of(CATALOG.gpu(gpu)), CATALOG.precision(precision))
    assert (support.runs, support.computes_in, support.reason) == (runs, type_, reason)


def test_four_bit_weights_are_never_four_bits() -> None:
    gpu = gpu_shape_of(CATALOG.gpu("A100-80GB"))
    scheme = scheme_for(gpu, CATALOG.precision("awq-int4"))
    assert scheme.body_bits > 4.0
    assert scheme.head_bits == 16.0


def test_mxfp4_packs_the_experts_only() -> None:
    scheme = scheme_for(gpu_shape_of(CATALOG.gpu("H100")), CATALOG.precision("mxfp4"))
    assert scheme.expert_bits < 5 < scheme.body_bits
