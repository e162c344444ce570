"""How far measurements of a kind lie around the estimate: the 80 % range of each figure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spread:
    """Factors that turn an estimate into the range which holds 80 % of measurements."""

    low: float
    high: float

    def of(self, value: float) -> tuple[float, float]:
        return value * self.low, value * self.high

    @property
    def inverse(self) -> Spread:
        """The range of a rate whose duration has this range."""
        return Spread(1 / self.high, 1 / self.low)


CALIBRATED_GPUS = frozenset({
    "T4", "A10", "A10G", "L4", "L20", "L40S", "A40", "V100-16GB", "V100-32GB", "V100S-PCIe-32GB",
    "A100-40GB", "A100-80GB", "A100-80GB-PCIe", "H100", "H100-PCIe", "H100-NVL", "H200", "B200", "B300",
    "H20-96GB", "RTX-4090", "RTX-PRO-6000-Blackwell-Server", "P100", "H800", "GB200",
})  # fmt: skip
# Factor around the estimate, by figure; first values, to be replaced by the fit.
RATE = Spread(0.70, 1.35)
LATENCY = Spread(0.72, 1.40)
FIRST_TOKEN = Spread(0.55, 1.80)
# A card without measurements: at least a factor of two between low and high.
UNMEASURED_RATE = Spread(0.55, 1.35)
UNMEASURED_LATENCY = Spread(0.70, 1.80)
UNMEASURED_FIRST_TOKEN = Spread(0.5, 2.2)
