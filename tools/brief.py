"""What a language model reads of a report: a few lines of JSON."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel

from tools.contracts.base import Report
from tools.contracts.sizing import Recommendation

_LEFT_OUT = {"request", "considered", "sources", "fallback"}
_OPTION_KEYS = (
    "instance_type", "count", "gpu_model", "gpu_count", "precision", "plan", "region", "hourly_cny",
    "monthly_cny", "labels", "why",
)  # fmt: skip
_MEMORY_KEYS = (
    "weights_gib", "kv_cache_gib_per_gpu", "peak_gib_per_gpu", "total_gib_per_gpu", "usable_gib_per_gpu",
    "fits", "verdict",
)  # fmt: skip
_SPEED_KEYS = (
    "output_tokens_per_s", "output_tokens_per_s_low", "output_tokens_per_s_high", "ttft_ms", "tpot_ms",
    "hours", "hours_low", "hours_high",
)  # fmt: skip
_NOT_BRIEF = frozenset({"source", "note", "rung", "chosen", "within_limits"})
_BRIEF_CHARS = 1_600  # about 500 tokens; a model that sizes reads two reports in three calls


def brief(report: Report) -> str:
    """A report as compact JSON for a language model: set fields only, four significant digits, no sources
    or notes, the longest lists cut to their first entries until it is short."""
    values = report.model_dump(mode="json", exclude=_LEFT_OUT)
    if isinstance(report, Recommendation):
        values["options"] = [_brief_option(option) for option in values["options"]]
        shown = [] if report.options else report.fallback
        values["best_that_breaks_a_limit"] = [_brief_option(item.model_dump(mode="json")) for item in shown]
    short = _compact(values)
    while len(text := _json(short)) > _BRIEF_CHARS:
        lists = {key: item for key, item in short.items() if isinstance(item, list) and len(item) > 1}
        if not lists:
            return text[:_BRIEF_CHARS]
        longest = max(lists, key=lambda key: len(_json(lists[key])))
        short[longest] = lists[longest][: len(lists[longest]) // 2]
    return text


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _brief_option(option: dict[str, Any]) -> dict[str, Any]:
    short = {key: option[key] for key in _OPTION_KEYS}
    short["plan"] = {key: item for key, item in option["plan"].items() if item != 1}
    for part, keys in (("memory", _MEMORY_KEYS), ("speed", _SPEED_KEYS)):
        if option[part]:
            short[part] = {key: option[part][key] for key in keys if key in option[part]}
    if option["cost"] and option["cost"]["price"]:
        price = option["cost"]["price"]
        short["price"] = {key: price[key] for key in ("purchase", "amount", "currency", "unit", "as_of")}
    return short


def _compact(value: Any) -> Any:
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    if isinstance(value, dict):
        kept = {key: _compact(item) for key, item in value.items() if key not in _NOT_BRIEF}
        return {key: item for key, item in kept.items() if item not in (None, "", [], {})}
    if isinstance(value, list | tuple):
        return [_compact(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.4g}")
    return value
