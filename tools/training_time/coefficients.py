"""The measured coefficients of training speed, by what they mean physically."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tools.throughput.gpu_shape import GpuShape


@dataclass(frozen=True, slots=True)
class TrainingCoefficients:
    """All coefficients of the training model."""

    cards: Mapping[str, float]  # share of the dense 16-bit peak that wide matrices reach
    generations: Mapping[float, float]  # the same by compute capability
    half_width: float = 290.0  # width per GPU at which matrices reach half of the final share
    attention: float = 0.82  # of the linear layers' rate
    fp8_gain: float = 1.39  # over 16 bit, of a twice higher peak
    unpacking: float = 0.77  # speed of matrices whose frozen base is unpacked first
    expert_share: float = 0.32  # of the linear rate, grouped matrices of wide experts
    expert_half_width: float = 800.0
    exposed: float = 0.02  # of weight, gradient and expert traffic that no arithmetic hides
    optimizer_bytes: float = 26.0  # moved per trainable parameter: weight, gradient, fp32 copy and moments
    offload_bytes: float = 16.0  # moved over PCIe per trainable parameter when states lie in host memory

    def share_of(self, gpu: GpuShape) -> float:
        """The share of the peak on a card, or on its generation where it was not measured."""
        found = self.cards.get(gpu.card)
        if found is not None:
            return found
        levels = [level for level in self.generations if level <= gpu.capability]
        return self.generations[max(levels, default=min(self.generations))]


_CARDS = {
    "A100-40GB": 0.64,
    "A100-80GB": 0.76,
    "B200": 0.60,
    "H100": 0.52,
    "H100-SXM-96GB": 0.41,
    "H200": 0.66,
}
# Without measurements of training a generation takes what its tuned inference kernels suggest.
_GENERATIONS = {7.0: 0.50, 7.5: 0.42, 8.0: 0.70, 8.6: 0.60, 8.9: 0.60, 9.0: 0.52, 10.0: 0.60, 12.0: 0.55}
TRAINING = TrainingCoefficients(MappingProxyType(_CARDS), MappingProxyType(_GENERATIONS))
