"""An answer as JSON values: the form of `--json`, `--batch` and the API."""

from __future__ import annotations

import dataclasses
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
        "reports": [{"tool": item.tool, "report": report_values(item.report)} for item in answer.reports],
        "sources": [source.model_dump(mode="json") for source in answer.sources],
        "seconds": round(answer.seconds, 4),
        "model": answer.model,
        "notices": [dataclasses.asdict(notice) for notice in answer.notices],
        "usage": answer.usage,
        "model_calls": [dataclasses.asdict(call) for call in answer.model_calls],
    }


def failure_values(failure: Failed) -> dict[str, Any]:
    """A failed answer in the place of one."""
    if failure.fault is not None:
        return {"error": failure.fault}
    return {"error": {"kind": "failed", "text": failure.text, "reference": failure.reference}}


def report_values(report: object) -> Any:
    """Any artifact of a run as JSON values."""
    if isinstance(report, BaseModel):
        return report.model_dump(mode="json")
    if dataclasses.is_dataclass(report) and not isinstance(report, type):
        return {
            field.name: report_values(getattr(report, field.name)) for field in dataclasses.fields(report)
        }
    if isinstance(report, list | tuple):
        return [report_values(item) for item in report]
    return report
