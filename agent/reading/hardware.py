"""Slots of the hardware that a turn names: cards wanted and excluded, their count, machines, types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from agent.reading.cards import is_consumer, rentable
from agent.reading.gpus import GpuFound, machines_said
from agent.reading.types import Mention
from agent.reading.words import Found, Words
from knowledge.catalog import Catalog

_BARE_COUNT = re.compile(r"(?<![\d.])(\d{1,4})\s*[张块片]?\s*(?:卡|gpus?(?![a-z])|显卡)(?!利用)")
_TENSOR_PARALLEL = re.compile(r"(?<![a-z])tp\s?=?\s?(\d{1,3})(?!\d)")


def hardware_slots(
    words: Words, gpus: Sequence[GpuFound], instances: Sequence[Mention], catalog: Catalog
) -> Iterable[Found]:
    """`gpu_wanted` and `gpu_excluded` hold canonical names; a card that the cloud does not rent is wanted
    as the nearest one that it does."""
    wanted = [item for item in gpus if item.mention.kind == "gpu" and not item.mention.negated]
    # Cards at home beside cards to rent are what the others are held against.
    rented = [item for item in wanted if rentable(catalog, item.mention.name) == item.mention.name]
    if rented and all(is_consumer(catalog, item.mention.name) for item in wanted if item not in rented):
        wanted = rented
    unwanted = [item for item in gpus if item.mention.kind == "gpu" and item.mention.negated]
    names = [name for item in wanted if (name := rentable(catalog, item.mention.name))]
    if names:
        yield Found("gpu_wanted", tuple(dict.fromkeys(names)), 0.9, _said(wanted))
    if unwanted:
        excluded = tuple(dict.fromkeys(item.mention.name for item in unwanted))
        yield Found("gpu_excluded", excluded, 0.9, _said(unwanted))
    types = tuple(
        dict.fromkeys(m.name for m in instances if m.kind in ("instance", "family") and not m.negated)
    )
    if types:
        yield Found("instance_wanted", types, 0.95, " ".join(types))
    if count := _count(words, wanted):
        yield count
    if nodes := machines_said(words):
        yield Found("nodes", nodes, 0.8, "")


def _said(gpus: Iterable[GpuFound]) -> str:
    return " ".join(item.mention.text for item in gpus)


def _count(words: Words, wanted: Iterable[GpuFound]) -> Found | None:
    """GPUs over all machines: beside a card's name, else alone ("8卡"), and never fewer than "TP=16"."""
    found: Found | None = None
    counted = next((item for item in wanted if item.count), None)
    if counted and counted.count:
        found = Found("gpu_count", counted.count, 0.9, counted.mention.text)
    elif (match := _BARE_COUNT.search(words.free)) and int(match[1]):
        found = Found("gpu_count", int(match[1]), 0.7, words.said(*match.span()))
    parallel = _TENSOR_PARALLEL.search(words.plain)
    if parallel and int(parallel[1]) > max(1, int(str(found.value)) if found else 1):
        found = Found("gpu_count", int(parallel[1]), 0.6, words.said(*parallel.span()))
    return found
