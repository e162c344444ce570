"""Worked examples with published answers: a wrong formula shows here first."""

from __future__ import annotations

import pytest

from knowledge.catalog import shipped_catalog
from tools.contracts.memory import MemoryReport, MemoryRequest
from tools.memory import estimate_memory


def report(**fields: object) -> MemoryReport:
    return estimate_memory(MemoryRequest.model_validate(fields), shipped_catalog())


def test_llama3_70b_needs_320_kib_per_token_and_25_gib_for_ten_8k_requests() -> None:
    found = report(model="Llama-3-70B", weight_precision="bf16", context_tokens=8192, concurrency=10)
    assert found.kv_bytes_per_token == 320 * 1024
    assert found.kv_cache_gib_per_gpu == pytest.approx(25.0)
    assert found.weights_gib == pytest.approx(131.4, abs=0.05)


def test_awq_llama3_70b_with_ten_8k_requests_fits_one_a100_80gb() -> None:
    found = report(
        model="Llama-3-70B", gpu="A100-80GB", weight_precision="awq", context_tokens=8192, concurrency=10
    )
    assert found.weights_gib == pytest.approx(37, abs=0.5)
    assert found.fits


@pytest.mark.parametrize(("gpus", "fits"), [(2, False), (4, True)])
def test_bf16_llama3_70b_with_ten_8k_requests_needs_four_a100_80gb(gpus: int, fits: bool) -> None:
    found = report(
        model="Llama-3-70B",
        gpu="A100-80GB",
        gpu_count=gpus,
        weight_precision="bf16",
        context_tokens=8192,
        concurrency=10,
    )
    assert found.fits is fits
    assert found.max_concurrency is not None
    assert (1 <= found.max_concurrency < 10) is not fits
