"""Events of a run to chat messages: foldable tool steps, then the growing answer. New objects every time."""

from __future__ import annotations

from dataclasses import dataclass, replace

import gradio as gr

from agent.events import Answer, Event, Failed, Notice, Token, ToolFinished, ToolStarted
from agent.reading.types import Language
from ui.texts import panel_word, step_title

_LONGEST_STEP = 1200  # characters of a step's text; the panel holds the reports


@dataclass(frozen=True)
class Step:
    """One tool step as shown."""

    title: str
    text: str = ""
    done: bool = False
    seconds: float | None = None


class Transcript:
    """Collects events and gives the messages that stand for them so far."""

    def __init__(self, language: Language) -> None:
        self._language: Language = language
        self._steps: dict[str, Step] = {}
        self._notices: list[str] = []
        self._text = ""

    def add(self, event: Event) -> bool:
        """Takes an event in; False where nothing new is to be shown."""
        match event:
            case ToolStarted():
                self._steps[event.call_id] = Step(step_title(event.name, self._language))
            case ToolFinished():
                self._finish(event)
            case Token():
                self._text += event.text
            case Notice():
                self._notices.append(event.text)
            case Answer() | Failed():
                changed = event.text != self._text
                self._text = event.text
                return changed
        return True

    def _finish(self, event: ToolFinished) -> None:
        step = self._steps.get(event.call_id) or Step(step_title(event.name, self._language))
        title = step.title if event.ok else f"{step.title}: {panel_word('failed', self._language)}"
        text = event.text if len(event.text) <= _LONGEST_STEP else event.text[:_LONGEST_STEP] + " …"
        self._steps[event.call_id] = replace(step, title=title, text=text, done=True, seconds=event.seconds)

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
    content = f"```text\n{step.text.replace('```', '')}\n```" if step.text else ""
    return gr.ChatMessage(role="assistant", content=content, metadata=metadata)  # type: ignore[arg-type]
