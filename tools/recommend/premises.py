"""Premises of a request that cannot hold: what a wanted GPU cannot compute or is not linked by."""

from __future__ import annotations

from knowledge.catalog import Catalog
from knowledge.errors import InputError
from knowledge.rows import Gpu
from tools.contracts.sizing import SizingRequest
from tools.lookup.support import support_level
from tools.notes import Notes
from tools.recommend.limits import Limits

_FALLBACK = {"bf16": "fp16"}


def correct_premises(request: SizingRequest, catalog: Catalog, limits: Limits, notes: Notes) -> SizingRequest:
    """The request with a precision that its GPUs can run; every correction is noted.

    bf16 on V100 and T4 becomes fp16 as engines do; fp8 on A100 and A10 stays, as weight-only.
    """
    gpus = _named_gpus(limits, catalog)
    _check_links(request, gpus, catalog, notes)
    if not request.precision or not gpus:
        return request
    try:
        precision = catalog.precision(request.precision)
    except InputError:
        return request  # a training precision in words; its own calculator reads it
    levels = {gpu.gpu_model: support_level(gpu, precision) for gpu in gpus}
    for gpu in gpus:
        level, capability = levels[gpu.gpu_model], gpu.compute_capability
        params = {"gpu": gpu.gpu_model, "precision": precision.name, "compute_capability": capability}
        if level in ("no", "falls-back"):
            notes.correct("precision_not_on_gpu", **params, needs=precision.min_compute_capability)
        elif level == "weight-only" and precision.compute_dtype in ("fp8", "fp4"):
            notes.correct("weight_only_on_gpu", **params, needs=precision.native_compute_capability)
    instead = _FALLBACK.get(precision.name)
    if instead and all(level == "falls-back" for level in levels.values()):
        notes.assume("precision", instead, "gpu_without_bf16")
        return request.model_copy(update={"precision": instead})
    return request


def _named_gpus(limits: Limits, catalog: Catalog) -> list[Gpu]:
    models = set(limits.gpus)
    for row in catalog.instances:
        if row.instance_type in limits.types or row.family in limits.families:
            models.add(row.gpu_model)
    return [gpu for gpu in catalog.gpus if gpu.gpu_model in models]


def _check_links(request: SizingRequest, gpus: list[Gpu], catalog: Catalog, notes: Notes) -> None:
    if not request.needs_nvlink:
        return
    for gpu in gpus:
        linked = [row for row in catalog.with_gpu(gpu.gpu_model) if row.interconnect == "nvlink"]
        if not linked:
            notes.correct("no_nvlink_on_gpu", gpu=gpu.gpu_model)
