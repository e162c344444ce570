"""Published measurements: errors and ranges stay where the accuracy page says."""

from __future__ import annotations

import statistics
from collections import defaultdict
from functools import cache

import pytest

from benchmarks.speed import Scored, score
from benchmarks.speed_left_out import ALL, stored
from benchmarks.speed_rows import speed_rows
from knowledge.catalog import shipped_catalog
from tools.contracts.base import parse_request
from tools.contracts.throughput import ThroughputRequest
from tools.throughput import estimate_throughput

CATALOG = shipped_catalog()


@cache
def scored() -> dict[tuple[str, str], list[Scored]]:
    groups: dict[tuple[str, str], list[Scored]] = defaultdict(list)
    for item in score(speed_rows()[::5], CATALOG):
        groups[item.row.kind, item.row.figure].append(item)
    return groups


# Median and 90th percentile in per cent that must hold on a fifth of the rows.
@pytest.mark.parametrize(
    ("kind", "figure", "median", "p90"),
    [
        ("silicon", "tpot_ms", 16, 42),
        ("silicon", "ttft_ms", 34, 90),
        ("vllm serving", "output_tokens_per_s", 11, 28),
        ("vllm serving", "tpot_ms", 12, 35),
        ("vllm serving", "ttft_ms", 32, 85),
        ("one user", "single_stream_tokens_per_s", 19, 40),
        ("saturated", "output_tokens_per_s", 24, 70),
        ("llama.cpp generation", "single_stream_tokens_per_s", 7, 18),
        ("llama.cpp prompt", "prefill_tokens_per_s", 11, 35),
        ("llama.cpp generation on Alibaba Cloud", "single_stream_tokens_per_s", 5, 15),
        ("llama.cpp prompt on Alibaba Cloud", "prefill_tokens_per_s", 9, 30),
    ],
)
def test_errors_on_published_measurements(kind: str, figure: str, median: float, p90: float) -> None:
    sizes = sorted(abs(item.error) for item in scored()[kind, figure])
    assert 100 * statistics.median(sizes) <= median
    assert 100 * sizes[int(0.9 * len(sizes))] <= p90


def test_stated_ranges_hold_about_four_of_five_measurements() -> None:
    items = [item for group in scored().values() for item in group]
    held = sum(item.covered for item in items) / len(items)
    assert 0.75 <= held <= 0.90


@pytest.mark.parametrize("gpu", ["L20", "RTX-5880-Ada", "A30", "L20N-72GB", "RTX-3090"])
def test_a_card_without_measurements_says_so_with_a_range_of_a_factor_two(gpu: str) -> None:
    report = estimate_throughput(
        parse_request(ThroughputRequest, {"model": "Qwen3-8B", "gpu": gpu, "concurrency": 8}), CATALOG
    )
    assert report.evidence == "estimate_only"
    for name in ("output_tokens_per_s", "ttft_ms", "tpot_ms", "single_stream_tokens_per_s"):
        assert getattr(report, f"{name}_high") >= 2 * getattr(report, f"{name}_low")


def test_models_outside_the_fit_are_estimated_no_worse_than_before() -> None:
    """The stored result of `python -m benchmarks speed --left-out`: medians and 90th percentiles in %."""
    highest = {
        ("silicon", "tpot_ms"): (10, 26), ("silicon", "ttft_ms"): (28, 86),
        ("vllm serving", "output_tokens_per_s"): (11, 35), ("vllm serving", "tpot_ms"): (12, 33),
        ("vllm serving", "ttft_ms"): (23, 68),
    }  # fmt: skip
    found = {(line["kind"], line["figure"]): line for line in stored() if line["model"] == ALL}
    assert set(found) == set(highest)
    for key, (median, p90) in highest.items():
        assert float(found[key]["median_pct"]) <= median, key
        assert float(found[key]["p90_pct"]) <= p90, key
