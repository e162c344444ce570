"""The verdict on a card whose worth was asked: what it lacks, and newer cards that cost less."""

from __future__ import annotations

from dataclasses import dataclass

from agent.planner.worth import weighed_card
from agent.steps import Case
from agent.writing.words import Words
from knowledge.catalog import Catalog
from knowledge.rows import Gpu
from tools.contracts.cost import CostReport
from tools.lookup import support_level

_FORMATS = ("bf16", "fp8", "awq-int4")
_CLEAR = 1.1  # a lead below this decides nothing


@dataclass(frozen=True, slots=True)
class _Side:
    """A card with the list price of one of it per hour; None where none is known."""

    gpu: Gpu
    hourly: float | None


def worth_sections(w: Words, case: Case) -> list[str]:
    """One line of verdict; empty where the question weighs no single card."""
    name = weighed_card(case)
    if not name:
        return []
    prices = case.done.all(CostReport, "worth")
    priced = [case.catalog.instance(report.instance_type).gpu_model for report in prices]
    card, *newer = [
        _Side(case.catalog.gpu(item), _hourly(case.catalog, item, prices))
        for item in dict.fromkeys([name, *priced])
    ]
    lacks = [item for item in _FORMATS if not _useful(case.catalog, card.gpu, item)]
    better = [side for side in newer if _beats(side, card)]
    if not better:
        return [_no_better(w, card, newer, lacks)]
    best = min(better, key=lambda side: side.hourly or 0.0)
    return [_better(w, card, best, [item for item in lacks if _useful(case.catalog, best.gpu, item)])]


def _better(w: Words, card: _Side, best: _Side, gained: list[str]) -> str:
    name, other = card.gpu.gpu_model, best.gpu.gpu_model
    cost, less = w.price(card.hourly or 0), w.price(best.hourly or 0)
    memory, more = f"{card.gpu.memory_gib:g}", f"{best.gpu.memory_gib:g}"
    formats = w.listed(w.precision(item) for item in gained)
    runs = (
        w(f"; it also runs {formats}, {name} does not", f"；还能跑 {name} 跑不了的 {formats}")
        if formats
        else ""
    )
    return w(
        f"**Hardly for new work: {other} does more for less.** {name} costs {cost} per card, {other} {less} "
        f"with {more} GB against {memory}{runs}.",
        f"**新业务不太值得：{other} 更便宜也更能干。** {name} 每卡 {cost}，{other} 每卡 {less}，"
        f"显存 {more} GB 对 {memory} GB{runs}。",
    ) + _ahead(w, card.gpu, best.gpu)


def _ahead(w: Words, old: Gpu, new: Gpu) -> str:
    """What the older card is still better in."""
    figures = (
        (old.memory_bandwidth_gbs, new.memory_bandwidth_gbs, "GB/s", w("memory bandwidth", "显存带宽")),
        (old.fp64_tflops, new.fp64_tflops, "TFLOPS", w("double precision (FP64)", "双精度（FP64）")),
    )
    said = [
        w(
            f"{what} ({w.num(mine, 4)} against {w.num(theirs, 4)} {unit})",
            f"{what}（{w.num(mine, 4)} 对 {w.num(theirs, 4)} {unit}）",
        )
        for mine, theirs, unit, what in figures
        if mine and theirs and mine >= _CLEAR * theirs
    ]
    if not said:
        return ""
    return w(
        f" It is still ahead in {w.listed(said)}: keep it where that decides.",
        f"它仍领先的是{w.listed(said)}：只有这些起决定作用时才选它。",
    )


def _no_better(w: Words, card: _Side, newer: list[_Side], lacks: list[str]) -> str:
    name = card.gpu.gpu_model
    formats = w.listed(w.precision(item) for item in lacks)
    limits = w(f"; it has no {formats} of its own", f"；但不原生支持 {formats}") if formats else ""
    if card.hourly is None:
        return w(
            f"**No list price of {name} is published here, so its worth cannot be judged by price**{limits}.",
            f"**{name} 在此没有公开价格，无法按价格判断**{limits}。",
        )
    price = w.price(card.hourly)
    priced = w.listed(f"{side.gpu.gpu_model} {w.price(side.hourly)}" for side in newer if side.hourly)
    beside = w(f" (newer: {priced} per card)", f"（较新的卡每卡：{priced}）") if priced else ""
    return w(
        f"**Yes, where its memory and speed fit the work**: at {price} per card no newer card with as much "
        f"memory has a lower list price{beside}{limits}.",
        f"**值得，只要显存和速度够用**：每卡 {price}，没有同等显存而目录价更低的新卡{beside}{limits}。",
    )


def _beats(side: _Side, card: _Side) -> bool:
    """Cheaper with at least as much memory."""
    if side.hourly is None or card.hourly is None:
        return False
    return side.hourly < card.hourly and (side.gpu.memory_gib or 0) >= (card.gpu.memory_gib or 0)


def _useful(catalog: Catalog, gpu: Gpu, precision: str) -> bool:
    """Whether a card gains from a format: 4 bit wherever its weights can be unpacked, the others natively."""
    level = support_level(gpu, catalog.precision(precision))
    return level == "native" or (level == "weight-only" and precision == "awq-int4")


def _hourly(catalog: Catalog, gpu_model: str, prices: list[CostReport]) -> float | None:
    """The lowest list price of one card per hour among the reports."""
    found = [
        float(report.hourly) / report.count / row.whole_gpus
        for report in prices
        if report.hourly is not None and report.currency == "CNY"
        for row in [catalog.instance(report.instance_type)]
        if row.gpu_model == gpu_model and row.whole_gpus
    ]
    return min(found, default=None)
