"""Vision networks: classification, detection and segmentation, training and inference."""

from __future__ import annotations

import re
from dataclasses import dataclass

from knowledge.catalog import Catalog
from knowledge.names import normal
from knowledge.rows import VisionBackbone
from tools.memory.weights import GIB
from tools.other_memory.words import Mode, Width

# Bytes kept per activation element in fp32 training: a trained batch norm keeps its input beside the
# convolution's output; a frozen one folds away (detectron2's zoo: R-50, R-101 and X-101).
TRAINED_NORM_BYTES, FROZEN_NORM_BYTES = 8.0, 5.0
DILATED_FACTOR = 3.4  # output stride 8: stage 3 keeps 4 times, stage 4 keeps 16 times the elements
INFERENCE_SHARE = 0.15  # of the elements are alive at once when nothing is kept for a backward pass
STATE_BYTES = 12.0  # fp32 weight, gradient and momentum
RUNTIME_GIB = 0.3
USUAL_BATCH = 64  # images that one GPU trains on, or that a throughput figure of a network is given for
# What a detector's heads keep per image of 800 x 1333 pixels, GiB (detectron2 model zoo, 27 rows).
_HEADS = (
    (r"keypoint", 1.0),
    (r"panoptic", 0.9),
    (r"mask_?rcnn.*(c4|dc5)", 1.2),
    (r"c4|dc5", 0.95),
    (r"mask", 0.2),
    (r"retina", 0.55),
    (r"deeplab|pspnet|upernet|fcn", 1.0),  # pyramid pooling at the dilated stride
)
_HEAD_PIXELS = 800 * 1333
# A residual backbone inside a longer name: "mask_rcnn_R_50_FPN", "deeplabv3plus R-101-D8", "X_101_32x8d".
_RESIDUAL = re.compile(
    r"(?<![a-z0-9])(resnext|resnet|r|x)[-_ ]?(18|34|50|101|152)(?:[-_ ]?(\d+x\d+d))?(?![a-z0-9])"
)
_OTHER_BLOCKS = re.compile(r"(?<![a-z])(se|sk|eca|csp|wide|res2)[-_ ]?res")  # blocks of another size
_RESNEXT_WIDTHS = {"101": "32x8d"}  # of the depths that the catalog holds, where none is written


@dataclass(frozen=True, slots=True)
class Network:
    """A backbone in its setting."""

    backbone: VisionBackbone
    frozen_norm: bool = False
    dilated: bool = False
    head_gib_per_image: float = 0.0


def find_network(name: str, catalog: Catalog) -> Network | None:
    """The network of a name: a backbone, or a detector or segmenter that names its backbone; else None, also
    where the named backbone is one that the catalog does not hold."""
    written = name.strip().lower()
    for row in catalog.vision_backbones:
        if normal(written) in {normal(text) for text in (row.name, row.display_name, *row.aliases)}:
            return Network(row)
    found = _RESIDUAL.search(written)
    if not found or _OTHER_BLOCKS.search(written):
        return None
    line, depth, width = found.groups()
    wanted = f"resnet{depth}"
    if line in ("resnext", "x"):
        wanted = f"resnext{depth}_{width or _RESNEXT_WIDTHS.get(depth, '')}"
    backbone = next((row for row in catalog.vision_backbones if row.name == wanted), None)
    if backbone is None:
        return None
    detector = "detectron" in written or "rcnn" in written or "retina" in written or "rpn" in written
    head = next((size for pattern, size in _HEADS if re.search(pattern, written)), 0.0)
    return Network(backbone, frozen_norm=detector, dilated=bool(re.search(r"d8\b", written)),
                   head_gib_per_image=head)  # fmt: skip


def vision_parts(
    network: Network, mode: Mode, width: int, height: int, batch: int, precision: Width
) -> dict[str, float]:
    """Parts of the peak in GiB. Activations grow with pixels and images; a vision transformer's too."""
    row = network.backbone
    area = width * height / row.input_size**2
    elements = row.activations_m * 1e6 * area * batch * (DILATED_FACTOR if network.dilated else 1.0)
    per_element = FROZEN_NORM_BYTES if network.frozen_norm else TRAINED_NORM_BYTES
    heads = network.head_gib_per_image * batch * width * height / _HEAD_PIXELS
    if mode == "inference":
        weights = row.params_m * 1e6 * precision.weight
        kept = elements * INFERENCE_SHARE * precision.value
        heads *= INFERENCE_SHARE
    else:
        weights = row.params_m * 1e6 * (STATE_BYTES + (4.0 if precision.value < 4 else 0.0))
        kept = elements * per_element * (0.6 if precision.value < 4 else 1.0)
    parts = {"weights": weights / GIB, "activations": kept / GIB, "runtime": RUNTIME_GIB}
    if heads:
        parts["heads"] = heads
    return parts
