"""How far measurements lie around the estimate by kind: 80 % ranges, wider where fewer stand behind it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from tools.contracts.other_speed import OtherKind

Evidence = Literal["calibrated", "estimate_only"]


@dataclass(frozen=True, slots=True)
class Spread:
    """Factors of the rate."""

    low: float
    high: float


# Measured over estimated rate, about the 10th and 90th percentile of the rows of a kind, those held out
# included (`python -m benchmarks speed`).
_SPREADS: dict[OtherKind, Spread] = {
    "image": Spread(0.74, 1.22),
    "video": Spread(0.82, 1.48),
    "asr": Spread(0.82, 1.24),
    "tts": Spread(0.82, 1.40),
    "embedding": Spread(0.87, 1.17),
    "reranker": Spread(0.87, 1.17),
    "vision": Spread(0.62, 1.14),
}
# Engines of whose class few rows of the kind exist: text servers beside the model, ONNX Runtime.
_THIN = Spread(0.5, 1.25)
_WELL_MEASURED: dict[OtherKind, frozenset[str]] = {
    "embedding": frozenset({"TensorRT"}),
    "reranker": frozenset({"TensorRT"}),
    "vision": frozenset({"eager", "PyTorch", "timm", "compiled", "TensorRT"}),
}
# Cards with measurements of a kind (benchmarks/data/other_speed.csv), whatever their memory or form.
_MEASURED: dict[OtherKind, frozenset[str]] = {
    "image": frozenset({"A100", "H100", "RTX-3090", "RTX-4090", "T4", "V100"}),
    "video": frozenset({"A100", "H100", "H20", "H200", "L20", "RTX-4090", "RTX-4090-D"}),
    "asr": frozenset({"A100", "RTX-3070-Ti", "RTX-4090", "V100S"}),
    "tts": frozenset({"L20"}),
    "embedding": frozenset({"A100", "A30", "T4"}),
    "reranker": frozenset({"A100", "A30", "T4", "V100"}),
    "vision": frozenset({"A100", "RTX-3090", "RTX-4090", "T4"}),
}
_FORM = re.compile(r"-(\d+GB|PCIe|SXM\w*)")
# No measurement of the card: at least a factor of two between low and high.
_UNMEASURED = Spread(0.6, 1.5)
_SPILLED = 0.3  # of the rate at worst, where weights must wait in host memory


def evidence_of(kind: OtherKind, card: str) -> Evidence:
    """Whether a measurement of this kind of work on this chip stands behind the estimate."""
    return "calibrated" if _FORM.sub("", card) in _MEASURED[kind] else "estimate_only"


def spread_of(kind: OtherKind, engine: str, card: str, fits: bool | None) -> Spread:
    """The range of the rate."""
    thin = engine not in _WELL_MEASURED.get(kind, frozenset({engine}))
    own = _THIN if thin else _SPREADS[kind]
    if evidence_of(kind, card) == "estimate_only":
        own = Spread(min(own.low, _UNMEASURED.low), max(own.high, _UNMEASURED.high))
    return Spread(own.low * (_SPILLED if fits is False else 1.0), own.high)
