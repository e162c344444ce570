"""Recommendations that must hold: what a user would lose stands in the name."""

from __future__ import annotations

from decimal import Decimal

import pytest

from knowledge.catalog import shipped_catalog
from knowledge.errors import InputError
from tools.contracts.memory import MemoryReport
from tools.contracts.sizing import Option, Recommendation, SizingRequest
from tools.recommend import recommend

CATALOG = shipped_catalog()


def ask(**fields: object) -> Recommendation:
    return recommend(SizingRequest.model_validate(fields), CATALOG)


def codes(option: Option) -> set[str]:
    return {remark.code for remark in option.why}


def test_llama_70b_under_50_cny_runs_in_4_bit_on_one_a100() -> None:
    found = ask(model="Llama-3-70B", context_tokens=8192, concurrency=10, budget={"amount": 50})
    first = found.options[0]
    assert (first.instance_type, first.count) == ("ecs.gn7e-c16g1.4xlarge", 1)
    assert (first.hourly_cny, first.region) == (Decimal("34.742"), "cn-hangzhou")
    assert first.precision == "awq-int4"
    assert "precision_given_up" in codes(first)
    assert isinstance(first.memory, MemoryReport)
    assert first.memory.kv_bytes_per_token == 320 * 1024
    assert first.memory.kv_cache_gib_per_gpu == pytest.approx(25)
    assert found.assumptions[0].reason == "default_region"


def test_the_answer_says_what_16_bit_would_need_instead() -> None:
    found = ask(model="Llama-3-70B", context_tokens=8192, concurrency=10, budget={"amount": 50})
    steps = {(step.precision, step.gpus): step for step in found.precision_ladder}
    four = steps["bf16", 4]
    assert (four.instance_type, four.hourly_cny) == ("ecs.gn7e-c16g1.16xlarge", Decimal("138.967"))
    assert four.carries_load
    assert not four.within_limits
    two = steps["bf16", 2]
    assert (two.instance_type, two.hourly_cny) == ("ecs.gn7e-c16g1.8xlarge", Decimal("69.483"))
    assert not two.carries_load
    assert two.max_concurrency is not None
    assert 1 <= two.max_concurrency < 10
    assert steps["awq-int4", 1].chosen


def test_without_a_budget_the_released_precision_is_kept() -> None:
    found = ask(model="Llama-3-70B", context_tokens=8192, concurrency=10)
    assert all(option.precision == "bf16" for option in found.options if option.hourly_cny is not None)


def test_7b_lora_takes_one_a10_and_not_an_a100() -> None:
    for model in ({"model": "Qwen2.5-7B"}, {"params_b": 7}, {"model": "Llama-2-7B"}):
        first = ask(task="finetune", method="lora", **model).options[0]
        assert (first.instance_type, first.count) == ("ecs.gn7i-c8g1.2xlarge", 1)
        assert first.hourly_cny == Decimal("9.5326")


def test_a_t4_is_not_offered_as_the_cheap_card_where_an_a10_costs_less() -> None:
    found = ask(model="Qwen2.5-3B-Instruct", objective="cheapest")
    assert found.options[0].gpu_model == "A10"
    reasons = {line.family: line.reason.code for line in found.rejected}
    assert reasons["gn6i"] in ("dearer", "dearer_and_not_faster")


def test_the_cheaper_region_of_the_mainland_is_mentioned() -> None:
    found = ask(model="Llama-3-70B", context_tokens=8192, concurrency=10, budget={"amount": 50})
    remark = next(warning for warning in found.warnings if warning.code == "cheaper_region")
    assert remark.params["region"] == "cn-wulanchabu"
    assert remark.params["hourly_cny"] == 31.267


def test_singapore_gets_singapore_prices_and_a_card_that_fits_the_month() -> None:
    found = ask(
        model="Llama-3-8B",
        regions=["Singapore"],
        budget={"amount": 1000, "currency": "USD", "period": "month"},
    )
    first = found.options[0]
    assert (first.instance_type, first.region) == ("ecs.gn6i-c4g1.xlarge", "ap-southeast-1")
    assert first.hourly_cny == Decimal("8.896")
    assert first.monthly_cny == Decimal("8.896") * 730
    assert "cny_per_usd" in [assumption.field for assumption in found.assumptions]


