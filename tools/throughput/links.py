"""Time to move data between GPUs: all-reduce, all-to-all and pipeline hand-over by message size and link."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

from tools.throughput.coefficients import COEFFICIENTS, Coefficients
from tools.throughput.gpu_shape import GpuShape

NETWORK_LATENCY_US = 25.0  # of one collective between machines over RDMA
NETWORK_SHARE = 0.8
GPUS_PER_NODE = 8


@dataclass(frozen=True, slots=True)
class Link:
    """The link between the GPUs of a group: one-way bandwidth per GPU that collectives reach, and latency."""

    kind: str  # nvlink, pcie, network
    gbs: float
    latency_us: float


def link_between(
    gpu: GpuShape,
    gpus: int,
    interconnect: str = "",
    network_gbps: float = 0.0,
    coefficients: Coefficients = COEFFICIENTS,
) -> Link:
    """The slowest link of a group of `gpus` cards; `interconnect` overrides what the card has."""
    fit = coefficients
    if gpus > GPUS_PER_NODE:
        return Link("network", (network_gbps or 200.0) / 8 * NETWORK_SHARE, NETWORK_LATENCY_US)
    if gpu.nvlink_gbs and gpus <= gpu.nvlink_gpus and interconnect != "pcie":
        return Link("nvlink", gpu.nvlink_gbs * fit.nvlink_share, fit.nvlink_us)
    return Link("pcie", gpu.pcie_gbs * fit.pcie_share, fit.pcie_us)


def all_reduce_ms(link: Link, gpus: int, payload_bytes: float) -> float:
    """One all-reduce: latency that grows with the group, and 2 (n - 1) / n payloads through each link."""
    if gpus <= 1:
        return 0.0
    # A switch reaches all peers at once; over PCIe the ring passes every card.
    latency = link.latency_us * (max(1.0, log2(gpus)) ** 0.5 if link.kind == "nvlink" else gpus / 2)
    return latency / 1e3 + 2 * (gpus - 1) / gpus * payload_bytes / (link.gbs * 1e6)


def all_to_all_ms(link: Link, gpus: int, payload_bytes: float) -> float:
    """One all-to-all of `payload_bytes` per GPU: (n - 1) / n of it leaves the card."""
    if gpus <= 1:
        return 0.0
    return link.latency_us / 1e3 + (gpus - 1) / gpus * payload_bytes / (link.gbs * 1e6)


def hand_over_ms(link: Link, payload_bytes: float) -> float:
    """Sending activations to the next pipeline stage."""
    return link.latency_us / 1e3 + payload_bytes / (link.gbs * 1e6)
