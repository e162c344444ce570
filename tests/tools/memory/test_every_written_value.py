"""Every value that stands in a column of the measurement files is understood: no user meets an input error
for words that logs and tables use."""

from __future__ import annotations

import pytest

from benchmarks.memory_rows import inference_request, other_request, training_request
from benchmarks.speed_rows import table
from knowledge.catalog import Catalog
from knowledge.errors import InputError, NotKnown
from tools.contracts.base import parse_request
from tools.contracts.memory import MemoryRequest
from tools.contracts.other import OtherMemoryRequest
from tools.contracts.training import TrainingMemoryRequest
from tools.memory import estimate_memory
from tools.other_memory import estimate_other_memory
from tools.training_memory import estimate_training_memory
from tools.training_memory.parallelism import resolve_division


def test_every_inference_row_is_answered_or_said_to_be_unknown(catalog: Catalog) -> None:
    refused = []
    for row in table("vram_inference"):
        try:
            estimate_memory(parse_request(MemoryRequest, inference_request(row)), catalog)
        except NotKnown:
            continue
        except InputError as error:
            refused.append((row["id"], str(error)))
    assert refused == []


def test_every_training_row_is_answered_or_said_to_be_unknown(catalog: Catalog) -> None:
    refused = []
    for row in table("vram_training"):
        try:
            estimate_training_memory(parse_request(TrainingMemoryRequest, training_request(row)), catalog)
        except NotKnown:
            continue
        except InputError as error:
            refused.append((row["id"], str(error)))
    assert refused == []


def test_every_other_row_is_answered_or_said_to_be_unknown(catalog: Catalog) -> None:
    refused = []
    for row in table("vram_other"):
        try:
            estimate_other_memory(parse_request(OtherMemoryRequest, other_request(row)), catalog)
        except NotKnown:
            continue
        except InputError as error:
            refused.append((row["id"], str(error)))
    assert refused == []


def test_nine_of_ten_peaks_of_other_models_are_answered(catalog: Catalog) -> None:
    answered = total = 0
    for row in table("vram_other"):
        if row["metric"] == "peak_gib_per_gpu":
            total += 1
            try:
                estimate_other_memory(parse_request(OtherMemoryRequest, other_request(row)), catalog)
                answered += 1
            except NotKnown:
                continue
    assert answered / total > 0.9


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("TP8 PP2 DP4", (8, 2)),
        ("tensor parallel 4", (4, 1)),
        ("张量并行 8", (8, 1)),
        ("zero3", (1, 1)),
        ("fsdp8+tp8+pp8", (8, 8)),
        ("device_map (layer split)", (1, 1)),
    ],
)
def test_parallelism_is_read_as_people_write_it(text: str, shown: tuple[int, int], catalog: Catalog) -> None:
    division, _count, _reason = resolve_division(
        TrainingMemoryRequest(model="x", parallelism=text), None, True
    )
    assert (division.tensor, division.pipeline) == shown


def test_a_word_nobody_knows_in_parallelism_is_refused(catalog: Catalog) -> None:
    with pytest.raises(InputError):
        estimate_training_memory(TrainingMemoryRequest(model="Qwen2.5-7B", parallelism="warp9"), catalog)
