"""Serving speed of a request: `ThroughputRequest` -> `ThroughputReport`."""

from __future__ import annotations

from knowledge.catalog import Catalog
from knowledge.errors import InputError
from tools.contracts.base import SourceRef
from tools.contracts.throughput import Bound, Capacity, ThroughputReport, ThroughputRequest
from tools.throughput.core import Load, Speed, prompt_rate, serve_steps
from tools.throughput.planning import best_concurrency, users_served
from tools.throughput.ranges import evidence_of, spreads_of
from tools.throughput.resolve import Resolved, resolve
from tools.throughput.steps import Stepper

DEFAULT_THINK_TIME_S = 30.0  # a person who reads an answer and writes the next question
FEW_SEQUENCES = 8  # with less KV room than this, throughput is sensitive to every assumption


def estimate_throughput(request: ThroughputRequest, catalog: Catalog) -> ThroughputReport:
    """Rates and latencies of a serving load, each with the range that holds 80 % of measurements.

    Roofline of prefill and decode steps, link time and fixed costs (`steps`), in the steady state of
    continuous batching (`core`). Raises `InputError` and `NotKnown`.
    """
    settled = resolve(request, catalog)
    inputs, outputs = settled.input_tokens, settled.output_tokens
    if inputs + outputs == 0:
        raise InputError("output_tokens", outputs, "input or output tokens above zero")
    replica = settled.replica
    allowed = settled.held
    concurrency = _concurrency(request, settled, allowed)
    load = Load(inputs, outputs, concurrency, settled.arrival, max(1, settled.running_limit))
    speed = serve_steps(replica, load)
    plan = replica.plan
    capacity = _capacity(request, settled, allowed)
    return ThroughputReport(
        model=replica.model.name,
        gpu=settled.gpu.gpu_model,
        gpu_count=plan.gpus,
        tensor_parallel=plan.tensor,
        pipeline_parallel=plan.pipeline,
        data_parallel=plan.replicas,
        weight_precision=settled.precision.name,
        kv_precision=settled.kv_precision,
        engine=replica.engine.name,
        input_tokens=inputs,
        output_tokens=outputs,
        concurrency=concurrency,
        max_concurrency=allowed,
        **_figures(replica, load, speed),
        capacity=capacity,
        prefill_bound=_bound(speed.prefill.bound),
        decode_bound=_bound(speed.decode.bound),
        compute_precision=replica.scheme.computes_in,
        evidence=evidence_of(replica),
        assumptions=tuple(settled.notes.assumptions),
        warnings=tuple(settled.notes.warnings),
        sources=tuple(SourceRef(title=title, as_of=as_of) for title, as_of in settled.source_titles),
    )


def _figures(replica: Stepper, load: Load, speed: Speed) -> dict[str, float]:
    """Every rate and latency of a report by its field, with the ends of its range."""
    inputs, outputs, concurrency = load.input_tokens, load.output_tokens, int(load.concurrency)
    alone = serve_steps(replica, Load(inputs, max(outputs, 2), 1))
    spreads = spreads_of(replica, concurrency)
    figures = {
        "output_tokens_per_s": (speed.requests_per_s * outputs, spreads.rate),
        "total_tokens_per_s": (speed.requests_per_s * (inputs + outputs), spreads.rate),
        "requests_per_s": (speed.requests_per_s, spreads.rate),
        "ttft_ms": (speed.ttft_ms, spreads.first_token),
        "tpot_ms": (speed.tpot_ms, spreads.step),
        "single_stream_tokens_per_s": (1e3 / alone.tpot_ms, spreads.single),
        "prefill_tokens_per_s": (prompt_rate(replica, inputs, concurrency), spreads.prefill),
    }
    values: dict[str, float] = {}
    for name, (value, spread) in figures.items():
        values[name] = value
        values[f"{name}_low"], values[f"{name}_high"] = spread.of(value)
    return values


def _concurrency(request: ThroughputRequest, settled: Resolved, allowed: int) -> int:
    """Requests in flight; notes what memory does to the wish."""
    notes = settled.notes
    if allowed < 1:
        notes.warn("weights_leave_no_kv_room")
    elif allowed < FEW_SEQUENCES * settled.replica.plan.replicas:
        notes.warn("little_kv_room", max_concurrency=allowed)
    if request.concurrency == "max":
        return max(1, allowed)
    if request.concurrency is None:
        notes.assume("concurrency", 1, "default")
        return 1
    if request.concurrency < 1:
        raise InputError("concurrency", request.concurrency, '1 or more, or "max"')
    if request.concurrency > max(allowed, 1):
        notes.warn("concurrency_above_memory", asked=request.concurrency, max_concurrency=allowed)
    return request.concurrency


def _capacity(request: ThroughputRequest, settled: Resolved, allowed: int) -> Capacity | None:
    """The highest concurrency over all replicas that keeps the targets; None where none were given."""
    if request.ttft_ms is None and request.tpot_ms is None:
        return None
    found, speed = best_concurrency(
        settled.replica,
        settled.input_tokens,
        settled.output_tokens,
        allowed,
        request.ttft_ms,
        request.tpot_ms,
    )
    think = request.think_time_s
    if think is None:
        think = DEFAULT_THINK_TIME_S
        settled.notes.assume("think_time_s", think, "usual_pause")
    rate = speed.requests_per_s if speed else 0.0
    return Capacity(
        ttft_target_ms=request.ttft_ms,
        tpot_target_ms=request.tpot_ms,
        concurrency=found,
        output_tokens_per_s=rate * settled.output_tokens,
        requests_per_s=rate,
        ttft_ms=speed.ttft_ms if speed else 0.0,
        tpot_ms=speed.tpot_ms if speed else 0.0,
        limited_by="kv_cache" if found >= allowed else "targets",
        think_time_s=think,
        users=int(users_served(speed, found, think)) if speed else 0,
    )


def _bound(name: str) -> Bound:
    known: dict[str, Bound] = {
        "compute": "compute", "bandwidth": "bandwidth",
        "communication": "communication", "overhead": "overhead",
    }  # fmt: skip
    return known[name]
