"""How many sequences the memory of a plan holds at once, by the memory calculator."""

from __future__ import annotations

from knowledge.errors import InputError
from knowledge.rows import Gpu, Model, Precision
from tools.memory.card import card_of
from tools.memory.engines import Engine, resolve_engine
from tools.memory.formats import format_of, kv_format
from tools.memory.plan import Load, plan_memory
from tools.memory.weights import Plan as Layout
from tools.throughput.steps import Plan


def sequences_held(
    model: Model,
    gpu: Gpu,
    plan: Plan,
    weights: Precision,
    kv: Precision,
    engine: str,
    version: str,
    tokens: int,
    outputs: int,
) -> int:
    """Sequences of `tokens` (of which `outputs` are generated) that all replicas hold; 0 where the weights
    leave no room."""
    layout = Layout(plan.tensor, plan.pipeline, plan.expert if plan.expert > 1 else 1)
    planned = plan_memory(
        model,
        format_of(weights, model),
        _memory_engine(engine, version),
        layout,
        Load(context_tokens=max(1, tokens), output_tokens=outputs),
        kv_format(kv),
        card_of(gpu),
    )
    return max(0, planned.max_concurrency or 0) * plan.attention_data * plan.replicas


def _memory_engine(name: str, version: str) -> Engine:
    """The memory side of an engine; engines it has no rules for take memory as it is needed."""
    try:
        return resolve_engine(name, version)[0]
    except InputError:
        return resolve_engine("transformers")[0]
