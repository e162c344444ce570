"""The oracle: every kind of wrong recommendation is seen, and a right one is left alone."""

from __future__ import annotations

from typing import Any

import pytest

from evals.bounds import Load, fits_surely, kv_bytes, weights_gib_at_least, weights_gib_at_most
from evals.oracle import GIB, judge
from knowledge.catalog import shipped_catalog
from tools.contracts.sizing import SizingRequest
from tools.recommend import recommend

CATALOG = shipped_catalog()


def memory(context: int = 4096, concurrency: int = 1, kv: str = "bf16") -> dict[str, Any]:
    return {
        "model": "",
        "kv_bytes_per_token": 1.0,
        "context_tokens": context,
        "concurrency": concurrency,
        "kv_precision": kv,
    }


def rules(options: list[dict[str, Any]], request: dict[str, Any], **more: Any) -> list[str]:
    recommendation = {"options": options, "request": request, **more}
    return [violation.rule for violation in judge(recommendation, CATALOG)]


def test_a_right_recommendation_is_left_alone(option, request_values) -> None:
    request = request_values(model="Qwen2.5-7B-Instruct", context_tokens=4096, concurrency=2)
    assert rules([option(memory=memory(4096, 2))], request) == []


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"instance_type": "ecs.gn7i-c24g1.24xlarge"}, "exists"),
        ({"vcpu": 16}, "facts"),
        ({"gpu_model": "L20"}, "facts"),
        ({"gpu_memory_gib": 48.0}, "facts"),
        ({"hourly_cny": 8.0}, "price"),
        ({"hourly_cny": None}, "price"),
        ({"precision": "fp8"}, "precision"),
        ({"plan": {"tensor_parallel": 2, "pipeline_parallel": 1, "data_parallel": 1}}, "plan"),
    ],
)
def test_a_wrong_fact_in_an_option_is_seen(changes, rule, option, request_values) -> None:
    request = request_values(model="Qwen2.5-7B-Instruct", context_tokens=4096, concurrency=1)
    assert rule in rules([option(**{"memory": memory(), **changes})], request)


def test_a_retired_type_may_be_offered_only_to_who_names_it(option, request_values) -> None:
    retired = next(row for row in CATALOG.instances if row.status == "legacy" and row.gpu_count >= 1)
    old = option(retired.instance_type)
    assert "current" in rules([old], request_values())
    assert "current" not in rules([old], request_values(instance_wanted=[retired.family]))


def test_weights_that_cannot_fit_are_seen(option, request_values) -> None:
    request = request_values(model="Qwen2.5-72B-Instruct", context_tokens=4096, concurrency=1)
    assert "memory" in rules([option(memory=memory())], request)
    assert "memory" in rules([option("ecs.gn7e-c16g1.4xlarge", memory=memory())], request)
    assert "memory" not in rules([option("ecs.gn7e-c16g1.8xlarge", memory=memory())], request)


def test_a_cache_that_cannot_fit_is_seen(option, request_values) -> None:
    request = request_values(model="Qwen2.5-7B-Instruct", context_tokens=32768, concurrency=64)
    assert "memory" in rules([option(memory=memory(32768, 64))], request)


@pytest.mark.parametrize(
    ("budget", "broken"),
    [
        ({"amount": 9, "currency": "CNY", "period": "hour"}, True),
        ({"amount": 10, "currency": "CNY", "period": "hour"}, False),
        ({"amount": 1, "currency": "USD", "period": "hour"}, True),
        ({"amount": 6000, "currency": "CNY", "period": "month"}, True),
        ({"amount": 7000, "currency": "CNY", "period": "month"}, False),
        ({"amount": 1000, "currency": "CNY", "period": "total"}, False),
    ],
)
def test_a_budget_that_is_broken_is_seen(budget, broken, option, request_values) -> None:
    assert ("budget" in rules([option()], request_values(budget=budget))) is broken


def test_limits_of_the_request_are_held(option, request_values) -> None:
    assert "excluded" in rules([option()], request_values(gpu_excluded=["A10"]))
    assert "max_gpus" in rules([option("ecs.gn7i-2x.8xlarge")], request_values(max_gpus=1))
    assert "region" in rules([option()], request_values(regions=["cn-shanghai"]))
    assert "region" not in rules([option()], request_values(regions=["杭州"]))


