"""Seconds of a batch of images through a vision network, forward or with its training step."""

from __future__ import annotations

from knowledge.rows import VisionBackbone
from tools.contracts.throughput import Bound
from tools.other_memory.words import Width
from tools.other_speed.coefficients import Coefficients
from tools.other_speed.silicon import Silicon
from tools.other_speed.timing import EngineClass, Timing, slower

TRAINING_WORK = 3.0  # forward, and twice as much backward
FUSED_TRAFFIC = 0.5  # of the activations' moves that compiled kernels leave


def vision_timing(
    network: VisionBackbone,
    area: float,
    batch: int,
    training: bool,
    width: Width,
    card: Silicon,
    engine: EngineClass,
    k: Coefficients,
) -> Timing:
    """One batch. `area` is the picture's over that of the network's own input size. Arithmetic and traffic of
    activations add up: convolutions with norms and activations between them move each element several times.
    A compiled engine queues its kernels ahead, so their starts add up with the work; run from Python, the
    starts hide behind the work, or hide it.
    """
    factor = TRAINING_WORK if training else 1.0
    work = network.gflop * area * batch * factor / 1000.0
    peak, computed = card.peak(width, engine == "optimized")
    compute = work / card.sustained(peak, k.vision_share)
    elements = network.activations_m * 1e6 * area * batch * factor
    passes = k.vision_passes_vit if network.kind == "vit" else k.vision_passes_cnn
    passes *= FUSED_TRAFFIC if engine == "optimized" else 1.0
    traffic = elements * width.value * passes / (card.shape.bandwidth_gbs * 1e9)
    busy = compute + traffic
    if engine == "optimized":
        launch = k.vision_launch_optimized_ms / 1000.0 * factor
        total = busy + launch
    else:
        launch = k.vision_launch_eager_ms / 1000.0 * factor
        total = slower(busy, launch)
    bound: Bound = "compute" if compute >= traffic else "bandwidth"
    return Timing(
        parts_s={"network": total},
        units=float(batch),
        tflop=work,
        sustained_tflops=work / total,
        peak_tflops=peak,
        compute_precision=computed,
        bound="overhead" if launch > busy else bound,
    )
