"""The first line of a comparison of cards: which one gives the most for the money, and in what."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from agent.planner.requests import is_training, mentioned
from agent.steps import Case
from agent.writing.words import Words
from knowledge.rows import Gpu, Instance
from tools.contracts.cost import CostReport
from tools.contracts.lookup import Comparison
from tools.contracts.throughput import ThroughputReport
from tools.contracts.training import TrainingTimeReport

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
    """What counts per yuan on each side, the best first; the faster one where a price is missing. Gain is the
    computed speed of the work named, else the FP64 or 16-bit rate, or for decoding the memory bandwidth."""
    if case.reading.request.task in _OTHER_MEASURE:
        return ""
    sides = _sides(case, report)
    if len(sides) > 1 and len({(side.gpu.gpu_model, side.count) for side in sides}) == 1:
        return _same_gpu(w, sides[0].gpu.gpu_model, report.names)
    unit, cards = _cards(w, case, sides)
    if len(cards) < 2 or not all(card.gain for card in cards):
        return ""
    fastest = sorted(cards, key=lambda card: -card.gain)
    priced = [card for card in cards if card.price]
    if len(priced) < len(cards):
        missing = w.listed(card.name for card in cards if not card.price)
        lead = fastest[0].gain / fastest[1].gain
        if lead < _DRAW:
            names = w.listed(card.name for card in cards)
            return w(
                f"**About as fast: {names}** ({unit} within {w.percent(lead - 1)}). No price of {missing} is "
                "published here, so value for money cannot be compared.",
                f"**速度相近：{names}**（{unit}相差 {w.percent(lead - 1)} 以内）。{missing} 没有公开价格，"
                "无法比较性价比。",
            )
        return w(
            f"**Faster: {fastest[0].name}**, {w.num(lead, 2)} times the {fastest[1].name} in {unit}. No "
            f"price of {missing} is published here, so value for money cannot be compared.",
            f"**更快的是 {fastest[0].name}**：{unit}是 {fastest[1].name} 的 {w.num(lead, 2)} 倍。{missing} "
            "没有公开价格，无法比较性价比。",
        )
    best, second = sorted(priced, key=lambda card: -card.gain / (card.price or 1))[:2]
    return _line(w, unit, best, second, fastest[0])


def _same_gpu(w: Words, gpu: str, names: Sequence[str]) -> str:
    bare = [name for name in names if name.removeprefix("ecs.").startswith("ebm")]
    machine = (
        w(
            f" {w.listed(bare)} is bare metal, the whole machine; the other virtual, also with fewer GPUs.",
            f"{w.listed(bare)} 是裸金属整机，另一个是虚拟化实例，可只要部分 GPU。",
        )
        if bare and len(bare) < len(names)
        else ""
    )
    return w(
        f"**The GPU is the same, {gpu}**: what differs is the machine around it.{machine}",
        f"**GPU 相同，都是 {gpu}**：区别在卡以外的部分。{machine}",
    )


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


@dataclass(frozen=True)
class _Side:
    """One of the things compared: its card, how many of it count, and which priced types stand for it."""

    label: str
    gpu: Gpu
    count: int
    stands_for: Callable[[Instance], bool]


def _sides(case: Case, report: Comparison) -> list[_Side]:
    """The cards behind the things compared; none where one of them has no card of its own."""
    catalog = case.catalog
    counts = {mention.name: mention.count or 1 for mention in mentioned(case.reading, "gpu")}
    sides = []
    for name in report.names:
        if report.kind == "gpu":
            count = counts.get(name, 1)
            label = f"{count} × {name}" if count > 1 else name
            sides.append(_Side(label, catalog.gpu(name), count, partial(_has_card, name)))
        elif report.kind == "family":
            card = catalog.in_family(name)[0].gpu_model
            sides.append(_Side(f"{name} ({card})", catalog.gpu(card), 1, partial(_in_family, name)))
        elif report.kind == "instance" and catalog.instance(name).whole_gpus:
            row = catalog.instance(name)
            cards = f"{row.whole_gpus} × {row.gpu_model}"
            side = _Side(f"{name} ({cards})", catalog.gpu_of(row), row.whole_gpus, partial(_is_type, name))
            sides.append(side)
        else:
            return []
    return sides


def _has_card(name: str, row: Instance) -> bool:
    return row.gpu_model == name


def _in_family(name: str, row: Instance) -> bool:
    return row.family == name


def _is_type(name: str, row: Instance) -> bool:
    return row.instance_type == name


def held_speeds(speeds: Sequence[ThroughputReport]) -> Sequence[ThroughputReport]:
    """The speeds of a comparison; none where the work does not fit one of its sides."""
    return speeds if all(item.max_concurrency for item in speeds) else ()


def _cards(w: Words, case: Case, sides: list[_Side]) -> tuple[str, list[_Card]]:
    """The unit of what counts, and each side with its gain and price."""
    speeds = [item.output_tokens_per_s for item in held_speeds(case.done.all(ThroughputReport))]
    trained = [speed.tokens_per_s_per_gpu * speed.gpu_count for speed in case.done.all(TrainingTimeReport)]
    if len(speeds) == len(sides):
        unit, gains = w("tokens/s", "tokens/s"), speeds
    elif len(trained) == len(sides) and all(trained):
        unit, gains = w("training tokens/s", "tokens/s（训练）"), trained
    else:
        unit, rate = _rate(w, case)
        gains = [(rate(side.gpu) or 0.0) * side.count for side in sides]
    return unit, [
        _Card(side.label, gain, *_price(case, side)) for side, gain in zip(sides, gains, strict=True)
    ]


def _rate(w: Words, case: Case) -> tuple[str, Callable[[Gpu], float | None]]:
    """The unit and figure of a card that decide for this work where no speed was calculated."""
    request, topics = case.reading.request, set(case.reading.topics)
    if request.task == "hpc" or "fp64" in topics:
        return w("TFLOPS of FP64", "TFLOPS（FP64）"), lambda row: row.fp64_tflops
    if is_training(case.reading) or request.task in ("diffusion", "video", "vision"):
        return w("dense 16-bit TFLOPS", "TFLOPS（16 位稠密）"), lambda row: row.bf16_tflops or row.fp16_tflops
    return w("GB/s of memory bandwidth", "GB/s（显存带宽）"), lambda row: row.memory_bandwidth_gbs


def _price(case: Case, side: _Side) -> tuple[float | None, bool]:
    """CNY per hour of all cards of a side: the list price, else a quote; None without either."""
    best: tuple[float, bool] | None = None
    for report in case.done.all(CostReport, "beside"):
        row = case.catalog.instance(report.instance_type)
        found = _amount(report)
        if not side.stands_for(row) or not row.whole_gpus or found is None:
            continue
        each = found[0] * side.count / row.whole_gpus
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
