"""Work that is known by its hardware: graphics, transcoding, HPC, development, or no model named yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from knowledge.catalog import Catalog
from knowledge.rows import Family, Instance
from tools.contracts.base import Remark, Scalar
from tools.contracts.sizing import Plan, SizingRequest
from tools.notes import Notes
from tools.recommend.candidate import Candidate, Layout
from tools.recommend.found import Found, Miss, cheapest_type, priced
from tools.recommend.limits import Limits
from tools.recommend.offers import Silicon
from tools.recommend.tariff import Tariff

# Below this share of the FP32 rate a card has only token FP64 units (A10, T4: 1/32; H20: 1/44).
_REAL_FP64 = 1 / 8
SHARED_CPU = 0.9  # of a desktop with dedicated cores that one with shared cores counts for
_SLICES = ("vgpu-graphics", "graphics", "arm-media")
_MOST_DESKTOPS = 200
_SMALLEST_DESKTOP_GIB = 4.0


@dataclass(frozen=True)
class HardwareTask:
    """A choice by GPU properties. Implements `tools.recommend.task.Task`. The speed of a candidate is the
    property that counts: FP64, FP32 or FP16 rate, GPUs with an encoder, desktops, or total memory."""

    request: SizingRequest
    tariff: Tariff
    catalog: Catalog

    @property
    def rungs_compete(self) -> bool:
        return False  # a slice is no cheaper whole GPU; it is offered where nothing else holds the budget

    def run(self, machines: Sequence[tuple[Silicon, list[Instance]]], limits: Limits) -> Found:
        found = Found()
        for kind, instances in machines:
            if self.request.task == "graphics" and kind.count > 1 and not limits.gpu_count:
                continue  # desktops take a slice or one whole card each
            found.considered += 1
            suited = [row for row in instances if self._suits(self.catalog.facts_of_family(row.family))]
            if not suited:
                reason = Remark(code=f"not_for_{self.request.task}", params={"gpu": kind.model})
                found.misses.append(Miss(instances[0], reason, 1.0))
                continue
            measure = self._measure(kind)
            if measure is None:
                found.misses.append(self._lacks(kind, instances[0]))
                continue
            found.candidates.append(self._candidate(kind, suited, limits, measure))
        return found

    def _candidate(
        self, kind: Silicon, instances: list[Instance], limits: Limits, measure: float
    ) -> Candidate:
        machines = self._machines(kind, limits)
        instance, _ = cheapest_type(instances, self.tariff, self.catalog)
        facts = self.catalog.facts_of_family(instance.family)
        slice_ = kind.vgpu or (facts is not None and facts.purpose in _SLICES)
        return priced(
            kind, instances, machines, self.tariff, limits, self.catalog,
            precision="",
            rung=1 if slice_ and self.request.task not in ("graphics", "transcoding") else 0,
            layout=Layout(data=machines * kind.count),
            speed=measure * machines * kind.count * (SHARED_CPU if facts and facts.cpu_shared else 1.0),
            remarks=self._remarks(facts),
        )  # fmt: skip

    def _machines(self, kind: Silicon, limits: Limits) -> int:
        """As many as the asked GPUs make; a desktop for each user of graphics."""
        if limits.gpu_count is not None:
            return max(1, limits.gpu_count // kind.count)
        users = self.request.users or self.request.concurrency or 1
        return min(users, _MOST_DESKTOPS) if self.request.task == "graphics" and kind.count == 1 else 1

    def _suits(self, facts: Family | None) -> bool:
        task = self.request.task
        if facts is None:
            return task not in ("graphics", "transcoding")
        if task == "graphics":
            return "graphics" in facts.uses
        if task == "transcoding":
            return "transcoding" in facts.uses and facts.video_encode not in ("", "none")
        return not (task == "hpc" and facts.purpose in _SLICES)

    def _measure(self, kind: Silicon) -> float | None:
        """The property that counts, of one GPU; None where the card lacks it."""
        gpu, task = kind.gpu, self.request.task
        if task == "hpc":
            return self._hpc_rate(kind)
        if task == "graphics":
            enough = (gpu.memory_gib or 0.0) >= (self.request.min_gpu_memory_gib or _SMALLEST_DESKTOP_GIB)
            return 1.0 if enough else None  # what holds the scene is enough; price decides
        if task == "transcoding":
            return 1.0
        if task == "development":
            return gpu.fp16_tflops or gpu.fp32_tflops
        return gpu.memory_gib

    def _hpc_rate(self, kind: Silicon) -> float | None:
        gpu, precision = kind.gpu, self.request.precision.lower()
        if precision and "64" not in precision and "double" not in precision:
            return gpu.fp32_tflops
        if not gpu.fp64_tflops or (gpu.fp32_tflops and gpu.fp64_tflops < _REAL_FP64 * gpu.fp32_tflops):
            return None
        return gpu.fp64_tflops

    def _lacks(self, kind: Silicon, instance: Instance) -> Miss:
        params: dict[str, Scalar] = {"gpu": kind.model}
        if self.request.task == "hpc":
            params["fp64_tflops"] = kind.gpu.fp64_tflops
            return Miss(instance, Remark(code="fp64_slow", params=params), 1.0)
        if self.request.task == "graphics":
            params["gib"] = kind.gpu.memory_gib
            return Miss(instance, Remark(code="gpu_memory_below", params=params), 1.0)
        return Miss(instance, Remark(code="gpu_figures_missing", params=params), 1.0)

    def _remarks(self, facts: Family | None) -> tuple[Remark, ...]:
        """What a buyer of graphics and video must know of the family."""
        if facts is None or self.request.task not in ("graphics", "transcoding", "development"):
            return ()
        found = []
        if facts.graphics_driver and self.request.task == "graphics":
            found.append(Remark(code=f"graphics_{facts.graphics_driver.replace('-', '_')}"))
        if facts.cpu_shared:
            found.append(Remark(code="cpu_shared"))
        if facts.video_encode and self.request.task == "transcoding":
            found.append(Remark(code="video_encode", params={"formats": facts.video_encode}))
        if facts.cpu_arch == "arm":
            found.append(Remark(code="arm_host"))
        return tuple(found)

    def reports(self, candidate: Candidate) -> tuple[None, None]:  # noqa: ARG002 - the protocol's argument
        return None, None

    def plan(self, candidate: Candidate) -> Plan:
        return Plan(data_parallel=candidate.layout.data)

    @property
    def load(self) -> Mapping[str, Scalar]:
        return {}

    def smaller(self) -> Sequence[HardwareTask]:
        return ()


def hardware_task(request: SizingRequest, catalog: Catalog, tariff: Tariff, notes: Notes) -> HardwareTask:
    """The task of a request that names no model, or whose work is no model's."""
    if request.task == "hpc" and not request.precision:
        notes.assume("precision", "fp64", "default_hpc_precision")
    if request.task == "graphics" and request.min_gpu_memory_gib is None:
        notes.assume("min_gpu_memory_gib", _SMALLEST_DESKTOP_GIB, "smallest_desktop")
    return HardwareTask(request, tariff, catalog)
