"""Comparisons as one table, with a first line that says where the difference lies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent.writing.facts import value_word
from agent.writing.glossary import field_name
from agent.writing.words import Words, short_model, table
from tools.contracts.base import Scalar
from tools.contracts.lookup import Comparison, ComparisonRow
from tools.contracts.throughput import ThroughputReport

_HEADLINE_FIELDS = (
    "memory_bandwidth_gbs", "memory_gib", "bf16_tflops", "fp16_tflops", "from_hourly", "hourly",
    "gpu_memory_gib", "vcpu",
)  # fmt: skip
_SAID = 3
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
