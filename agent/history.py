"""The client's messages -> turns: blocks joined, tool steps and empty messages dropped, sizes bounded.

A user message may carry `slots`, values that the user set by hand beside the words. One without words sets
them for the question before it, which is then asked again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from agent.attached import shortened

MAX_TURNS = 60  # older turns of a conversation are not read
MAX_TURN_CHARS = 24_000  # a pasted log of some hundred lines; of more, head and tail are read
_TAIL_CHARS = 10_000  # the end of a log holds the error more often than its middle
MODEL_HISTORY_CHARS = 24_000  # about 6,000 to 8,000 tokens of earlier talk for a language model


@dataclass(frozen=True)
class Turn:
    """One message of the talk. `cut` says that the text was longer than what is read."""

    role: Literal["user", "assistant"]
    text: str
    cut: bool = False
    slots: Mapping[str, object] = field(default_factory=dict)


def turns_of(messages: Iterable[object]) -> list[Turn]:
    """Turns from plain strings (user turns), role dictionaries or message objects with `role` and `content`.

    Content may be a string or a list of text blocks. Messages with a `metadata.title` are tool steps of the
    page and are dropped; so are roles other than user and assistant.
    """
    turns: list[Turn] = []
    for message in messages:
        turn = _turn(message)
        if turn is None:
            continue
        if turn.role == "user" and turn.slots and not turn.text.strip():
            turns = _asked_again(turns, turn.slots)
        else:
            turns.append(turn)
    return turns[-MAX_TURNS:]


def _asked_again(turns: list[Turn], slots: Mapping[str, object]) -> list[Turn]:
    """The talk up to its last question, with further slots set; the answer to it is asked for anew."""
    for place in range(len(turns) - 1, -1, -1):
        if turns[place].role == "user":
            return [*turns[:place], replace(turns[place], slots={**turns[place].slots, **slots})]
    return [*turns, Turn("user", "", slots=slots)]


def user_texts(turns: Sequence[Turn]) -> list[str]:
    """The user's words, oldest first; [""] when the user has not spoken."""
    return [turn.text for turn in turns if turn.role == "user"] or [""]


def slots_set(turns: Sequence[Turn]) -> list[Mapping[str, object]]:
    """What was set by hand beside each of the user's words, in the order of `user_texts`."""
    return [turn.slots for turn in turns if turn.role == "user"] or [{}]


def messages_of(turns: Sequence[Turn], budget_chars: int = MODEL_HISTORY_CHARS) -> list[AnyMessage]:
    """The talk for a chat model: the newest whole turns within the budget, from user turn to user turn."""
    kept: list[Turn] = []
    used = 0
    for turn in reversed(turns):
        used += len(turn.text)
        if kept and used > budget_chars:
            break
        kept.append(turn)
    kept.reverse()
    while kept and kept[0].role != "user":
        kept.pop(0)
    while kept and kept[-1].role != "user":
        kept.pop()
    return [
        HumanMessage(_with_slots(turn)) if turn.role == "user" else AIMessage(turn.text)
        for turn in kept or [Turn("user", "")]
    ]


def _with_slots(turn: Turn) -> str:
    """The user's words with what was set by hand, for a model that reads text alone."""
    if not turn.slots:
        return turn.text
    listed = "; ".join(
        f"{name} = {'assumed' if value is None else value}" for name, value in turn.slots.items()
    )
    return f"{turn.text}\n(Set by the user: {listed})"


def _turn(message: object) -> Turn | None:
    if isinstance(message, str):
        return _bounded("user", message, {})
    if isinstance(message, Turn):
        return message
    values: Mapping[str, Any] = message if isinstance(message, Mapping) else getattr(message, "__dict__", {})
    role = values.get("role") or {"human": "user", "ai": "assistant"}.get(str(values.get("type")))
    metadata = values.get("metadata") or {}
    title = metadata.get("title") if isinstance(metadata, Mapping) else getattr(metadata, "title", None)
    text = _text(values.get("content"))
    if title or role not in ("user", "assistant") or (role == "assistant" and not text.strip()):
        return None
    slots = values.get("slots") if role == "user" else None
    return _bounded(
        "user" if role == "user" else "assistant", text, slots if isinstance(slots, Mapping) else {}
    )


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return str(content.get("text") or "")
    if isinstance(content, list | tuple):
        return "\n".join(filter(None, (_text(block) for block in content)))
    return ""


def _bounded(role: Literal["user", "assistant"], text: str, slots: Mapping[str, object]) -> Turn:
    if len(text) <= MAX_TURN_CHARS:
        return Turn(role, text, slots=slots)
    if (short := shortened(text, MAX_TURN_CHARS)) is not None:
        return Turn(role, short, slots=slots)
    head = text[: MAX_TURN_CHARS - _TAIL_CHARS]
    return Turn(role, f"{head}\n…\n{text[-_TAIL_CHARS:]}", cut=True, slots=slots)
