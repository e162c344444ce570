"""Published training speeds as requests: which job on which plan, which figure, what was measured."""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchmarks.speed_rows import SpeedRow, table

# Models that the catalog does not hold, by the parameter count that the measurement states.
_SIZES = {
    "mosaicml/mpt-1b": 1.32, "mosaicml/mpt-3b": 2.65, "mosaicml/mpt-13b": 12.85, "mosaicml/mpt-70b": 64.86,
    "internlm/internlm-7b": 7.32, "meta-llama/Llama-2-34b-hf": 33.7, "microsoft/phi-1_5": 1.42,
    "stabilityai/stablelm-base-alpha-3b": 3.64,
}  # fmt: skip


def training_rows() -> Iterator[SpeedRow]:
    """Jobs whose length and GPU count are stated. MFU is against the dense 16-bit peak."""
    for row in table("training"):
        if row["flag"] or not row["sequence_length"] or not row["n_gpus"] or row["metric"] == "hours":
            continue
        value, figure = float(row["value"]), row["metric"]
        if figure == "samples_per_s":
            figure = "tokens_per_s_per_gpu"
            value *= float(row["sequence_length"]) / float(row["n_gpus"])
        fields = {
            "model": row["model_id"],
            "gpu": row["gpu_model"],
            "gpu_count": int(row["n_gpus"]),
            "nodes": int(row["nodes"]) if row["nodes"] else None,
            "method": row["method"],
            "precision": row["precision"],
            "sequence_length": int(row["sequence_length"]),
            "global_batch": int(float(row["global_batch"])) if row["global_batch"] else None,
            "parallelism": row["parallelism"],
            "framework": row["framework"],
        }
        if row["model_id"] in _SIZES:
            fields["model"], fields["params_b"] = None, _SIZES[row["model_id"]]
        request: dict[str, object] = {key: value for key, value in fields.items() if value not in (None, "")}
        yield SpeedRow(
            "training MFU" if figure == "mfu" else "training speed",
            row["id"],
            request,
            figure,
            value,
            row["gpu_model"],
            row["precision"],
            row["framework"].split(",")[0],
            "adapters" if re.search("lora", row["method"]) else "full",
            row["source"],
        )
