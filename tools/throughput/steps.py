"""Time of one engine step: a token for each running sequence, and a chunk of a newcomer's prompt."""

from __future__ import annotations

from dataclasses import dataclass

from tools.throughput.coefficients import (
    COEFFICIENTS,
    Coefficients,
    Engine,
    Kernels,
    kernels_of,
    sustained_of,
)
from tools.throughput.gpu_shape import GpuShape
from tools.throughput.links import (
    GPUS_PER_NODE,
    Link,
    all_reduce_ms,
    all_to_all_ms,
    hand_over_ms,
    network_link,
)
from tools.throughput.model_shape import ModelShape
from tools.throughput.precision import Scheme

ACTIVATION_BYTES = 2.0
# Per weight: unpacked to 16 bit, written out, and read again, where a step has more than a few tokens.
REWRITTEN_BYTES = 4.0
UNPACK_OVERLAP = 3.5  # see `joined`
FEW_TOKENS = 25.0  # up to here llama.cpp multiplies vectors, from packed weights
FALLBACK_BITS = 1.0  # Q4_K becomes Q5_0, Q6_K becomes Q8_0
NEWER_HOSTS_FROM = 8.9  # capability of cards whose machines launch faster
GRAPHS_FROM = 8.0  # capability from which llama.cpp captures graphs, which a layer split prevents
STAGED_FROM = 8.0  # capability from which 4- and 8-bit kernels stage their weights
HOPPER, CONSUMER_BLACKWELL = 9.0, 12.0  # capabilities
HOPPER_OPERATIONS = 989.0 / 3350.0  # dense 16-bit TFLOPS over GB/s of H100
# No kernel reads faster than this share of the data-sheet bandwidth, nor computes above this share of the
# peak; the highest local copy rate measured (nvbandwidth, read plus write) is 0.92.
CEILING = 0.97


