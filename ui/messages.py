"""Events of a run to chat messages: foldable tool steps, then the growing answer. New objects every time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import gradio as gr

from agent.events import Answer, Event, Failed, Notice, Token, ToolFinished, ToolStarted
from agent.reading.types import Language
from ui.texts import panel_word, step_title

_LONGEST_VALUE = 200  # characters of one argument of a step as shown; the panel holds the reports


@dataclass(frozen=True)
class Step:
    """One tool step as shown."""

    title: str
    arguments: str = ""
    done: bool = False
    seconds: float | None = None


class Transcript:
    """Collects events and gives the messages that stand for them so far."""

    def __init__(self, language: Language) -> None:
        self._language: Language = language
        self._steps: dict[str, Step] = {}
        self._notices: list[str] = []
        self._text = ""

    def add(self, event: Event) -> None:
        """Takes an event in."""
        match event:
            case ToolStarted():
                title = step_title(event.name, self._language)
                self._steps[event.call_id] = Step(title, _listed(event.arguments))
            case ToolFinished():
                self._finish(event)
            case Token():
                self._text += event.text
            case Notice():
                self._notices.append(event.text)
            case Answer() | Failed():
                self._text = event.text

    def _finish(self, event: ToolFinished) -> None:
        step = self._steps.get(event.call_id) or Step(step_title(event.name, self._language))
        title = step.title if event.ok else f"{step.title}: {panel_word('failed', self._language)}"
        self._steps[event.call_id] = replace(step, title=title, done=True, seconds=event.seconds)

    def messages(self) -> list[gr.ChatMessage]:
        """Fresh messages: a message that was yielded is never changed, or clients of the API keep the old."""
        shown = [_step_message(call_id, step) for call_id, step in self._steps.items()]
        text = "\n\n".join([*(f"> {notice}" for notice in self._notices), self._text]).strip()
        if text:
            shown.append(gr.ChatMessage(role="assistant", content=text))
        return shown


def _step_message(call_id: str, step: Step) -> gr.ChatMessage:
    metadata: dict[str, str | float] = {
        "title": step.title,
        "id": call_id,
        "status": "done" if step.done else "pending",
    }
    if step.seconds is not None:
        metadata["duration"] = round(step.seconds, 2)
    return gr.ChatMessage(role="assistant", content=step.arguments, metadata=metadata)  # type: ignore[arg-type]


def _listed(arguments: dict[str, Any]) -> str:
    """What a step was given, one argument a line, as a code block so that nothing in it is markup."""
    lines = [f"{name}: {str(value)[:_LONGEST_VALUE]}" for name, value in arguments.items()]
    text = "\n".join(lines).replace("```", "")
    return f"```text\n{text}\n```" if text else ""
