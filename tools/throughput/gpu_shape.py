"""What of a GPU decides speed: memory bandwidth, tensor rates, links; derived rates are marked."""

from __future__ import annotations

from dataclasses import dataclass, replace

from knowledge.cards import usable_gib
from knowledge.errors import NotKnown
from knowledge.rows import Gpu

# Usable GB/s of one PCIe x16 link in one direction, measured between host and device (nvbandwidth on 177
# instances, SpareCores/sc-inspector-data): gen 3 about 12, gen 4 about 24, gen 5 about 52.
PCIE_GBS = {3: 12.0, 4: 24.0, 5: 52.0, 6: 100.0}

SWITCHED_GPUS = 8  # that NVLink joins on one board where no bridge pairs them


@dataclass(frozen=True, slots=True)
class GpuShape:
    """A GPU, or a vGPU slice, as the speed model sees it. Rates are dense and in TFLOPS or TOPS."""

    name: str
    card: str  # the whole card, by which measured coefficients are known
    same_chip: str  # another card of the same chip, whose coefficients hold where this one was not measured
    capability: float
    bandwidth_gbs: float
    usable_gib: float
    fp32_tflops: float
    fp16_tflops: float
    bf16_tflops: float  # 0 where the card lacks it
    int8_tops: float
    fp8_tflops: float
    fp4_tflops: float
    nvlink_gbs: float  # one direction; 0 without
    nvlink_gpus: int  # cards that NVLink joins: 2 by a bridge, 8 by switches or a mesh
    pcie_gbs: float  # one direction
    derived: bool  # a tensor rate was derived, not published
    time_share: float = 1.0  # of the card's time that a vGPU slice gets; its rates are cut already


def gpu_shape_of(gpu: Gpu, whole: Gpu | None = None) -> GpuShape:
    """The shape of a catalog row, `NotKnown` without a memory bandwidth or any compute rate.

    For a vGPU slice `whole` is its card. Alibaba Cloud slices get their share of time, launch costs included
    (L4 slices: Gemma-2B at 15, 30 and 60 tokens/s on 3, 6 and 12 GB); slices of A16 and A40, which share by
    best effort, ran at the speed of the whole card next to idle neighbours (SpareCores/sc-inspector-data).
    """
    if whole is not None and whole.slices_share_time == "best-effort":
        return replace(gpu_shape_of(whole), name=gpu.gpu_model, usable_gib=usable_gib(gpu)[0])
    if not gpu.memory_bandwidth_gbs:
        raise NotKnown("gpu", gpu.gpu_model, f"the memory bandwidth of {gpu.gpu_model} is not published")
    capability = gpu.compute_capability or 0.0
    fp32 = gpu.fp32_tflops or 0.0
    fp16 = gpu.fp16_tflops or gpu.bf16_tflops or (gpu.int8_tops or 0.0) / 2
    derived = not fp16
    if not fp16:
        fp16 = _fp16_from_fp32(capability, fp32)
    if not fp16:
        raise NotKnown("gpu", gpu.gpu_model, f"no compute rate of {gpu.gpu_model} is published")
    bf16 = (gpu.bf16_tflops or fp16) if capability >= 8.0 else 0.0
    fp8 = (gpu.fp8_tflops or 2 * bf16) if capability >= 8.9 else 0.0
    fp4 = (gpu.fp4_tflops or 2 * fp8) if capability >= 10.0 else 0.0
    return GpuShape(
        name=gpu.gpu_model,
        card=(whole or gpu).gpu_model,
        same_chip=(whole or gpu).same_chip_as,
        capability=capability,
        bandwidth_gbs=gpu.memory_bandwidth_gbs,
        usable_gib=usable_gib(gpu)[0],
        fp32_tflops=fp32 or fp16 / 8,
        fp16_tflops=fp16,
        bf16_tflops=bf16,
        int8_tops=(gpu.int8_tops or 2 * fp16) if capability >= 7.5 else 0.0,
        fp8_tflops=fp8,
        fp4_tflops=fp4,
        nvlink_gbs=(gpu.nvlink_gbs or 0.0) / 2,
        nvlink_gpus=gpu.nvlink_gpus or SWITCHED_GPUS,
        pcie_gbs=PCIE_GBS.get(gpu.pcie_gen or 4, 24.0),
        derived=derived,
        time_share=1.0 if whole is None else (gpu.memory_gib or 1.0) / (whole.memory_gib or 1.0),
    )


def _fp16_from_fp32(capability: float, fp32: float) -> float:
    """A cautious dense fp16 rate where none is published: tensor cores give at least twice the fp32 rate on
    the cards of Ampere and later (GeForce, fp32 accumulation) and four times on Turing; GP100 doubles it by
    packed fp16; older cards compute in fp32."""
    if capability >= 8.0:
        return 2 * fp32
    if capability >= 7.0:
        return 4 * fp32
    return 2 * fp32 if capability == 6.0 else fp32
