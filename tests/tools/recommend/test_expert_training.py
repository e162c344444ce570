"""Training of huge mixtures of experts: a plan that someone could run, or none."""

from __future__ import annotations

from knowledge.catalog import shipped_catalog
from tools.contracts.sizing import SizingRequest
from tools.contracts.training import TrainingTimeReport
from tools.launch import launch_kit
from tools.recommend import recommend

CATALOG = shipped_catalog()
REQUEST = SizingRequest(task="finetune", model="DeepSeek-R1", method="full", dataset_tokens=100_000_000)


def test_a_huge_mixture_of_experts_is_not_trained_at_half_a_token_per_second() -> None:
    """Gathering all experts over a slow network for every step once gave 0.5 tokens/s and an MFU of 0 %."""
    options = recommend(REQUEST, CATALOG).options
    assert options
    for option in options:
        assert isinstance(option.speed, TrainingTimeReport)
        assert option.speed.mfu >= 0.02


def test_the_launcher_of_such_a_plan_splits_the_experts() -> None:
    option = next(item for item in recommend(REQUEST, CATALOG).options if item.plan.expert_parallel > 1)
    text = "".join(file.content for file in launch_kit(option, REQUEST, CATALOG).files)
    assert f"--expert-model-parallel-size {option.plan.expert_parallel}" in text
    assert f"--pipeline-model-parallel-size {option.plan.pipeline_parallel}" in text
    assert "ds_config" not in text
