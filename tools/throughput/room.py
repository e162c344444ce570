"""How many sequences the memory of a plan holds at once, by the memory calculator."""

from __future__ import annotations

from dataclasses import dataclass

from knowledge.rows import Gpu, Model, Precision
from tools.memory.card import card_of
from tools.memory.engines import resolve_engine
from tools.memory.formats import format_of, kv_format
from tools.memory.plan import Load, plan_memory
from tools.memory.weights import Plan as Layout
from tools.throughput.steps import Plan


@dataclass(frozen=True, slots=True)
class MemoryRoom:
    """The KV room of a plan on a card: model, formats and engine settled."""

    model: Model
    gpu: Gpu
    plan: Plan
    weights: Precision
    kv: Precision
    engine: str
    version: str
    utilization: float | None = None  # None: the engine's default share of the card

    def sequences(self, tokens: int, outputs: int) -> int:
        """Sequences of `tokens`, of which `outputs` are generated, that all replicas hold at once; 0 where
        the weights leave no room."""
        plan = self.plan
        planned = plan_memory(
            self.model,
            format_of(self.weights, self.model),
            resolve_engine(self.engine, self.version)[0],
            Layout(plan.tensor, plan.pipeline, plan.expert),
            Load(context_tokens=max(1, tokens), output_tokens=outputs, utilization=self.utilization),
            kv_format(self.kv),
            card_of(self.gpu),
        )
        return max(0, planned.max_concurrency or 0) * plan.attention_data * plan.replicas
