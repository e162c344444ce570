"""Adapter slots of a server: the memory an engine sets aside for LoRA adapters that are served together."""

from __future__ import annotations

from tools.memory.shape import Shape
from tools.memory.weights import GIB, Plan


def lora_slots_gib(shape: Shape, rank: int, slots: int, plan: Plan) -> float:
    """Slots for `slots` adapters of up to `rank` on the GPU that holds most, GiB.

    Engines lay out rank x (inputs + outputs) 16-bit values for each projection of each layer, and for the
    embedding and the head, whatever the adapters loaded later cover (r (n_in + n_out) per matrix as in
    LoRA, arXiv:2106.09685, times slots). Tensor parallel divides the wide side of each pair and copies the
    other. Routed experts carry no slots.
    """
    t = plan.tensor
    queries = shape.query_heads * (shape.latent_key + shape.rotary_key or shape.head_dim)
    keys = shape.kv_heads * shape.head_dim
    wide = [queries, keys, keys, queries]
    if not shape.num_experts:
        wide += [shape.ffn] * 3
    layers = -(-shape.layers // plan.pipeline)
    tables = 2 * (shape.vocab / t + shape.hidden)
    values = layers * sum(shape.hidden + width / t for width in wide) + tables
    return 2.0 * slots * rank * values / GIB
