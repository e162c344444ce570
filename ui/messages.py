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
        shown = [_steps_message(list(self._steps.values()), self._language)] if self._steps else []
        text = "\n\n".join([*(f"> {notice}" for notice in self._notices), self._text]).strip()
        if text:
            shown.append(gr.ChatMessage(role="assistant", content=text))
        return shown


def _steps_message(steps: list[Step], language: Language) -> gr.ChatMessage:
    """All steps of an answer as one foldable line, so that on a phone the answer itself is in view."""
    titles = list(dict.fromkeys(step.title for step in steps))
    metadata: dict[str, str | float] = {
        "title": ("、" if language == "zh" else " · ").join(titles),
        "id": "steps",
        "status": "done" if all(step.done for step in steps) else "pending",
    }
    spent = [step.seconds for step in steps if step.seconds is not None]
    if spent:
        metadata["duration"] = round(sum(spent), 2)
    content = "\n\n".join(f"**{step.title}**\n\n{step.arguments}" for step in steps)
    return gr.ChatMessage(role="assistant", content=content, metadata=metadata)  # type: ignore[arg-type]


def _listed(arguments: dict[str, Any]) -> str:
    """What a step was given, one argument a line, as a code block so that nothing in it is markup."""
    lines = [f"{name}: {str(value)[:_LONGEST_VALUE]}" for name, value in arguments.items()]
    text = "\n".join(lines).replace("```", "")
    return f"```text\n{text}\n```" if text else ""
