"""What must hold for any model and plan: memory never shrinks with more work, parts sum, ranges bracket."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from knowledge.catalog import Catalog
from knowledge.errors import AdvisorError
from knowledge.rows import Model
from tools.contracts.memory import MemoryRequest
from tools.contracts.training import TrainingMemoryRequest
from tools.memory import Load, MemoryPlan, Plan, estimate_memory, plan_memory
from tools.memory.card import card_of
from tools.memory.engines import resolve_engine
from tools.memory.formats import format_of, kv_format
from tools.training_memory import estimate_training_memory

CASES = 10_000
PRECISIONS = ("awq-int4", "nf4", "fp8", "gptq-int8", "bf16", "fp32")
ENGINES = ("vllm", "sglang", "tensorrt-llm", "lmdeploy", "tgi", "llama.cpp", "transformers")


@pytest.fixture(scope="module")
def decoders(catalog: Catalog) -> list[Model]:
    return [
        row for row in catalog.models if row.kind in ("llm", "moe-llm", "vlm") and row.kv_bytes_per_token_bf16
    ]


def cases(catalog: Catalog, decoders: list[Model], seed: int) -> Iterator[tuple[random.Random, Model]]:
    dice = random.Random(seed)
    for _ in range(CASES):
        yield dice, dice.choice(decoders)


def plan(
    catalog: Catalog,
    model: Model,
    *,
    precision: str = "bf16",
    kv: str = "bf16",
    engine: str = "vllm",
    tensor: int = 1,
    pipeline: int = 1,
    load: Load | None = None,
    gpu: str = "",
) -> MemoryPlan:
    return plan_memory(
        model,
        format_of(catalog.precision(precision), model),
        resolve_engine(engine)[0],
        Plan(tensor, pipeline),
        load or Load(),
        kv_format(catalog.kv_precision(kv)),
        card_of(catalog.gpu(gpu)) if gpu else None,
    )


def test_more_context_or_concurrency_never_takes_less(catalog: Catalog, decoders: list[Model]) -> None:
    for dice, model in cases(catalog, decoders, 1):
        engine, tokens, count = dice.choice(ENGINES), dice.randint(1, 200_000), dice.randint(1, 500)
        small = plan(catalog, model, engine=engine, load=Load(tokens, count))
        longer = plan(catalog, model, engine=engine, load=Load(tokens + dice.randint(1, 10_000), count))
        more = plan(catalog, model, engine=engine, load=Load(tokens, count + dice.randint(1, 50)))
        assert small.total <= longer.total + 1e-9
        assert small.total <= more.total + 1e-9


def test_more_bits_never_take_less(catalog: Catalog, decoders: list[Model]) -> None:
    for dice, model in cases(catalog, decoders, 2):
        narrow, wide = sorted(dice.sample(range(len(PRECISIONS)), 2))
        engine, tensor = dice.choice(("vllm", "sglang")), dice.choice((1, 2, 4, 8))
        low, high = (
            plan(catalog, model, precision=PRECISIONS[index], engine=engine, tensor=tensor).weights
            for index in (narrow, wide)
        )
        assert low <= high * 1.0001, (model.model_id, PRECISIONS[narrow], PRECISIONS[wide])
        assert plan(catalog, model, kv="fp8").kv <= plan(catalog, model, kv="bf16").kv


def test_more_gpus_never_raise_weights_cache_or_layers_of_one(
    catalog: Catalog, decoders: list[Model]
) -> None:
    for dice, model in cases(catalog, decoders, 3):
        precision, tensor, pipeline = (
            dice.choice(PRECISIONS),
            dice.choice((1, 2, 4, 8)),
            dice.choice((1, 2, 4)),
        )
        base = plan(catalog, model, precision=precision, tensor=tensor, pipeline=pipeline)
        wider = plan(catalog, model, precision=precision, tensor=2 * tensor, pipeline=pipeline)
        deeper = plan(catalog, model, precision=precision, tensor=tensor, pipeline=2 * pipeline)
        for other in (wider, deeper):
            assert other.weights <= base.weights * 1.0001
            assert other.kv <= base.kv * 1.0001
            assert other.activation <= base.activation * 1.0001


def test_a_larger_share_never_shrinks_the_pool(catalog: Catalog, decoders: list[Model]) -> None:
    for dice, model in cases(catalog, decoders, 4):
        gpu, share = dice.choice(("A10", "A100-80GB", "L20", "H20-96GB")), dice.uniform(0.3, 0.95)
        less = plan(catalog, model, gpu=gpu, load=Load(utilization=share))
        more = plan(catalog, model, gpu=gpu, load=Load(utilization=share + 0.05))
        assert less.pool is not None
        assert more.pool is not None
        assert less.pool <= more.pool


def test_parts_of_a_report_sum_to_its_total_and_its_range_brackets_it(
    catalog: Catalog, decoders: list[Model]
) -> None:
    dice = random.Random(5)
    for _ in range(500):
        request = MemoryRequest(
            model=dice.choice(decoders).model_id,
            gpu=dice.choice(("", "A10", "H20-96GB", "A100-80GB")),
            gpu_count=dice.choice((1, 2, 4, 8)),
            engine=dice.choice(ENGINES),
            context_tokens=dice.randint(1, 100_000),
            concurrency=dice.randint(1, 100),
        )
        found = estimate_memory(request, catalog)
        parts = (
            found.weights_gib_per_gpu
            + found.kv_cache_gib_per_gpu
            + found.activation_gib_per_gpu
            + found.overhead_gib_per_gpu
        )
        assert found.total_gib_per_gpu == pytest.approx(parts)
        assert found.total_gib_per_gpu_low <= found.total_gib_per_gpu <= found.total_gib_per_gpu_high
        assert (found.verdict == "does_not_fit") is (found.fits is False)


def test_a_change_that_is_said_to_fit_does_fit(catalog: Catalog) -> None:
    request = MemoryRequest(
        model="Llama-3-70B", gpu="A100-80GB", gpu_count=2, context_tokens=8192, concurrency=10
    )
    found = estimate_memory(request, catalog)
    changes = {option.change for option in found.limits if option.fits}
    assert {"lower_concurrency", "lower_context", "weights_4bit", "more_gpus"} <= changes
    for option in found.limits:
        again = estimate_memory(request.model_copy(update={option.field: option.value}), catalog)
        assert again.fits is option.fits, option
        assert again.total_gib_per_gpu == pytest.approx(option.total_gib_per_gpu)


def test_training_takes_more_with_longer_samples_larger_batches_and_wider_adapters(catalog: Catalog) -> None:
    dice = random.Random(6)
    names = ("Qwen2.5-7B", "Llama-3.1-8B", "Qwen3-30B-A3B", "Qwen3-32B", "DeepSeek-V3", "gemma-2-9b-it")
    for _ in range(1000):
        base: dict[str, object] = {
            "model": dice.choice(names),
            "method": dice.choice(("full", "lora", "qlora", "freeze")),
            "sequence_length": dice.randint(64, 16_384),
            "micro_batch": dice.randint(1, 16),
            "gpu_count": dice.choice((1, 2, 8)),
            "gradient_checkpointing": dice.choice((True, False)),
        }
        small = _peak(catalog, **base)
        assert small <= _peak(catalog, **base | {"sequence_length": 2 * int(str(base["sequence_length"]))})
        assert small <= _peak(catalog, **base | {"micro_batch": 2 * int(str(base["micro_batch"]))})
        assert small <= _peak(catalog, **base | {"lora_rank": 64})
        assert _peak(catalog, **base | {"gradient_checkpointing": True}) <= _peak(
            catalog, **base | {"gradient_checkpointing": False}
        )


def test_higher_zero_stages_never_hold_more_states(catalog: Catalog) -> None:
    states = []
    for stage in (0, 1, 2, 3):
        found = estimate_training_memory(
            TrainingMemoryRequest(model="Qwen2.5-7B", zero_stage=stage, gpu_count=8, precision="bf16-mixed"),
            catalog,
        )
        states.append(found.gradients_gib + found.optimizer_gib + found.parameters_gib)
    assert states == sorted(states, reverse=True)


def _peak(catalog: Catalog, **fields: object) -> float:
    return estimate_training_memory(TrainingMemoryRequest.model_validate(fields), catalog).peak_gib_per_gpu


def test_no_catalog_model_crashes_the_calculators(catalog: Catalog) -> None:
    for model in catalog.models:
        for call in (
            lambda name: estimate_memory(MemoryRequest(model=name, gpu="A10"), catalog),
            lambda name: estimate_training_memory(TrainingMemoryRequest(model=name, gpu="A10"), catalog),
        ):
            try:
                found = call(model.model_id)
            except AdvisorError:
                continue
            assert found.model == model.model_id
