"""Errors seen in published calculators, one test each: none may come back here."""

from __future__ import annotations

import pytest

from knowledge.catalog import Catalog, shipped_catalog
from knowledge.errors import InputError
from tools.contracts.memory import MemoryReport, MemoryRequest
from tools.memory import estimate_memory
from tools.memory.formats import resolve_weights
from tools.memory.weights import GIB, weight_bytes


def report(**fields: object) -> MemoryReport:
    return estimate_memory(MemoryRequest.model_validate(fields), shipped_catalog())


def test_latent_attention_is_not_counted_by_heads() -> None:
    by_heads = 2 * 61 * 128 * 192 * 2
    assert report(model="DeepSeek-V3").kv_bytes_per_token * 25 < by_heads


def test_grouped_heads_are_not_counted_as_full_heads() -> None:
    assert report(model="Llama-3-70B").kv_bytes_per_token == pytest.approx(2 * 80 * 8192 * 2 / 8)


def test_window_layers_and_recurrent_states_stop_growing() -> None:
    short, long = (report(model="Qwen3.5-27B", context_tokens=n).kv_cache_gib_per_gpu for n in (8192, 65_536))
    assert long < 8 * short
    gemma = report(model="gemma-3-27b", context_tokens=131_072)
    assert gemma.kv_cache_gib_per_gpu < 131_072 * 507_904 / GIB / 5


def test_all_experts_of_a_mixture_are_loaded() -> None:
    assert report(model="Qwen3-235B-A22B", weight_precision="bf16").weights_gib == pytest.approx(
        438, rel=0.01
    )


def test_output_head_and_embedding_are_counted(catalog: Catalog) -> None:
    for model in catalog.models:
        if model.kind in ("llm", "moe-llm", "vlm") and model.params_total_b:
            weights, _ = resolve_weights("bf16", catalog, model)
            assert weight_bytes(model, weights) == pytest.approx(model.params_total_b * 2e9, rel=0.0005)


def test_four_bit_weights_are_not_four_bits_everywhere(catalog: Catalog) -> None:
    model = catalog.model("Qwen/Qwen3-8B")
    weights, _ = resolve_weights("awq", catalog, model)
    assert weight_bytes(model, weights) * 8 / (model.params_total_b or 1) / 1e9 == pytest.approx(6.0, abs=0.1)


def test_gib_are_not_gb() -> None:
    found = report(model="Llama-3-70B", weight_precision="bf16")
    assert found.weights_gib * 2**30 == pytest.approx(70.55e9 * 2, rel=0.001)


def test_activation_does_not_grow_with_the_square_of_the_context() -> None:
    small = report(model="Llama-3-8B", gpu="A100-80GB", context_tokens=1024).activation_gib_per_gpu
    large = report(model="Llama-3-8B", gpu="A100-80GB", context_tokens=131_072).activation_gib_per_gpu
    assert large == pytest.approx(small)


def test_activation_is_paid_on_every_gpu_of_a_group() -> None:
    one, two = (
        report(model="Qwen3-32B", gpu="H100", gpu_count=n, engine_version="0.11.0").activation_gib_per_gpu
        for n in (1, 2)
    )
    assert one == pytest.approx(two) == pytest.approx(5.64, rel=0.01)


def test_activation_follows_the_defaults_of_the_card() -> None:
    a10 = report(model="Qwen3-8B", gpu="A10").activation_gib_per_gpu
    h20 = report(model="Qwen3-8B", gpu="H20-96GB").activation_gib_per_gpu
    assert h20 == pytest.approx(4 * a10)


@pytest.mark.parametrize(
    ("field", "value"),
    [("model", "Qwen9-999B"), ("gpu", "A199"), ("weight_precision", "int5"), ("engine", "vlllm2")],
)
def test_an_unknown_name_is_refused_and_never_replaced(field: str, value: str) -> None:
    with pytest.raises(InputError) as caught:
        report(**{"model": "Llama-3-8B", "gpu": "A10", field: value})
    assert caught.value.field == field


def test_a_misspelt_name_gets_near_matches() -> None:
    with pytest.raises(InputError) as caught:
        report(model="Qwen3-8BB")
    assert "Qwen/Qwen3-8B" in caught.value.suggestions


def test_bf16_is_not_promised_on_a_card_without_it() -> None:
    found = report(model="Qwen2.5-7B", gpu="V100-32GB")
    assert found.weight_precision == "fp16"
    assert any(item.reason == "card_without_bf16" for item in found.assumptions)


def test_fp8_on_a_card_that_cannot_run_it_warns() -> None:
    codes = [item.code for item in report(model="Qwen3-8B", gpu="V100-32GB", weight_precision="fp8").warnings]
    assert "precision_needs_newer_card" in codes


def test_padded_experts_of_gpt_oss_are_counted_as_vllm_loads_them() -> None:
    found = report(model="gpt-oss-120b", gpu="H100", engine="vllm")
    assert found.weights_gib_per_gpu == pytest.approx(64.38, rel=0.005)


def test_metas_fp8_405b_keeps_attention_in_16_bit() -> None:
    found = report(model="Llama-3.1-405B", gpu="H100", gpu_count=8, weight_precision="fbgemm-fp8")
    assert found.weights_gib_per_gpu == pytest.approx(56.8, rel=0.01)


def test_a_gguf_file_of_llama3_8b_leaves_its_embedding_on_the_host() -> None:
    found = report(model="Llama-3-8B", engine="llama.cpp", weight_precision="q4_k_m")
    assert found.weights_gib == pytest.approx(4.58, rel=0.01)
    assert found.weights_gib_per_gpu == pytest.approx(4.30, rel=0.01)
