"""Memory and hours of a training job describe the same job: who buys by both is not told "fits" of one set
of settings and the hours of another."""

from __future__ import annotations

import pytest

from evals.oracle import judge
from evals.training_bounds import SETTINGS
from knowledge.catalog import shipped_catalog
from knowledge.errors import InputError
from tools.contracts.base import Report, parse_request
from tools.contracts.sizing import SizingRequest
from tools.contracts.training import (
    TrainingMemoryReport,
    TrainingMemoryRequest,
    TrainingTimeReport,
    TrainingTimeRequest,
)
from tools.recommend import recommend
from tools.training_memory import estimate_training_memory
from tools.training_memory.frameworks import FRAMEWORKS, resolve_framework
from tools.training_time import estimate_training_time

CATALOG = shipped_catalog()
WORK: tuple[dict[str, object], ...] = (
    {"task": "finetune", "model": "Qwen2.5-7B", "method": "lora", "gpu_wanted": ("A10",)},
    {"task": "finetune", "model": "Qwen2.5-7B", "method": "full"},
    {"task": "finetune", "model": "Qwen2.5-72B", "method": "qlora"},
    {"task": "finetune", "model": "Qwen3-32B", "method": "lora", "lora_rank": 64, "micro_batch": 2},
    {"task": "pretrain", "params_b": 13, "gpu_wanted": ("A100-80GB",)},
)


def both(**values: object) -> tuple[TrainingMemoryReport, TrainingTimeReport]:
    return (
        estimate_training_memory(parse_request(TrainingMemoryRequest, values), CATALOG),
        estimate_training_time(parse_request(TrainingTimeRequest, values), CATALOG),
    )


def settings_of(report: TrainingMemoryReport | TrainingTimeReport) -> dict[str, object]:
    return {item.field: item.value for item in report.assumptions if item.field in SETTINGS}


@pytest.mark.parametrize("framework", ["", *FRAMEWORKS, "ms-swift (Megatron)", "LLaMA-Factory", "verl"])
@pytest.mark.parametrize("method", ["full", "lora", "pretrain"])
def test_memory_and_hours_assume_the_same_step(framework: str, method: str) -> None:
    memory, speed = both(model="Qwen2.5-14B", gpu="L20", gpu_count=2, method=method, framework=framework)
    assert settings_of(memory) == settings_of(speed)
    assert "micro_batch" in settings_of(memory)


@pytest.mark.parametrize("fields", WORK, ids=lambda fields: "-".join(map(str, fields.values()))[:50])
def test_an_option_shows_memory_and_hours_of_one_job(fields: dict[str, object]) -> None:
    found = recommend(SizingRequest.model_validate({**fields, "dataset_samples": 10_000}), CATALOG)
    assert found.options
    for option in found.options:
        assert isinstance(option.memory, TrainingMemoryReport)
        assert isinstance(option.speed, TrainingTimeReport)
        assert settings_of(option.memory) == settings_of(option.speed)
        again = estimate_training_memory(
            parse_request(
                TrainingMemoryRequest,
                {
                    "model": option.memory.model if fields.get("model") else "",
                    "params_b": fields.get("params_b"),
                    "method": option.memory.method,
                    "instance_type": option.instance_type,
                    "gpu_count": option.gpu_count * option.count,
                    "zero_stage": option.plan.zero_stage,
                    "tensor_parallel": option.plan.tensor_parallel,
                    "pipeline_parallel": option.plan.pipeline_parallel,
                    "lora_rank": fields.get("lora_rank"),
                    "micro_batch": fields.get("micro_batch"),
                    **settings_of(option.speed),
                },
            ),
            CATALOG,
        )
        assert again.fits, "the settings behind the hours do not fit"
    assert judge(found.model_dump(mode="json"), CATALOG) == []


def test_a_framework_nobody_knows_is_refused_by_memory_as_by_hours() -> None:
    values: dict[str, object] = {"model": "Qwen2.5-7B", "gpu": "A10", "method": "lora", "framework": "abacus"}
    for estimate, kind in (
        (estimate_training_memory, TrainingMemoryRequest),
        (estimate_training_time, TrainingTimeRequest),
    ):
        with pytest.raises(InputError) as error:
            run(estimate, kind, values)
        assert error.value.field == "framework"


def run(estimate: object, kind: type, values: dict[str, object]) -> Report:
    report: Report = estimate(parse_request(kind, values), CATALOG)  # type: ignore[operator]
    return report


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("HF transformers + peft, flash attention 2 through LLaMA-Factory", "transformers"),
        ("Qwen finetune.py (HF Trainer, DeepSpeed)", "transformers"),
        ("ms-swift (Megatron)", "megatron"),
        ("Unsloth, flash attention 2 through LLaMA-Factory", "unsloth"),
        ("PyTorch FSDP (fms-fsdp)", "fsdp"),
        ("xtuner v1", "xtuner"),
        ("MiniCPM finetune", "transformers"),
    ],
)
def test_a_framework_is_found_in_the_words_of_tables(written: str, name: str) -> None:
    assert resolve_framework(written)[0].name == name


def test_more_adapters_are_more_to_send_between_machines() -> None:
    rates = [
        both(
            model="Qwen2.5-7B", gpu="A10", gpu_count=16, method="lora", lora_rank=rank,
        )[1].tokens_per_s_per_gpu
        for rank in (8, 512)
    ]  # fmt: skip
    assert rates[1] < rates[0]
