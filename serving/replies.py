"""Answers and events of the agent as JSON."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from agent.events import Answer, Event, ToolFinished
from agent.output import plain
from agent.reading.types import Intent, Language, Reading
from tools.contracts.base import SourceRef
from tools.contracts.sizing import Recommendation


class ToolReport(BaseModel):
    """A calculator's report, and the tool that made it."""

    tool: str
    report: dict[str, Any]


class ModelCallTime(BaseModel):
    """One request to the language model."""

    seconds: float
    input_tokens: int
    output_tokens: int


class ChatReply(BaseModel):
    """An answer with everything it rests on. `id` is what feedback names."""

    id: str
    text: str = Field(description="Markdown, citations included")
    language: Language
    kind: Intent
    reading: dict[str, Any] = Field(description="what was understood: the request and the words behind it")
    recommendation: Recommendation | None = None
    reports: list[ToolReport] = []
    sources: list[SourceRef] = []
    notices: list[str] = []
    model: str
    seconds: float
    usage: dict[str, int] = Field(default={}, description="tokens of the language model; empty without one")
    model_calls: list[ModelCallTime] = Field(default=[], description="each request to it, in order")


def chat_reply(answer: Answer, answer_id: str) -> ChatReply:
    """The JSON form of an answer."""
    return ChatReply(
        id=answer_id,
        text=answer.text,
        language=answer.language,
        kind=answer.reading.intent,
        reading=plain_reading(answer.reading),
        recommendation=answer.recommendation,
        reports=[ToolReport(tool=item.tool, report=_mapping(item.report)) for item in answer.reports],
        sources=list(answer.sources),
        notices=[notice.text for notice in answer.notices],
        model=answer.model,
        seconds=round(answer.seconds, 4),
        usage=answer.usage,
        model_calls=[
            ModelCallTime(
                seconds=round(call.seconds, 4),
                input_tokens=call.input_tokens,
                output_tokens=call.output_tokens,
            )
            for call in answer.model_calls
        ],
    )


def plain_reading(reading: Reading) -> dict[str, Any]:
    """The reading without the pasted text, which the client has."""
    return reading.model_dump(mode="json", exclude={"pasted_text"}, exclude_defaults=True)


def event_name(event: Event) -> str:
    """`ToolStarted` as `tool_started`."""
    name = type(event).__name__
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


def event_data(event: Event, answer_id: str) -> dict[str, Any]:
    """An event's values. A tool's report comes once, in the answer."""
    if isinstance(event, Answer):
        return chat_reply(event, answer_id).model_dump(mode="json")
    values = _mapping(event)
    if isinstance(event, ToolFinished):
        del values["artifact"]
    return values


def _mapping(value: object) -> dict[str, Any]:
    values = plain(value)
    return values if isinstance(values, dict) else {"value": values}
