"""Serving engines by name and version: what each loads, reserves by default, and how it shares the card."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from tools.engines import known_engine
from tools.memory.card import Card
from tools.memory.weights import AS_PUBLISHED, Loading

Version = tuple[int, ...]

# share: the engine takes a share of the card, and weights, activations and pool lie inside it;
# static: weights and pool lie inside the share, activations outside; rest: the pool takes a share of what is
# left beside weights and activations; fixed: the pool takes a share of the card, whatever else must lie
# there; demand: memory grows with use.
Allocation = Literal["share", "static", "rest", "fixed", "demand"]

CUDA_CONTEXT_GIB = 0.5  # driver context with cuBLAS, about 550 MB on A100/H100/L40S (aiconfigurator)
# Captured CUDA graphs: 0.17 to 0.72 GiB in vLLM 0.7-0.8 logs, -0.9 to 1.15 in 0.10-0.11. What vLLM since 0.21
# sets aside for them inside its share is less (a 0.23 log leaves 0 to 0.3).
GRAPHS_GIB, GRAPHS_RESERVED_GIB = 0.4, 0.15
# What SGLang's processes lose between start and loading when they form a group: with NVLink multicast 1.8 to
# 2.0 (8 x H200), 2.4 to 2.5 (8 x B200), 1.7 (4 x H100, from its pool); without it 0.13 (4 x A10G), 0.39
# (4 x RTX PRO 6000). Lines "Init torch distributed ends" of sgl-project/sglang #11716, #4127, #40558, #5390.
GROUP_MULTICAST_GIB, GROUP_GIB = 1.9, 0.25


# The newest release whose start-up logs the memory rules were checked against.
CHECKED_VLLM = "0.23.0"


@dataclass(frozen=True, slots=True, eq=False)
class Engine:
    """One engine at one version. `utilization` is its default share of the card."""

    name: str
    version: Version
    allocation: Allocation
    utilization: float
    layer_split: bool = False  # more GPUs without a plan mean whole layers per GPU, not tensor parallel
    keeps_windows: bool = True  # window layers stop growing
    keeps_latents: bool = True  # latent attention is cached as latents, not as full heads
    expands_latents: bool = False  # a prompt step computes keys and values of the whole cache from latents
    holds_full_length: bool = False  # starts only where the pool holds one sequence of the longest length
    loading: Loading = AS_PUBLISHED

    @property
    def preallocates(self) -> bool:
        return self.allocation != "demand"

    def at_least(self, *version: int) -> bool:
        """Whether the version is this one or newer; an unstated version counts as the newest."""
        return not self.version or self.version >= version

    def default_sequences(self, card: Card | None) -> int:
        """Sequences per step where the request states none. vLLM: 1,024 from 70 GiB on cards whose name lacks
        "a100", else 256 (its usage-context defaults; logged graph sizes agree)."""
        if not self.preallocates:
            return 1
        return 1024 if self.name == "vllm" and self._large(card) else 256

    def default_batched_tokens(self, card: Card | None) -> int:
        """Tokens of one step where the request states none: vLLM 8,192 or 2,048, SGLang by card size,
        llama.cpp its micro-batch of 512."""
        if self.name == "llama.cpp":
            return 512
        if self.name == "sglang":
            size = card.nominal if card else 80.0
            return 2048 if size < 35 else 4096 if size < 60 else 8192
        if self.name == "vllm":
            return 8192 if self._large(card) else 2048
        return 8192

    def _large(self, card: Card | None) -> bool:
        return card is not None and card.large_not_a100 and self.at_least(0, 8, 3)

    def default_share(self, card: Card | None, gpus: int) -> float:
        """The share of the card where the request states none. SGLang computes it: 0.5 GiB, 1.5 MB per
        token of a chunk, 1/8 GiB per GPU and graphs stay free, at least 10 GiB above 60 GB."""
        if self.name != "sglang" or card is None:
            return self.utilization
        reserve = 0.5 + 1.5 / 1024 * self.default_batched_tokens(card) + gpus / 8 + 0.15
        if card.nominal > 60:
            reserve = max(reserve, 10.0)
        return max(0.5, 1 - reserve / card.nominal)

    def libraries_gib(self, tensor: int, card: Card | None = None) -> float:
        """Memory outside the tensor allocator that counts against the share: vLLM's "non_torch_memory"
        (0.03-0.08, 0.25, 0.43 at TP 1, 2, 4 in V0 logs; 0.13, 0.55 at TP 1, 2 in V1 logs), NCCL inside."""
        if not self.preallocates:
            return 0.0
        if self.name == "sglang" and tensor > 1:
            return GROUP_MULTICAST_GIB if card and card.has_multicast else GROUP_GIB
        if self.name == "vllm" and not self.at_least(0, 9):
            return 0.05 if tensor == 1 else 0.25 if tensor == 2 else 0.43
        return 0.14 if tensor == 1 else 0.55

    def graphs_gib(self, eager: bool) -> float:
        """Captured CUDA graphs; none in eager mode."""
        return 0.0 if eager or not self.preallocates else GRAPHS_GIB

    def graphs_in_share_gib(self, eager: bool) -> float:
        """The part of the share set aside for graphs: vLLM since 0.21; before they came out of the rest."""
        return GRAPHS_RESERVED_GIB if self.name == "vllm" and self.at_least(0, 21) and not eager else 0.0


_IK = "ik_llama.cpp"


def resolve_engine(name: str, version: str = "") -> tuple[Engine, str]:
    """The engine of a name and the reason code of what was assumed. Raises `InputError` for unknown names,
    `NotKnown` for engines of another kind."""
    reason = ""
    if not name:
        name, reason = "vllm", "default_engine"
    known, attached = known_engine(name)
    if not known.own_memory and not reason:
        reason = "engine_of_equal_kind"
    engine = _engine(known.memory, parse_version(version or attached))
    return (replace(engine, expands_latents=True) if known.name == _IK else engine), reason


def parse_version(text: str) -> Version:
    """The numbers of a version text ("v0.11.0rc2" gives (0, 11, 0)); () where there are none, or where it
    is the version of PyTorch."""
    found = None if "torch" in text.lower() else re.search(r"\d+(?:\.\d+)*", text)
    return tuple(int(part) for part in found[0].split(".")[:4]) if found else ()


def _engine(name: str, version: Version) -> Engine:
    newest = not version
    if name == "vllm":
        share = 0.92 if newest or version >= (0, 22) else 0.9
        windows = newest or version >= (0, 9)  # the hybrid cache manager
        latents = newest or version >= (0, 7)
        loading = Loading(pads_mxfp4=True)
        return Engine(
            name, version, "share", share, False, windows, latents, loading=loading, holds_full_length=True
        )
    if name == "sglang":
        return Engine(name, version, "static", 0.88)
    if name == "tensorrt-llm":
        return Engine(name, version, "rest", 0.9)
    if name == "lmdeploy" and not newest and version < (0, 2, 1):
        return Engine(name, version, "fixed", 0.5, keeps_windows=False)  # cache_max_entry_count of that time
    if name == "lmdeploy":
        return Engine(name, version, "rest", 0.8, keeps_windows=False)
    if name == "tgi":
        return Engine(name, version, "share", 0.95, keeps_windows=False)
    if name == "llama.cpp":
        loading = Loading(host_embedding=True, drops_tower=True)
        return Engine(name, version, "demand", 1.0, layer_split=True, loading=loading)
    loading = Loading(copies_tied_fp8_head=True, copies_fused_qkv=name == "autoawq")
    return Engine(name, version, "demand", 1.0, layer_split=True, keeps_windows=False, loading=loading)
