"""The wording of stable codes: remarks, assumption reasons and field names, from `glossary.toml`."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

from agent.writing.words import Words, plain, short_model
from tools.contracts.base import Assumption, Remark, Scalar

_FILE = Path(__file__).with_name("glossary.toml")

Entries = dict[str, dict[str, str]]


@cache
def entries(part: str) -> Entries:
    """One part (`remarks`, `reasons`, `fields`, `advice`, `declined` …): code -> {"en": ..., "zh": ...}."""
    with _FILE.open("rb") as file:
        table: dict[str, Entries] = tomllib.load(file)
    return table[part]


def remark_text(w: Words, remark: Remark) -> str:
    """A remark in words, its figures filled in; the short wording where a figure is not known."""
    entry = entries("remarks").get(remark.code)
    if entry is None:
        return _bare(remark.code, remark.params, w)
    values = {key: _shown(key, value, w) for key, value in remark.params.items() if value not in (None, "")}
    missing = set(re.findall(r"\{(\w+)\}", entry[w.language])) - set(values)
    text = entry.get(f"{w.language}_bare", entry[w.language]) if missing else entry[w.language]
    return re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], "–"), text)


def assumption_text(w: Words, assumption: Assumption) -> str:
    """`field: value (reason)` in words."""
    field = entries("fields").get(assumption.field, {}).get(w.language, assumption.field.replace("_", " "))
    value = _shown(assumption.field, assumption.value, w)
    reason = entries("reasons").get(assumption.reason, {}).get(w.language, "")
    text = f"{field} {value}"
    return w(f"{text} ({reason})", f"{text}（{reason}）") if reason else text


def slot_text(w: Words, name: str, value: str | int | float | bool | tuple[str, ...]) -> str:
    """The value of a slot as the user may read it back."""
    if isinstance(value, tuple):
        return w.listed(value)
    if name == "params_b":
        return f"{value:g}B" if isinstance(value, int | float) else str(value)
    if isinstance(value, str) and name == "model":
        return short_model(value)
    if isinstance(value, str) and name == "task":
        return entries("tasks").get(value, {}).get(w.language, value)
    return _shown(name, value, w)


def field_name(w: Words, field: str) -> str:
    return entries("fields").get(field, {}).get(w.language, field.replace("_", " "))


def _shown(key: str, value: Scalar, w: Words) -> str:
    if isinstance(value, bool):
        return w("yes" if value else "no", "是" if value else "否")
    if isinstance(value, int | float):
        if key.endswith(("gib", "gib_per_gpu")):
            return w.gib(value)
        if key.endswith("_ms"):
            return w.ms(value)
        if key.endswith("cny"):
            return plain(value, 5)
        return plain(value, 6) if float(value).is_integer() else plain(value, 4)
    if value is None:
        return w("none", "无")
    if key.endswith("precision"):
        return w.precision(value)
    if key == "field":
        return field_name(w, value)
    if key == "purchase":
        return w.purchase(value)
    if key == "gpu":
        return w.card(value)
    return value


def _bare(code: str, params: dict[str, Scalar], w: Words) -> str:
    """A code that the glossary lacks, still readable; a test keeps this from happening."""
    text = code.replace("_", " ")
    shown = ", ".join(f"{key} {_shown(key, value, w)}" for key, value in params.items())
    return f"{text} ({shown})" if shown else text
