"""Published figures of images, video, speech, encoders and vision: errors stay where the page says."""

from __future__ import annotations

import re
import statistics
from functools import cache

import pytest

from benchmarks.other_speed import OtherScored, other_rows, other_tables, score_other
from benchmarks.speed import ACCURACY_PAGE
from knowledge.catalog import shipped_catalog
from tools.other_speed.ranges import evidence_of


@cache
def scored() -> tuple[OtherScored, ...]:
    return tuple(score_other(other_rows(), shipped_catalog()))


# Median absolute error in per cent; vision held out are detectors of one image at a time, a stated limit.
@pytest.mark.parametrize(
    ("kind", "split", "most"),
    [
        ("image", "fit", 14),
        ("image", "held out", 18),
        ("video", "fit", 16),
        ("video", "held out", 20),
        ("embedding", "fit", 8),
        ("embedding", "held out", 12),
        ("reranker", "held out", 25),
        ("asr", "fit", 12),
        ("asr", "held out", 15),
        ("tts", "fit", 12),
        ("tts", "held out", 22),
        ("vision", "fit", 10),
        ("vision", "held out", 100),
    ],
)
def test_the_error_of_a_kind_of_work_does_not_grow_unseen(kind: str, split: str, most: float) -> None:
    errors = [100 * abs(item.error) for item in scored() if (item.row.kind, item.row.split) == (kind, split)]
    assert statistics.median(errors) <= most


def test_the_stated_range_holds_about_eighty_per_cent_of_what_was_measured() -> None:
    for split in ("fit", "held out"):
        held = [item.covered for item in scored() if item.row.split == split]
        assert 0.75 <= sum(held) / len(held) <= 0.88


def test_a_card_is_called_measured_only_where_a_row_stands_behind_it() -> None:
    for item in scored():
        assert evidence_of(item.row.kind, str(item.row.request["gpu"])) == "calibrated"  # type: ignore[arg-type]
    rows = {(item.row.kind, re.sub(r"-(\d+GB|PCIe)", "", str(item.row.request["gpu"]))) for item in scored()}
    assert evidence_of("image", "A10") == "estimate_only"
    assert ("image", "A10") not in rows


def test_the_accuracy_page_shows_these_figures() -> None:
    page = ACCURACY_PAGE.read_text(encoding="utf-8")
    for line in other_tables(shipped_catalog()).splitlines():
        assert line in page


def test_every_measurement_says_where_it_was_read() -> None:
    for row in other_rows():
        assert len(row.source) > 10
        assert row.value > 0
