"""One default region for every door: nobody is told one price in the chat and another by the API."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI

from agent.run import open_advisor
from knowledge.errors import InputError
from settings import Settings
from tools.contracts.cost import CostReport
from tools.doors import DOORS

ROOT = Path(__file__).parents[2]
A10, SINGAPORE = "ecs.gn7i-c8g1.2xlarge", "ap-southeast-1"
PRICE = Decimal("18.065")  # in Singapore; Hangzhou has 9.5326
ASKED = {
    "cost": {"instance_type": A10},
    "instance": {"name": A10},
    "gpu": {"name": "A10"},
    "recommend": {"task": "inference", "model": "Qwen2.5-7B", "gpu_wanted": ["A10"]},
}


def test_the_api_answers_with_the_region_of_the_installation(
    make_api: Callable[..., FastAPI], serve: Callable[..., str]
) -> None:
    address = serve(make_api(default_region=SINGAPORE))
    found = {
        door: httpx2.post(f"{address}/api/v1/{door}", json=body, trust_env=False).json()
        for door, body in ASKED.items()
    }
    assert Decimal(str(found["cost"]["hourly"])) == PRICE
    assert found["instance"]["cost"]["region"] == SINGAPORE
    assert found["gpu"]["from_price"]["region"] == SINGAPORE
    assert found["recommend"]["options"][0]["region"] == SINGAPORE


def test_the_chat_answers_with_the_same(make_settings: Callable[..., Settings]) -> None:
    advisor = open_advisor(make_settings(default_region=SINGAPORE))
    costs = [
        report.report
        for report in advisor.answer([f"How much is {A10} per hour?"]).reports  # type: ignore[union-attr]
        if isinstance(report.report, CostReport)
    ]
    assert costs[0].hourly == PRICE


def test_the_calculators_in_the_terminal_take_it_as_an_option(tmp_path: Path) -> None:
    def run(*options: str, text: str = "") -> str:
        command = [sys.executable, "-m", "tools", "cost", *options, "--overlay", str(tmp_path)]
        return subprocess.run(
            command, input=text, capture_output=True, text=True, cwd=ROOT, check=False
        ).stdout

    one = run("--instance-type", A10, "--default-region", SINGAPORE, "--json")
    many = run("--batch", "--default-region", "新加坡", text=json.dumps({"instance_type": A10}))
    assert [Decimal(str(json.loads(line)["hourly"])) for line in (one, many)] == [PRICE, PRICE]
    assert "region" in run("--instance-type", A10, "--default-region", "atlantis")


def test_a_look_up_of_a_gpu_takes_the_region_that_is_named() -> None:
    from knowledge.catalog import shipped_catalog

    door = next(door for door in DOORS if door.name == "gpu")
    report = door.run({"name": "A10", "region": SINGAPORE}, shipped_catalog())
    assert report.from_price.region == SINGAPORE  # type: ignore[attr-defined]


def test_a_region_that_there_is_not_stops_the_start(make_settings: Callable[..., Settings]) -> None:
    with pytest.raises(InputError):
        open_advisor(make_settings(default_region="atlantis"))
