"""Steady state of continuous batching: from step times to rates and latencies at a concurrency."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tools.throughput.engines import ENGINES, Engine
from tools.throughput.gpu_shape import GpuShape
from tools.throughput.links import Link, link_between
from tools.throughput.model_shape import ModelShape
from tools.throughput.precision import Scheme
from tools.throughput.steps import Plan, Stepper, StepTime

CHUNK_TOKENS = 2048.0  # prompt tokens that one step takes at most (vLLM default on most cards)
WAIT_STEPS = 0.5  # of the running step, what a newcomer waits before its first chunk enters


@dataclass(frozen=True, slots=True)
class Load:
    """Requests of equal length, `concurrency` of them in flight over all replicas."""

    input_tokens: int
    output_tokens: int
    concurrency: float


@dataclass(frozen=True, slots=True)
class Speed:
    """What a plan delivers under a load, all replicas together; latencies are typical (median)."""

    output_tokens_per_s: float
    requests_per_s: float
    ttft_ms: float
    tpot_ms: float
    running: float  # sequences that decode together in one replica
    prompt_share: float  # of the steps, those that carry a chunk of a prompt
    prefill: StepTime
    decode: StepTime


def serve(
    model: ModelShape,
    gpu: GpuShape,
    plan: Plan,
    scheme: Scheme,
    load: Load,
    engine: Engine = ENGINES["vllm"],
    kv_bytes_per_element: float = 2.0,
    link: Link | None = None,
) -> Speed:
    """Speed of a plan under a load. Pure arithmetic, some tens of microseconds; memory is not checked."""
    link = link or link_between(gpu, plan.stage_gpus)
    return serve_steps(Stepper(model, gpu, scheme, engine, plan, link, kv_bytes_per_element), load)


def serve_steps(stepper: Stepper, load: Load) -> Speed:
    """As `serve`, for a replica whose constants are worked out already.

    A request in flight is decoding or before its first token: C = B + X ttft, with X = B / ((O - 1) tpot)
    requests per second. The right side grows with B, so one B fits each concurrency C, and throughput never
    falls as C grows. B ends where every step carries a full chunk of prompts; more requests then queue.
    """
    plan = stepper.plan
    in_flight = max(1.0, load.concurrency / plan.replicas)
    served = in_flight if stepper.engine.batches else 1.0
    state = _steady(stepper, load, served)
    rate = served / (state.ttft_ms + _steps(load) * state.tpot_ms)  # Little's law, requests per ms
    queued = (in_flight - served) / rate
    busy_replicas = min(float(plan.replicas), max(1.0, load.concurrency))
    rate *= busy_replicas * 1e3
    return Speed(
        rate * max(1, load.output_tokens),
        rate,
        state.ttft_ms + queued,
        state.tpot_ms,
        state.running,
        state.prompt_share,
        state.mixed,
        state.decode,
    )


@dataclass(frozen=True, slots=True)
class _State:
    """A replica with `running` sequences decoding, and the concurrency that this needs."""

    running: float
    ttft_ms: float
    tpot_ms: float
    prompt_share: float  # of the steps, those that carry a chunk of a prompt
    concurrency: float
    decode: StepTime  # a step without prompt
    mixed: StepTime  # a step with a chunk of a prompt


def _steps(load: Load) -> float:
    """Steps of a request after its first token."""
    return max(0.0, load.output_tokens - 1.0)


def _steady(stepper: Stepper, load: Load, served: float) -> _State:
    """The state whose concurrency is `served`, by the secant rule inside a bracket (Illinois)."""
    inputs, steps = max(1.0, float(load.input_tokens)), _steps(load)
    others = (served - 1.0) / served  # a request is not delayed by its own prompt while it decodes
    if steps == 0:
        return _queued(_state(stepper, inputs, 0.0, 1.0, others), 0.0, served)
    most = served if not others else min(served, CHUNK_TOKENS * steps / (inputs * others))
    state = _state(stepper, inputs, steps, most, others)
    if state.concurrency <= served:
        return _queued(state, steps, served)
    low, high, value_low, value_high = 0.0, most, -served, state.concurrency - served
    for _ in range(20):
        middle = low + (high - low) * value_low / (value_low - value_high)
        state = _state(stepper, inputs, steps, middle, others)
        value = state.concurrency - served
        if abs(value) < 1e-4 * served:
            break
        if value > 0:
            high, value_high, value_low = middle, value, value_low / 2
        else:
            low, value_low, value_high = middle, value, value_high / 2
    return state


def _state(stepper: Stepper, inputs: float, steps: float, running: float, others: float) -> _State:
    """Step times and latencies with `running` sequences decoding.

    Prompts come at I B / (O - 1) tokens per step on average, in chunks that some steps carry.
    """
    context = inputs + steps / 2
    sequences = max(1.0, running)
    per_step = inputs * running * others / steps if steps else 0.0
    chunk = min(CHUNK_TOKENS, max(inputs, per_step))
    own_chunk = min(CHUNK_TOKENS, inputs)
    before = (
        inputs - own_chunk
    ) / 2  # chunks differ in the context they attend to; the middle one is typical
    decode = stepper.decode(sequences, context)
    mixed = stepper.step(sequences, context, chunk, attended)
    first = stepper.prefill(own_chunk, attended)
    share = min(1.0, per_step / chunk)
    shared_stages = stepper.plan.pipeline if stepper.plan.micro_batched else 1
    tpot = decode.total_ms + share * (mixed.total_ms - decode.total_ms) / shared_stages
    alone = inputs / own_chunk * first.total_ms
    shared = inputs / own_chunk * max(0.0, mixed.total_ms - first.total_ms)
    ttft = stepper.engine.request_ms + alone + others * (shared + WAIT_STEPS * tpot)
    rate = running / (steps * tpot) if steps else 0.0
    return _State(running, ttft, tpot, share, running + rate * ttft, decode, first)


def _queued(state: _State, steps: float, served: float) -> _State:
    """A replica that works at its limit: what it cannot take waits, which lengthens the first token."""
    if not steps:
        return replace(state, running=0.0, ttft_ms=max(state.ttft_ms, served * state.mixed.total_ms))
    rate = state.running / (steps * state.tpot_ms)
    return replace(state, ttft_ms=max(state.ttft_ms, (served - state.running) / rate), concurrency=served)
