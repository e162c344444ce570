"""Activations, logits and adapters of a training step, bytes per GPU."""

from __future__ import annotations

from dataclasses import dataclass

from tools.memory.shape import Shape

_ADAPTED = ("q", "k", "v", "o", "gate", "up", "down")


@dataclass(frozen=True, slots=True)
class Step:
    """One micro-batch on one pipeline stage."""

    tokens: float  # sequence length x micro-batch on this rank (context parallel divides it)
    sequence: int
    checkpointing: str  # none, selective, full
    flash: bool
    fused_loss: bool
    bytes_per_value: float = 2.0


def layer_bytes_per_token(shape: Shape, step: Step, tensor: int) -> float:
    """Stored tensors of one decoder layer per token, nothing recomputed (section 6 of the formulas):
    2 x [4 h + 2 a d + 2 k d + 3 I] + 4 a, and the score matrix 5 a s without FlashAttention."""
    attention = 2 * (shape.query_heads + shape.kv_heads) * shape.head_dim
    width = 4 * shape.hidden + (attention + 3 * shape.ffn) / tensor
    stored = step.bytes_per_value * width + 4.0 * shape.query_heads / tensor
    if not step.flash:
        stored += 2.5 * step.bytes_per_value * shape.query_heads * step.sequence / tensor
    return stored


def activation_bytes(shape: Shape, step: Step, tensor: int, layers: float) -> float:
    """Activations of the layers of one stage. With full checkpointing the layer inputs stay and one layer
    is alive while it is recomputed; selective keeps the layers but not the scores."""
    if step.checkpointing == "full":
        kept = step.bytes_per_value * shape.hidden * step.tokens * layers
        return kept + step.tokens * layer_bytes_per_token(shape, step, tensor)
    if step.checkpointing == "selective":
        selective = Step(step.tokens, step.sequence, "none", True, step.fused_loss, step.bytes_per_value)
        return step.tokens * layer_bytes_per_token(shape, selective, tensor) * layers
    return step.tokens * layer_bytes_per_token(shape, step, tensor) * layers


def logits_bytes(shape: Shape, step: Step, tensor: int) -> float:
    """16-bit logits, their fp32 copy and its gradient (section 7); a fused loss holds one chunk of 1,024."""
    tokens = min(step.tokens, 1024.0) if step.fused_loss else step.tokens
    return tokens * shape.vocab * 10.0 / tensor


def adapter_parameters(shape: Shape, rank: int, targets: frozenset[str]) -> float:
    """LoRA parameters: r (n_in + n_out) for each adapted matrix, all layers; routed experts each have one."""
    h, qo, kv = shape.hidden, shape.query_heads * shape.head_dim, shape.kv_heads * shape.head_dim
    experts = shape.num_experts or 1
    ffn = shape.ffn // max(1, shape.experts_per_token) if shape.num_experts else shape.ffn
    sizes = {
        "q": h + qo,
        "k": h + kv,
        "v": h + kv,
        "o": qo + h,
        "gate": (h + ffn) * experts,
        "up": (h + ffn) * experts,
        "down": (h + ffn) * experts,
    }
    return float(rank * shape.layers * sum(sizes[name] for name in targets))


def lora_targets(text: str) -> frozenset[str]:
    """The adapted matrices of a text such as "q_proj,v_proj", "all-linear" or "attention"."""
    written = text.lower()
    if not written or "all" in written:
        return frozenset(_ADAPTED)
    if "attn" in written or "attention" in written:
        return frozenset({"q", "k", "v", "o"} | ({"gate", "up", "down"} if "mlp" in written else set()))
    if "mlp" in written:
        return frozenset({"gate", "up", "down"})
    words = {word.removesuffix("_proj") for word in written.replace(",", " ").replace(";", " ").split()}
    return frozenset(name for name in _ADAPTED if name in words) or frozenset(_ADAPTED)
