"""Errors seen in published calculators, one test each: none may come back here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from knowledge.catalog import Catalog, shipped_catalog
from knowledge.errors import InputError
from tools.contracts.memory import MemoryReport, MemoryRequest
from tools.contracts.sizing import SizingRequest
from tools.contracts.throughput import ThroughputReport, ThroughputRequest
from tools.memory import estimate_memory
from tools.memory.formats import resolve_weights
from tools.memory.weights import GIB, weight_bytes
from tools.recommend import recommend
from tools.throughput import estimate_throughput

TESTS = Path(__file__).parents[2]
# Every class of error that was found in published calculators, and the test that keeps it out.
CLASSES = {
    "latent attention by head formula": "test_latent_attention_is_not_counted_by_heads",
    "grouped heads ignored": "test_grouped_heads_are_not_counted_as_full_heads",
    "hybrid, sliding, recurrent layers": "test_window_layers_and_recurrent_states_stop_growing",
    "only active experts loaded": "test_all_experts_of_a_mixture_are_loaded",
    "all experts read per token": "test_a_token_of_a_mixture_reads_its_own_experts_only",
    "output head or embedding forgotten": "test_output_head_and_embedding_are_counted",
    "4 bit taken as 4.0 bits everywhere": "test_four_bit_weights_are_not_four_bits_everywhere",
    "GB and GiB mixed": "test_gib_are_not_gb",
    "activation quadratic": "test_activation_does_not_grow_with_the_square_of_the_context",
    "activation once per group": "test_activation_is_paid_on_every_gpu_of_a_group",
    "activation constant": "test_activation_follows_the_defaults_of_the_card",
    "speed linear in GPU count": "test_tensor_parallel_gains_less_than_its_gpu_count",
    "speed above the bandwidth ceiling": "test_no_figure_is_above_the_bandwidth_or_compute_ceiling",
    "batch has no effect on speed": "test_batch_matters",
    "unknown model replaced": "test_an_unknown_name_is_refused_and_never_replaced",
    "capability ignored": "test_bf16_is_not_promised_on_a_card_without_it",
    "two methods, the better shown": "test_a_recommendation_shows_the_figures_of_the_calculators",
    "catalogue data wrong": "test_the_memory_of_a_type_is_that_of_its_cards",
    "catalogue data shifted": "test_a_row_with_too_few_cells_is_named",
    "published accuracy not retested": "test_the_published_page_promises_no_more_than_a_run_gives",
    "price stale": "test_an_old_price_says_how_old",
    "price zero": "test_an_amount_that_is_no_price_is_refused",
    "price missing": "test_a_type_without_a_price_gets_none_and_never_a_guess",
    "latest dependency breaks the command": "test_every_requirement_stops_before_the_next_major_version",
}


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_every_known_class_of_error_has_its_test(name: str) -> None:
    wanted = re.compile(rf"^def {CLASSES[name]}\(", re.MULTILINE)
    files = sorted(TESTS.rglob("test_*.py"))
    assert any(wanted.search(file.read_text(encoding="utf-8")) for file in files), CLASSES[name]


def speed(**fields: object) -> ThroughputReport:
    return estimate_throughput(ThroughputRequest.model_validate(fields), shipped_catalog())


def test_a_token_of_a_mixture_reads_its_own_experts_only() -> None:
    """Read whole, 30B would take as long as a dense model of its size; 3B are read."""
    load = {"gpu": "H20-96GB", "weight_precision": "bf16", "concurrency": 1, "engine": "vllm"}
    mixture, dense = speed(model="Qwen3-30B-A3B", **load), speed(model="Qwen3-32B", **load)
    assert mixture.tpot_ms * 3 < dense.tpot_ms


def test_a_recommendation_shows_the_figures_of_the_calculators() -> None:
    found = recommend(SizingRequest(model="Qwen3-32B", concurrency=8), shipped_catalog()).options[0]
    plan, memory, rate = found.plan, found.memory, found.speed
    assert isinstance(memory, MemoryReport)
    assert isinstance(rate, ThroughputReport)
    alone = report(
        model="Qwen3-32B", instance_type=found.instance_type, engine=plan.engine,
        gpu_count=memory.gpu_count, tensor_parallel=plan.tensor_parallel,
        pipeline_parallel=plan.pipeline_parallel, weight_precision=found.precision,
        context_tokens=memory.context_tokens, concurrency=memory.concurrency, max_num_seqs=plan.max_num_seqs,
    )  # fmt: skip
    assert alone.total_gib_per_gpu == pytest.approx(memory.total_gib_per_gpu)
    assert alone.fits
    asked = speed(
        model="Qwen3-32B", instance_type=found.instance_type, engine=rate.engine,
        gpu_count=found.count * found.gpu_count, tensor_parallel=plan.tensor_parallel,
        pipeline_parallel=plan.pipeline_parallel, data_parallel=plan.data_parallel,
        weight_precision=found.precision, kv_precision=rate.kv_precision,
        input_tokens=rate.input_tokens, output_tokens=rate.output_tokens, concurrency=rate.concurrency,
    )  # fmt: skip
    assert asked.tpot_ms == pytest.approx(rate.tpot_ms)
    assert asked.output_tokens_per_s == pytest.approx(rate.output_tokens_per_s)


def test_the_memory_of_a_type_is_that_of_its_cards(catalog: Catalog) -> None:
    """Cloud tables have shown four times the memory of a type; only slices have other than their card."""
    checked = 0
    for row in catalog.instances:
        card = catalog.gpu(row.gpu_model)
        if row.gpu_count >= 1 and row.gpu_memory_gib and card.memory_gib:
            named_slice = f"-{row.gpu_memory_gib:g}g." in row.instance_type
            same = row.gpu_memory_gib == pytest.approx(card.memory_gib, rel=0.05)
            assert same or (named_slice and row.gpu_memory_gib < card.memory_gib), row.instance_type
            checked += 1
    assert checked > 100


def test_every_requirement_stops_before_the_next_major_version() -> None:
    """A fresh install must not take a version that did not exist when the tests ran."""
    for name in ("requirements.txt", "requirements-dev.txt"):
        for line in (TESTS.parent / name).read_text(encoding="utf-8").splitlines():
            wanted = line.split("#")[0].strip()
            if wanted and not wanted.startswith("-"):
                assert re.search(r"<\s*\d|==", wanted.split(";")[0]), f"{name}: {line}"


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
