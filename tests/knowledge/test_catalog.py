"""Finding facts by the names people write; an unknown name is an error with near matches, never a default."""

from __future__ import annotations

import gc
import weakref
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.cards import usable_gib
from knowledge.catalog import Catalog, shipped_catalog
from knowledge.derived import per_catalog
from knowledge.errors import AdvisorError, InputError, NotKnown
from knowledge.names import strip_quantization


@pytest.mark.parametrize(
    "name", ["ecs.gn7i-c8g1.2xlarge", "gn7i-c8g1.2xlarge", "ECS.GN7I-C8G1.2XLARGE", " ecs.gn7i-c8g1.2xlarge "]
)
def test_an_instance_type_is_found_however_it_is_written(catalog: Catalog, name: str) -> None:
    assert catalog.instance(name).instance_type == "ecs.gn7i-c8g1.2xlarge"


def test_a_phantom_type_gets_near_names_of_its_family(catalog: Catalog) -> None:
    with pytest.raises(InputError) as error:
        catalog.instance("ecs.gn7i-c24g1.24xlarge")
    assert error.value.field == "instance_type"
    assert all(name.startswith("ecs.gn7i-") for name in error.value.suggestions[:3])
    assert all(catalog.instance(name) for name in error.value.suggestions)


@pytest.mark.parametrize(
    ("name", "model_id"),
    [
        ("llama3 70b", "meta-llama/Meta-Llama-3-70B-Instruct"),
        ("Llama-3-70B", "meta-llama/Meta-Llama-3-70B-Instruct"),
        ("meta-llama/Llama-3.1-70B-Instruct", "meta-llama/Llama-3.1-70B-Instruct"),
        ("meta-llama/Llama-3.1-8B", "meta-llama/Llama-3.1-8B-Instruct"),
        ("Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf", "meta-llama/Llama-3.1-8B-Instruct"),
        ("通义千问2.5 72B", "Qwen/Qwen2.5-72B-Instruct"),
        ("Qwen/Qwen2.5-72B-Instruct-AWQ", "Qwen/Qwen2.5-72B-Instruct"),
        ("Qwen2.5-7B-Instruct-GPTQ-Int4", "Qwen/Qwen2.5-7B-Instruct"),
        ("unsloth/Llama-3.3-70B-Instruct-bnb-4bit", "meta-llama/Llama-3.3-70B-Instruct"),
        ("deepseek r1", "deepseek-ai/DeepSeek-R1"),
        ("DeepSeek-R1 满血版", "deepseek-ai/DeepSeek-R1"),
        ("QwQ-32B", "Qwen/QwQ-32B"),
    ],
)
def test_a_model_is_found_by_alias_mirror_and_file_name(catalog: Catalog, name: str, model_id: str) -> None:
    assert catalog.model(name).model_id == model_id


def test_an_unknown_model_is_never_replaced_by_another(catalog: Catalog) -> None:
    with pytest.raises(InputError) as error:
        catalog.model("Llama-9-70B")
    assert error.value.suggestions
    with pytest.raises(AdvisorError):
        catalog.model("Qwen9-235B")


@pytest.mark.parametrize(
    ("name", "gpu_model"),
    [
        ("A100-SXM4-80GB", "A100-80GB"),
        ("A100 80G", "A100-80GB"),
        ("NVIDIA Tesla T4", "T4"),
        ("4090", "RTX-4090"),
        ("RTX4090", "RTX-4090"),
        ("h20 96g", "H20-96GB"),
        ("V100 32GB", "V100-32GB"),
        ("l20", "L20"),
        ("RTX PRO 6000", "RTX-PRO-6000-Blackwell-Server"),
    ],
)
def test_a_gpu_is_found_by_alias(catalog: Catalog, name: str, gpu_model: str) -> None:
    assert catalog.gpu(name).gpu_model == gpu_model


def test_a10_is_not_a100(catalog: Catalog) -> None:
    assert catalog.gpu("A10").memory_gib == 24
    assert catalog.gpu("A100").memory_gib == 80


def test_a_card_named_with_a_wrong_size_is_no_card(catalog: Catalog) -> None:
    assert catalog.gpu("A10 24G").gpu_model == "A10"
    with pytest.raises(InputError) as error:
        catalog.gpu("A10 64GB")
    assert "A10" in error.value.suggestions


def test_an_ambiguous_card_says_what_was_taken(catalog: Catalog) -> None:
    gpu, note = catalog.gpu_with_note("A100")
    assert gpu.gpu_model == "A100-80GB"
    assert note


def test_a_vgpu_slice_has_its_share_of_memory_bandwidth_and_speed(catalog: Catalog) -> None:
    whole, part = catalog.gpu("A10"), catalog.gpu("A10-4Q")
    assert part.memory_gib == 4
    assert part.memory_bandwidth_gbs == pytest.approx(whole.memory_bandwidth_gbs / 6)
    assert part.fp16_tflops == pytest.approx(whole.fp16_tflops / 6)


def test_the_slice_of_an_instance_is_not_the_whole_card(catalog: Catalog) -> None:
    slices = [row for row in catalog.instances if row.gpu_count < 1 and row.gpu_memory_gib]
    assert slices
    for row in slices:
        assert catalog.gpu_of(row).memory_gib == row.gpu_memory_gib


