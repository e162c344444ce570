"""The same wish in other words gets the same instance: paraphrase, language, units, word order, politeness.

200 pairs in CI, drawn with a fixed seed; METAMORPHIC_QUESTIONS=2000 draws more, as `make soak` does.
"""

from __future__ import annotations

import json
import os
import random
from functools import cache

import pytest

from agent.planner.requests import sizing_args
from agent.reading import read
from knowledge.catalog import Catalog, shipped_catalog
from tests.agent.rephrased import CHANGES, pair
from tools.contracts.sizing import SizingRequest
from tools.recommend import recommend

PAIRS = int(os.environ.get("METAMORPHIC_QUESTIONS", "200"))
SEED = 20261130
ALIKE = 0.98
_SHOWN = 5
# What a rewording may not change; the rest follows from it.
_FIELDS = (
    "task", "model", "params_b", "precision", "context_tokens", "sequence_length", "concurrency", "users",
    "method", "budget", "regions", "gpu_wanted", "gpu_excluded", "gpu_count", "allow_quantization",
    "objective",
)  # fmt: skip


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return shipped_catalog()


def _request(text: str, catalog: Catalog) -> dict[str, object]:
    values = sizing_args(read([text], catalog).request)
    return {name: values[name] for name in _FIELDS if name in values}


@cache
def _chosen(request: str) -> tuple[tuple[str, int, str], ...]:
    """Type, count and precision of each option of a request."""
    found = recommend(SizingRequest.model_validate(json.loads(request)), shipped_catalog())
    return tuple((item.instance_type, item.count, item.precision) for item in found.options)


@pytest.mark.parametrize("change", CHANGES)
def test_a_wish_in_other_words_is_read_alike_and_gets_the_same_instance(
    change: str, catalog: Catalog
) -> None:
    rng = random.Random(f"{SEED} {change}")
    count = max(1, PAIRS // len(CHANGES))
    odd = []
    for _ in range(count):
        plain, changed = pair(rng, change)
        one, other = _request(plain, catalog), _request(changed, catalog)
        alike = one == other and _chosen(json.dumps(one)) == _chosen(json.dumps(other))
        if not alike:
            odd.append(f"{plain}\n  {changed}\n  {one}\n  {other}")
    share = 1 - len(odd) / count
    assert share >= ALIKE, f"{share:.1%} of {count} alike\n" + "\n".join(odd[:_SHOWN])
