"""An answer as JSON values: the form of `--json`, `--batch` and the API."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from agent.events import Answer, Failed


def answer_values(answer: Answer) -> dict[str, Any]:
    """The answer with its reading, recommendation, reports and sources; money as plain numbers."""
    return {
        "text": answer.text,
        "language": answer.language,
        "reading": answer.reading.model_dump(mode="json"),
        "recommendation": answer.recommendation.model_dump(mode="json") if answer.recommendation else None,
        "reports": [{"tool": item.tool, "report": plain(item.report)} for item in answer.reports],
        "sources": [source.model_dump(mode="json") for source in answer.sources],
        "seconds": round(answer.seconds, 4),
        "model": answer.model,
        "notices": [plain(notice) for notice in answer.notices],
        "usage": answer.usage,
        "model_calls": [plain(call) for call in answer.model_calls],
    }


def failure_values(failure: Failed) -> dict[str, Any]:
    """A failed answer in the place of one."""
    if failure.fault is not None:
        return {"error": failure.fault}
    return {"error": {"kind": "failed", "text": failure.text, "reference": failure.reference}}


def plain(value: object) -> Any:
    """A report, an event or any part of one as JSON values."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool | type(None)) else str(value)