def test_a_month_of_office_hours_is_not_counted_as_730_hours() -> None:
    found = ask(params_b=14, users=5, hours_per_month=220, budget={"amount": 3000, "period": "month"})
    first = found.options[0]
    assert first.gpu_model == "A10"
    assert first.monthly_cny == first.hourly_cny * 220
    assert "share_of_users" in [assumption.reason for assumption in found.assumptions]


def test_3_dollars_an_hour_are_not_taken_for_3_cny_or_30() -> None:
    first = ask(budget={"amount": 3, "currency": "USD"}).options[0]
    assert first.instance_type == "ecs.gn7i-2x.8xlarge"
    assert first.hourly_cny == Decimal("20.1867")


def test_4_bit_70b_for_two_users_fits_two_a10() -> None:
    first = ask(
        model="Llama-3-70B", precision="int4", concurrency=2, context_tokens=2048, budget={"amount": 30}
    ).options[0]
    assert (first.instance_type, first.precision) == ("ecs.gn7i-2x.8xlarge", "awq-int4")


def test_fp8_671b_needs_eight_h20_and_is_not_put_on_eight_a100() -> None:
    found = ask(model="DeepSeek-R1", precision="fp8", gpu_wanted=["H20"], gpu_count=8)
    assert found.options[0].gpu_model == "H20-96GB"
    assert found.options[0].total_vram_gib == 768
    assert "no_list_price" in codes(found.options[0])
    a100 = ask(model="DeepSeek-R1", precision="fp8", gpu_wanted=["A100-80GB"], gpu_count=8)
    assert a100.options == ()
    assert a100.fallback[0].total_vram_gib > 700


def test_bf16_671b_on_24_a100_is_split_by_8_and_3() -> None:
    first = ask(model="DeepSeek-R1", precision="bf16", gpu_wanted=["A100 80GB"], gpu_count=24).options[0]
    assert (first.count, first.plan.tensor_parallel, first.plan.pipeline_parallel) == (3, 8, 3)


@pytest.mark.parametrize("gpu", ["T4", "V100-32GB"])
def test_bf16_on_an_old_card_is_corrected_to_fp16(gpu: str) -> None:
    found = ask(model="Qwen2.5-3B-Instruct", precision="bf16", gpu_wanted=[gpu])
    assert found.corrections[0].code == "precision_not_on_gpu"
    assert all(option.precision == "fp16" for option in found.options)


def test_fp8_on_a100_is_said_to_be_weight_only() -> None:
    found = ask(model="Llama-3.1-8B-Instruct", precision="fp8", gpu_wanted=["A100-80GB"])
    assert found.corrections[0].code == "weight_only_on_gpu"
    assert "weight_only" in codes(found.options[0])


def test_a_card_that_is_not_sold_gets_a_stand_in_and_a_correction() -> None:
    found = ask(model="Qwen3-30B-A3B", gpu_wanted=["4090"], precision="q4_k_m")
    assert found.corrections[0].code == "gpu_not_sold"
    assert found.options[0].gpu_model == "A10"


def test_nvlink_on_a10_is_corrected() -> None:
    found = ask(model="Qwen2.5-72B-Instruct", needs_nvlink=True, gpu_wanted=["A10"])
    assert found.corrections[0].code == "no_nvlink_on_gpu"


def test_an_excluded_gpu_never_comes_back() -> None:
    found = ask(model="Qwen2.5-7B-Instruct", gpu_excluded=["A10", "A100"])
    assert found.options
    assert not {option.gpu_model for option in found.options} & {"A10", "A100-80GB", "A100-40GB"}


def test_quantization_that_is_not_wanted_is_not_offered() -> None:
    found = ask(
        model="Llama-3-70B",
        context_tokens=8192,
        concurrency=10,
        budget={"amount": 50},
        allow_quantization=False,
    )
    assert found.options == ()
    assert {option.precision for option in found.fallback if option.memory} == {"bf16"}


