"""Time to move data between GPUs: all-reduce, all-to-all and pipeline hand-over by message size and link."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, log2

from tools.throughput.coefficients import COEFFICIENTS, Coefficients
from tools.throughput.gpu_shape import GpuShape

NETWORK_LATENCY_US = 25.0  # of one collective between machines over RDMA
NETWORK_SHARE = 0.8
NETWORK_GBPS = 200.0  # of a machine whose network is not stated
GPUS_PER_NODE = 8
# Between two cards with peer access, relative to host-device copies: 0.80 (L4), 0.88 (P100), 0.97 (RTX PRO
# 6000), by nvbandwidth (SpareCores/sc-inspector-data).
PEER_SHARE = 0.8


@dataclass(frozen=True, slots=True)
class Link:
    """The link between the GPUs of a group: one-way bandwidth that collectives reach, and latency. Of a
    `network` the bandwidth is that of a machine, which its GPUs share."""

    kind: str  # nvlink, pcie-p2p, pcie (through host memory), network
    gbs: float
    latency_us: float
    crowd: float = 0.0  # payloads take (GPUs / 2) to this power longer
    inside: Link | None = None  # of a network: the link of the GPUs of one machine


def link_between(
    gpu: GpuShape,
    gpus: int,
    interconnect: str = "",
    network_gbps: float = 0.0,
    coefficients: Coefficients = COEFFICIENTS,
) -> Link:
    """The slowest link of a group of `gpus` cards; `interconnect` overrides what the card has.

    Cards on PCIe copy to each other where the host allows peer access ("pcie-p2p"), else through host
    memory, which most clouds' virtual machines do (no peer access on gn6i, gn7i and the A10, A10G, L4 and
    L40S machines of four other clouds, by nvbandwidth). Latencies of both were alike.
    """
    fit = coefficients
    if gpus > GPUS_PER_NODE:
        inside = link_between(gpu, GPUS_PER_NODE, interconnect, coefficients=fit)
        return replace(network_link(network_gbps), inside=inside)
    if gpu.nvlink_gbs and gpus <= gpu.nvlink_gpus and not interconnect.startswith("pcie"):
        return Link("nvlink", gpu.nvlink_gbs * fit.nvlink_share, fit.nvlink_us)
    if interconnect == "pcie-p2p":
        return Link("pcie-p2p", gpu.pcie_gbs * PEER_SHARE, fit.pcie_us, fit.pcie_crowd)
    return Link("pcie", gpu.pcie_gbs * fit.pcie_share, fit.pcie_us, fit.pcie_crowd)


def network_link(network_gbps: float = 0.0) -> Link:
    """The network between machines, by the Gbit/s of a machine (0: not stated)."""
    return Link("network", (network_gbps or NETWORK_GBPS) / 8 * NETWORK_SHARE, NETWORK_LATENCY_US)


def all_reduce_ms(link: Link, gpus: int, payload_bytes: float) -> float:
    """One all-reduce: latency that grows with the group, and 2 (n - 1) / n payloads through each link.

    Over several machines the GPUs of each reduce inside, then each its own part with its counterparts: the
    payload passes the network of a machine once, whatever the number of its GPUs (hierarchical all-reduce).
    """
    if gpus <= 1:
        return 0.0
    members, inside = gpus, 0.0
    # A switch reaches all peers at once; over PCIe the ring passes every card.
    hops = max(1.0, log2(gpus)) ** 0.5 if link.kind == "nvlink" else gpus / 2
    if link.kind == "network":
        members = ceil(gpus / GPUS_PER_NODE)
        hops = max(1.0, log2(members))
        inside = all_reduce_ms(link.inside, GPUS_PER_NODE, payload_bytes) if link.inside else 0.0
    return inside + hops * link.latency_us / 1e3 + _passing(link, members, 2 * payload_bytes)


def all_to_all_ms(link: Link, gpus: int, payload_bytes: float, copies: int) -> float:
    """One all-to-all of `payload_bytes` per GPU, each sent to `copies` others: (n - 1) / n leaves the card.

    What leaves a machine passes its one network for all its GPUs, once for each other machine, where it is
    dealt out again.
    """
    if gpus <= 1:
        return 0.0
    if link.kind != "network":
        return link.latency_us / 1e3 + _passing(link, gpus, copies * payload_bytes)
    machines = ceil(gpus / GPUS_PER_NODE)
    leaving = GPUS_PER_NODE * min(copies, machines) * payload_bytes
    inside = all_to_all_ms(link.inside, GPUS_PER_NODE, payload_bytes, copies) if link.inside else 0.0
    return inside + link.latency_us / 1e3 + _passing(link, machines, leaving)


def _passing(link: Link, members: int, payload_bytes: float) -> float:
    """Milliseconds in which (n - 1) / n of a payload passes the link. Two cards copy straight to each other;
    more share the host's bridges."""
    crowded: float = max(1.0, members / 2) ** link.crowd
    return crowded * (members - 1) / members * payload_bytes / (link.gbs * 1e6)


def hand_over_ms(link: Link, payload_bytes: float) -> float:
    """Sending activations to the next pipeline stage."""
    return link.latency_us / 1e3 + payload_bytes / (link.gbs * 1e6)
