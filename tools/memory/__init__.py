"""Inference memory: weights, KV cache, activation peak, overhead, and whether it fits a card."""

from tools.memory.estimate import estimate_memory
from tools.memory.plan import Load, MemoryPlan, plan_memory
from tools.memory.weights import Plan

__all__ = ["Load", "MemoryPlan", "Plan", "estimate_memory", "plan_memory"]
