"""Cards that were named but stand in no instance on sale, and how the one used instead compares."""

from __future__ import annotations

from agent.reading.types import Reading
from agent.writing.words import Words
from knowledge.catalog import Catalog

_CALCULATED = frozenset({"size", "memory", "speed", "cost"})


def stand_in_lines(w: Words, reading: Reading, catalog: Catalog) -> list[str]:
    """One line for each card named that nobody can rent here, where something was calculated or searched."""
    used = reading.request.gpu_wanted
    searched = reading.intent == "lookup" and reading.request.gpu_count is not None
    if not used or not (reading.intent in _CALCULATED or searched):
        return []
    named = [
        mention.name
        for mention in reading.mentions
        if mention.kind == "gpu"
        and mention.name
        and not mention.negated
        and mention.name not in used
        and not catalog.with_gpu(mention.name, "current")
    ]
    return [
        _line(w, name, w.listed(_beside(w, catalog, name, card) for card in used))
        for name in dict.fromkeys(named)
    ]


def _line(w: Words, name: str, used: str) -> str:
    return w(
        f"No Alibaba Cloud instance on sale has the {name}; this is calculated with {used}.",
        f"阿里云在售实例里没有 {name}，以下按 {used} 计算。",
    )


def _beside(w: Words, catalog: Catalog, named: str, used: str) -> str:
    """The card used, with what it has of the figures of the card named."""
    one, other = catalog.gpu(named), catalog.gpu(used)
    figures = (
        (one.memory_gib, other.memory_gib, "GB", w("memory", "显存")),
        (one.memory_bandwidth_gbs, other.memory_bandwidth_gbs, "GB/s", w("bandwidth", "带宽")),
        (one.fp16_tflops, other.fp16_tflops, "TFLOPS", w("dense 16-bit", "16 位稠密")),
    )
    said = [
        w(
            f"{what} {w.num(theirs, 4)} for {w.num(mine, 4)} {unit}",
            f"{what} {w.num(theirs, 4)} 对 {w.num(mine, 4)} {unit}",
        )
        for mine, theirs, unit, what in figures
        if mine and theirs
    ]
    return f"{used} ({w('; ', '；').join(said)})" if said else used