def test_usable_memory_says_whether_it_was_measured(catalog: Catalog) -> None:
    assert usable_gib(catalog.gpu("A10")) == (pytest.approx(23028 / 1024), True)
    unmeasured = next(row for row in catalog.gpus if row.usable_memory_mib is None and row.memory_gib)
    assert usable_gib(unmeasured) == (pytest.approx(unmeasured.memory_gib * 0.917), False)


def test_a_memory_class_names_no_card(catalog: Catalog) -> None:
    with pytest.raises(NotKnown):
        catalog.gpu("24GB class")


@pytest.mark.parametrize(
    ("name", "precision"),
    [
        ("int4", "awq-int4"),
        ("AWQ", "awq-int4"),
        ("bnb-nf4", "nf4"),
        ("Q4_K_M", "gguf-q4_k_m"),
        ("BF16", "bf16"),
        ("fp8", "fp8"),
        ("W8A8", "int8-w8a8"),
        ("int4 (GGUF Q4_K_M)", "gguf-q4_k_m"),
    ],
)
def test_a_precision_is_found_by_alias(catalog: Catalog, name: str, precision: str) -> None:
    assert catalog.precision(name).name == precision


@pytest.mark.parametrize(
    ("name", "base", "tag"),
    [
        ("Qwen2.5-72B-Instruct-AWQ", "Qwen2.5-72B-Instruct", "awq"),
        ("Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf", "Meta-Llama-3.1-8B-Instruct", "gguf-q4_k_m"),
        ("Qwen3-8B", "Qwen3-8B", ""),
        ("Llama-3.3-70B-Instruct-FP8-dynamic", "Llama-3.3-70B-Instruct", "fp8-dynamic"),
    ],
)
def test_the_quantization_in_a_file_name_is_read(name: str, base: str, tag: str) -> None:
    assert strip_quantization(name) == (base, tag)


def test_list_prices_of_the_first_promise(catalog: Catalog) -> None:
    one = catalog.price("ecs.gn7e-c16g1.4xlarge", "cn-hangzhou")
    four = catalog.price("ecs.gn7e-c16g1.16xlarge", "cn-hangzhou")
    assert one is not None
    assert four is not None
    assert (one.price, four.price) == (Decimal("34.742"), Decimal("138.967"))


def test_rows_with_a_disk_inside_or_no_region_never_enter_a_ranking(catalog: Catalog) -> None:
    for row in catalog.prices:
        if not row.region_id or row.includes_disk or row.confidence == "low" or row.basis == "derived":
            assert not row.comparable, row
    assert sum(row.includes_disk for row in catalog.prices) >= 10


def test_the_surprising_prices_stand(catalog: Catalog) -> None:
    def price(name: str, region: str = "cn-hangzhou") -> Decimal:
        row = catalog.price(name, region)
        assert row is not None
        return row.price

    assert price("ecs.gn6i-c4g1.xlarge") > price("ecs.gn7i-c8g1.2xlarge")  # T4 dearer than A10
    assert price("ecs.gn6v-c8g1.2xlarge") > price("ecs.gn6e-c12g1.3xlarge")  # V100 16 GB dearer than 32 GB
    ratio = price("ecs.gn7e-c16g1.4xlarge", "cn-wulanchabu") / price("ecs.gn7e-c16g1.4xlarge")
    assert float(ratio) == pytest.approx(0.9, abs=0.001)


def test_regions_are_found_in_both_languages(catalog: Catalog) -> None:
    for name in ("cn-wulanchabu", "乌兰察布", "Ulanqab", "华北6"):
        assert catalog.region(name).region_id == "cn-wulanchabu"


@given(st.text(max_size=60))
def test_no_text_crashes_a_lookup(text: str) -> None:
    catalog = shipped_catalog()
    for ask in (
        catalog.instance,
        catalog.gpu,
        catalog.model,
        catalog.precision,
        catalog.kv_precision,
        catalog.region,
        catalog.in_family,
    ):
        try:
            ask(text)
        except AdvisorError as error:
            assert str(error)
            assert error.payload()["field"]


def test_every_size_of_a_card_named_without_one_is_known(catalog: Catalog) -> None:
    assert catalog.gpu_sizes("A100") == ("A100-40GB", "A100-80GB")
    assert catalog.gpu_sizes("nvidia v100") == ("V100-16GB", "V100-32GB")
    assert catalog.gpu_sizes("L20N") == ("L20N-48GB", "L20N-72GB")
    assert catalog.gpu_sizes("A10") == catalog.gpu_sizes("L20") == ()
    assert catalog.gpu_sizes("T4") == catalog.gpu_sizes("A100-80GB") == catalog.gpu_sizes("no card") == ()


def test_a_catalog_that_nobody_uses_any_more_is_freed_with_its_tables() -> None:
    catalog = Catalog()
    kept = [catalog]

    @per_catalog
    def names(catalog: Catalog, start: str) -> list[str]:
        return [row.gpu_model for row in catalog.gpus if row.gpu_model.startswith(start)]

    assert names(catalog, "T") is names(catalog, "T") != names(catalog, "A")
    watched = weakref.ref(kept.pop())
    del catalog
    gc.collect()
    assert watched() is None