@dataclass(frozen=True, slots=True)
class Plan:
    """How a model is laid over GPUs. One replica has tensor x attention_data x pipeline GPUs."""

    tensor: int = 1
    pipeline: int = 1
    replicas: int = 1
    expert: int = 1  # expert-parallel degree; the rest of the replica splits each expert
    attention_data: int = 1
    micro_batched: bool = True  # pipeline stages work on different requests; False: plain layer split

    @property
    def stage_gpus(self) -> int:
        return self.tensor * self.attention_data

    @property
    def gpus(self) -> int:
        return self.stage_gpus * self.pipeline * self.replicas

    @property
    def expert_groups(self) -> int:
        """GPUs over which whole experts are dealt out."""
        return min(max(1, self.expert), self.stage_gpus)

    @property
    def expert_slices(self) -> int:
        """GPUs that share the matrices of one expert."""
        return max(1, self.stage_gpus // self.expert_groups)

    @property
    def overlapped_stages(self) -> int:
        """Pipeline stages that work at the same time."""
        return self.pipeline if self.micro_batched else 1


@dataclass(frozen=True, slots=True)
class StepTime:
    """Milliseconds of one step and of its parts."""

    total_ms: float
    weights_ms: float
    kv_ms: float
    matrices_ms: float  # arithmetic of the linear layers, beside which weights are read
    attention_ms: float  # arithmetic of attention, beside which the cache is read
    communication_ms: float
    overhead_ms: float

    @property
    def compute_ms(self) -> float:
        return self.matrices_ms + self.attention_ms

    @property
    def bound(self) -> str:
        """The largest of what the step waits for: of reading and arithmetic side by side, the longer."""
        waits_to_read, caches = self.weights_ms >= self.matrices_ms, self.kv_ms >= self.attention_ms
        parts = {
            "bandwidth": self.weights_ms * waits_to_read + self.kv_ms * caches,
            "compute": self.matrices_ms * (not waits_to_read) + self.attention_ms * (not caches),
            "communication": self.communication_ms,
            "overhead": self.overhead_ms,
        }
        return max(parts, key=lambda part: parts[part])


@dataclass(frozen=True, slots=True)
class Stepper:
    """One replica of a model on a card: what each part of a step costs, in ms, worked out once.

    `..._token_ms` counts each token of the step, `..._sequence_ms` each running sequence, `..._pair_ms` each
    pair of a token and a position that it attends to, on one GPU of the group.
    """

    model: ModelShape
    gpu: GpuShape
    scheme: Scheme
    engine: Engine
    plan: Plan
    link: Link
    kv_bytes_per_element: float
    coefficients: Coefficients
    dense_read_ms: float
    expert_read_ms: float  # one expert of every MoE layer
    expert_ms: float  # fixed cost of one expert of every MoE layer that gets a token
    dense_unpack_ms: float
    expert_unpack_ms: float
    rewrite_from: float  # tokens above which weights are unpacked to memory first
    rewrite_ms: float  # all weights written out in 16 bit and read again, by kernels made for loading
    dense_token_ms: float
    head_sequence_ms: float
    expert_token_ms: float  # one token through one expert of every MoE layer
    kv_byte_ms: float
    prefill_pair_ms: float
    window_pair_ms: float
    decode_pair_ms: float
    activation_token_ms: float
    overhead_ms: float
    prompt_overhead_ms: float
    sequence_ms: float
    host_ms: float  # launching a step from the host while the GPU works
    prompt_host_ms: float
    sustained: float  # of the burst matrix rate, when prompts keep the card busy
    communication_ms: float
    communication_token_ms: float

    def step(
        self,
        sequences: float,
        context: float,
        prompt_tokens: float,
        prompt_context: float,
        slower: float = 1.0,
    ) -> StepTime:
        """One pass through all pipeline stages.

        Weights are read once and every token is multiplied with them; the longer of the two bounds the
        linear layers, softly where they meet. Cache reads and attention come on top, then elementwise
        kernels, links and fixed costs. `slower` stretches the arithmetic of prompts (power limit).
        """
        model, plan = self.model, self.plan
        group = max(1.0, sequences / plan.overlapped_stages) if sequences else 0.0
        group /= plan.attention_data
        tokens = group + prompt_tokens
        read, unpack = self.dense_read_ms, self.dense_unpack_ms
        work = group + prompt_tokens * slower
        compute = work * self.dense_token_ms + group * self.head_sequence_ms
        if model.experts:
            hit = model.experts_hit(tokens * plan.attention_data)
            read += hit * self.expert_read_ms
            unpack += hit * self.expert_unpack_ms
            read += hit * self.expert_ms
            compute += work * plan.attention_data * model.top_k * self.expert_token_ms
        if tokens > self.rewrite_from:
            read += self.rewrite_ms
        if unpack:
            read = joined(read, unpack, UNPACK_OVERLAP)
        linear = joined(read, compute, self.engine.overlap)
        kv = group * self.kv_bytes(context) * self.kv_byte_ms
        attention = prompt_tokens * prompt_context * self.prefill_pair_ms
        if model.window_tokens:
            inside = min(prompt_context, model.window_tokens)
            attention += prompt_tokens * inside * self.window_pair_ms
        attention += group * context * self.decode_pair_ms
        overhead = self.overhead_ms + group * self.sequence_ms + tokens * self.activation_token_ms
        if prompt_tokens:
            # Small steps replay captured graphs, large ones are launched kernel by kernel.
            captured = self.engine.captured_tokens
            overhead += self.prompt_overhead_ms * tokens / (tokens + captured)
        communication = self.communication_ms + tokens * self.communication_token_ms
        total = overhead + communication + linear + max(kv, attention)
        host = self.host_ms
        if prompt_tokens:  # short prompts need fewer launches
            host = max(host, self.prompt_host_ms * prompt_tokens / (prompt_tokens + FEW_TOKENS))
        if host:
            waiting = joined(total, host, self.engine.host_overlap) - total
            total, overhead = total + waiting, overhead + waiting
        return StepTime(total, read, kv, compute, attention, communication, overhead)

    def prompt_ms(self, inputs: float, slower: float = 1.0) -> float:
        """A prompt alone, chunk by chunk. A layer split works on several chunks at once: two GPUs take
        (n + 1) / 2n of the time for n chunks; more gain less, as each waits for the hand-over."""
        chunks = max(1.0, inputs / self.chunk_tokens)
        alone = chunks * self.prefill(inputs / chunks, inputs / 2, slower).total_ms
        gpus = self.plan.pipeline
        if gpus > 1 and not self.plan.micro_batched and self.engine.portable:
            alone *= 1.0 - (1.0 - (chunks + 1.0) / (2.0 * chunks)) * (2.0 / gpus) ** 0.8
        return alone

    def decode(self, sequences: float, context: float) -> StepTime:
        """One step that gives each of `sequences` running sequences a token."""
        return self.step(sequences, context, 0.0, 0.0)

    def prefill(self, tokens: float, context: float, slower: float = 1.0) -> StepTime:
        """One step of `tokens` prompt tokens, each of which attends to `context` tokens on average (half of
        the prompt's length)."""
        return self.step(0.0, 0.0, tokens, context, slower)

    def kv_bytes(self, context: float) -> float:
        """Bytes of cache that one GPU reads for one sequence in one step."""
        model = self.model
        window = model.window_elements
        if model.window_tokens and context < model.window_tokens:
            window *= context / model.window_tokens
        elements = model.kv_elements_per_token * context + window
        shard = min(self.plan.tensor, model.kv_heads)
        return elements * self.kv_bytes_per_element / shard + 2 * model.state_bytes / self.plan.tensor

    @property
    def chunk_tokens(self) -> float:
        """Prompt tokens that one step takes at most (vLLM: 2,048 on cards below 70 GiB and on A100)."""
        if self.engine.name == "vllm" and (self.gpu.usable_gib < 70 or self.gpu.capability < 9.0):
            return 2048.0
        return self.engine.chunk_tokens


def stepper(
    model: ModelShape,
    gpu: GpuShape,
    scheme: Scheme,
    engine: Engine,
    plan: Plan,
    link: Link,
    kv_bytes_per_element: float = 2.0,
    coefficients: Coefficients = COEFFICIENTS,
    network: Link | None = None,
) -> Stepper:
    """Works out what the parts of a step cost. `link` joins the GPUs of a stage, `network` machines."""
    fit = coefficients
    kernels = kernels_of(gpu.card, gpu.capability, engine, fit, gpu.same_chip)
    per_byte = 1.0 / (gpu.bandwidth_gbs * 1e6)  # ms
    read = per_byte / min(CEILING, kernels.bandwidth * engine.bandwidth)
    expert_read = per_byte / min(CEILING, kernels.bandwidth * engine.bandwidth * fit.expert_bandwidth)
    rate = _matrix_rate(gpu, scheme, engine, kernels)
    attention_rate = (gpu.bf16_tflops or gpu.fp16_tflops) * 1e9 * plan.tensor
    attention_share = kernels.attention * engine.attention_share
    prefill_rate = attention_rate * min(CEILING, attention_share * fit.prefill_attention)
    decode_rate = attention_rate * min(CEILING, attention_share * fit.decode_attention)
    activation_bytes = fit.activation_bytes * engine.activation_share
    unpack = _unpack_operations(scheme, gpu, engine, fit) / (gpu.fp32_tflops * 1e9 * kernels.vector)
    experts = float(model.moe_layers) * model.expert_params / plan.stage_gpus  # one expert of every layer
    width = model.expert_params / (3 * model.hidden) / plan.expert_slices  # of an expert's part on one GPU
    expert_share = fit.expert_compute * width / (width + _half_width(gpu, fit))
    fixed_us = _fixed_us(model, gpu, scheme, engine, plan, fit)
    unpacks = _unpacks(scheme, gpu)
    host_us, prompt_host_us = _host_us(model, gpu, scheme, engine, fit)
    communication, per_token = _communication(model, plan, link, network or network_link())
    if _split(plan):
        communication += (plan.pipeline - 1) * engine.hop_us / 1e3
    return Stepper(
        model=model,
        gpu=gpu,
        scheme=scheme,
        engine=engine,
        plan=plan,
        link=link,
        kv_bytes_per_element=kv_bytes_per_element,
        coefficients=fit,
        dense_read_ms=_dense_bits(model, scheme) / 8 / plan.tensor * read,
        expert_ms=model.moe_layers * fit.expert_us / 1e3 / plan.expert_groups,
        expert_read_ms=experts * scheme.expert_bits / 8 * expert_read,
        dense_unpack_ms=model.dense_params / plan.tensor * unpack,
        expert_unpack_ms=experts * unpack,
        rewrite_from=FEW_TOKENS if scheme.dequant == "gguf" and gpu.capability >= 7.0 else 1.0,
        rewrite_ms=REWRITTEN_BYTES * model.dense_params / plan.tensor * read if unpacks else 0.0,
        dense_token_ms=2.0 * model.dense_params / plan.tensor / rate,
        head_sequence_ms=2.0 * model.head_params / plan.tensor / rate,
        expert_token_ms=2.0 * experts / (rate * expert_share) if experts else 0.0,
        kv_byte_ms=_cache_passes(model, engine) * per_byte / _cache_share(gpu, engine, fit),
        prefill_pair_ms=model.attention_flops / prefill_rate,
        window_pair_ms=model.window_flops / prefill_rate,
        decode_pair_ms=model.decode_attention_flops / decode_rate,
        activation_token_ms=model.layers * model.hidden * activation_bytes * per_byte,
        overhead_ms=fixed_us * kernels.layer / gpu.time_share / 1e3 + engine.step_ms,
        prompt_overhead_ms=model.layers * engine.prompt_layer_us * kernels.layer / gpu.time_share / 1e3,
        sequence_ms=engine.sequence_us / 1e3,
        host_ms=model.layers * host_us / 1e3,
        prompt_host_ms=model.layers * prompt_host_us * kernels.layer**0.4 / 1e3,
        sustained=sustained_of(gpu.card, fit, gpu.same_chip),
        communication_ms=communication,
        communication_token_ms=per_token,
    )


def _matrix_rate(gpu: GpuShape, scheme: Scheme, engine: Engine, kernels: Kernels) -> float:
    """Operations per ms of the linear layers on one GPU."""
    eight_bit = {"int8": kernels.compute_8, "fp8": kernels.compute_8, "fp4": kernels.compute_4}
    share = eight_bit.get(scheme.computes_in, kernels.compute_16)
    if engine.portable:  # its own kernels: measured against the 16-bit peak, whatever they compute in
        share = kernels.compute_16 * gpu.fp16_tflops / scheme.peak_tflops
    return scheme.peak_tflops * 1e9 * min(CEILING, share * engine.compute)


def _unpack_operations(scheme: Scheme, gpu: GpuShape, engine: Engine, fit: Coefficients) -> float:
    """fp32 operations per weight. Kernels that stage weights and unpack them beside the matrix units (Marlin
    and its kin) exist from Ampere on; older cards unpack as they go."""
    staged = scheme.dequant in ("w4a16", "w8a16") and gpu.capability >= STAGED_FROM
    return fit.unpack[scheme.dequant] * (engine.unpack if staged else 1.0)


def _half_width(gpu: GpuShape, fit: Coefficients) -> float:
    """Width of an expert's part at which grouped matrices reach half of their rate.

    A narrow matrix moves its tokens in and out of memory for little arithmetic, so the width grows with the
    operations that the card does in the time that it moves one 16-bit element; H100 is the reference."""
    operations = gpu.fp16_tflops / gpu.bandwidth_gbs
    return fit.expert_half_width * operations / HOPPER_OPERATIONS


def _dense_bits(model: ModelShape, scheme: Scheme) -> float:
    """Bits of all weights that every step reads. GGUF super-blocks hold 256 weights; a width that is no
    multiple falls back to formats about a bit wider."""
    falls_back = scheme.dequant == "gguf" and model.hidden % 256 and scheme.body_bits < 8
    wider = FALLBACK_BITS if falls_back else 0.0
    return model.dense_params * (scheme.body_bits + wider) + model.head_params * (scheme.head_bits + wider)


def _cache_share(gpu: GpuShape, engine: Engine, fit: Coefficients) -> float:
    """Share of the memory bandwidth that reads of the cache reach. Attention kernels for Hopper and B200 copy
    beside the arithmetic (FlashAttention-3 and its kin); other cards run those of Ampere."""
    recent = engine.portable or HOPPER <= gpu.capability < CONSUMER_BLACKWELL
    return min(CEILING, fit.kv_bandwidth * engine.kv_share * (1.0 if recent else fit.older_cache))


def _cache_passes(model: ModelShape, engine: Engine) -> float:
    """How often a step moves the cache. Copying to append reads and writes it; where query heads share it,
    it is read once more, and written and read again for each of them."""
    if not engine.copies_cache:
        return 1.0
    group = model.heads / max(1, model.kv_heads)
    return 3.0 if model.is_latent or group <= 1 else 3.0 + 2.0 * group


def _unpacks(scheme: Scheme, gpu: GpuShape) -> bool:
    """Whole matrices are unpacked to memory: bitsandbytes, and llama.cpp without int8 tensor cores."""
    return scheme.dequant == "bnb" or (scheme.dequant == "gguf" and gpu.capability < 7.5)


def _split(plan: Plan) -> bool:
    """Whether the stages of a pipeline work one after the other."""
    return plan.pipeline > 1 and not plan.micro_batched


def _fixed_us(
    model: ModelShape, gpu: GpuShape, scheme: Scheme, engine: Engine, plan: Plan, fit: Coefficients
) -> float:
    """Time of a step that no size changes: starts of kernels by layer, expert layer and packed layer."""
    fixed_us = model.layers * engine.layer_us + model.moe_layers * fit.expert_layer_us
    fixed_us += model.layers * fit.latent_layer_us if model.is_latent else 0.0
    if _split(plan) and gpu.capability >= GRAPHS_FROM:
        fixed_us *= 1.0 + engine.split_layer
    if scheme.dequant in ("w4a16", "w8a16"):
        fixed_us += model.layers * fit.packed_layer_us
    return fixed_us


def _host_us(
    model: ModelShape, gpu: GpuShape, scheme: Scheme, engine: Engine, fit: Coefficients
) -> tuple[float, float]:
    """Microseconds per layer that the host needs to launch a step, and a step with a prompt."""
    host_us = engine.host_layer_us * (fit.newer_host if gpu.capability >= NEWER_HOSTS_FROM else 1.0)
    host_us += fit.slow_formats.get((engine.name, scheme.name), 0.0)
    if model.experts:
        host_us += fit.slow_formats.get((engine.name, f"{scheme.name} moe"), 0.0)
    library = 0.5 if _unpacks(scheme, gpu) else 1.0  # library matrices take fewer launches
    return host_us, engine.prompt_host_layer_us * library


def joined(first: float, second: float, overlap: float) -> float:
    """Time of two parts that overlap: their sum at `overlap` 1, the longer one as it grows."""
    longer, shorter = (first, second) if first > second else (second, first)
    if longer <= 0.0:
        return 0.0
    result: float = longer * (1.0 + (shorter / longer) ** overlap) ** (1.0 / overlap)
    return result


def _communication(model: ModelShape, plan: Plan, link: Link, network: Link) -> tuple[float, float]:
    """(fixed ms of a step, ms per token): two all-reduces per layer for tensor parallel, two all-to-alls per
    MoE layer where attention is data parallel, and a hand-over between pipeline stages, by `network` where
    the next stage is on another machine."""
    width = model.hidden * ACTIVATION_BYTES

    def total(payload: float) -> float:
        value = 2 * model.layers * all_reduce_ms(link, plan.tensor, payload)
        if plan.attention_data > 1:
            copies = max(1, model.top_k)
            value += 2 * model.moe_layers * all_to_all_ms(link, plan.stage_gpus, payload, copies)
        inside = min(plan.pipeline, max(1, GPUS_PER_NODE // plan.stage_gpus))  # stages of one machine
        machines = -(-plan.pipeline // inside)
        value += (plan.pipeline - machines) * hand_over_ms(link, payload)
        value += (machines - 1) * hand_over_ms(network, payload)
        return value

    fixed = total(0.0)
    return fixed, total(width) - fixed