def test_a_phantom_type_is_an_error_with_near_names() -> None:
    with pytest.raises(InputError) as error:
        ask(model="Qwen2.5-7B", instance_wanted=["ecs.gn7i-c24g1.24xlarge"])
    assert error.value.suggestions


def test_g6e_is_corrected_as_a_cpu_family_and_not_taken_for_a_gpu() -> None:
    found = ask(model="Qwen2.5-7B-Instruct", instance_wanted=["g6e"])
    assert found.corrections[0].code == "not_a_gpu_family"
    assert found.options[0].gpu_model == "A10"


def test_a_retired_type_is_offered_only_when_named() -> None:
    assert ask(model="Qwen2.5-1.5B-Instruct", instance_wanted=["gn7s"]).options[0].family == "gn7s"
    for found in (ask(model="Qwen2.5-7B-Instruct", gpu_wanted=["T4"]), ask(task="development")):
        for option in found.options:
            assert CATALOG.instance(option.instance_type).status == "current"


def test_double_precision_never_lands_on_a_card_without_fp64_units() -> None:
    found = ask(task="hpc")
    assert found.options[0].gpu_model in ("V100-32GB", "V100-16GB", "A100-80GB", "A100-40GB")
    assert {line.reason.code for line in found.rejected if line.family == "gn6i"} == {"fp64_slow"}
    assert ask(task="hpc", precision="fp32").options[0].gpu_model == "A10"


def test_three_designers_get_three_slices_and_not_three_whole_cards() -> None:
    first = ask(task="graphics", users=3, min_gpu_memory_gib=8).options[0]
    assert (first.instance_type, first.count) == ("ecs.vgn7i-vws-m8.2xlarge", 3)
    assert "graphics_licence_included" in codes(first)


def test_transcoding_never_lands_on_a_card_without_an_encoder() -> None:
    found = ask(task="transcoding")
    assert not {option.gpu_model for option in found.options} & {"A100-80GB", "A100-40GB", "H20-96GB"}
    assert ask(task="transcoding", gpu_wanted=["A100-80GB"]).options == ()


def test_3_cny_an_hour_buy_a_slice_and_that_is_said() -> None:
    first = ask(task="development", budget={"amount": 3}).options[0]
    assert first.instance_type.startswith("ecs.sgn7i-vws-m2")
    assert "not_a_whole_gpu" in codes(first)
    assert ask(task="development").options[0].instance_type == "ecs.gn7i-c8g1.2xlarge"


def test_eight_a100_come_in_one_machine() -> None:
    found = ask(
        task="pretrain",
        gpu_wanted=["A100"],
        gpu_count=8,
        hours=168,
        budget={"amount": 50000, "period": "total"},
    )
    first = found.options[0]
    assert (first.instance_type, first.count) == ("ecs.gn7e-c16g1.32xlarge", 1)
    assert first.job_cny == Decimal("277.933") * 168


def test_a_deadline_takes_more_machines() -> None:
    fields = {"task": "pretrain", "params_b": 13, "dataset_tokens": 1e11, "gpu_wanted": ["A100-80GB"]}
    slow = ask(**fields).options[0]
    fast = ask(**fields, deadline_hours=24 * 14).options[0]
    assert fast.count * fast.gpu_count > slow.count * slow.gpu_count
    assert fast.speed is not None
    assert getattr(fast.speed, "hours", 0) <= 24 * 14


def test_a_rate_takes_enough_replicas() -> None:
    fields = {"model": "Qwen2.5-7B-Instruct", "input_tokens": 500, "output_tokens": 200}
    first = ask(**fields, requests_per_second=50).options[0]
    assert first.speed is not None
    assert getattr(first.speed, "requests_per_s", 0) >= 50 * 0.95
    assert first.plan.data_parallel > 1


