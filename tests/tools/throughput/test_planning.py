"""Concurrency under targets, rates and users."""

from __future__ import annotations

from knowledge.catalog import shipped_catalog
from tools.throughput.coefficients import COEFFICIENTS
from tools.throughput.core import Load, serve_steps
from tools.throughput.gpu_shape import gpu_shape_of
from tools.throughput.links import link_between
from tools.throughput.model_shape import shape_of
from tools.throughput.planning import (
    best_concurrency,
    concurrency_for_rate,
    concurrency_of_users,
    users_served,
)
from tools.throughput.precision import scheme_for
from tools.throughput.steps import Plan, Stepper, stepper

CATALOG = shipped_catalog()


def replica(
    name: str = "Llama-3.1-8B-Instruct", card: str = "A100-80GB", plan: Plan | None = None
) -> Stepper:
    plan = plan or Plan()
    gpu = gpu_shape_of(CATALOG.gpu(card))
    return stepper(
        shape_of(CATALOG.model(name)),
        gpu,
        scheme_for(gpu, CATALOG.precision("bf16")),
        COEFFICIENTS.engines["vllm"],
        plan,
        link_between(gpu, plan.stage_gpus),
    )


def test_the_best_concurrency_keeps_its_target_and_a_little_more_would_not() -> None:
    one = replica()
    found, speed = best_concurrency(one, 1024, 256, 500, tpot_ms=25)
    assert speed is not None
    assert speed.tpot_ms <= 25
    more = serve_steps(one, Load(1024, 256, found + max(2, found // 20)))
    assert more.tpot_ms > 25


def test_no_concurrency_meets_an_impossible_target() -> None:
    assert best_concurrency(replica(), 1024, 256, 500, tpot_ms=0.5) == (0, None)


def test_the_concurrency_of_a_rate_carries_it_and_no_less_would() -> None:
    one = replica()
    found = concurrency_for_rate(one, 1024, 256, 3.0, 500)
    assert found is not None
    assert serve_steps(one, Load(1024, 256, found)).requests_per_s >= 3.0
    assert serve_steps(one, Load(1024, 256, found - 1)).requests_per_s < 3.0
    assert concurrency_for_rate(one, 1024, 256, 1e6, 500) is None


def test_users_who_think_need_fewer_requests_in_flight() -> None:
    one = replica()
    busy = concurrency_of_users(one, 1024, 256, 100, think_time_s=0.0)
    calm = concurrency_of_users(one, 1024, 256, 100, think_time_s=30.0)
    assert busy == 100
    assert calm < 30
    speed = serve_steps(one, Load(1024, 256, calm))
    assert users_served(speed, calm, 30.0) >= 100


def test_two_replicas_of_two_beat_four_in_one_over_pcie() -> None:
    load = Load(1024, 256, 64)
    split = serve_steps(replica("Qwen2.5-14B-Instruct", "A10", Plan(tensor=4)), load)
    twice = serve_steps(replica("Qwen2.5-14B-Instruct", "A10", Plan(tensor=2, replicas=2)), load)
    assert twice.output_tokens_per_s > split.output_tokens_per_s


def test_more_requests_than_memory_holds_wait_without_raising_the_rate() -> None:
    one = replica()
    at_limit = serve_steps(one, Load(1024, 256, 40, limit=40))
    beyond = serve_steps(one, Load(1024, 256, 80, limit=40))
    assert beyond.ttft_ms > 2 * at_limit.ttft_ms
    assert beyond.output_tokens_per_s <= at_limit.output_tokens_per_s * 1.001
