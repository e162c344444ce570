"""The call of the guide search: the question's words, and what kind of guide fits what it is about."""

from __future__ import annotations

from typing import Any

from agent.reading.types import Reading
from agent.steps import Call

# Categories of guides by topic, the more special topic first: the first one that the question has decides.
_CATEGORIES: dict[str, tuple[str, ...]] = {
    "spot": ("spot",),
    "reserved": ("cost_billing", "region_stock_quota"),
    "savings_plan": ("cost_billing",),
    "economical_mode": ("cost_billing", "instance_lifecycle"),
    "vgpu": ("vgpu_graphics",),
    "grid": ("vgpu_graphics",),
    "nccl": ("multi_gpu_nccl",),
    "rdma": ("rdma_network", "multi_gpu_nccl", "selection"),
    "dataloader": ("data_loading",),
    "local_disk": ("storage",),
    "checkpoint": ("storage", "training_finetune"),
    "oom": ("oom_memory",),
    "docker": ("container",),
    "driver": ("driver_cuda",),
    "cuda": ("driver_cuda",),
    "ecc": ("hardware_xid",),
    "download": ("region_stock_quota", "inference_serving"),
    "storage": ("storage", "data_loading"),
    "network": ("rdma_network", "data_loading"),
    "monitoring": ("monitoring",),
    "utilisation": ("low_utilisation",),
    "parallel": ("multi_gpu_nccl",),
    "multi_node": ("multi_gpu_nccl", "rdma_network"),
    "subscription": ("cost_billing",),
    "architecture": ("selection",),
}  # fmt: skip
_NOT_TELLING = frozenset({"int4", "int8", "gpu", "fp16", "bf16"})  # parts of names that many guides carry


def guide_call(reading: Reading, query: str) -> Call:
    """A search of the guides; the first topic known decides on the categories preferred."""
    topics = set(reading.topics)
    args: dict[str, Any] = {
        "query": query,
        "language": reading.language,
        "categories": next((found for topic, found in _CATEGORIES.items() if topic in topics), ()),
        "names": _names(reading),
        "kind": _kind(reading),
    }
    return Call("search_guides", {key: value for key, value in args.items() if value})


def _names(reading: Reading) -> tuple[str, ...]:
    """Engines, formats and cards of the question as the parts of a guide's id write them."""
    request = reading.request
    said = [request.engine, request.precision, *(m.name for m in reading.mentions if m.kind == "gpu")]
    if "pcie" in reading.topics:
        said.append("p2p")
    parts = (part for name in said for part in name.lower().replace(".", "").split("-"))
    return tuple(dict.fromkeys(part for part in parts if part and part not in _NOT_TELLING))


def _kind(reading: Reading) -> str:
    """Faults want a repair; rules, choices and concepts want an explanation."""
    if reading.intent == "troubleshoot":
        return "fault"
    return "" if "troubleshoot" in reading.intents or reading.pasted else "topic"