def test_a_latency_target_rules_out_slow_cards() -> None:
    found = ask(params_b=7, input_tokens=200, output_tokens=60, ttft_ms=300, tpot_ms=12, concurrency=1)
    for option in found.options:
        assert option.speed is not None
        assert getattr(option.speed, "tpot_ms", 99) <= 12
    assert found.options[0].gpu_model != "T4"


def test_a_model_that_a_gpu_count_cannot_hold_says_what_would() -> None:
    found = ask(params_b=72, gpu_wanted=["T4"], gpu_count=8, precision="fp16")
    assert found.options == ()
    assert "without_limit" in codes(found.fallback[0])
    assert found.fallback[0].total_vram_gib > 144 * 0.93


def test_a_penny_buys_nothing_and_nothing_is_invented() -> None:
    found = ask(budget={"amount": "0.01", "currency": "USD"})
    assert found.options == ()
    assert found.fallback[0].hourly_cny is not None
    assert {CATALOG.instance(option.instance_type).status for option in found.fallback} == {"current"}


def test_too_small_a_budget_shows_the_price_of_the_wish_and_what_the_money_buys() -> None:
    found = ask(model="Llama-3-70B", context_tokens=8192, concurrency=10, budget={"amount": 25})
    assert found.options == ()
    kinds = [remark.code for option in found.fallback for remark in option.why]
    assert "what_the_wish_costs" in kinds
    assert "wish_in_lower_precision" in kinds
    assert "budget_buys_smaller_load" in kinds
    bought = next(o for o in found.fallback if "budget_buys_smaller_load" in codes(o))
    assert bought.hourly_cny is not None
    assert bought.hourly_cny <= 25


def test_what_a_budget_buys_says_how_far_the_load_shrinks() -> None:
    found = ask(model="Qwen2.5-7B", context_tokens=32768, concurrency=200, budget={"amount": 10})
    bought = next(o for o in found.fallback if "budget_buys_smaller_load" in codes(o))
    params = next(remark.params for remark in bought.why if remark.code == "budget_buys_smaller_load")
    assert (params["asked_concurrency"], params["asked_context_tokens"]) == (200, 32768)
    assert 1 <= params["concurrency"] < 200
    assert params["context_tokens"] == 32768  # a long request still fits: fewer of them come first
    held = ask(**{key: params[key] for key in ("concurrency", "context_tokens")}, model="Qwen2.5-7B",
               budget={"amount": 10})  # fmt: skip
    assert held.options


def test_a_rate_above_the_budget_shrinks_to_the_rate_that_it_carries() -> None:
    wish = {"params_b": 7, "input_tokens": 500, "output_tokens": 200, "requests_per_second": 50}
    found = ask(**wish, budget={"amount": 200_000, "period": "year"})
    bought = next(o for o in found.fallback if "budget_buys_smaller_load" in codes(o))
    params = next(remark.params for remark in bought.why if remark.code == "budget_buys_smaller_load")
    assert params["asked_requests_per_s"] == 50
    assert 1 < params["requests_per_s"] < 50
    held = ask(
        **wish | {"requests_per_second": params["requests_per_s"]},
        budget={"amount": 200_000, "period": "year"},
    )
    assert held.options


def test_video_in_shanghai_under_40_cny_takes_the_80_gb_card() -> None:
    first = ask(task="video", model="Wan2.1-T2V-14B", regions=["上海"], budget={"amount": 40}).options[0]
    assert (first.instance_type, first.region) == ("ecs.gn7e-c16g1.4xlarge", "cn-shanghai")


def test_sdxl_takes_the_a10_at_home_and_the_t4_in_singapore() -> None:
    assert ask(task="diffusion", model="SDXL").options[0].gpu_model == "A10"
    abroad = ask(task="diffusion", model="SDXL", regions=["ap-southeast-1"], objective="cheapest").options[0]
    assert (abroad.instance_type, abroad.hourly_cny) == ("ecs.gn6i-c4g1.xlarge", Decimal("8.896"))


def test_an_embedding_model_is_recognised_whatever_the_task_is_called() -> None:
    assert ask(task="finetune", method="full", model="bge-m3").options[0].gpu_model == "A10"
