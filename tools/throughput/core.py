"""Steady state of continuous batching: from step times to rates and latencies at a concurrency."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import Literal

from tools.throughput.coefficients import COEFFICIENTS, Engine
from tools.throughput.gpu_shape import GpuShape
from tools.throughput.links import Link, link_between
from tools.throughput.model_shape import ModelShape
from tools.throughput.precision import Scheme
from tools.throughput.steps import Plan, Stepper, StepTime, stepper

WAIT_STEPS = 0.5  # of the running step, what a newcomer waits before its first chunk enters
FEW = 4  # requests per replica below which whole numbers matter
TOLERANCE = 2e-4  # of the concurrency, where the steady state counts as found
FULLEST = 0.995  # share of time that prompts can take; more requests queue before it


# closed: the next request follows an answer, and requests of equal length come in bunches; paced: evenly
# spaced arrivals; mixed: not known, prompts come in bunches but do not queue on the host.
Arrival = Literal["closed", "paced", "mixed"]


@dataclass(frozen=True, slots=True)
class Load:
    """Requests of equal length, `concurrency` of them in flight over all replicas."""

    input_tokens: int
    output_tokens: int
    concurrency: float
    arrival: Arrival = "mixed"
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
    loop = _loop(replica, load, served)
    state = loop.steady()
    rate = loop.rate(state)
    queued = max(0.0, in_flight / rate - state.ttft_ms - loop.steps * state.tpot_ms)
    busy_replicas = min(float(plan.replicas), max(1.0, load.concurrency))
    rate *= busy_replicas * 1e3
    return Speed(
        rate * max(1, load.output_tokens),
        rate,
        state.ttft_ms + queued,
        state.tpot_ms,
        state.running,
        state.prompt_share,
        state.prefill,
        state.decode,
    )


def _between(replica: Stepper, load: Load, fewer: int) -> Speed:
    """Replicas with `fewer` requests and replicas with one more, together."""
    replicas = replica.plan.replicas
    low, high = (
        serve_steps(replica, replace(load, concurrency=float(n * replicas))) for n in (fewer, fewer + 1)
    )
    part = min(load.concurrency, load.limit) / replicas - fewer

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
    alone_ms: float  # time to first token on an idle replica
    decode: StepTime  # a step without prompt
    prefill: StepTime  # a chunk of a prompt alone


@dataclass(frozen=True, slots=True)
class _Loop:
    """A replica that serves `served` equal requests at a time, each followed by the next."""

    replica: Stepper
    inputs: float
    steps: float  # of a request after its first token
    served: float
    arrival: Arrival
    slower: float  # arithmetic of prompts under this load, relative to a cool card
    slowest: float  # the same on a full card

    def steady(self) -> _State:
        """The state whose concurrency is `served`, by the secant rule inside a bracket (Illinois)."""
        served = self.served
        if self.steps == 0:  # requests that end with their first token: prompts one behind the other
            state = replace(self, served=1.0).at(0.0)
            return replace(state, ttft_ms=max(state.ttft_ms, served * self.replica.prompt_ms(self.inputs)))
        most = min(served, self.replica.chunk_tokens * self.steps / self.inputs)
        state = self.at(most)
        if state.concurrency <= served:  # at its limit: what it cannot take waits for its first token
            rate = state.running / (self.steps * state.tpot_ms)
            waiting = (served - state.running) / rate
            return replace(state, ttft_ms=max(state.ttft_ms, waiting), concurrency=served)
        low, high, value_low, value_high = 0.0, most, -1.0, _off(state.concurrency, served)
        last = 0.0
        for _ in range(20):
            middle = low + (high - low) * value_low / (value_low - value_high)
            state = self.at(middle)
            value = _off(state.concurrency, served)
            if abs(value) < TOLERANCE:
                break
            if value > 0:
                high, value_high = middle, value
                value_low /= 2 if last > 0 else 1
            else:
                low, value_low = middle, value
                value_high /= 2 if last < 0 else 1
            last = value
        return state

    def rate(self, state: _State) -> float:
        """Requests per ms in a steady state: not below those of one request at a time, and not above those
        where every step carries a full chunk of prompts."""
        replica, steps, inputs = self.replica, self.steps, self.inputs
        if steps == 0:
            return self.served / state.ttft_ms
        rate = state.running / (steps * state.tpot_ms)
        context = inputs + steps / 2
        if self.served > 1.0:
            rate = max(rate, 1.0 / (state.alone_ms + steps * replica.decode(1.0, context).total_ms))
        if not replica.plan.micro_batched:
            return rate
        most = replica.chunk_tokens
        running = most * steps / inputs
        full = replica.step(max(1.0, running), context, most, inputs / 2, self.slowest).total_ms
        return min(rate, running / (steps * full) * replica.plan.overlapped_stages)

    def at(self, running: float) -> _State:
        """Step times and latencies with `running` sequences decoding.

        Prompts come at I B / (O - 1) tokens per step on average, in chunks that some steps carry. A request
        that decodes is delayed by the prompts of the other C - 1 requests only, until prompts fill the steps.
        """
        replica, inputs, steps, slower = self.replica, self.inputs, self.steps, self.slower
        context, attended = inputs + steps / 2, inputs / 2  # a prompt token attends to half the prompt
        sequences = max(1.0, running)
        most = replica.chunk_tokens
        own_chunk = min(most, inputs)
        per_step = inputs * running / steps if steps else 0.0
        chunk = min(most, max(inputs, per_step))
        others = 1.0 - (1.0 - min(1.0, per_step / most)) / self.served
        decode = replica.decode(sequences, context)
        first = replica.prefill(own_chunk, attended, slower)
        mixed = replica.step(sequences, context, chunk, attended, slower).total_ms

        share = min(1.0, per_step / chunk) * others
        tpot = decode.total_ms + share * (mixed - decode.total_ms) / replica.plan.overlapped_stages
        rate = running / (steps * tpot) if steps else 0.0
        alone = replica.prompt_ms(inputs, slower)
        ttft = replica.engine.request_ms + inputs * replica.coefficients.host_token_us / 1e3 + alone
        idle = ttft
        if self.served > 1.0:
            own = mixed
            if chunk > own_chunk:
                own = replica.step(sequences, context, own_chunk, attended, slower).total_ms
            shared = inputs / own_chunk * max(0.0, own - first.total_ms) + WAIT_STEPS * decode.total_ms
            ahead = self._ahead_ms(alone, rate, self._service_ms(sequences, context, chunk, mixed), others)
            ttft += min(1.0, self.served - 1.0) * (shared + ahead)
        return _State(running, ttft, tpot, share, running + rate * ttft, idle, decode, first)

    def _service_ms(self, sequences: float, context: float, chunk: float, mixed: float) -> float:
        """What each waiting prompt adds to the wait: short prompts that wait together share a step."""
        replica, inputs = self.replica, self.inputs
        service = inputs / chunk * mixed
        packed = min(replica.chunk_tokens, inputs * max(1.0, self.served - sequences))
        if packed > chunk:
            together = replica.step(sequences, context, packed, inputs / 2, self.slower).total_ms
            service = min(service, inputs / packed * together)
        return service / replica.plan.overlapped_stages

    def _ahead_ms(self, alone: float, rate: float, service: float, others: float) -> float:
        """What a newcomer waits for prompts ahead of its own.

        Prompts pass one behind the other: mean value analysis with fixed service times gives the queue. In
        a closed loop requests of equal length that started together also end together, so newcomers come
        in bunches, and the host prepares one behind the other.
        """
        busy = min(FULLEST, rate * service)
        queue = service * others * busy * (1.0 - (1.0 - busy) / 2) / (1.0 - others * busy)
        if self.arrival == "paced":
            return queue
        engine = self.replica.engine
        bunch: float = engine.bunching * (self.served**engine.bunching_power - 1.0)
        bunch = alone * min(bunch, self.served - 1.0)
        if self.arrival == "closed":
            bunch += (self.served - 1.0) * (engine.serial_ms + self.inputs * engine.serial_token_us / 1e3)
        return max(queue, bunch)


def prompt_rate(replica: Stepper, inputs: int, concurrency: int) -> float:
    """Prompt tokens per second of all replicas: of one request, or of prompts that fill every step, every
    stage and every attention rank."""
    tokens, lanes = float(max(1, inputs)), 1
    if concurrency > 1:
        plan = replica.plan
        tokens = min(replica.chunk_tokens, inputs * concurrency)
        lanes = min(concurrency, plan.overlapped_stages * plan.attention_data)
    return tokens / replica.prompt_ms(tokens) * 1e3 * replica.plan.replicas * lanes


def _off(found: float, wanted: float) -> float:
    """How far a concurrency is off, from -1 to 1: tame where queues make it explode."""
    return (found - wanted) / (found + wanted)


def _loop(replica: Stepper, load: Load, served: float) -> _Loop:
    inputs, steps = max(1.0, float(load.input_tokens)), max(0.0, load.output_tokens - 1.0)
    slower, slowest = _throttle(replica, inputs, steps, served) if steps else (1.0, 1.0)
    return _Loop(replica, inputs, steps, served, load.arrival, slower, slowest)


def _throttle(replica: Stepper, inputs: float, steps: float, served: float) -> tuple[float, float]:
    """How much longer arithmetic of prompts takes on a power-limited card under this load, and when full.

    It grows with the part of the time that prompts take: from that of a single request to that of a full
    card, where only what each sequence adds to a decode step is left beside them.
    """
    if replica.sustained >= 1.0:
        return 1.0, 1.0
    chunk, context = min(replica.chunk_tokens, inputs), inputs + steps / 2
    chunks, first = inputs / chunk, replica.prefill(chunk, inputs / 2)
    prompt, idle = chunks * first.compute_ms, chunks * (first.total_ms - first.compute_ms)
    decode = replica.decode(1.0, context).total_ms
    added = (replica.decode(17.0, context).total_ms - decode) / 16
    alone = prompt / (prompt + idle + steps * decode)
    full = prompt / (prompt + idle + steps * added)
    busy = full - (full - alone) / served
    hot = 1.0 / replica.sustained - 1.0
    return 1.0 + busy * hot, 1.0 + full * hot
