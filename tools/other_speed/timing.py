"""What every kind of work gives back: seconds of one batch by part, its arithmetic, what bounds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tools.contracts.throughput import Bound

EngineClass = Literal["eager", "optimized"]


@dataclass(frozen=True, slots=True)
class Timing:
    """One batch on one GPU. `units` is what it brings: images, clips, texts, or seconds of audio."""

    parts_s: dict[str, float]
    units: float
    tflop: float  # of the batch
    sustained_tflops: float
    peak_tflops: float
    compute_precision: str
    bound: Bound
    step_s: float | None = None

    @property
    def seconds(self) -> float:
        return sum(self.parts_s.values())


def slower(compute_s: float, launch_s: float) -> float:
    """Host and GPU work side by side: the longer of the two, softly where they are near."""
    return float((compute_s**4 + launch_s**4) ** 0.25)
