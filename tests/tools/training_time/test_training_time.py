"""Training speed: published values, directions, names, hours and deadlines."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.speed import score
from benchmarks.speed_rows import table
from benchmarks.training_rows import training_rows
from knowledge.catalog import shipped_catalog
from knowledge.errors import InputError, NotKnown
from tools.contracts.base import parse_request
from tools.contracts.training import TrainingTimeReport, TrainingTimeRequest
from tools.throughput.gpu_shape import gpu_shape_of
from tools.throughput.model_shape import shape_of
from tools.training_time import estimate_training_time
from tools.training_time.core import model_flops_per_token

CATALOG = shipped_catalog()


def estimate(**values: object) -> TrainingTimeReport:
    return estimate_training_time(parse_request(TrainingTimeRequest, values), CATALOG)


def test_operations_per_token_are_six_per_parameter_and_attention() -> None:
    shape = shape_of(CATALOG.model("Llama-3.1-8B"))
    flops = model_flops_per_token(shape, 8192, frozen=False)
    assert flops == pytest.approx(6 * 7.5e9 + 12 * 32 * 4096 * 8192 / 2, rel=0.05)
    assert model_flops_per_token(shape, 2048, frozen=True) < 0.72 * model_flops_per_token(
        shape, 2048, frozen=False
    )


# Request, figure, published value. Sources: llm-foundry benchmarking README, NVIDIA Megatron-Bridge
# performance recipes, LLaMA-Factory comparison of Unsloth (all in benchmarks/data/training.csv.gz).
PUBLISHED = [
    (
        {
            "model": "mosaicml/mpt-7b", "gpu": "A100-80GB", "gpu_count": 8, "method": "pretrain",
            "sequence_length": 2048, "global_batch": 96, "micro_batch": 6, "parallelism": "FSDP",
            "framework": "llm-foundry", "gradient_checkpointing": "no",
        },
        "tokens_per_s_per_gpu", 4641,
    ),
    (
        {
            "model": "mosaicml/mpt-30b", "gpu": "H100", "gpu_count": 8, "method": "pretrain",
            "sequence_length": 2048, "global_batch": 504, "micro_batch": 3, "parallelism": "FSDP",
            "framework": "llm-foundry", "gradient_checkpointing": "yes",
        },
        "mfu", 0.3811,
    ),
    (
        {
            "model": "LLAMA3_70B", "gpu": "H100", "gpu_count": 64, "nodes": 8, "method": "pretrain",
            "precision": "fp8", "sequence_length": 8192, "global_batch": 256, "micro_batch": 1,
            "parallelism": "TP4 PP8 CP1 VP5 EPn/a", "framework": "Megatron-Bridge",
        },
        "tokens_per_s_per_gpu", 1664,
    ),
    (
        {
            "model": "Llama-2-7b", "gpu": "A100-80GB", "method": "lora", "sequence_length": 1024,
            "global_batch": 8, "micro_batch": 4, "framework": "HF transformers + peft, flash attention 2",
        },
        "tokens_per_s_per_gpu", 2954,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("request_fields", "figure", "published"), PUBLISHED)
def test_published_speeds_lie_in_the_stated_range(
    request_fields: dict[str, object], figure: str, published: float
) -> None:
    report = estimate(**request_fields)
    assert getattr(report, f"{figure}_low") <= published <= getattr(report, f"{figure}_high")


def test_errors_on_published_training_speeds() -> None:
    scored = score(training_rows(), CATALOG)
    sizes = sorted(abs(item.error) for item in scored)
    assert len(sizes) > 200
    assert 100 * statistics.median(sizes) <= 13
    assert 100 * sizes[int(0.9 * len(sizes))] <= 50
    assert 0.75 <= sum(item.covered for item in scored) / len(scored) <= 0.92


@pytest.mark.parametrize(
    "column", ["gpu_model", "model_id", "method", "precision", "parallelism", "framework"]
)
def test_every_value_of_the_training_table_is_mapped_or_not_known(column: str) -> None:
    field = {"gpu_model": "gpu", "model_id": "model"}.get(column, column)
    for row in table("training"):
        if not row[column]:
            continue
        values: dict[str, object] = {"model": "Llama-2-7b", "gpu": "A100-80GB", field: row[column]}
        values["gpu_count"] = 128
        if column == "parallelism":
            values["gpu_count"] = int(row["n_gpus"] or 8)
        try:
            assert estimate(**values).tokens_per_s_per_gpu > 0
        except NotKnown:
            continue


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"model": "Qwen3-8B"}, "gpu"),
        ({"model": "Qwen3-8B", "gpu": "A10", "method": "osmosis"}, "method"),
        ({"model": "Qwen3-8B", "gpu": "A10", "precision": "octal"}, "precision"),
        ({"model": "Qwen3-8B", "gpu": "A10", "framework": "abacus"}, "framework"),
        ({"model": "Qwen3-8B", "gpu": "A10", "gpu_count": 2, "nodes": 4}, "nodes"),
        ({"model": "Qwen3-8B", "gpu": "A10", "gpu_count": 6, "tensor_parallel": 4}, "gpu_count"),
        ({"model": "Qwen33-8B-XYZ", "gpu": "A10"}, "model"),
    ],
)
def test_a_bad_field_is_named(values: dict[str, object], field: str) -> None:
    with pytest.raises(InputError) as error:
        estimate(**values)
    assert error.value.field == field


def test_hours_follow_tokens_and_are_none_without() -> None:
    job = {"model": "Qwen2.5-7B", "gpu": "A100-80GB", "gpu_count": 8, "method": "full"}
    assert estimate(**job).hours is None
    once = estimate(**job, samples=50_000, epochs=1)
    thrice = estimate(**job, samples=50_000, epochs=3)
    assert once.hours and thrice.hours
    assert thrice.hours == pytest.approx(3 * once.hours)
    assert once.hours_low and once.hours_high
    assert once.hours_low < once.hours < once.hours_high


def test_a_card_without_training_measurements_has_a_range_of_a_factor_two() -> None:
    report = estimate(model="Qwen2.5-7B", gpu="L20", method="lora")
    assert report.mfu_high >= 2 * report.mfu_low
    assert any(remark.code == "card_not_measured" for remark in report.warnings)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(
        ["Qwen2.5-0.5B", "Llama-3.1-8B", "Qwen3-32B", "Llama-3.1-70B", "Qwen3-30B-A3B", "DeepSeek-V3"]
    ),
    st.sampled_from(["T4", "V100-32GB", "A10", "L20", "A100-80GB", "H20", "H100", "B200"]),
    st.sampled_from(["full", "lora", "qlora", "pretrain", "freeze"]),
    st.sampled_from([1, 2, 4, 8, 16, 64, 512]),
    st.sampled_from([512, 2048, 8192, 32768]),
    st.sampled_from(["", "bf16", "fp8"]),
)
def test_no_job_uses_more_than_the_peak(
    model: str, gpu: str, method: str, count: int, length: int, precision: str
) -> None:
    try:
        report = estimate(
            model=model, gpu=gpu, method=method, gpu_count=count, sequence_length=length, precision=precision
        )
    except InputError as error:  # states that the memory of all cards cannot hold
        assert error.field == "gpu_count" and count < 512
        return
    shape = gpu_shape_of(CATALOG.gpu(gpu))
    assert 0 < report.mfu < (2 if precision == "fp8" and shape.fp8_tflops else 1)
    assert report.tflops_per_gpu == pytest.approx(report.mfu * (shape.bf16_tflops or shape.fp16_tflops))


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["Llama-3.1-8B", "Qwen3-32B", "Llama-3.1-70B"]),
    st.sampled_from(["A100-80GB", "H100", "L20"]),
    st.sampled_from([2, 4, 8]),
)
def test_gpus_scale_below_linearly_over_machines(model: str, gpu: str, machines: int) -> None:
    rates = [
        estimate(
            model=model, gpu=gpu, gpu_count=8 * nodes, nodes=nodes, method="full", global_batch=512,
            network_gbps=100,
        ).tokens_per_s_per_gpu
        for nodes in (machines, 2 * machines)
    ]  # fmt: skip
    assert rates[1] <= rates[0] * 1.001


def test_a_slower_network_never_helps() -> None:
    rates = [
        estimate(
            model="Llama-3.1-70B",
            gpu="H100",
            gpu_count=64,
            method="full",
            network_gbps=gbps,
            global_batch=512,
        ).tokens_per_s_per_gpu
        for gbps in (25, 100, 400, 3200)
    ]
    assert rates == sorted(rates)
    assert rates[0] < 0.6 * rates[-1]


def test_a_job_that_no_memory_holds_gets_no_speed() -> None:
    """671B parameters on eight cards of 96 GB were once given tokens per second."""
    with pytest.raises(InputError, match="gpu_count"):
        estimate(model="DeepSeek-R1", gpu="H20", gpu_count=8, method="full")
    assert estimate(model="DeepSeek-R1", gpu="H20", gpu_count=128, method="full").mfu > 0.01
