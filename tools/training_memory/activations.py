"""Activations, logits and adapters of a training step, bytes per GPU."""

from __future__ import annotations

from dataclasses import dataclass

from tools.memory.shape import Shape

_ADAPTED = ("q", "k", "v", "o", "gate", "up", "down")
_ATTENTION, _FEED_FORWARD = frozenset(_ADAPTED[:4]), frozenset(_ADAPTED[4:])
TABLES = frozenset({"embedding", "head"})  # trained whole, beside the adapters

FUSED_CHUNK, FUSED_BYTES = 1024.0, 6.0  # tokens and bytes per logit of a chunked loss
# Selective recomputation stores matrix products and recomputes the rest: share of the full set kept.
SELECTIVE_SHARE = 0.6


@dataclass(frozen=True, slots=True)
class Step:
    """One micro-batch on one rank."""

    tokens: float  # sequence length x micro-batch
    sequence: int
    checkpointing: str  # none, selective, full
    flash: bool
    fused_loss: bool
    bytes_per_value: float = 2.0


def layer_bytes_per_token(shape: Shape, step: Step, tensor: int) -> float:
    """Stored tensors of one decoder layer per token, nothing recomputed (counted as in arXiv:2205.05198, for
    RMSNorm, grouped KV heads and a gated feed-forward): 2 x [4 h + 2 a d + 2 k d + 3 I] + 4 a, and the
    score matrix 5 a s without FlashAttention. Tensor parallel divides all of it (sequence parallel takes the
    4 h)."""
    attention = 2 * (shape.query_heads + shape.kv_heads) * shape.head_dim
    stored = step.bytes_per_value * (4 * shape.hidden + attention + 3 * shape.ffn) + 4.0 * shape.query_heads
    if not step.flash:
        stored += 2.5 * step.bytes_per_value * shape.query_heads * step.sequence
    return stored / tensor


def activation_bytes(shape: Shape, step: Step, tensor: int, layers: float, offloaded: bool) -> float:
    """Activations of `layers` layers. With full checkpointing the layer inputs stay (in host memory where
    `offloaded`) and one layer is alive while it is recomputed; selective keeps part of each layer."""
    layer = step.tokens * layer_bytes_per_token(shape, step, tensor)
    if step.checkpointing == "full":
        kept = step.bytes_per_value * shape.hidden * step.tokens * layers / tensor
        return layer + (0.0 if offloaded else kept)
    return layer * layers * (SELECTIVE_SHARE if step.checkpointing == "selective" else 1.0)


def logits_bytes(shape: Shape, step: Step, tensor: int, loss_bytes: float) -> float:
    """Logits and their gradient (arXiv:2205.05198); a fused loss holds one chunk of 1,024 tokens."""
    if not shape.predicts_tokens:
        return 0.0
    if step.fused_loss:
        return min(step.tokens, FUSED_CHUNK) * shape.vocab * FUSED_BYTES / tensor
    return step.tokens * shape.vocab * loss_bytes / tensor


def adapter_parameters(shape: Shape, rank: int, targets: frozenset[str]) -> float:
    """LoRA parameters: r (n_in + n_out) for each adapted matrix, all layers; routed experts each have one."""
    h, qo, kv = shape.hidden, shape.query_heads * shape.head_dim, shape.kv_heads * shape.head_dim
    experts = shape.num_experts or 1
    ffn = shape.expert_ffn or shape.ffn
    sizes = {
        "q": h + qo,
        "k": h + kv,
        "v": h + kv,
        "o": qo + h,
        "gate": (h + ffn) * experts,
        "up": (h + ffn) * experts,
        "down": (h + ffn) * experts,
    }
    return float(rank * shape.layers * sum(sizes[name] for name in targets & sizes.keys()))


def lora_targets(text: str) -> frozenset[str]:
    """The adapted matrices of a text such as "q_proj,v_proj", "all-linear", "attention" or "all, lm_head";
    "embedding" and "head" among them are trained whole."""
    written = text.lower()
    tables = set()
    if "embed" in written:
        tables.add("embedding")
    if "lm_head" in written or "lm head" in written or "output head" in written:
        tables.add("head")
    words = {word.removesuffix("_proj") for word in written.replace(",", " ").replace(";", " ").split()}
    matrices = {name for name in _ADAPTED if name in words}
    if "attn" in written or "attention" in written:
        matrices |= _ATTENTION
    if "mlp" in written or "ffn" in written:
        matrices |= _FEED_FORWARD
    if "all" in written or not matrices:
        matrices = set(_ADAPTED)
    return frozenset(matrices | tables)
