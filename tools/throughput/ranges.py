"""How far measurements of a kind lie around the estimate: the 80 % range of each figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tools.throughput.coefficients import COEFFICIENTS
from tools.throughput.steps import Stepper

Evidence = Literal["calibrated", "estimate_only"]


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


@dataclass(frozen=True, slots=True)
class Spreads:
    """Ranges of the figures of one report."""

    rate: Spread
    step: Spread  # time per output token
    first_token: Spread
    single: Spread  # rate of one stream
    prefill: Spread


# From the 10th to the 90th percentile of measured over estimated, widened for models outside the fit, whose
# own fits (`python -m benchmarks speed --left-out`) the loaded ranges hold in about four of five rows; 8,900
# figures of five sources.
_ALONE = Spreads(
    Spread(0.80, 1.25), Spread(0.80, 1.22), Spread(0.70, 1.30), Spread(0.74, 1.26), Spread(0.72, 1.32)
)
_LOADED = Spreads(
    Spread(0.79, 1.26), Spread(0.80, 1.26), Spread(0.52, 2.05), Spread(0.74, 1.26), Spread(0.70, 1.45)
)
_PORTABLE = Spreads(
    Spread(0.82, 1.22), Spread(0.86, 1.14), Spread(0.72, 1.25), Spread(0.89, 1.13), Spread(0.78, 1.20)
)
# The card is measured, but not with this kind of engine or format.
_THIN = Spreads(
    Spread(0.66, 1.40), Spread(0.70, 1.48), Spread(0.45, 2.20), Spread(0.66, 1.40), Spread(0.60, 1.60)
)
# No measurement of the card: never narrower than a factor of two between low and high.
_NONE = Spreads(
    Spread(0.58, 1.45), Spread(0.68, 1.70), Spread(0.40, 2.50), Spread(0.58, 1.45), Spread(0.55, 1.70)
)
_WELL_MEASURED = ("vllm", "sglang", "tensorrt-llm", "llama.cpp", "transformers", "lmdeploy")


def evidence_of(replica: Stepper) -> Evidence:
    """Whether any measurement of the card stands behind its coefficients."""
    card = replica.gpu.card
    known = card in COEFFICIENTS.tuned or card in COEFFICIENTS.portable
    return "calibrated" if known and not replica.gpu.derived else "estimate_only"


def spreads_of(replica: Stepper, concurrency: int) -> Spreads:
    """The ranges of a replica's figures by what was measured of its card, engine and format."""
    if evidence_of(replica) == "estimate_only":
        return _NONE
    engine = replica.engine
    table = COEFFICIENTS.portable if engine.portable else COEFFICIENTS.tuned
    unpacks = replica.scheme.dequant in ("w4a16", "w8a16", "bnb")
    if replica.gpu.card not in table or engine.name not in _WELL_MEASURED or unpacks:
        return _THIN
    if engine.portable:
        return _PORTABLE
    return _ALONE if concurrency == 1 else _LOADED
