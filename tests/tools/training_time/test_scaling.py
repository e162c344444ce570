"""A team that pre-trains on several machines must not be told that three of four are lost to the network."""

from __future__ import annotations

import pytest

from knowledge.catalog import shipped_catalog
from tools.contracts.sizing import SizingRequest
from tools.recommend import recommend


def hours(machines: int) -> float:
    request = SizingRequest(
        task="pretrain",
        params_b=7,
        dataset_tokens=1e12,
        instance_wanted=("ebmgn7ex",),
        gpu_count=8 * machines,
    )
    speed = recommend(request, shipped_catalog()).options[0].speed
    found = getattr(speed, "hours", None)
    assert found is not None
    return float(found)


@pytest.mark.parametrize("machines", [2, 4, 8])
def test_pre_training_scales_over_machines_by_accumulating_gradients(machines: int) -> None:
    share = hours(1) / hours(machines) / machines
    assert 0.9 < share <= 1.0
