"""Look-ups: a user who asks what a type, GPU, model or name is gets the catalog's facts."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.catalog import shipped_catalog
from knowledge.errors import AdvisorError, InputError
from tools.contracts.lookup import FindRequest
from tools.lookup import (
    compare,
    decode_name,
    describe_family,
    describe_gpu,
    describe_instance,
    describe_model,
    describe_precision,
    find_instances,
)

CATALOG = shipped_catalog()


def test_an_instance_type_is_described_with_its_price_and_gpu() -> None:
    report = describe_instance("gn7i-c16g1.4xlarge", CATALOG)
    assert (report.instance.vcpu, report.instance.memory_gib, report.instance.network_gbps) == (16, 60, 16)
    assert report.gpu.gpu_model == "A10"
    assert report.cost.hourly == Decimal("10.0934")
    assert report.cost.region == "cn-hangzhou"
    assert "ecs.gn7i-c8g1.2xlarge" in report.siblings
    assert all(source.title for source in report.sources)


def test_a_vgpu_type_shows_the_slice_and_not_the_whole_card() -> None:
    report = describe_instance("ecs.sgn7i-vws-m4.2xlarge", CATALOG)
    assert report.gpu.memory_gib == 4
    assert report.facts is not None
    assert report.facts.graphics_driver == "licence-included"


@pytest.mark.parametrize(
    "name",
    ["ecs.gn7i-c24g1.24xlarge", "ecs.gn7i-c16g1.16xlarge", "ecs.gn7e-c32g1.32xlarge", "gn7i.8xlarge", "gn8i"],
)
def test_a_type_that_does_not_exist_is_an_error_with_near_names(name: str) -> None:
    with pytest.raises(InputError) as error:
        describe_instance(name, CATALOG)
    assert error.value.suggestions
    report = decode_name(name, CATALOG)
    assert not report.exists


def test_the_ratio_in_a_name_is_not_a_total() -> None:
    report = decode_name("ecs.gn7i-c32g1.16xlarge", CATALOG)
    assert (report.vcpu_by_name, report.gpus_by_name) == (64, 2)
    assert (report.vcpu, report.gpus) == (64, 2)
    assert "ratio_not_total" in [remark.code for remark in report.remarks]


@pytest.mark.parametrize(
    ("name", "vcpu"),
    [
        ("ecs.gn6v-c10g1.20xlarge", 82),
        ("ecs.gn5-c8g1.14xlarge", 54),
        ("ecs.gn7-c13g1.6xlarge", 26),
        ("ecs.vgn6i-m8-vws.2xlarge", 10),
        ("ecs.vgn7i-vws-m12.3xlarge", 14),
        ("ecs.vgn7i-vws-m24.7xlarge", 30),
    ],
)
def test_where_the_size_misleads_the_catalog_wins(name: str, vcpu: int) -> None:
    report = decode_name(name, CATALOG)
    assert report.vcpu == vcpu
    assert "vcpu_differs_from_name" in [remark.code for remark in report.remarks]


def test_names_decode_to_the_catalog_but_for_the_known_exceptions() -> None:
    vcpu, gpus = set(), set()
    for row in CATALOG.instances:
        report = decode_name(row.instance_type, CATALOG)
        assert report.exists, row.instance_type
        assert report.family == row.family, row.instance_type
        codes = {remark.code for remark in report.remarks}
        if "vcpu_differs_from_name" in codes and row.status == "current":
            vcpu.add(row.instance_type)
        if "gpus_differ_from_name" in codes and row.status == "current":
            gpus.add(row.instance_type)
    assert vcpu == {
        "ecs.gn6v-c10g1.20xlarge",
        "ecs.vgn6i-m8-vws.2xlarge",
        "ecs.vgn7i-vws-m8.2xlarge",
        "ecs.vgn7i-vws-m12.3xlarge",
        "ecs.vgn7i-vws-m24.7xlarge",
    }
    assert not gpus


def test_g6e_is_a_cpu_family_and_gn8v_is_no_v100() -> None:
    assert decode_name("ecs.g6e.xlarge", CATALOG).remarks[0].code == "cpu_family"
    meaning = [r.params for r in decode_name("gn8v.4xlarge", CATALOG).remarks if r.code == "suffix_meaning"]
    assert meaning == [{"suffix": "v", "meaning": "hbm3_96gb"}]
    assert describe_instance("gn8v.4xlarge", CATALOG).gpu.gpu_model == "H20-96GB"


def test_a_family_shows_its_retired_status() -> None:
    report = describe_family("gn5", CATALOG)
    assert report.statuses == ("legacy",)
    assert report.facts is not None
    assert report.facts.access == "retired"
    assert report.warnings[0].code == "legacy_type"


def test_a_card_that_is_not_sold_gets_stand_ins_of_its_size() -> None:
    report = describe_gpu("4090", CATALOG)
    assert report.warnings[0].code == "gpu_not_sold"
    assert report.stand_ins[0] == "A10"


def test_what_a_gpu_computes_follows_its_generation() -> None:
    def level(gpu: str, precision: str) -> str:
        return next(s.level for s in describe_gpu(gpu, CATALOG).supports if s.precision == precision)

    assert level("V100-32GB", "bf16") == level("T4", "bf16") == "falls-back"
    assert level("A100-80GB", "fp8") == level("A10", "fp8") == "weight-only"
    assert level("L20", "fp8") == level("H20", "fp8") == "native"
    assert level("V100-16GB", "fp8") == level("T4", "fp8") == "no"
    assert level("T4", "int8-w8a8") == "native"
    assert level("V100-16GB", "int8-w8a8") == "no"
    assert level("A10", "awq-int4") == "weight-only"
    assert level("A100-80GB", "bf16") == "native"


def test_a_model_shows_weights_and_cache() -> None:
    report = describe_model("llama3 70b", CATALOG)
    assert report.kv_kib_per_token == 320
    assert report.kv_gib_per_8k == 2.5
    assert report.weights_gib["bf16"] == pytest.approx(131.4, abs=0.3)
    assert 35 < report.weights_gib["awq-int4"] < 40


def test_a_precision_names_the_gpus_that_run_it() -> None:
    report = describe_precision("fp8", CATALOG)
    assert "L20" in report.native_on
    assert "A100-80GB" in report.weight_only_on
    assert "T4" in report.not_on


def test_four_a10_with_most_memory_first() -> None:
    report = find_instances(FindRequest(gpu="A10", gpu_count=4, order="memory"), CATALOG)
    names = [found.instance.instance_type for found in report.found]
    assert names[:2] == ["ecs.ebmgn7i.32xlarge", "ecs.gn7i-c32g1.32xlarge"]
    assert set(names) == {*names[:2], "ecs.gn7i-4x.16xlarge", "ecs.gn7i-4x.8xlarge"}


def test_finding_by_price_keeps_unpriced_types_last_and_out_of_a_price_limit() -> None:
    report = find_instances(FindRequest(min_total_gpu_memory_gib=48, limit=300), CATALOG)
    prices = [None if found.price is None else found.price.amount for found in report.found]
    priced = [price for price in prices if price is not None]
    assert priced == sorted(priced)
    assert prices == priced + [None] * (len(prices) - len(priced))
    within = find_instances(FindRequest(max_hourly_cny=3, vgpu=True), CATALOG)
    assert within.found
    assert all(found.price is not None and found.price.amount <= 3 for found in within.found)


def test_a_comparison_marks_the_best_and_leaves_gaps_open() -> None:
    report = compare(["A100", "H20", "L20"], CATALOG)
    assert report.kind == "gpu"
    rows = {row.field: row for row in report.rows}
    assert rows["memory_bandwidth_gbs"].best == 1
    assert rows["bf16_tflops"].best == 0
    assert rows["from_hourly"].values[1:] == (None, None)
    assert compare(["gn7i", "vgn7i-vws"], CATALOG).kind == "family"
    assert compare(["Qwen2.5-7B-Instruct", "Qwen2.5-72B-Instruct"], CATALOG).kind == "model"
    assert compare(["fp8", "awq-int4"], CATALOG).kind == "precision"
    assert compare(["gn7e-c16g1.4xlarge", "gn7i-c8g1.2xlarge"], CATALOG).kind == "instance"


@given(st.text(max_size=60))
def test_any_text_as_a_name_is_an_answer_or_a_clear_error(text: str) -> None:
    decode_name(text, CATALOG)
    for describe in (describe_instance, describe_family, describe_gpu, describe_model, describe_precision):
        try:
            describe(text, CATALOG)
        except AdvisorError as error:
            assert str(error)
