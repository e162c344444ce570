"""Time to move data between GPUs: all-reduce, all-to-all and pipeline hand-over by message size and link."""

from __future__ import annotations

from dataclasses import dataclass

from tools.throughput.gpu_shape import GpuShape

# Time of one small all-reduce inside a step: latency of the collective plus its launch, in microseconds.
# From the vLLM tensor-parallel curves (SpareCores): 2-9 us over NVLink, 10-16 us over PCIe with two cards,
# 28 us with four.
NVLINK_LATENCY_US = 6.0
PCIE_LATENCY_US = 9.0
NETWORK_LATENCY_US = 25.0
NVLINK_SHARE = 0.75  # of the one-way link rate that a large ring all-reduce reaches
PCIE_SHARE = 0.55  # without peer access the data goes through host memory
GPUS_PER_NODE = 8


@dataclass(frozen=True, slots=True)
class Link:
    """The link between the GPUs of a group: one-way bandwidth per GPU that collectives reach, and latency."""

    kind: str  # nvlink, pcie, network
    gbs: float
    latency_us: float


def link_between(gpu: GpuShape, gpus: int, interconnect: str = "", network_gbps: float = 0.0) -> Link:
    """The slowest link of a group of `gpus` cards; `interconnect` overrides what the card has."""
    if gpus > GPUS_PER_NODE:
        return Link("network", (network_gbps or 200.0) / 8 * 0.8, NETWORK_LATENCY_US)
    if gpu.nvlink_gbs and interconnect != "pcie":
        return Link("nvlink", gpu.nvlink_gbs * NVLINK_SHARE, NVLINK_LATENCY_US)
    return Link("pcie", gpu.pcie_gbs * PCIE_SHARE, PCIE_LATENCY_US)


def all_reduce_ms(link: Link, gpus: int, payload_bytes: float) -> float:
    """One all-reduce: latency that grows with the group, and 2 (n - 1) / n payloads through each link."""
    if gpus <= 1:
        return 0.0
    latency = link.latency_us * (1.0 if link.kind == "nvlink" else gpus / 2)
    return latency / 1e3 + 2 * (gpus - 1) / gpus * payload_bytes / (link.gbs * 1e6)


def all_to_all_ms(link: Link, gpus: int, payload_bytes: float) -> float:
    """One all-to-all of `payload_bytes` per GPU: (n - 1) / n of it leaves the card."""
    if gpus <= 1:
        return 0.0
    return link.latency_us / 1e3 + (gpus - 1) / gpus * payload_bytes / (link.gbs * 1e6)


def hand_over_ms(link: Link, payload_bytes: float) -> float:
    """Sending activations to the next pipeline stage."""
    return link.latency_us / 1e3 + payload_bytes / (link.gbs * 1e6)
