"""Outcomes and options as the advisor would give them, small enough to read in a test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from evals.outcome import Outcome
from knowledge.catalog import shipped_catalog

MakeOutcome = Callable[..., Outcome]
MakeOption = Callable[..., dict[str, Any]]


@pytest.fixture
def outcome() -> MakeOutcome:
    def make(
        text: str, question: str | tuple[str, ...] = "?", options: list[dict[str, Any]] | None = None
    ) -> Outcome:
        turns = (question,) if isinstance(question, str) else question
        recommendation = None if options is None else {"options": options, "request": {}}
        answer = {"text": text, "recommendation": recommendation, "seconds": 0.1}
        return Outcome("test-001", turns, (answer,) * len(turns))

    return make


@pytest.fixture
def option() -> MakeOption:
    """An option of a real type, true in every field unless a test changes one."""

    def make(name: str = "ecs.gn7i-c8g1.2xlarge", count: int = 1, **changes: Any) -> dict[str, Any]:
        catalog = shipped_catalog()
        instance = catalog.instance(name)
        price = catalog.price(instance.instance_type, "cn-hangzhou")
        gpus = max(instance.whole_gpus, 1)
        values = {
            "instance_type": instance.instance_type,
            "family": instance.family,
            "count": count,
            "gpu_model": instance.gpu_model,
            "gpu_count": gpus,
            "gpu_memory_gib": catalog.gpu_of(instance).memory_gib,
            "vcpu": instance.vcpu,
            "host_memory_gib": instance.memory_gib,
            "plan": {"tensor_parallel": gpus * count, "pipeline_parallel": 1, "data_parallel": 1},
            "precision": "bf16",
            "memory": None,
            "hourly_cny": float(price.price) * count if price else None,
            "monthly_cny": float(price.price) * count * 730 if price else None,
            "region": "cn-hangzhou",
            "price_basis": "list",
        }
        return {**values, **changes}

    return make


@pytest.fixture
def request_values() -> Callable[..., dict[str, Any]]:
    """A sizing request as JSON values, everything unset but what a test sets."""

    def make(**changes: Any) -> dict[str, Any]:
        unset = (
            "context_tokens concurrency ttft_ms tpot_ms requests_per_second gpu_count bare_metal "
            "needs_nvlink min_gpu_memory_gib max_gpus budget cny_per_usd hours hours_per_month"
        )
        values: dict[str, Any] = dict.fromkeys(unset.split())
        values |= {"task": "inference", "model": "", "purchase": "", "regions": [], "instance_wanted": []}
        values |= {"gpu_wanted": [], "gpu_excluded": []}
        return {**values, **changes}

    return make
