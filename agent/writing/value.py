"""The first line of a comparison of cards: which one gives the most for the money, and in what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agent.planner.requests import is_training, mentioned
from agent.steps import Case
from agent.writing.words import Words
from knowledge.errors import AdvisorError
from knowledge.rows import Gpu
from tools.contracts.cost import CostReport
from tools.contracts.lookup import Comparison
from tools.contracts.throughput import ThroughputReport

_DRAW = 1.1  # a lead below this decides nothing
_QUOTED = ("quote", "live")
# Work that neither rates nor bandwidth decide: desktops, encoders.
_OTHER_MEASURE = frozenset({"graphics", "transcoding"})


@dataclass(frozen=True)
class _Card:
    name: str
    gain: float  # what counts, of all cards of this side
    price: float | None  # CNY per hour of all cards of this side
    quoted: bool


def value_line(w: Words, case: Case, report: Comparison) -> str:
    """What counts per yuan on each card, the best first; the faster one where a price is missing. Gain is the
    computed speed of the model named, else the FP64 or 16-bit rate, or for decoding the memory bandwidth."""
    if case.reading.request.task in _OTHER_MEASURE:
        return ""
    unit, cards = _cards(w, case, report)
    if len(cards) < 2 or not all(card.gain for card in cards):
        return ""
    fastest = sorted(cards, key=lambda card: -card.gain)
    priced = [card for card in cards if card.price]
    if len(priced) < len(cards):
        missing = w.listed(card.name for card in cards if not card.price)
        lead = fastest[0].gain / fastest[1].gain
        if lead < _DRAW:
            return ""
        return w(
            f"**Faster: {fastest[0].name}**, {w.num(lead, 2)} times the {fastest[1].name} in {unit}. No price "
            f"of {missing} is published here, so value for money cannot be compared.",
            f"**更快的是 {fastest[0].name}**：{unit}是 {fastest[1].name} 的 {w.num(lead, 2)} 倍。{missing} "
            "没有公开价格，无法比较性价比。",
        )
    best, second = sorted(priced, key=lambda card: -card.gain / (card.price or 1))[:2]
    return _line(w, unit, best, second, fastest[0])


def _line(w: Words, unit: str, best: _Card, second: _Card, fastest: _Card) -> str:
    lead = (best.gain / (best.price or 1)) / (second.gain / (second.price or 1))
    sides = w("; ", "；").join(_side(w, unit, card) for card in (best, second))
    if lead < _DRAW:
        return w(
            f"**{best.name} and {second.name} give about the same for the money**: {sides}.",
            f"**{best.name} 和 {second.name} 性价比相近**：{sides}。",
        )
    text = w(
        f"**Better value: {best.name}**, {w.num(lead, 2)} times the {second.name} per yuan: {sides}.",
        f"**性价比更高的是 {best.name}**，每元是 {second.name} 的 {w.num(lead, 2)} 倍：{sides}。",
    )
    if fastest.name != best.name and fastest.gain >= _DRAW * best.gain:
        text += w(f" The fastest is the {fastest.name}.", f"最快的是 {fastest.name}。")
    return text


def _side(w: Words, unit: str, card: _Card) -> str:
    price = w.price(card.price or 0, "hour", "CNY")
    kind = w(" (quote with a disk)", "（含云盘的报价）") if card.quoted else ""
    return w(
        f"{card.name} {w.num(card.gain)} {unit} for {price}{kind}",
        f"{card.name} {w.num(card.gain)} {unit}，{price}{kind}",
    )


def _cards(w: Words, case: Case, report: Comparison) -> tuple[str, list[_Card]]:
    """The unit of what counts, and each side with its gain and price."""
    counts = {mention.name: mention.count or 1 for mention in mentioned(case.reading, "gpu")}
    rows = []
    for name in report.names:
        try:
            rows.append(case.catalog.gpu(name))
        except AdvisorError:
            return "", []
    speeds = case.done.all(ThroughputReport)
    if len(speeds) == len(rows):
        unit, gains = w("tokens/s", "tokens/s"), [speed.output_tokens_per_s for speed in speeds]
    else:
        unit, rate = _rate(w, case)
        gains = [(rate(row) or 0.0) * counts.get(row.gpu_model, 1) for row in rows]
    cards = []
    for row, gain in zip(rows, gains, strict=True):
        count = counts.get(row.gpu_model, 1)
        price, quoted = _price(case, row, count)
        shown = f"{count} × {row.gpu_model}" if count > 1 else row.gpu_model
        cards.append(_Card(shown, gain, price, quoted))
    return unit, cards


def _rate(w: Words, case: Case) -> tuple[str, Callable[[Gpu], float | None]]:
    """The unit and figure of a card that decide for this work where no speed was calculated."""
    request, topics = case.reading.request, set(case.reading.topics)
    if request.task == "hpc" or "fp64" in topics:
        return w("TFLOPS of FP64", "TFLOPS（FP64）"), lambda row: row.fp64_tflops
    if is_training(case.reading) or request.task in ("diffusion", "video", "vision"):
        return w("dense 16-bit TFLOPS", "TFLOPS（16 位稠密）"), lambda row: row.bf16_tflops or row.fp16_tflops
    return w("GB/s of memory bandwidth", "GB/s（显存带宽）"), lambda row: row.memory_bandwidth_gbs


def _price(case: Case, gpu: Gpu, count: int) -> tuple[float | None, bool]:
    """CNY per hour of so many cards: the list price, else a quote; None without either."""
    best: tuple[float, bool] | None = None
    for report in case.done.all(CostReport, "beside"):
        row = case.catalog.instance(report.instance_type)
        found = _amount(report)
        if row.gpu_model != gpu.gpu_model or not row.whole_gpus or found is None:
            continue
        each = found[0] * count / row.whole_gpus
        if best is None or each < best[0]:
            best = (each, found[1])
    return best or (None, False)


def _amount(report: CostReport) -> tuple[float, bool] | None:
    if report.price is not None and report.price.currency == "CNY" and report.hourly is not None:
        return float(report.hourly) / report.count, False
    quotes = [
        float(price.amount)
        for price in report.other_published
        if price.basis in _QUOTED
        and price.purchase == "payg"
        and price.currency == "CNY"
        and price.unit == "hour"
    ]
    return (min(quotes), True) if quotes else None
