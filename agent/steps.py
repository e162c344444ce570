"""What a run has done so far: the tool calls and the reports they brought."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from agent.reading.types import Reading
from knowledge.catalog import Catalog

ReportT = TypeVar("ReportT")


@dataclass(frozen=True)
class Call:
    """A tool to call with its arguments; `purpose` tells the writer why (it is not sent to the tool)."""

    name: str
    args: dict[str, Any] = field(default_factory=dict)
    purpose: str = ""


@dataclass(frozen=True)
class Step:
    """A finished call with what it brought: a report, a search result, a `Fault`, or None."""

    call: Call
    artifact: object


class Findings(Sequence[Step]):
    """The finished steps of one run, in the order of the calls."""

    def __init__(self, steps: Sequence[Step] = ()) -> None:
        self._steps = tuple(steps)

    def __getitem__(self, index: Any) -> Any:
        return self._steps[index]

    def __len__(self) -> int:
        return len(self._steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self._steps)

    def all(self, kind: type[ReportT], purpose: str | None = None) -> list[ReportT]:
        """Every artifact of a type, optionally only of calls made for `purpose`."""
        return [
            step.artifact
            for step in self._steps
            if isinstance(step.artifact, kind) and (purpose is None or step.call.purpose == purpose)
        ]

    def first(self, kind: type[ReportT], purpose: str | None = None) -> ReportT | None:
        """The first artifact of a type, or None."""
        return next(iter(self.all(kind, purpose)), None)

    def called(self, name: str, purpose: str | None = None) -> bool:
        """Whether a tool was called (for `purpose`) in this run."""
        return any(
            step.call.name == name and (purpose is None or step.call.purpose == purpose)
            for step in self._steps
        )


@dataclass(frozen=True)
class Case:
    """A question with what is known so far: what planners plan from and writers write from."""

    reading: Reading
    done: Findings
    catalog: Catalog


def last_question(messages: Sequence[AnyMessage]) -> int:
    """The index of the last user message; -1 without one. Requests to rewrite are no questions."""
    return max((index for index, item in enumerate(messages) if is_question(item)), default=-1)


def is_question(message: AnyMessage) -> bool:
    """Whether a message is the user's own."""
    return isinstance(message, HumanMessage) and not message.additional_kwargs.get("repair")


def findings_of(messages: Sequence[AnyMessage]) -> Findings:
    """The steps taken since the last user message. Tool text of earlier turns is never evidence."""
    calls: dict[str, Call] = {}
    steps: list[Step] = []
    for message in messages[last_question(messages) + 1 :]:
        if isinstance(message, AIMessage):
            purposes = message.additional_kwargs.get("purposes", {})
            for call in message.tool_calls:
                key = call["id"] or ""
                calls[key] = Call(call["name"], call["args"], purposes.get(key, ""))
        elif isinstance(message, ToolMessage):
            asked = calls.get(message.tool_call_id, Call(message.name or ""))
            steps.append(Step(asked, message.artifact))
    return Findings(steps)
