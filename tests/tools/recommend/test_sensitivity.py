"""How an answer moves: a user sees what a longer context or a lower price would change."""

from __future__ import annotations

from decimal import Decimal

from knowledge.catalog import shipped_catalog
from tools.contracts.sizing import SensitivityCase, SizingRequest
from tools.recommend import recommend, sensitivity

CATALOG = shipped_catalog()


def cases(**fields: object) -> dict[str, SensitivityCase]:
    found = sensitivity(SizingRequest.model_validate(fields), CATALOG)
    return {case.change: case for case in found.cases}


def test_a_doubled_context_shows_the_price_that_it_would_need() -> None:
    found = cases(model="Llama-3-70B", context_tokens=8192, concurrency=10, budget={"amount": 50})
    doubled = found["context_doubled"]
    assert doubled.value == "16384"
    assert not doubled.same_option
    assert doubled.option is not None
    assert doubled.option.hourly_cny is not None
    assert doubled.option.hourly_cny > 50
    assert "dearer" in [remark.code for remark in doubled.gives_up]


def test_the_next_cheaper_option_says_what_it_gives_up() -> None:
    found = cases(model="Llama-3-70B", context_tokens=8192, concurrency=10, budget={"amount": 50})
    cheaper = found["next_cheaper"]
    assert cheaper.option is not None
    assert cheaper.option.hourly_cny is not None
    assert cheaper.option.hourly_cny < Decimal("34.742")
    assert cheaper.gives_up


def test_a_small_model_keeps_its_machine_when_the_load_doubles() -> None:
    found = cases(model="Qwen2.5-1.5B-Instruct")
    assert found["concurrency_doubled"].same_option
    assert found["concurrency_doubled"].gives_up == ()


def test_a_task_without_a_load_has_no_load_cases() -> None:
    assert set(cases(task="hpc")) == {"next_cheaper"}
    assert "concurrency_doubled" not in cases(task="finetune", model="Qwen2.5-7B", method="lora")


def test_the_base_can_be_handed_in() -> None:
    request = SizingRequest(model="Qwen2.5-1.5B-Instruct")
    base = recommend(request, CATALOG)
    assert sensitivity(request, CATALOG, base=base) == sensitivity(request, CATALOG)
