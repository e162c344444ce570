"""Whatever is asked: every option exists, costs what the list says, fits, and is beaten by no other."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.catalog import shipped_catalog
from knowledge.errors import AdvisorError
from tools.contracts.sizing import Budget, Option, Recommendation, SizingRequest
from tools.contracts.throughput import ThroughputReport
from tools.recommend import recommend

CATALOG = shipped_catalog()
MODELS = (
    "Llama-3-70B", "Qwen2.5-7B-Instruct", "Qwen2.5-72B-Instruct-AWQ", "DeepSeek-R1", "Mixtral-8x7B",
    "Qwen3-30B-A3B", "Qwen1.5-72B-Chat", "gpt-oss-120b", "gemma-2-9b-it", "bge-m3", "SDXL",
    "whisper-large-v3",
)  # fmt: skip
GPUS = ("A10", "A100", "T4", "V100", "H20", "L20", "A100-40GB", "RTX 4090", "H100", "P100")
requests = st.builds(
    SizingRequest,
    task=st.sampled_from(
        ["inference", "inference", "inference", "finetune", "pretrain", "embedding", "diffusion", "video",
         "asr", "graphics", "transcoding", "hpc", "development"]
    ),
    model=st.sampled_from(["", *MODELS]),
    params_b=st.one_of(st.none(), st.floats(0.1, 2000)),
    precision=st.sampled_from(["", "", "", "bf16", "fp16", "fp8", "int4", "int8", "gptq-int4", "q4_k_m"]),
    engine=st.sampled_from(["", "", "vllm", "sglang", "ollama", "transformers"]),
    context_tokens=st.one_of(st.none(), st.integers(1, 200_000)),
    input_tokens=st.one_of(st.none(), st.integers(0, 20_000)),
    output_tokens=st.one_of(st.none(), st.integers(0, 4_000)),
    concurrency=st.one_of(st.none(), st.integers(1, 2_000)),
    users=st.one_of(st.none(), st.integers(1, 100_000)),
    requests_per_second=st.one_of(st.none(), st.floats(0.01, 500)),
    ttft_ms=st.one_of(st.none(), st.floats(10, 10_000)),
    tpot_ms=st.one_of(st.none(), st.floats(1, 500)),
    method=st.sampled_from(["", "lora", "qlora", "full"]),
    budget=st.one_of(
        st.none(),
        st.builds(
            Budget,
            amount=st.decimals("0.01", 1_000_000, places=2),
            currency=st.sampled_from(["CNY", "USD"]),
            period=st.sampled_from(["hour", "day", "month", "year", "total"]),
        ),
    ),
    hours_per_month=st.one_of(st.none(), st.floats(1, 744)),
    regions=st.sampled_from([(), (), ("cn-wulanchabu",), ("Singapore", "cn-beijing"), ("us-east-1",)]),
    gpu_wanted=st.one_of(st.just(()), st.sampled_from(GPUS).map(lambda name: (name,))),
    gpu_excluded=st.one_of(st.just(()), st.sampled_from(GPUS).map(lambda name: (name,))),
    gpu_count=st.one_of(st.none(), st.none(), st.integers(1, 24)),
    max_gpus=st.one_of(st.none(), st.integers(1, 16)),
    needs_nvlink=st.booleans(),
    bare_metal=st.sampled_from([None, None, True, False]),
    objective=st.sampled_from(["cheapest", "balanced", "fastest"]),
    allow_derived_prices=st.booleans(),
    dataset_tokens=st.one_of(st.none(), st.floats(1e6, 1e12)),
    deadline_hours=st.one_of(st.none(), st.floats(1, 2_000)),
    purchase=st.sampled_from(["", "", "spot", "包月"]),
)  # fmt: skip


def found_for(request: SizingRequest) -> Recommendation | None:
    try:
        return recommend(request, CATALOG)
    except AdvisorError as error:
        assert str(error)
        return None


def speed(option: Option) -> float:
    return option.speed.output_tokens_per_s if isinstance(option.speed, ThroughputReport) else 0.0


@settings(max_examples=60, deadline=None)
@given(requests)
def test_no_request_gives_anything_but_a_true_answer_or_a_clear_error(request: SizingRequest) -> None:
    found = found_for(request)
    if found is None:
        return
    for option in (*found.options, *found.fallback):
        check_facts(option, request)
    for option in found.options:
        check_limits(option, request)
    check_order(found)
    assert Recommendation.model_validate_json(found.model_dump_json()).considered == found.considered


def check_facts(option: Option, request: SizingRequest) -> None:
    """Type, region and price are the catalog's; the plan uses the GPUs that are there; the memory fits."""
    instance = CATALOG.instance(option.instance_type)
    assert instance.status == "current" or request.gpu_wanted
    assert option.gpu_model == instance.gpu_model
    plan = option.plan
    assert (
        plan.tensor_parallel * plan.pipeline_parallel * plan.data_parallel <= option.count * option.gpu_count
    )
    assert option.memory is None or option.memory.fits
    row = CATALOG.price(option.instance_type, option.region)
    if option.hourly_cny is None:
        assert row is None
        return
    if row is not None:
        assert option.hourly_cny == row.price * option.count
        assert row.comparable
    else:
        assert request.allow_derived_prices
        assert option.price_basis.startswith("derived")


