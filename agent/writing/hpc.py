"""Double precision of the cards named beside the cards that have it, with what a TFLOPS costs."""

from __future__ import annotations

from agent.planner.requests import mentioned
from agent.steps import Case
from agent.writing.words import Words, table
from knowledge.rows import Gpu
from tools.contracts.cost import CostReport

_REAL_SHARE = 1 / 8  # of the FP32 rate: below it a card has only token FP64 units


def fp64_sections(w: Words, case: Case) -> list[str]:
    """A verdict on the cards named for FP64 work and a table of rate and price; [] where none was asked."""
    priced = {
        case.catalog.instance(report.instance_type).gpu_model: report
        for report in case.done.all(CostReport, "fp64")
    }
    if not priced:
        return []
    named = {mention.name for mention in mentioned(case.reading, "gpu")}
    for report in case.done.all(CostReport):  # the same price may have been asked for another reason
        priced.setdefault(case.catalog.instance(report.instance_type).gpu_model, report)
    cards = [case.catalog.gpu(name) for name in priced]
    weak = [card.gpu_model for card in cards if card.gpu_model in named and not _real(card)]
    able = [card.gpu_model for card in cards if _real(card)]
    rows = [
        _row(w, card, priced[card.gpu_model])
        for card in sorted(cards, key=lambda card: -(card.fp64_tflops or 0))
    ]
    header = [
        w("Card", "显卡"), w("FP64 TFLOPS", "FP64 TFLOPS"), w("GB/s of memory", "显存 GB/s"),
        w("Per hour", "每小时"), w("FP64 TFLOPS per CNY/h", "每元/小时的 FP64 TFLOPS"),
    ]  # fmt: skip
    return [*([_verdict(w, weak, able)] if weak else []), table(header, rows)]


def _verdict(w: Words, weak: list[str], able: list[str]) -> str:
    return w(
        f"**No, not for double precision: {w.listed(weak)} has only token FP64 units.** Take "
        f"{w.listed(able)}; for single or mixed precision this does not matter.",
        f"**双精度不划算：{w.listed(weak)} 几乎没有 FP64 单元。** 请选 {w.listed(able)}；"
        "单精度、混合精度不受影响。",
    )


def _real(card: Gpu) -> bool:
    return bool(card.fp64_tflops and card.fp32_tflops and card.fp64_tflops >= _REAL_SHARE * card.fp32_tflops)


def _row(w: Words, card: Gpu, report: CostReport) -> list[str]:
    rate = f"{card.fp64_tflops:g}" if card.fp64_tflops else "–"
    bandwidth = w.num(card.memory_bandwidth_gbs, 4) if card.memory_bandwidth_gbs else "–"
    if report.price is None or report.hourly is None or report.currency != "CNY":
        return [card.gpu_model, rate, bandwidth, w("not published", "未公布"), "–"]
    each = f"{card.fp64_tflops / float(report.hourly):.3f}" if card.fp64_tflops else "–"
    return [card.gpu_model, rate, bandwidth, w.price(report.hourly, "hour", report.currency), each]