def test_a_cheaper_machine_that_surely_fits_is_missed(option, request_values) -> None:
    request = request_values(model="Qwen2.5-7B-Instruct", context_tokens=2048, concurrency=1)
    dear = option("ecs.gn7e-c16g1.4xlarge", memory=memory(2048))
    assert "missed" in rules([dear], request)
    assert "missed" not in rules([dear, option(memory=memory(2048))], request)
    assert "missed" not in rules([dear], {**request, "gpu_wanted": ["A100 80GB"]})
    assert "missed" not in rules([dear], {**request, "tpot_ms": 10.0})


def test_saying_that_nothing_fits_the_budget_is_checked(option, request_values) -> None:
    budget = {"amount": 20, "currency": "CNY", "period": "hour"}
    request = request_values(model="Qwen2.5-7B-Instruct", context_tokens=2048, concurrency=1, budget=budget)
    fallback = [option("ecs.gn7e-c16g1.4xlarge", memory=memory(2048))]
    assert "missed" in rules([], request, fallback=fallback)


def load(model: str, precision: str, context: int = 8192, concurrency: int = 10) -> Load:
    row = CATALOG.model(model)
    assert row.params_total_b is not None
    return Load(row, row.params_total_b, CATALOG.precision(precision), 2.0, context, concurrency)


def test_the_cache_of_published_models_is_met() -> None:
    """320 KiB a token for Llama 3 70B, 68.6 KiB for DeepSeek R1 (61 layers of 576 values)."""
    assert kv_bytes(load("Llama-3-70B", "bf16"), 10) / GIB == pytest.approx(25.0)
    assert kv_bytes(load("DeepSeek-R1", "fp8", 1024, 1), 1) / 1024 / 1024 == pytest.approx(68.6, abs=0.1)


@pytest.mark.parametrize("precision", ["bf16", "fp8", "awq-int4", "gguf-q4_k_m", "mxfp4"])
def test_the_bounds_of_weights_are_in_order(precision: str) -> None:
    for row in CATALOG.models:
        if row.params_total_b and row.vocab_size:
            item = Load(row, row.params_total_b, CATALOG.precision(precision), 2.0, 4096, 1)
            assert 0 < weights_gib_at_least(item) < weights_gib_at_most(item)


def test_what_surely_fits_also_passes_the_lower_bound() -> None:
    found = 0
    for name in ("Llama-3-70B", "Qwen2.5-7B-Instruct", "Qwen2.5-32B-Instruct", "DeepSeek-R1"):
        for precision in ("bf16", "fp8", "awq-int4"):
            item = load(name, precision, 4096, 4)
            for instance in CATALOG.instances:
                if instance.gpu_count >= 1 and fits_surely(item, instance, CATALOG):
                    found += 1
                    usable = (CATALOG.gpu_of(instance).memory_gib or 0) * instance.whole_gpus
                    assert weights_gib_at_least(item) + kv_bytes(item, 4) / GIB < usable
    assert found > 50


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("micro_batch", 64, "memory"),
        ("micro_batch", 2, "settings"),
        ("gradient_checkpointing", "none", "settings"),
    ],
)
def test_hours_of_another_job_than_the_memory_are_seen(field: str, value: object, rule: str) -> None:
    request = SizingRequest.model_validate(
        {"task": "finetune", "model": "Qwen2.5-7B", "method": "lora", "gpu_wanted": ("A10",)}
    )
    shown = recommend(request, CATALOG).model_dump(mode="json")
    assert judge(shown, CATALOG) == []
    for assumption in shown["options"][0]["speed"]["assumptions"]:
        if assumption["field"] == field:
            assumption["value"] = value
    assert rule in {violation.rule for violation in judge(shown, CATALOG)}


def test_a_training_speed_above_the_peak_of_the_card_is_seen() -> None:
    request = SizingRequest.model_validate({"task": "finetune", "model": "Qwen2.5-7B", "method": "full"})
    shown = recommend(request, CATALOG).model_dump(mode="json")
    shown["options"][0]["speed"]["tokens_per_s_per_gpu"] *= 10
    assert "speed" in {violation.rule for violation in judge(shown, CATALOG)}
