"""What must hold for every model, card and load: ceilings and directions."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.catalog import shipped_catalog
from knowledge.errors import AdvisorError
from knowledge.rows import Precision
from tools.throughput.coefficients import COEFFICIENTS
from tools.throughput.core import Load, prompt_rate, serve
from tools.throughput.gpu_shape import GpuShape, gpu_shape_of
from tools.throughput.links import link_between
from tools.throughput.model_shape import ModelShape, generic_shape, shape_of
from tools.throughput.precision import Scheme, scheme_for
from tools.throughput.steps import Plan, stepper

ENGINES = COEFFICIENTS.engines
CATALOG = shipped_catalog()
MODELS = [
    shape_of(CATALOG.model(name))
    for name in (
        "Qwen2.5-0.5B-Instruct", "Llama-3.1-8B-Instruct", "phi-4", "Qwen3-32B", "Llama-3.1-70B",
        "Qwen3-30B-A3B", "DeepSeek-V3", "gpt-oss-20b", "gemma-2-2b-it", "Qwen3.5-27B",
    )
]  # fmt: skip
GPUS = [
    gpu_shape_of(CATALOG.gpu(name))
    for name in ("T4", "V100-16GB", "A10", "L20", "A100-80GB", "H20", "H100", "L40S", "B200", "RTX-4090")
]


def every_shape() -> list[ModelShape]:
    found = []
    for row in CATALOG.models:
        with suppress(AdvisorError):
            found.append(shape_of(row))
    return found


def every_gpu() -> list[GpuShape]:
    found = []
    for row in CATALOG.gpus:
        with suppress(AdvisorError):
            found.append(gpu_shape_of(row))
    return found


EVERY_MODEL, EVERY_GPU = every_shape(), every_gpu()
EVERY_PRECISION = [row for row in CATALOG.precisions if row.category != "kv-cache"]

models = st.sampled_from(MODELS)
gpus = st.sampled_from(GPUS)
engines = st.sampled_from(sorted(ENGINES))
lengths = st.integers(1, 16_000)
loads = st.integers(1, 2_000)
plans = st.builds(
    Plan,
    tensor=st.sampled_from([1, 2, 4, 8]),
    pipeline=st.sampled_from([1, 2, 4]),
    replicas=st.integers(1, 4),
)


def scheme(gpu: GpuShape, name: str) -> Scheme:
    return scheme_for(gpu, CATALOG.precision(name))


@settings(max_examples=max(600, settings().max_examples), deadline=None)
@given(
    st.sampled_from(EVERY_MODEL),
    st.sampled_from(EVERY_GPU),
    st.sampled_from(EVERY_PRECISION),
    engines,
    plans,
    lengths,
    lengths,
    loads,
)
def test_no_figure_is_above_the_bandwidth_or_compute_ceiling(
    model: ModelShape,
    gpu: GpuShape,
    precision: Precision,
    engine: str,
    plan: Plan,
    inputs: int,
    outputs: int,
    load: int,
) -> None:
    """Every text model, card, format and engine of the catalog: 10,000 cases under the soak profile."""
    try:
        weights = scheme_for(gpu, precision)
    except AdvisorError:  # the card cannot run the format, or the format has no fixed size
        return
    speed = serve(model, gpu, plan, weights, Load(inputs, outputs, load), ENGINES[engine])
    bits = min(weights.body_bits, weights.expert_bits, weights.head_bits)
    read = model.active_params * bits / 8 / plan.stage_gpus
    assert 1e3 / speed.tpot_ms <= gpu.bandwidth_gbs * 1e9 / read
    computed = speed.requests_per_s * 2 * (inputs * model.prefill_params + outputs * model.active_params)
    assert computed <= plan.gpus * weights.peak_tflops * 1e12
    replica = stepper(model, gpu, weights, ENGINES[engine], plan, link_between(gpu, plan.stage_gpus))
    prompts = prompt_rate(replica, inputs, load) * 2 * model.prefill_params
    assert prompts <= plan.gpus * weights.peak_tflops * 1e12
    # Each sequence reads its own cache in each step.
    cache = speed.output_tokens_per_s * replica.kv_bytes(inputs) * plan.tensor
    assert outputs < 2 or cache <= plan.gpus * gpu.bandwidth_gbs * 1e9 * outputs / (outputs - 1)


@settings(max_examples=200, deadline=None)
@given(models, gpus, engines, plans, lengths, lengths, loads, st.floats(1.0, 8.0))
def test_more_bandwidth_never_slows_decode(
    model: ModelShape,
    gpu: GpuShape,
    engine: str,
    plan: Plan,
    inputs: int,
    outputs: int,
    load: int,
    more: float,
) -> None:
    faster = replace(gpu, bandwidth_gbs=gpu.bandwidth_gbs * more)
    slow, fast = (
        serve(model, card, plan, scheme(card, "fp16"), Load(inputs, outputs, load), ENGINES[engine])
        for card in (gpu, faster)
    )
    # A power-limited card that decodes faster spends more of its time on prompts, at a lower clock.
    assert fast.output_tokens_per_s >= slow.output_tokens_per_s * 0.98
    alone = [
        serve(model, card, plan, scheme(card, "fp16"), Load(inputs, outputs, 1), ENGINES[engine]).tpot_ms
        for card in (gpu, faster)
    ]
    assert alone[1] <= alone[0]


@settings(max_examples=300, deadline=None)
@given(models, gpus, engines, plans, lengths, lengths, loads, loads)
def test_more_concurrency_never_lowers_total_throughput(
    model: ModelShape, gpu: GpuShape, engine: str, plan: Plan, inputs: int, outputs: int, load: int, more: int
) -> None:
    few, many = (
        serve(model, gpu, plan, scheme(gpu, "fp16"), Load(inputs, outputs, n), ENGINES[engine])
        for n in (load, load + more)
    )
    assert many.output_tokens_per_s >= few.output_tokens_per_s * 0.99


@settings(max_examples=200, deadline=None)
@given(gpus, plans, lengths, lengths, loads, st.floats(1, 400), st.floats(1.2, 10))
def test_a_larger_dense_model_is_never_faster(
    gpu: GpuShape, plan: Plan, inputs: int, outputs: int, load: int, size: float, factor: float
) -> None:
    """Wider matrices under one cache: shapes of two sizes may differ in layers, and so in their caches."""
    small = generic_shape(size)
    wider = replace(small, dense_params=small.dense_params * factor, head_params=small.head_params * factor)
    speeds = [
        serve(model, gpu, plan, scheme(gpu, "fp16"), Load(inputs, outputs, load)).output_tokens_per_s
        for model in (small, wider)
    ]
    assert speeds[1] <= speeds[0] * 1.001


@settings(max_examples=200, deadline=None)
@given(models, gpus, lengths, lengths, loads, st.sampled_from([2, 4, 8]))
def test_tensor_parallel_gains_less_than_its_gpu_count(
    model: ModelShape, gpu: GpuShape, inputs: int, outputs: int, load: int, degree: int
) -> None:
    one, many = (
        serve(model, gpu, Plan(tensor=n), scheme(gpu, "fp16"), Load(inputs, outputs, load))
        for n in (1, degree)
    )
    assert many.output_tokens_per_s < one.output_tokens_per_s * degree * 1.001
    alone = [
        serve(model, gpu, Plan(tensor=n), scheme(gpu, "fp16"), Load(inputs, outputs, 1)).tpot_ms
        for n in (1, degree)
    ]
    assert alone[1] > alone[0] / degree


def test_batch_matters() -> None:
    model, gpu = MODELS[1], GPUS[4]
    one, many = (serve(model, gpu, Plan(), scheme(gpu, "fp16"), Load(256, 256, n)) for n in (1, 16))
    assert 8 * one.output_tokens_per_s < many.output_tokens_per_s < 16 * one.output_tokens_per_s


def test_copying_the_cache_costs_more_than_reading_it() -> None:
    """Eager PyTorch appends by copying: QwQ-32B at 30k fell to a third of its rate
    (Qwen's measurement on an A100)."""
    gpu = gpu_shape_of(CATALOG.gpu("A100-80GB"))
    model = shape_of(CATALOG.model("Qwen3-32B"))
    kept = {}
    for engine in ("transformers", "vllm"):
        short, long = (
            serve(model, gpu, Plan(), scheme(gpu, "bf16"), Load(inputs, 2048, 1), ENGINES[engine])
            for inputs in (1, 30720)
        )
        kept[engine] = short.tpot_ms / long.tpot_ms
    assert kept["transformers"] < 0.5
    assert kept["vllm"] > 0.7


def test_a_chunk_that_replays_captured_graphs_is_not_charged_like_a_long_prompt() -> None:
    gpu, model = gpu_shape_of(CATALOG.gpu("H100")), shape_of(CATALOG.model("Qwen2.5-0.5B"))
    vllm = COEFFICIENTS.engines["vllm"]
    short, long = (
        stepper(model, gpu, scheme(gpu, "bf16"), engine, Plan(), link_between(gpu, 1))
        .prefill(128, 64)
        .overhead_ms
        for engine in (vllm, replace(vllm, captured_tokens=0.0))
    )
    assert short < 0.7 * long


def test_cards_before_hopper_read_long_caches_at_a_lower_share_of_their_bandwidth() -> None:
    """64 long talks on an A100 once seemed as quick as the bandwidth alone allows."""
    model, shares = shape_of(CATALOG.model("Llama-3.1-8B")), []
    for name in ("A100-80GB", "H100"):
        gpu = gpu_shape_of(CATALOG.gpu(name))
        replica = stepper(
            model, gpu, scheme(gpu, "bf16"), COEFFICIENTS.engines["vllm"], Plan(), link_between(gpu, 1)
        )
        shares.append(1.0 / (replica.kv_byte_ms * gpu.bandwidth_gbs * 1e6))
    assert shares[0] < 0.9 * shares[1]
