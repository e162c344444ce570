"""What one GPU offers: nominal and usable memory, and a vGPU slice as a card of its own."""

from __future__ import annotations

from knowledge.errors import NotKnown
from knowledge.rows import Gpu

# The lowest ratio of usable to nominal memory measured on current data-centre cards; used where a
# card's usable memory was not measured, and labelled as derived.
USABLE_RATIO = 0.917


def slice_of(gpu: Gpu, memory_gib: float, name: str) -> Gpu:
    """A vGPU slice as a card of its own: memory, bandwidth and tensor rates cut by the memory share.

    Measured on Alibaba Cloud slices: the local copy rate falls with the share (A10 1/12, 1/6 and 1/3 give
    19-21, 43 and 85 of 242 GB/s; SpareCores/sc-inspector-data, 2026).
    """
    share = memory_gib / nominal_gib(gpu)

    def cut(value: float | None) -> float | None:
        return None if value is None else value * share

    return gpu.model_copy(
        update={
            "gpu_model": name,
            "memory_gib": memory_gib,
            "usable_memory_mib": None
            if gpu.usable_memory_mib is None
            else int(gpu.usable_memory_mib * share),
            "cuda_visible_gib": cut(gpu.cuda_visible_gib),
            "memory_bandwidth_gbs": cut(gpu.memory_bandwidth_gbs),
            "nvlink_gbs": 0.0,
            **{
                field: cut(getattr(gpu, field))
                for field in Gpu.model_fields
                if field.endswith(("_tflops", "_tops"))
            },
            "notes": f"vGPU slice, {share:.3g} of {gpu.gpu_model}",
        }
    )


def nominal_gib(gpu: Gpu) -> float:
    """The nominal memory of one GPU in GiB, or `NotKnown`."""
    if gpu.memory_gib is None:
        raise NotKnown("gpu", gpu.gpu_model, f"the memory size of {gpu.gpu_model} is not published")
    return gpu.memory_gib


def usable_gib(gpu: Gpu) -> tuple[float, bool]:
    """Usable memory of one GPU in GiB and whether it was measured (False: nominal x 0.917, derived)."""
    if gpu.usable_memory_mib is not None:
        return gpu.usable_memory_mib / 1024, True
    return nominal_gib(gpu) * USABLE_RATIO, False
