"""A desk that is told how many users a card carries must not find the answers slower than promised."""

from __future__ import annotations

import pytest

from knowledge.catalog import shipped_catalog
from tools.contracts.throughput import Capacity, ThroughputRequest
from tools.throughput import estimate_throughput


def capacity(**changes: object) -> Capacity:
    fields = {"model": "Qwen2.5-7B", "gpu": "A10", "input_tokens": 1500, "output_tokens": 300, **changes}
    found = estimate_throughput(ThroughputRequest.model_validate(fields), shipped_catalog()).capacity
    assert found is not None
    return found


@pytest.mark.parametrize("tpot_ms", [40.0, 60.0, 100.0, 300.0])
def test_the_load_keeps_the_target_that_was_given(tpot_ms: float) -> None:
    found = capacity(tpot_ms=tpot_ms)
    assert found.concurrency >= 1
    assert found.tpot_ms <= tpot_ms


def test_a_looser_target_never_carries_less() -> None:
    carried = [capacity(tpot_ms=limit).concurrency for limit in (20, 40, 80, 160, 320)]
    assert carried == sorted(carried)


def test_memory_ends_the_load_where_the_target_does_not() -> None:
    found = capacity(tpot_ms=10_000.0)
    assert found.limited_by == "kv_cache"


def test_a_target_below_one_step_carries_nothing_and_promises_no_user() -> None:
    found = capacity(tpot_ms=0.5)
    assert (found.concurrency, found.users, found.output_tokens_per_s) == (0, 0, 0.0)


def test_people_who_pause_longer_are_more_people() -> None:
    assert capacity(tpot_ms=100.0, think_time_s=60.0).users > capacity(tpot_ms=100.0, think_time_s=10.0).users


def test_without_targets_there_is_no_capacity_to_read() -> None:
    request = ThroughputRequest(model="Qwen2.5-7B", gpu="A10")
    assert estimate_throughput(request, shipped_catalog()).capacity is None


def test_a_model_that_the_default_share_just_does_not_hold_is_started_with_a_higher_one() -> None:
    request = ThroughputRequest.model_validate(
        {"model": "DeepSeek-R1", "gpu": "H20", "gpu_count": 8, "engine": "sglang", "concurrency": 64}
    )
    report = estimate_throughput(request, shipped_catalog())
    assert report.max_concurrency is not None and report.max_concurrency >= 50
    assert any(item.field == "gpu_memory_utilization" for item in report.assumptions)
