"""Time of one engine step: decode of a batch, prefill of a chunk, with the parts that bound it."""

from __future__ import annotations

from dataclasses import dataclass

from tools.throughput.engines import Engine
from tools.throughput.gpu_shape import GpuShape
from tools.throughput.links import Link, all_reduce_ms, all_to_all_ms, hand_over_ms
from tools.throughput.model_shape import ModelShape
from tools.throughput.precision import Scheme

ACTIVATION_BYTES = 2.0
# Of the shorter of weight reads and arithmetic, what does not hide behind the longer.
HIDDEN_SHARE = 0.3
KV_READ_SHARE = 0.70  # of the bandwidth that paged attention reaches
DECODE_COMPUTE_SHARE = 0.60  # of the peak that decode matrices reach, relative to prefill
# Time per 1e9 weights to unpack them, relative to one fp32 operation each: operations per weight.
DEQUANT_OPS = {"": 0.0, "w4a16": 6.0, "w8a16": 3.0, "bnb": 40.0, "gguf": 9.0}


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


@dataclass(frozen=True, slots=True)
class StepTime:
    """Milliseconds of one step and of its parts."""

    total_ms: float
    weights_ms: float
    kv_ms: float
    compute_ms: float
    communication_ms: float
    overhead_ms: float

    @property
    def bound(self) -> str:
        memory = self.weights_ms + self.kv_ms
        parts = {
            "bandwidth": memory if memory >= self.compute_ms else 0.0,
            "compute": self.compute_ms if self.compute_ms > memory else 0.0,
            "communication": self.communication_ms,
            "overhead": self.overhead_ms,
        }
        return max(parts, key=lambda part: parts[part])


@dataclass(frozen=True, slots=True)
class Stepper:
    """One replica: model, card, format, plan and engine, with what all steps share worked out once."""

    model: ModelShape
    gpu: GpuShape
    scheme: Scheme
    engine: Engine
    plan: Plan
    link: Link
    kv_bytes_per_element: float

    def weight_bytes(self, sequences: float) -> float:
        """Bytes of weights that the busiest GPU of all stages reads in one step of `sequences` tokens."""
        model, scheme, plan = self.model, self.scheme, self.plan
        dense = model.dense_params * scheme.body_bits / plan.tensor
        head = model.head_params * scheme.head_bits / plan.tensor
        hit = model.experts_hit(sequences * plan.attention_data)
        experts = model.moe_layers * hit * model.expert_params * scheme.expert_bits / plan.stage_gpus
        return (dense + head + experts) / 8

    def kv_bytes(self, context: float) -> float:
        """Bytes of cache that one GPU reads for one sequence in one step."""
        model = self.model
        window = model.window_elements
        if model.window_tokens and context < model.window_tokens:
            window *= context / model.window_tokens
        elements = model.kv_elements_per_token * context + window
        shard = min(self.plan.tensor, model.kv_heads)
        return elements * self.kv_bytes_per_element / shard + 2 * model.state_bytes / self.plan.tensor

    def decode(self, sequences: float, context: float) -> StepTime:
        """One step that gives each of `sequences` running sequences a token, over all pipeline stages."""
        return self.step(sequences, context, 0.0, 0.0)

    def prefill(self, tokens: float, context: float) -> StepTime:
        """One step of `tokens` prompt tokens, each of which attends to `context` tokens on average (half of
        the prompt's length)."""
        return self.step(0.0, 0.0, tokens, context)

    def step(self, sequences: float, context: float, prompt_tokens: float, prompt_context: float) -> StepTime:
        """One step that carries a token of each running sequence and a chunk of a newcomer's prompt.

        Weights are read once and all tokens are multiplied with them; the longer of the two bounds the
        linear layers, and part of the shorter shows. Cache reads and attention of prompts come on top.
        """
        model, gpu, plan, engine = self.model, self.gpu, self.plan, self.engine
        micro = plan.pipeline if plan.micro_batched else 1
        group = (max(1.0, sequences / micro) if sequences else 0.0) / plan.attention_data
        tokens = group + prompt_tokens
        bandwidth = gpu.bandwidth_gbs * 1e6  # bytes per ms
        weights = self.weight_bytes(tokens) / (bandwidth * engine.bandwidth_share)
        weights += self._dequant_ms(tokens)
        kv = group * self.kv_bytes(context) / (bandwidth * KV_READ_SHARE)
        decode_flops = group * (model.prefill_params + model.head_params) / DECODE_COMPUTE_SHARE
        flops = 2.0 * (prompt_tokens * model.prefill_params + decode_flops) / plan.tensor
        compute = flops / self._rate()
        attention = prompt_tokens * prompt_context * model.attention_flops
        attention += group * context * model.decode_attention_flops
        attention_ms = attention / plan.tensor / self._attention_rate()
        overhead = model.layers * engine.layer_us / 1e3 + engine.step_ms
        overhead += group * engine.sequence_us / 1e3
        communication = self._communication_ms(tokens)
        linear = max(weights, compute) + HIDDEN_SHARE * min(weights, compute)
        total = overhead + communication + linear + max(kv, attention_ms)
        return StepTime(total, weights, kv, compute + attention_ms, communication, overhead)

    def _rate(self) -> float:
        """Flops per ms of the linear layers of one GPU at full efficiency."""
        share = self.engine.compute_share
        if self.scheme.computes_in in ("fp8", "int8"):
            share *= 0.85
        elif self.scheme.computes_in == "fp4":
            share *= 0.65
        return self.scheme.peak_tflops * 1e9 * share

    def _attention_rate(self) -> float:
        """Flops per ms of attention, which runs in 16 bit whatever the weights are."""
        return (self.gpu.bf16_tflops or self.gpu.fp16_tflops) * 1e9 * 0.4

    def _dequant_ms(self, group: float) -> float:
        ops = DEQUANT_OPS[self.scheme.dequant]
        if not ops:
            return 0.0
        model, plan = self.model, self.plan
        hit = model.experts_hit(group * plan.attention_data)
        weights = model.dense_params / plan.tensor
        weights += model.moe_layers * hit * model.expert_params / plan.stage_gpus
        return weights * ops / (self.gpu.fp32_tflops * 1e9)

    def _communication_ms(self, tokens: float) -> float:
        """Two all-reduces per layer for tensor parallel, two all-to-alls per MoE layer for experts."""
        model, plan = self.model, self.plan
        payload = tokens * model.hidden * ACTIVATION_BYTES
        total = 2 * model.layers * all_reduce_ms(self.link, plan.tensor, payload)
        if plan.attention_data > 1:
            routed = payload * max(1, model.top_k) / plan.stage_gpus
            total += 2 * model.moe_layers * all_to_all_ms(self.link, plan.stage_gpus, routed)
        if plan.pipeline > 1:
            total += (plan.pipeline - 1) * hand_over_ms(self.link, payload)
        return total
