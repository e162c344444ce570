"""Comparisons as one table, with a first line that says where the difference lies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent.writing.facts import value_word
from agent.writing.glossary import field_name
from agent.writing.words import Words, short_model, table
from knowledge.catalog import Catalog
from knowledge.rows import Gpu
from tools.contracts.base import Scalar
from tools.contracts.cost import CostReport
from tools.contracts.lookup import Comparison, ComparisonRow
from tools.contracts.throughput import ThroughputReport

_HEADLINE_FIELDS = (
    "memory_bandwidth_gbs", "memory_gib", "bf16_tflops", "fp16_tflops", "from_hourly", "hourly_per_gpu",
    "hourly", "gpu_memory_gib", "vcpu",
)  # fmt: skip
_SAID = 3
_EQUAL = 1.05  # a smaller ratio of prices decides nothing
_FIELD_OF_TOPIC = {
    "fp64": "fp64_tflops",
    "fp8": "fp8_tflops",
    "nvlink": "nvlink_gbs",
    "hbm": "memory_bandwidth_gbs",
}


def comparison_sections(
    w: Words, report: Comparison, speeds: Sequence[ThroughputReport] = (), topics: Sequence[str] = ()
) -> list[str]:
    """Things side by side; rows that are equal or empty for all are left out of a long table."""
    rows = [row for row in report.rows if any(value is not None for value in row.values)]
    cells = [[_label(w, row), *(_cell(w, row, index) for index in range(len(report.names)))] for row in rows]
    if len(speeds) == len(report.names):
        cells.append(_speed_row(w, speeds))
    return [_first_line(w, report, topics), table(["", *report.names], cells)]


def price_ratio_line(w: Words, quotes: Sequence[CostReport], catalog: Catalog) -> str:
    """What one card costs of another: the gain in speed from which the dearer one is the better buy."""
    priced = sorted(
        {
            (float(quote.price.amount) / max(1.0, row.gpu_count), row.gpu_model)
            for quote in quotes
            if quote.price is not None and quote.price.currency == "CNY"
            for row in [catalog.instance(quote.instance_type)]
        }
    )
    if len(priced) < 2:
        return ""
    high, dear = priced[-1]
    kin = dear.split("-")[0]  # another memory size of the same card is no alternative in speed
    others = [(low, name) for low, name in priced[:-1] if name.split("-")[0] != kin]
    ratios = [(w.num(high / low, 3), name) for low, name in others if high / low >= _EQUAL]
    if not ratios:
        return ""
    if all(_slower(catalog.gpu(dear), catalog.gpu(name)) for _, name in ratios):
        said = w.listed(w(f"{ratio} times the {name}", f"{name} 的 {ratio} 倍") for ratio, name in ratios)
        return w(
            f"**Per yuan:** the {dear} costs {said} and is slower, so it gives less for the money.",
            f"**每元算力**：{dear} 的单卡价是 {said}，却更慢，性价比更低。",
        )
    said = w.listed(w(f"{ratio} times the {name}", f"{name} 的 {ratio} 倍") for ratio, name in ratios)
    return w(
        f"**Per yuan:** one {dear} costs {said}; it is the better buy where your work runs faster "
        "by more than that.",
        f"**每元算力**：{dear} 的单卡价是 {said}；你的任务提速超过这个倍数时，它的性价比更高。",
    )


def _slower(one: Gpu, other: Gpu) -> bool:
    pairs = (
        (one.fp16_tflops, other.fp16_tflops),
        (one.fp32_tflops, other.fp32_tflops),
        (one.memory_bandwidth_gbs, other.memory_bandwidth_gbs),
    )
    return all(a is not None and b is not None and a < b for a, b in pairs)


def _first_line(w: Words, report: Comparison, topics: Sequence[str]) -> str:
    """The differences that the question is about, then the usual ones, as ratios of lowest and highest."""
    fields = [*(_FIELD_OF_TOPIC[topic] for topic in topics if topic in _FIELD_OF_TOPIC), *_HEADLINE_FIELDS]
    rows = _ordered(report.rows, dict.fromkeys(fields))
    said = [text for row in rows if (text := _ratio(w, row, report.names))][:_SAID]
    if not said:
        return w(f"**{w.listed(report.names)}** side by side:", f"**{w.listed(report.names)}** 对比：")
    return w(
        f"**{' / '.join(report.names)}**: {'; '.join(said)}.",
        f"**{' / '.join(report.names)}**：{'；'.join(said)}。",
    )


def _ordered(rows: Sequence[ComparisonRow], fields: Iterable[str]) -> list[ComparisonRow]:
    by_field = {row.field: row for row in rows}
    return [by_field[field] for field in fields if field in by_field]


def _ratio(w: Words, row: ComparisonRow, names: Sequence[str]) -> str:
    numbers = [
        (float(value), name)
        for value, name in zip(row.values, names, strict=True)
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    ]
    if len(numbers) < 2:
        return ""
    low, high = min(numbers), max(numbers)
    if high[0] / low[0] < 1.05:
        return ""
    unit = f" {_unit(w, row.unit)}" if row.unit else ""
    what = field_name(w, row.field)
    return w(
        f"{what} {w.num(high[0], 4)}{unit} on {high[1]} against {w.num(low[0], 4)} on {low[1]} "
        f"({w.num(high[0] / low[0], 2)}×)",
        f"{what} {high[1]} 为 {w.num(high[0], 4)}{unit}，{low[1]} 为 "
        f"{w.num(low[0], 4)}（{w.num(high[0] / low[0], 2)} 倍）",
    )


def _label(w: Words, row: ComparisonRow) -> str:
    name = field_name(w, row.field)
    return f"{name} ({_unit(w, row.unit)})" if row.unit else name


def _unit(w: Words, unit: str) -> str:
    return w(unit, unit.replace("CNY/h", "元/小时"))


def _cell(w: Words, row: ComparisonRow, index: int) -> str:
    text = _value(w, row.values[index])
    return f"**{text}**" if row.best == index else text


def _value(w: Words, value: Scalar) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return w("yes" if value else "no", "是" if value else "否")
    if isinstance(value, int | float):
        return w.num(value, 5)
    return value_word(w, value)


def _speed_row(w: Words, speeds: Sequence[ThroughputReport]) -> list[str]:
    first = speeds[0]
    label = w(
        f"{short_model(first.model)}, {first.weight_precision}: tokens/s at {first.concurrency} in flight",
        f"{short_model(first.model)}，{first.weight_precision}：{first.concurrency} 并发 tokens/s",
    )
    cells = [
        f"{w.num(item.output_tokens_per_s)} "
        f"({w.span(item.output_tokens_per_s_low, item.output_tokens_per_s_high)})"
        for item in speeds
    ]
    return [label, *cells]
