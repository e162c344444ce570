"""What was understood, as a form: each value with where it comes from, to be changed and calculated anew."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any, get_args

from agent.events import Answer
from agent.reading.types import Language, Slot
from agent.writing.glossary import entries, field_name
from agent.writing.words import Words, short_model
from knowledge.catalog import Catalog
from tools.contracts.base import Assumption, Scalar
from tools.contracts.sizing import Budget, Objective, Task
from ui.texts import panel_word

_TRAINING = frozenset({"finetune", "pretrain"})
_PICTURES = frozenset({"diffusion", "video", "vision"})
_NO_MODEL = frozenset({"graphics", "transcoding", "hpc", "development"})
_FIRST = ("task", "model", "params_b", "precision")
_SERVING = ("engine", "context_tokens", "input_tokens", "output_tokens", "concurrency", "users")
_TUNING = ("method", "sequence_length", "micro_batch", "dataset_tokens", "epochs", "deadline_hours")
_IMAGES = ("resolution", "batch", "frames")
_BUYING = (
    "gpu_wanted", "gpu_count", "instance_wanted", "regions", "budget", "purchase", "hours_per_month",
    "objective",
)  # fmt: skip
# Assumptions of reports by the slot that sets them.
_SLOT_OF = {
    "region": "regions",
    "gpu": "gpu_wanted",
    "weight_precision": "precision",
    "tokens": "dataset_tokens",
}
_ALWAYS_SHOWN = frozenset({"gpu_wanted", "budget"})  # what people change first, said or not
_NOT_SHOWN = frozenset({"include_unpriced", "allow_derived_prices", "cny_per_usd"})
_LISTED = {"model": "models", "gpu_wanted": "gpus", "regions": "regions", "precision": "precisions",
           "engine": "engines"}  # fmt: skip
_ENGINES = ("vllm", "sglang", "tensorrt-llm", "lmdeploy", "tgi", "llama.cpp", "transformers")
_METHODS = ("full", "lora", "qlora", "freeze", "pretrain")
_PURCHASES = (
    "payg",
    "spot",
    "subscription_1m",
    "subscription_1y",
    "subscription_3y",
    "savings_plan_universal",
)


@dataclass(frozen=True)
class Row:
    """One line of the form. `origin` is said, assumed, by_hand or open."""

    field: str
    value: str
    origin: str
    detail: str = ""


def name_lists(catalog: Catalog) -> str:
    """Known names for the fields that take one, once for the whole page."""
    lists: dict[str, Iterable[str]] = {
        "models": (row.model_id.rsplit("/", 1)[-1] for row in catalog.models),
        "gpus": sorted({row.gpu_model for row in catalog.instances if row.status == "current"}),
        "regions": (row.region_id for row in catalog.regions),
        "precisions": (row.name for row in catalog.precisions if not row.name.startswith("kv-")),
        "engines": _ENGINES,
    }
    return "".join(
        f"<datalist id='known-{key}'>"
        + "".join(f"<option value='{escape(name)}'></option>" for name in dict.fromkeys(names))
        + "</datalist>"
        for key, names in lists.items()
    )


def form_html(answer: Answer) -> str:
    """The form of an answer; "" where nothing was understood that could be changed."""
    w = Words(answer.language)
    rows = form_rows(answer)
    if all(row.origin == "open" or row.field == "task" for row in rows):
        return ""
    shown = "".join(_line(w, row) for row in rows if not _folded(row))
    more = "".join(_line(w, row) for row in rows if _folded(row))

    def say(key: str) -> str:
        return escape(panel_word(key, answer.language))

    folded = f"<details><summary>{say('more')}</summary><div class='slots'>{more}</div></details>"
    return (
        f"<form class='panel assumptions' lang='{answer.language}' autocomplete='off'>"
        f"<h3>{say('understood')}</h3><p class='hint'>{say('change_hint')}</p>"
        f"<div class='slots'>{shown}</div>{folded if more else ''}"
        f"<div class='act'><button type='submit'>{say('recompute')}</button>"
        f"<span class='none' hidden role='status'>{say('nothing_changed')}</span></div></form>"
    )


def _folded(row: Row) -> bool:
    return row.origin == "open" and row.field not in _ALWAYS_SHOWN


def form_rows(answer: Answer) -> list[Row]:
    """Every value that can be changed, those that the question gave first."""
    reading = answer.reading
    assumed = _assumed(answer)
    fields = [*_fields_of(reading.request.task), *(name for name in reading.slots if name not in _NOT_SHOWN)]
    rows = []
    for field in dict.fromkeys(fields):
        slot = reading.slots.get(field)
        if slot is not None:
            rows.append(_said(field, slot, reading.request.budget, answer.language))
        elif field in assumed:
            rows.append(_taken(assumed[field], field, answer.language))
        elif field == "task":
            rows.append(Row("task", reading.request.task, "assumed"))
        elif not (field == "params_b" and "model" in reading.slots):
            rows.append(Row(field, "", "open"))
    order = {"by_hand": 0, "said": 0, "assumed": 1, "open": 2}
    return sorted(rows, key=lambda row: order[row.origin])


def changes_text(slots: Mapping[str, object], language: Language) -> str:
    """Changed slots in a line, for the bubble in the chat."""
    w = Words(language)
    parts = []
    for name, value in slots.items():
        text = str(value).strip()
        shown = _worded(w, name, text) if text else panel_word("as_assumed", language)
        parts.append(f"{field_name(w, name)} → {shown}")
    return f"{panel_word('recompute', language)}: {w('; ', '；').join(parts)}"


def _fields_of(task: str) -> list[str]:
    if task in _TRAINING:
        return [*_FIRST, *_TUNING, *_BUYING]
    if task in _PICTURES:
        return [*_FIRST, *_IMAGES, *_BUYING]
    return ["task", "users", *_BUYING] if task in _NO_MODEL else [*_FIRST, *_SERVING, *_BUYING]


def _assumed(answer: Answer) -> dict[str, Assumption]:
    """Assumptions of the recommendation, then of the other reports, by the slot that changes them."""
    found: dict[str, Assumption] = {}
    reports: list[Any] = [answer.recommendation, *(item.report for item in answer.reports)]
    for report in reports:
        for assumption in getattr(report, "assumptions", None) or ():
            found.setdefault(_SLOT_OF.get(assumption.field, assumption.field), assumption)
    best = answer.recommendation.options[:1] if answer.recommendation else ()
    taken = found.get("precision")
    if taken is not None and best and best[0].precision_rung > 0:  # the limits forbade the one assumed first
        used = {"value": best[0].precision, "reason": "within_limits"}
        found["precision"] = taken.model_copy(update=used)
    return found


def _said(field: str, slot: Slot, budget: Budget | None, language: Language) -> Row:
    value = _budget_words(budget) if field == "budget" and budget is not None else _plain(slot.value)
    value = short_model(value) if field == "model" else value
    if slot.by_hand:
        return Row(field, value, "by_hand", panel_word("by_hand", language))
    return Row(field, value, "said", f"{panel_word('said', language)} · {slot.confidence * 100:.0f}%")


def _taken(assumption: Assumption, field: str, language: Language) -> Row:
    reason = entries("reasons").get(assumption.reason, {}).get(language, "")
    word = panel_word("assumed", language)
    return Row(field, _plain(assumption.value), "assumed", f"{word}: {reason}" if reason else word)


def _plain(value: Scalar | tuple[str, ...]) -> str:
    """A value as it may be typed again."""
    if isinstance(value, tuple):
        return ", ".join(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.10g}"
    return "" if value is None else str(value)


def _budget_words(budget: Budget) -> str:
    amount = f"{budget.amount:f}"
    return f"{amount} {budget.currency} " + (
        "in total" if budget.period == "total" else f"per {budget.period}"
    )


def _line(w: Words, row: Row) -> str:
    name = escape(row.field)
    origin = (
        f"<span class='origin {row.origin}' id='from-{name}'>{escape(row.detail)}</span>"
        if row.detail
        else ""
    )
    return (
        f"<div class='slot'><label for='slot-{name}'>{escape(field_name(w, row.field))}</label>"
        f"{_control(w, row)}{origin}</div>"
    )


def _control(w: Words, row: Row) -> str:
    name, value = escape(row.field), escape(row.value, quote=True)
    common = f"id='slot-{name}' name='{name}' data-was='{value}'" + (
        f" aria-describedby='from-{name}'" if row.detail else ""
    )
    choices = _choices(row.field)
    if choices:
        options = [*([] if row.value in choices else [row.value]), *choices, *([""] if row.value else [])]
        tags = "".join(_option(w, row, item) for item in dict.fromkeys(options))
        return f"<select {common}>{tags}</select>"
    known = f" list='known-{_LISTED[row.field]}'" if row.field in _LISTED else ""
    return f"<input type='text' maxlength='200' {common} value='{value}'{known}>"


def _option(w: Words, row: Row, item: str) -> str:
    text = _worded(w, row.field, item) if item else panel_word("as_assumed", w.language)
    chosen = " selected" if item == row.value else ""
    return f"<option value='{escape(item)}'{chosen}>{escape(text)}</option>"


def _choices(field: str) -> tuple[str, ...]:
    return {
        "task": get_args(Task),
        "objective": get_args(Objective),
        "method": _METHODS,
        "purchase": _PURCHASES,
        "needs_nvlink": ("yes", "no"),
        "bare_metal": ("yes", "no"),
        "allow_quantization": ("yes", "no"),
    }.get(field, ())


def _worded(w: Words, field: str, value: str) -> str:
    if field == "purchase":
        return w.purchase(value)
    if field == "objective":
        return panel_word(value, w.language) if value in get_args(Objective) else value
    if field == "task":
        return entries("tasks").get(value, {}).get(w.language, value)
    if value in ("yes", "no"):
        return w(value, "是" if value == "yes" else "否")
    return value
