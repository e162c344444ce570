"""Messages of the chat as the browser keeps them: what is shown, and beside it what was really said.

A bubble shows the user's words as plain text. What it stands for (the words as typed, the text of a file,
slots set by hand) travels in the message's metadata, so that the page keeps no conversation on the server.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr

_SHOWN_LINES = 12  # of a long text in a bubble
_SHOWN_CHARS = 2_000
_MARKUP = re.compile(r"([\\`*_{}\[\]#|~!>+-])")


def user_message(
    text: str, slots: Mapping[str, object] | None = None, shown: str | None = None
) -> dict[str, Any]:
    """A bubble of the user; `shown` where the bubble says it in other words than `text`."""
    carried = json.dumps({"text": text, "slots": dict(slots or {})}, ensure_ascii=False)
    # Metadata without a title is shown nowhere; with one the message would become a foldable step.
    return {
        "role": "user",
        "content": plain_text(text if shown is None else shown),
        "metadata": {"log": carried},
    }


def plain_text(text: str) -> str:
    """A text for a bubble that renders Markdown: nothing in it is markup, and a long one is shown in part."""
    lines = text.strip()[:_SHOWN_CHARS].splitlines()
    cut = len(lines) > _SHOWN_LINES or len(text.strip()) > _SHOWN_CHARS
    kept = [_escaped(line) for line in lines[:_SHOWN_LINES]]
    return "  \n".join([*kept, "…"] if cut else kept)


def _escaped(line: str) -> str:
    safe = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKUP.sub(r"\\\1", safe.replace("\t", " ")) or "&nbsp;"


def said(message: Mapping[str, Any]) -> tuple[str, dict[str, object]]:
    """The words and slots that a user's bubble stands for."""
    log = (message.get("metadata") or {}).get("log")
    try:
        carried = json.loads(log) if isinstance(log, str) else None
    except ValueError:
        carried = None
    if not isinstance(carried, dict):
        return _text(message.get("content")), {}
    slots = carried.get("slots")
    return str(carried.get("text") or ""), slots if isinstance(slots, dict) else {}


def messages_for(talk: Sequence[Mapping[str, Any]]) -> list[object]:
    """The talk as an advisor reads it."""
    messages: list[object] = []
    for message in talk:
        if message.get("role") == "user":
            text, slots = said(message)
            messages.append({"role": "user", "content": text, "slots": slots})
        else:
            messages.append(message)
    return messages


def last_words(talk: Sequence[Mapping[str, Any]]) -> str:
    """The last words of the user, whose language the page answers in."""
    texts = [said(message)[0] for message in talk if message.get("role") == "user"]
    return next((text for text in reversed(texts) if text.strip()), "")


def up_to_last_question(talk: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The talk with its last answer taken off."""
    place = max((index for index, item in enumerate(talk) if item.get("role") == "user"), default=-1)
    return [dict(message) for message in talk[: place + 1]]


def as_message(message: gr.ChatMessage) -> dict[str, Any]:
    """A message of the answer in the form in which the browser sends the talk back."""
    return {"role": message.role, "content": message.content, "metadata": dict(message.metadata or {})}


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return str(content.get("text") or "")
    return "\n".join(_text(part) for part in content) if isinstance(content, list | tuple) else ""
