"""Bounds on the memory and speed of a training option, worked out from catalog rows alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from knowledge.cards import usable_gib
from knowledge.catalog import Catalog
from knowledge.errors import AdvisorError
from knowledge.rows import Gpu, Model

GIB = 2**30
# Bytes of a parameter that no mixed precision goes below: 16-bit weight, gradient and two moments where it
# is trained, the 16-bit or 4-bit weight alone where it is frozen.
_STATE_BYTES = {"full": 8.0, "pretrain": 8.0, "lora": 2.0, "qlora": 0.5}
# Bytes that one layer keeps of a token at least: its input in 16 bit where the rest is computed again, else
# the inputs of its seven matrix products, of which the smallest set is eight hidden widths.
_KEPT_BYTES = {"full": 2.0, "none": 16.0}
# Operations of a parameter and token: forward, backward, and the gradient of what is trained.
_OPERATIONS = {"full": 6.0, "pretrain": 6.0, "lora": 4.0, "qlora": 4.0}
# What memory and hours must agree on to describe one job.
SETTINGS = ("framework", "sequence_length", "micro_batch", "gradient_checkpointing", "lora_rank")

Values = Mapping[str, Any]


def training_faults(option: Values, request: Values, gpu: Gpu, catalog: Catalog) -> Iterator[tuple[str, str]]:
    """(rule, detail) of everything in a training option that cannot be: memory and hours of different jobs,
    a step that the card surely cannot hold, a speed above the peak of the card."""
    memory, speed = option["memory"], option.get("speed")
    if not memory or not speed or "tokens_per_s_per_gpu" not in speed or "optimizer" not in memory:
        return
    held, timed = _assumed(memory), _assumed(speed)
    for field in SETTINGS:
        if held.get(field) != timed.get(field):
            yield "settings", f"memory is for {field} {held.get(field)}, hours for {timed.get(field)}"
    try:
        model = catalog.model(str(memory["model"]))
    except AdvisorError:
        return
    method = str(memory["method"])
    if method not in _STATE_BYTES or not model.params_total_b:
        return
    need, usable = _least_gib(option, request, model, method, timed), usable_gib(gpu)[0]
    if need > usable:
        yield "memory", f"the step of these hours takes at least {need:.1f} GiB, usable {usable:.1f}"
    peak = gpu.bf16_tflops or gpu.fp16_tflops
    done = float(speed["tokens_per_s_per_gpu"]) * _OPERATIONS[method]
    done *= (model.params_active_b or model.params_total_b) * 1e9
    if peak and done > peak * 1e12:
        yield "speed", f"{done / 1e12:.0f} TFLOPS of a card with {peak:.0f}"


def _least_gib(option: Values, request: Values, model: Model, method: str, timed: Values) -> float:
    """GiB of one GPU for states and kept activations, divided as far as the plan can divide them."""
    plan: Values = option["plan"]
    split = int(plan["tensor_parallel"]) * int(plan["pipeline_parallel"])
    gpus = max(int(option["gpu_count"]), 1) * int(option["count"])
    states = _STATE_BYTES[method] * (model.params_total_b or 0.0) * 1e9
    sharded = (plan.get("zero_stage") or 0) > 0
    sequence = request["sequence_length"] or request["context_tokens"] or timed.get("sequence_length") or 1
    micro = request["micro_batch"] or request.get("batch") or timed.get("micro_batch") or 1
    kept = _KEPT_BYTES.get(str(timed.get("gradient_checkpointing")), 0.0)
    kept *= float(sequence) * float(micro) * (model.hidden_size or 0) * (model.num_layers or 0)
    return (states / (gpus if sharded else split) + kept / split) / GIB


def _assumed(report: Values) -> dict[str, Any]:
    return {item["field"]: item["value"] for item in report["assumptions"]}
