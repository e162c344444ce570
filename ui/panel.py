"""The panel beside the chat: options side by side, memory bars, sources. Plain HTML.

Every figure comes from a report of the answer; every text is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from agent.events import Answer
from agent.writing.words import Words
from tools.contracts.base import SourceRef
from tools.contracts.compare import CompareLogReport
from tools.contracts.memory import MemoryReport
from tools.contracts.other import OtherMemoryReport
from tools.contracts.sizing import Option
from tools.contracts.throughput import ThroughputReport
from tools.contracts.training import TrainingMemoryReport, TrainingTimeReport
from ui.texts import panel_word

AnyMemory = MemoryReport | TrainingMemoryReport | OtherMemoryReport
_MOST_OPTIONS = 4
_MOST_SOURCES = 8
_LONGEST_TITLE = 160


@dataclass(frozen=True)
class Bar:
    """One memory bar: named parts in GiB against the usable memory of one GPU."""

    title: str
    parts: tuple[tuple[str, float], ...]
    usable_gib: float | None

    @property
    def total_gib(self) -> float:
        return sum(size for _name, size in self.parts)


def empty_panel() -> str:
    """What stands in the panel before the first question, in both languages."""
    words = "".join(f"<p>{escape(panel_word('empty', language))}</p>" for language in ("en", "zh"))
    return f'<div class="panel panel-empty">{words}</div>'


def panel_html(answer: Answer) -> str:
    """The whole panel of an answer; the empty one where the answer rests on no report."""
    words = Words(answer.language)
    options = _options(answer)
    sections = [
        _section("options", options_table(options, words), words) if options else "",
        _section("memory", memory_bars(_bars(answer, words), words), words),
        _section("sources", _sources(answer.sources, words), words),
    ]
    body = "".join(sections)
    return f'<div class="panel" lang="{answer.language}">{body}</div>' if body else empty_panel()


def options_table(options: Sequence[Option], words: Words) -> str:
    """A table with one column per option."""
    say = _say(words)
    rows: list[tuple[str, list[str]]] = [
        (say("gpus"), [_gpus(option) for option in options]),
        (say("precision"), [words.precision(option.precision) for option in options]),
        (say("plan"), [_plan(option) for option in options]),
        (say("price"), [_price(option, words) for option in options]),
        (say("month"), [_month(option, words) for option in options]),
        (say("speed"), [_speed(option, words) for option in options]),
        (say("headroom"), [_headroom(option, words) for option in options]),
    ]
    head = "".join(f"<th scope='col'>{_name(option, words)}</th>" for option in options)
    body = "".join(
        f"<tr><th scope='row'>{escape(label)}</th>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for label, cells in rows
        if any(cell != "–" for cell in cells)
    )
    corner = f"<th>{escape(say('instance'))}</th>"
    return (
        f"<div class='scroll' tabindex='0'><table><thead><tr>{corner}{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def memory_bars(bars: Sequence[Bar], words: Words) -> str:
    """Stacked bars, one per option or report, all on one scale, each with its figures as text."""
    if not bars:
        return ""
    scale = max(max(bar.total_gib, bar.usable_gib or 0.0) for bar in bars) or 1.0
    names = list(dict.fromkeys(name for bar in bars for name, _size in bar.parts))
    shade = {name: number % 6 for number, name in enumerate(names)}
    legend = "".join(f"<span class='key shade-{shade[name]}'>{escape(name)}</span>" for name in names)
    return f"<div class='legend'>{legend}</div>" + "".join(_bar(bar, scale, shade, words) for bar in bars)


def _bar(bar: Bar, scale: float, shade: dict[str, int], words: Words) -> str:
    say = _say(words)
    fills = "".join(
        f"<span class='fill shade-{shade[name]}' style='width:{100 * size / scale:.2f}%' "
        f"title='{escape(name)} {words.gib(size)}'></span>"
        for name, size in bar.parts
        if size > 0
    )
    figures = f"{words.gib(bar.total_gib)}"
    mark = ""
    if bar.usable_gib is not None:
        figures += f" / {words.gib(bar.usable_gib)} {say('usable')}"
        mark = f"<span class='mark' style='left:{100 * bar.usable_gib / scale:.2f}%'></span>"
        if bar.total_gib > bar.usable_gib:
            figures += f" · {say('over')}"
    parts = words.listed(f"{name} {words.gib(size)}" for name, size in bar.parts if size > 0)
    head = f"<strong>{escape(bar.title)}</strong><span>{escape(figures)}</span>"
    return (
        f"<div class='bar'><div class='bar-head'>{head}</div>"
        f"<div class='track' role='img' aria-label='{escape(parts)}'>{fills}{mark}</div>"
        f"<div class='bar-parts'>{escape(parts)}</div></div>"
    )


def _bars(answer: Answer, words: Words) -> list[Bar]:
    """Bars of the options, or else of the memory reports of the answer."""
    titled = [(_short(option), option.memory) for option in _options(answer)]
    if not titled:
        titled = [
            (report.report.gpu or report.report.model, report.report)
            for report in answer.reports
            if isinstance(report.report, MemoryReport | TrainingMemoryReport | OtherMemoryReport)
        ]
        compared = [item.report for item in answer.reports if isinstance(item.report, CompareLogReport)]
        titled += [
            (item.estimate.gpu or item.estimate.model, item.estimate) for item in compared if item.estimate
        ]
    return [
        Bar(title, memory_parts(memory, words), memory.usable_gib_per_gpu)
        for title, memory in titled[:_MOST_OPTIONS]
        if memory is not None
    ]


def memory_parts(memory: AnyMemory, words: Words) -> tuple[tuple[str, float], ...]:
    """The named parts of a memory report in GiB per GPU; they sum to its total."""
    say = _say(words)
    if isinstance(memory, MemoryReport):
        return (
            (say("weights"), memory.weights_gib_per_gpu),
            (say("kv"), memory.kv_cache_gib_per_gpu),
            (say("activation"), memory.activation_gib_per_gpu),
            (say("overhead"), memory.overhead_gib_per_gpu),
        )
    if isinstance(memory, TrainingMemoryReport):
        return (
            (say("parameters"), memory.parameters_gib),
            (say("gradients"), memory.gradients_gib),
            (say("optimizer"), memory.optimizer_gib),
            (say("activations"), memory.activations_gib),
            (say("logits"), memory.logits_gib),
            (say("overhead"), memory.overhead_gib),
        )
    return tuple((name.replace("_", " "), size) for name, size in memory.parts_gib.items())


def _options(answer: Answer) -> list[Option]:
    found = answer.recommendation
    return list((found.options or found.fallback)[:_MOST_OPTIONS]) if found else []


def _name(option: Option, words: Words) -> str:
    count = f"{option.count} × " if option.count > 1 else ""
    labels = "".join(
        f"<span class='label'>{escape(panel_word(label, words.language))}</span>" for label in option.labels
    )
    return f"{escape(count + option.instance_type)}<div class='labels'>{labels}</div>"


def _short(option: Option) -> str:
    count = f"{option.count} × " if option.count > 1 else ""
    return f"{count}{option.instance_type.removeprefix('ecs.')} · {option.precision}"


def _gpus(option: Option) -> str:
    return f"{option.gpu_count * option.count} × {option.gpu_model} ({option.gpu_memory_gib:g} GiB)"


def _plan(option: Option) -> str:
    plan = option.plan
    degrees = (("TP", plan.tensor_parallel), ("PP", plan.pipeline_parallel), ("DP", plan.data_parallel))
    text = " × ".join(f"{name}{degree}" for name, degree in degrees if degree > 1)
    if plan.zero_stage:
        text = f"{text} ZeRO-{plan.zero_stage}".strip()
    return text or "–"


def _price(option: Option, words: Words) -> str:
    if option.hourly_cny is None:
        return panel_word("no_price", words.language)
    return f"{words.price(option.hourly_cny)} · {option.region}"


def _month(option: Option, words: Words) -> str:
    return words.price(option.monthly_cny, "month") if option.monthly_cny is not None else "–"


def _speed(option: Option, words: Words) -> str:
    speed, say = option.speed, _say(words)
    if isinstance(speed, ThroughputReport):
        low, high = speed.output_tokens_per_s_low, speed.output_tokens_per_s_high
        return f"{words.num(speed.output_tokens_per_s)} ({words.span(low, high)}) {say('tokens_per_s')}"
    if isinstance(speed, TrainingTimeReport):
        return f"{words.num(speed.tokens_per_s_per_gpu)} {say('tokens_per_s')} {say('per_gpu')}"
    return "–"


def _headroom(option: Option, words: Words) -> str:
    memory = option.memory
    return words.gib(memory.margin_gib) if memory and memory.margin_gib is not None else "–"


def _sources(sources: Iterable[SourceRef], words: Words) -> str:
    shown = list(dict.fromkeys((source.title, source.as_of) for source in sources))[:_MOST_SOURCES]
    undated = panel_word("undated", words.language)
    items = [
        f"<li title='{escape(title)}'>{escape(_shortened(title))} "
        f"<span class='date'>{escape(as_of or undated)}</span></li>"
        for title, as_of in shown
    ]
    return f"<ul>{''.join(items)}</ul>" if items else ""


def _shortened(title: str) -> str:
    return title if len(title) <= _LONGEST_TITLE else title[:_LONGEST_TITLE].rsplit(" ", 1)[0] + " …"


def _section(key: str, body: str, words: Words) -> str:
    if not body:
        return ""
    return f"<section class='part-{key}'><h3>{escape(panel_word(key, words.language))}</h3>{body}</section>"


class _say:  # noqa: N801 - reads as a verb where it is used
    """Panel words of one language."""

    def __init__(self, words: Words) -> None:
        self._language = words.language

    def __call__(self, key: str) -> str:
        return panel_word(key, self._language)