def check_limits(option: Option, request: SizingRequest) -> None:
    """Named limits hold, whatever else was traded."""
    gpus = option.count * option.gpu_count
    assert request.gpu_count is None or gpus == request.gpu_count
    assert request.max_gpus is None or gpus <= request.max_gpus
    for name in request.gpu_excluded:
        assert not option.gpu_model.startswith(f"{name}-")
        assert option.gpu_model != name
    if request.needs_nvlink and option.gpu_count > 1:
        assert CATALOG.instance(option.instance_type).interconnect == "nvlink"
    if request.bare_metal is not None:
        assert CATALOG.instance(option.instance_type).bare_metal == request.bare_metal
    budget = request.budget
    if budget is not None and budget.period == "hour" and budget.currency == "CNY":
        assert option.hourly_cny is None or option.hourly_cny <= budget.amount
    if budget is not None and budget.period == "hour" and budget.currency == "USD":
        assert option.hourly_cny is None or option.hourly_cny <= budget.amount * Decimal("7.2")


def check_order(found: Recommendation) -> None:
    """Unpriced options follow priced ones; the first answers the objective; none is dominated."""
    priced = [option.hourly_cny is not None for option in found.options]
    assert priced == sorted(priced, reverse=True)
    if found.options:
        assert found.options[0].labels
    compared = [option for option in found.options if option.hourly_cny is not None and speed(option)]
    if found.request.requests_per_second is not None:
        return  # then all deliver the asked rate, and what ranks is the rate they could deliver
    for a in compared:
        for b in compared:
            assert a.monthly_cny is not None
            assert b.monthly_cny is not None
            better = a.monthly_cny < b.monthly_cny and speed(a) > 1.01 * speed(b)
            assert not (better and a.precision_rung <= b.precision_rung)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(MODELS[:8]), st.integers(1, 64), st.integers(512, 32_768), st.integers(5, 400))
def test_more_money_never_buys_a_lower_precision(model: str, users: int, context: int, amount: int) -> None:
    def rung(money: int) -> int | None:
        found = found_for(
            SizingRequest(
                model=model, concurrency=users, context_tokens=context, budget=Budget(amount=Decimal(money))
            )
        )
        return found.options[0].precision_rung if found and found.options else None

    less, more = rung(amount), rung(2 * amount)
    assert less is None or (more is not None and more <= less)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(MODELS[:8]), st.integers(1, 32), st.integers(512, 16_384))
def test_a_larger_load_never_gets_cheaper(model: str, concurrency: int, context: int) -> None:
    def price(requests: int, tokens: int) -> Decimal | None:
        found = found_for(
            SizingRequest(model=model, concurrency=requests, context_tokens=tokens, objective="cheapest")
        )
        return found.options[0].hourly_cny if found and found.options else None

    small = price(concurrency, context)
    for large in (price(2 * concurrency, context), price(concurrency, 2 * context)):
        assert small is None or large is None or large >= small * Decimal("0.999")
