"""What follows from the reports of a run passes; what does not is named."""

from __future__ import annotations

import pytest

from agent.evidence import Evidence
from knowledge.catalog import Catalog
from tools.contracts.cost import CostRequest
from tools.contracts.memory import MemoryRequest
from tools.contracts.sizing import SizingRequest
from tools.cost import estimate_cost
from tools.memory import estimate_memory
from tools.recommend import recommend


@pytest.fixture(scope="module")
def evidence(catalog: Catalog) -> Evidence:
    memory = MemoryRequest(
        model="llama3 70b", gpu="A100-80GB", weight_precision="awq-int4", context_tokens=8192, concurrency=10
    )
    reports = [
        estimate_memory(memory, catalog),
        estimate_cost(CostRequest(instance_type="ecs.gn7e-c16g1.4xlarge"), catalog),
    ]
    return Evidence(reports, ["Llama-3-70B, at most 50 CNY per hour, 8k context"])


@pytest.mark.parametrize(
    "text",
    [
        "ecs.gn7e-c16g1.4xlarge costs 34.742 CNY per hour",
        "约 34.7 元每小时",
        "25,362 CNY a month",  # 730 hours
        "A100 80GB",
        "25 GiB of KV cache at 320 KiB per token",
        "26.8 GB of KV cache",  # the same in decimal units
        "81,920 tokens in all",  # context times requests
        "within your 50 CNY",
        "the family gn7e",
        "Llama-3-70B has 70B parameters",
        "用Llama 3 70B，每小时34.742元",
        "| | A100 80GB |\n| --- | --- |\n| CNY/h | 34.742 |",
        "34.742 per hour",
        "10 users",
    ],
)
def test_a_fact_of_the_reports_or_of_the_user_passes(evidence: Evidence, text: str) -> None:
    assert evidence.ungrounded(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "ecs.gn7e-c16g1.8xlarge is better",
        "only 12 CNY per hour",
        "an H200 would do",
        "A100 40GB",
        "141 GiB of memory",
        "5,000 tokens/s",
        "the family gn8v",
        "31 ms per token",
        "the list of 2026-01",
        "2026年1月的价目",
        "每小时12元",
        "thirteen hundred CNY",
        "12.5 per hour",
        "| | A100 80GB |\n| --- | --- |\n| CNY/h | 17.5 |",
        "Qwen3-999B",
        "a 405B model",
        "777 users",
        "900 times faster",
        "CUDA 19.7",
        "write to sales@example.com",
    ],
)
def test_an_invented_fact_is_named(evidence: Evidence, text: str) -> None:
    assert evidence.ungrounded(text) != []


@pytest.fixture(scope="module")
def recommended(catalog: Catalog) -> Evidence:
    request = SizingRequest(task="inference", model="qwen2.5-32b", concurrency=10, context_tokens=8192)
    cost = CostRequest(instance_type="ecs.gn7e-c16g1.4xlarge")
    return Evidence([recommend(request, catalog), estimate_cost(cost, catalog)], [])


def test_most_percentages_and_multiples_anybody_invents_are_named(recommended: Evidence) -> None:
    percentages = [number for number in range(1, 100) if not recommended.ungrounded(f"saves {number}%")]
    multiples = [
        tenth for tenth in range(11, 100) if not recommended.ungrounded(f"{tenth / 10} times faster")
    ]
    assert len(percentages) < 40
    assert len(multiples) < 20


def test_a_ratio_of_one_figure_between_two_options_passes(catalog: Catalog) -> None:
    options = [
        {"purchase": "pay-as-you-go", "amount": 10.0, "unit": "hour", "memory_gib": 24.0, "vcpu": 7},
        {"purchase": "subscription", "amount": 5110.0, "unit": "month", "memory_gib": 80.0, "vcpu": 31},
    ]
    evidence = Evidence([{"options": options, "total_gib_per_gpu": 18.0, "usable_gib_per_gpu": 22.5}], [])
    for text in (
        "30% cheaper",
        "70% of the price",
        "3.3 times the memory",
        "fills 80% of the card",
        "20% free",
    ):
        assert evidence.ungrounded(text) == [], text
    for text in ("58% cheaper", "4.4 times the memory", "fills 94% of the card"):  # 24/10, 7/31, 22.5/24
        assert evidence.ungrounded(text) != [], text


def test_a_number_far_from_every_report_is_not_saved_by_arithmetic(evidence: Evidence) -> None:
    assert evidence.ungrounded("99,999 CNY") != []
