"""What people and tables write is understood, or answered with a clear error."""

from __future__ import annotations

import pytest

from benchmarks.speed_rows import speed_rows, table
from knowledge.catalog import shipped_catalog
from knowledge.errors import InputError, NotKnown
from tools.contracts.base import parse_request
from tools.contracts.throughput import ThroughputReport, ThroughputRequest
from tools.throughput import estimate_throughput

CATALOG = shipped_catalog()


def estimate(**values: object) -> ThroughputReport:
    return estimate_throughput(parse_request(ThroughputRequest, values), CATALOG)


def column(name: str, field: str) -> list[str]:
    return sorted({row[field] for row in table(name) if row.get(field)})


@pytest.mark.parametrize(
    ("name", "column_name", "field"),
    [
        ("throughput", "gpu_model", "gpu"),
        ("throughput", "model_id", "model"),
        ("throughput", "interconnect", "interconnect"),
        ("throughput", "weight_precision", "weight_precision"),
        ("throughput", "kv_precision", "kv_precision"),
        ("throughput", "engine", "engine"),
        ("throughput", "engine_version", "engine_version"),
        ("silicon", "gpu_model", "gpu"),
        ("silicon", "model_id", "model"),
        ("silicon", "weight_precision", "weight_precision"),
        ("silicon", "moe_quant", "weight_precision"),
        ("silicon", "engine", "engine"),
        ("silicon", "engine_version", "engine_version"),
        ("vllm_serving", "gpu_model", "gpu"),
        ("vllm_serving", "model_id", "model"),
        ("vllm_serving", "weight_precision", "weight_precision"),
        ("vllm_serving", "kv_precision", "kv_precision"),
        ("llamacpp", "gpu_model", "gpu"),
        ("llamacpp", "engine", "engine"),
        ("alibaba_speed", "gpu_model", "gpu"),
        ("alibaba_speed", "precision", "weight_precision"),
    ],
)
def test_every_value_of_a_measurement_table_is_mapped_or_not_known(
    name: str, column_name: str, field: str
) -> None:
    base = {"model": "Llama-3.1-8B-Instruct", "gpu": "B200"}
    for value in column(name, column_name):
        try:
            estimate(**{**base, field: value})
        except NotKnown:
            continue


def test_every_measured_row_gets_an_answer_or_not_known() -> None:
    for row in speed_rows()[::7]:
        try:
            report = estimate(**row.request)
        except NotKnown:
            continue
        low, value, high = (getattr(report, f"{row.figure}{end}") for end in ("_low", "", "_high"))
        assert 0 < low < value < high


def test_an_unknown_model_is_never_taken_for_another() -> None:
    with pytest.raises(InputError) as error:
        estimate(model="Lllama-9-1234B-Instruct", gpu="A10")
    assert error.value.field == "model"


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"model": "Qwen3-8B"}, "gpu"),
        ({"gpu": "A10"}, "model"),
        ({"model": "Qwen3-8B", "gpu": "A10", "engine": "fastgpt"}, "engine"),
        ({"model": "Qwen3-8B", "gpu": "A10", "concurrency": 0}, "concurrency"),
        ({"model": "Qwen3-8B", "gpu": "A10", "interconnect": "tokenring"}, "interconnect"),
        ({"model": "Qwen3-8B", "gpu": "A10", "gpu_count": 2, "tensor_parallel": 4}, "gpu_count"),
        ({"model": "Qwen3-8B", "gpu": "A10", "input_tokens": 0, "output_tokens": 0}, "output_tokens"),
        ({"model": "Qwen3-8B", "gpu": "T4", "weight_precision": "fp8"}, "weight_precision"),
        ({"model": "Qwen3-8B", "gpu": "V100", "weight_precision": "w8a8"}, "weight_precision"),
    ],
)
def test_a_bad_field_is_named(values: dict[str, object], field: str) -> None:
    with pytest.raises(InputError) as error:
        estimate(**values)
    assert error.value.field == field


def test_a_card_without_published_bandwidth_is_not_guessed() -> None:
    with pytest.raises(NotKnown):
        estimate(model="Qwen3-8B", gpu="PPU-810")


def test_a_diffusion_model_has_no_tokens_per_second() -> None:
    with pytest.raises(NotKnown):
        estimate(model="FLUX.1-dev", gpu="A10")


def test_a_slice_of_a_card_runs_at_its_share() -> None:
    whole = estimate(model="gemma-2b", gpu="L4", engine="llama.cpp", weight_precision="q4_k_m")
    quarter = estimate(model="gemma-2b", gpu="L4-6Q", engine="llama.cpp", weight_precision="q4_k_m")
    ratio = quarter.single_stream_tokens_per_s / whole.single_stream_tokens_per_s
    assert ratio == pytest.approx(0.25, rel=0.1)


def test_an_instance_type_brings_its_cards_and_link() -> None:
    report = estimate(model="Qwen2.5-14B-Instruct", instance_type="ecs.gn7i-4x.8xlarge")
    assert report.gpu == "A10"
    assert report.tensor_parallel == report.gpu_count


def test_gpus_that_the_stated_degrees_leave_idle_are_told() -> None:
    report = estimate(model="Qwen3-8B", gpu="A100-80GB", gpu_count=8, tensor_parallel=2)
    assert report.data_parallel == 1
    assert any(remark.code == "gpus_unused" and remark.params["unused"] == 6 for remark in report.warnings)


def test_maximum_concurrency_is_what_memory_allows() -> None:
    report = estimate(model="Llama-3.1-8B-Instruct", gpu="A10", concurrency="max", input_tokens=2048)
    assert report.concurrency == report.max_concurrency
    above = estimate(
        model="Llama-3.1-8B-Instruct", gpu="A10", concurrency=10 * report.concurrency, input_tokens=2048
    )
    assert any(remark.code == "concurrency_above_memory" for remark in above.warnings)
    assert above.ttft_ms > 3 * report.ttft_ms


@pytest.mark.parametrize(
    ("engine", "width", "format_"),
    [("transformers", "int4", "nf4"), ("llama.cpp", "int4", "gguf-q4_k_m"), ("vLLM", "int4", "awq-int4")],
)
def test_a_bare_width_becomes_the_format_that_the_engine_loads(engine: str, width: str, format_: str) -> None:
    report = estimate(model="Qwen/Qwen3-8B", gpu="A100-80GB", engine=engine, weight_precision=width)
    assert report.weight_precision == format_
    assert "kernel_not_stated" in [item.reason for item in report.assumptions]


def test_a_load_that_only_an_8_bit_cache_holds_says_so() -> None:
    asked: dict[str, object] = {
        "model": "Llama-3.1-70B-Instruct", "gpu": "H100", "gpu_count": 2, "weight_precision": "fp8",
        "input_tokens": 2000, "output_tokens": 1000, "engine": "vLLM",
    }  # fmt: skip
    limit = estimate(**asked, concurrency=1).max_concurrency or 0
    more = estimate(**asked, concurrency=int(1.5 * limit))
    assert more.kv_precision == "fp8" and (more.max_concurrency or 0) >= 1.5 * limit
    assert ("kv_precision", "concurrency_needs_it") in [
        (item.field, item.reason) for item in more.assumptions
    ]
    stated = estimate(**asked, concurrency=int(1.5 * limit), kv_precision="bf16")
    assert stated.kv_precision == "bf16" and "concurrency_above_memory" in [w.code for w in stated.warnings]
