"""Steady state of continuous batching: from step times to rates and latencies at a concurrency."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

from tools.throughput.coefficients import COEFFICIENTS, Engine
from tools.throughput.gpu_shape import GpuShape
from tools.throughput.links import Link, link_between
from tools.throughput.model_shape import ModelShape
from tools.throughput.precision import Scheme
from tools.throughput.steps import Plan, Stepper, StepTime, stepper

WAIT_STEPS = 0.5  # of the running step, what a newcomer waits before its first chunk enters
FEW = 4  # requests per replica below which whole numbers matter
FULLEST = 0.995  # share of time that prompts can take; more requests queue before it


@dataclass(frozen=True, slots=True)
class Load:
    """Requests of equal length, `concurrency` of them in flight over all replicas."""

    input_tokens: int
    output_tokens: int
    concurrency: float
    limit: float = inf  # requests that memory holds at once over all replicas; more wait for a place


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
    engine: Engine = COEFFICIENTS.engines["vllm"],
    kv_bytes_per_element: float = 2.0,
    link: Link | None = None,
) -> Speed:
    """Speed of a plan under a load. Pure arithmetic, some tens of microseconds; memory is not checked."""
    link = link or link_between(gpu, plan.stage_gpus)
    return serve_steps(stepper(model, gpu, scheme, engine, plan, link, kv_bytes_per_element), load)


def serve_steps(replica: Stepper, load: Load) -> Speed:
    """As `serve`, for a replica whose constants are worked out already.

    A request in flight is decoding or before its first token: C = B + X ttft, with X = B / ((O - 1) tpot)
    requests per second. The right side grows with B, so one B fits each concurrency C, and throughput never
    falls as C grows. B ends where every step carries a full chunk of prompts; more requests then queue.
    """
    plan = replica.plan
    in_flight = max(1.0, load.concurrency / plan.replicas)
    served = min(in_flight, max(1.0, load.limit / plan.replicas)) if replica.engine.batches else 1.0
    if served < FEW and served != int(served):  # some replicas have one request more than others
        return _between(replica, load, int(served))
    state = _steady(replica, load, served)
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


def _between(replica: Stepper, load: Load, fewer: int) -> Speed:
    """Replicas with `fewer` requests and replicas with one more, together."""
    replicas = replica.plan.replicas
    low, high = (
        serve_steps(replica, replace(load, concurrency=float(n * replicas))) for n in (fewer, fewer + 1)
    )
    part = load.concurrency / replicas - fewer

    def mean(before: float, after: float) -> float:
        return before + part * (after - before)

    return replace(
        high,
        output_tokens_per_s=mean(low.output_tokens_per_s, high.output_tokens_per_s),
        requests_per_s=mean(low.requests_per_s, high.requests_per_s),
        ttft_ms=mean(low.ttft_ms, high.ttft_ms),
        tpot_ms=mean(low.tpot_ms, high.tpot_ms),
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


def _steady(replica: Stepper, load: Load, served: float) -> _State:
    """The state whose concurrency is `served`, by the secant rule inside a bracket (Illinois)."""
    inputs, steps = max(1.0, float(load.input_tokens)), _steps(load)
    slower = _throttle(replica, inputs, steps, served)
    if steps == 0:  # requests that end with their first token: prompts one behind the other
        state = _state(replica, inputs, 0.0, 0.0, 1.0, 1.0)
        return replace(state, ttft_ms=max(state.ttft_ms, served * replica.prompt_ms(inputs)))
    most = min(served, replica.chunk_tokens * steps / inputs)
    state = _state(replica, inputs, steps, most, served, slower)
    if state.concurrency <= served:
        return _queued(state, steps, served)
    low, high, value_low, value_high = 0.0, most, -served, state.concurrency - served
    for _ in range(20):
        middle = low + (high - low) * value_low / (value_low - value_high)
        state = _state(replica, inputs, steps, middle, served, slower)
        value = state.concurrency - served
        if abs(value) < 1e-4 * served:
            break
        if value > 0:
            high, value_high, value_low = middle, value, value_low / 2
        else:
            low, value_low, value_high = middle, value, value_high / 2
    return state


def _state(
    replica: Stepper, inputs: float, steps: float, running: float, served: float, slower: float
) -> _State:
    """Step times and latencies with `running` sequences decoding.

    Prompts come at I B / (O - 1) tokens per step on average, in chunks that some steps carry. A request that
    decodes is delayed by the prompts of the other C - 1 requests only, until prompts fill every step.
    """
    context, attended = inputs + steps / 2, inputs / 2  # a prompt token attends to half the prompt on average
    sequences = max(1.0, running)
    most = replica.chunk_tokens
    own_chunk = min(most, inputs)
    per_step = inputs * running / steps if steps else 0.0
    chunk = min(most, max(inputs, per_step))
    others = 1.0 - (1.0 - min(1.0, per_step / most)) / served
    decode = replica.decode(sequences, context)
    first = replica.prefill(own_chunk, attended, slower)
    mixed = replica.step(sequences, context, chunk, attended, slower).total_ms
    own = mixed
    if chunk > own_chunk:
        own = replica.step(sequences, context, own_chunk, attended, slower).total_ms

    share = min(1.0, per_step / chunk) * others
    tpot = decode.total_ms + share * (mixed - decode.total_ms) / replica.plan.overlapped_stages
    rate = running / (steps * tpot) if steps else 0.0
    # Prompts pass one behind the other: a newcomer finds part of the others there (mean value analysis with
    # fixed service times), each taking its chunks' steps.
    chunks = inputs / own_chunk
    alone = replica.prompt_ms(inputs, slower)
    service = inputs / chunk * mixed
    busy = min(FULLEST, rate * service)
    queue = service * others * busy * (1.0 - (1.0 - busy) / 2) / (1.0 - others * busy)
    # Requests of equal length that started together also end together, so newcomers come in bunches.
    bunch = alone * replica.engine.bunching * (served**replica.engine.bunching_power - 1.0)
    shared = chunks * max(0.0, own - first.total_ms) + WAIT_STEPS * decode.total_ms
    ttft = replica.engine.request_ms + inputs * replica.coefficients.host_token_us / 1e3 + alone
    ttft += min(1.0, served - 1.0) * (shared + max(queue, bunch))
    return _State(running, ttft, tpot, share, running + rate * ttft, decode, first)


def _throttle(replica: Stepper, inputs: float, steps: float, served: float) -> float:
    """How much longer arithmetic of prompts takes on a power-limited card under this load.

    It grows with the part of the time that prompts take: from that of a single request to that of a full
    card, where only what each sequence adds to a decode step is left beside them.
    """
    if replica.sustained >= 1.0:
        return 1.0
    chunk, context = min(replica.chunk_tokens, inputs), inputs + steps / 2
    prompt = inputs / chunk * replica.prefill(chunk, inputs / 2).compute_ms
    decode = replica.decode(1.0, context).total_ms
    added = (replica.decode(17.0, context).total_ms - decode) / 16
    alone, full = prompt / (prompt + steps * decode), prompt / (prompt + steps * added)
    busy = full - (full - alone) / served
    return 1.0 + busy * (1.0 / replica.sustained - 1.0)


def _queued(state: _State, steps: float, served: float) -> _State:
    """A replica that works at its limit: what it cannot take waits, which lengthens the first token."""
    rate = state.running / (steps * state.tpot_ms)
    return replace(state, ttft_ms=max(state.ttft_ms, (served - state.running) / rate), concurrency=served)
