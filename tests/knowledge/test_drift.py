"""The drift report: news of the live data that a maintainer would miss in the shipped tables."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from knowledge.__main__ import app
from knowledge.catalog import Catalog
from knowledge.errors import NotKnown
from knowledge.live.drift import drift
from knowledge.live.overlay import Snapshot, read_overlay
from tests.knowledge.conftest import NOON, Refresh
from tests.knowledge.ecs_server import (
    A100,
    TWO_A100,
    EcsServer,
    Query,
    Reply,
    gpu_types,
    price,
    refusal,
    regions,
    stock,
)


def every_type(catalog: Catalog, but: tuple[str, ...] = ()) -> list[dict[str, object]]:
    """The catalog's types as the API would list them, without some families."""
    return [
        {
            "InstanceTypeId": row.instance_type, "InstanceTypeFamily": f"ecs.{row.family}",
            "CpuCoreCount": row.vcpu, "MemorySize": row.memory_gib, "GPUAmount": int(row.gpu_count),
            "GPUSpec": "NVIDIA",
        }
        for row in catalog.instances
        if row.family not in but
    ]  # fmt: skip


def test_types_that_came_went_or_changed_are_listed(
    refresh: Refresh, server: EcsServer, catalog: Catalog, tmp_path: Path
) -> None:
    listed = every_type(catalog, but=("gn7e",))
    listed = [row for row in listed if row["InstanceTypeId"] != "ecs.gn7i-c8g1.2xlarge"]
    listed += gpu_types("ecs.gn99x.large", "ecs.gn7i-c99g1.large")["InstanceTypes"]["InstanceType"]
    for row in listed:
        if row["InstanceTypeId"] == "ecs.gn7i-c16g1.4xlarge":
            row["MemorySize"] = 61.0
    server.answers["DescribeInstanceTypes"] = lambda query: {"InstanceTypes": {"InstanceType": listed}}
    server.answers["DescribeRegions"] = lambda query: regions("cn-hangzhou", "xx-new-1")
    refresh("types")
    found = drift(catalog, read_overlay(tmp_path))
    assert found.new_types is not None
    assert [(row.instance_type, row.new_family) for row in found.new_types] == [
        ("ecs.gn7i-c99g1.large", False), ("ecs.gn99x.large", True),
    ]  # fmt: skip
    assert found.retired_families == ("gn7e",)
    assert found.missing_types is not None
    assert "ecs.gn7i-c8g1.2xlarge" in found.missing_types
    assert found.changed is not None
    assert [(row.field, row.shipped, row.live) for row in found.changed] == [("memory_gib", 60, 61)]
    assert found.new_regions == ("xx-new-1",)


def test_a_price_moved_is_told_from_a_discount_of_the_account(
    refresh: Refresh, server: EcsServer, catalog: Catalog, tmp_path: Path
) -> None:
    def answer(query: Query) -> dict[str, object] | Reply:
        if query["InstanceType"] == A100:
            return price(query, "38.2162", discount=20)  # the list price is up by a tenth
        if query["InstanceType"] == TWO_A100:
            return price(query, "69.483", discount=20)  # the list price is as shipped
        return refusal(400, "InvalidInstanceType.ValueNotSupported")

    server.answers["DescribePrice"] = answer
    refresh("prices")
    found = drift(catalog, read_overlay(tmp_path))
    (move,) = found.price_moves
    assert (move.instance_type, move.percent) == (A100, 10.0)
    assert (move.shipped_as_of, move.now_as_of) == ("2024-12-31", "2026-11-30")
    family = [row.instance_type for row in catalog.in_family("gn7e")]
    shipped = {name for name in family if catalog.price(name, "cn-hangzhou")}
    assert {row.instance_type for row in found.no_longer_sold} == shipped - {A100, TWO_A100}
    assert found.new_types is None  # nobody asked: not "none"


def test_a_type_that_gets_no_new_machines_anywhere_is_named(
    refresh: Refresh, server: EcsServer, catalog: Catalog, tmp_path: Path
) -> None:
    def shelf(query: Query) -> dict[str, object]:
        closing = query["InstanceType"] == A100 or query["RegionId"] == "cn-hangzhou"
        other = "ClosedWithoutStock" if closing else "WithStock"
        return stock(
            query["InstanceType"],
            {"z": "ClosedWithStock", "y": other},
        )

    server.answers["DescribeAvailableResource"] = shelf
    refresh("stock", region=("cn-hangzhou", "ap-southeast-1"))
    assert drift(catalog, read_overlay(tmp_path)).closing == (A100,)


def test_without_live_data_nothing_is_said_to_be_unchanged(catalog: Catalog) -> None:
    with pytest.raises(NotKnown, match="python -m knowledge sync"):
        drift(catalog, Snapshot())


def test_the_command_tells_people_and_programs_the_same(
    refresh: Refresh, server: EcsServer, tmp_path: Path
) -> None:
    server.answers["DescribePrice"] = lambda query: price(query, "38.2162")
    refresh("prices", "types", at=NOON + timedelta(days=1))
    told = CliRunner().invoke(app, ["diff", "--overlay", str(tmp_path)])
    assert told.exit_code == 0
    assert (
        f"price moved: {A100} cn-hangzhou payg: 34.742 (2024-12-31) -> 38.2162 CNY (2026-12-01), +10.0 %"
        in told.stdout
    )
    found = json.loads(CliRunner().invoke(app, ["diff", "--overlay", str(tmp_path), "--json"]).stdout)
    assert {"instance_type": A100, "now": 38.2162}.items() <= next(
        row for row in found["price_moves"] if row["instance_type"] == A100
    ).items()  # fmt: skip
