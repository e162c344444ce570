"""What a model service can do, found out by asking it: streaming, tools, parallel tools, JSON schema."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from openai import OpenAI, OpenAIError

from agent.secrets import without_secrets
from settings import Settings

PROBE_TIMEOUT_S = 30.0  # one request; a small server on a processor takes its time
_MAX_TOKENS = 200
_NOBODY = ("APITimeoutError", "APIConnectionError")  # how the detail of such a fault begins
_SCHEMA = {
    "type": "object",
    "properties": {"gpus": {"type": "integer"}},
    "required": ["gpus"],
    "additionalProperties": False,
}
_TOOL = {
    "type": "function",
    "function": {
        "name": "price",
        "description": "Price of a GPU",
        "parameters": {
            "type": "object",
            "properties": {"gpu": {"type": "string"}},
            "required": ["gpu"],
        },
    },
}


@dataclass(frozen=True)
class Ability:
    """Whether the service did what was asked, what it said if not, and how long it took."""

    works: bool
    detail: str
    seconds: float


@dataclass(frozen=True)
class Probe:
    """The abilities of one service by name: chat, streaming, tools, parallel_tools, json_schema."""

    abilities: dict[str, Ability]

    def can(self, name: str) -> bool:
        return self.abilities[name].works

    @property
    def mode(self) -> Literal["agent", "reader", "none"]:
        """How such a model is best used; "none" as well for a service that cannot be reached."""
        if self.can("tools"):
            return "agent"
        return "reader" if self.can("json_schema") else "none"


def probe(settings: Settings, timeout_s: float = PROBE_TIMEOUT_S) -> Probe:
    """Asks the configured service five small questions, one after the other: a small server takes one at a
    time, and waiting behind the others would pass for inability. After a first one that nobody answers the
    rest is not tried. Nothing is raised for what the service answers."""
    key = settings.openai_api_key.get_secret_value() or "none"
    client = OpenAI(api_key=key, base_url=settings.openai_base_url or None, timeout=timeout_s, max_retries=0)
    tries: dict[str, Callable[[OpenAI, str], str]] = {
        "chat": _chat,
        "streaming": _streaming,
        "tools": _tools,
        "parallel_tools": _parallel_tools,
        "json_schema": _json_schema,
    }
    found: dict[str, Ability] = {}
    with client:
        for name, attempt in tries.items():
            gone = found.get("chat")
            if gone is not None and gone.detail.startswith(_NOBODY):
                found[name] = Ability(False, "not tried: the service does not answer", 0.0)
            else:
                found[name] = _try(attempt, client, settings.openai_model, key)
    return Probe(found)


def probe_lines(found: Probe) -> list[str]:
    """One line for each ability and one for the way the model will be used."""
    lines = [
        f"{name:<15}{'yes' if item.works else 'no':<5}{item.seconds:6.2f} s  {item.detail}".rstrip()
        for name, item in found.abilities.items()
    ]
    return [*lines, f"{'mode':<15}{found.mode}"]


def _try(attempt: Callable[[OpenAI, str], str], client: OpenAI, model: str, key: str) -> Ability:
    started = time.perf_counter()
    try:
        fault = attempt(client, model)
    except (OpenAIError, ValueError, AttributeError, TypeError, IndexError) as error:
        # A service may answer with anything; what is not the protocol is an ability it lacks.
        fault = without_secrets(f"{type(error).__name__}: {error}", key)[:200]
    return Ability(not fault, fault, time.perf_counter() - started)


def _ask(client: OpenAI, model: str, text: str, **more: Any) -> Any:
    return client.chat.completions.create(
        model=model,
        messages=[{"role": "user", "content": text}],
        max_tokens=_MAX_TOKENS,
        temperature=0,
        **more,
    )


def _chat(client: OpenAI, model: str) -> str:
    text = _ask(client, model, "Say yes.").choices[0].message.content
    return "" if (text or "").strip() else "no text"


def _streaming(client: OpenAI, model: str) -> str:
    reasons = [
        choice.finish_reason
        for part in _ask(client, model, "Say yes.", stream=True)
        for choice in part.choices
    ]
    return "" if reasons and reasons[-1] else "the stream has no end"


def _tools(client: OpenAI, model: str) -> str:
    return _called(client, model, "What does an A10 cost? Call the tool.", 1)


def _parallel_tools(client: OpenAI, model: str) -> str:
    return _called(client, model, "What do an A10 and a T4 cost? Call the tool for both at once.", 2)


def _called(client: OpenAI, model: str, text: str, count: int) -> str:
    calls = _ask(client, model, text, tools=[_TOOL]).choices[0].message.tool_calls or []
    good = [call for call in calls if "gpu" in json.loads(call.function.arguments)]
    return "" if len(good) >= count else f"{len(good)} calls instead of {count}"


def _json_schema(client: OpenAI, model: str) -> str:
    form = {"type": "json_schema", "json_schema": {"name": "count", "schema": _SCHEMA, "strict": True}}
    reply = _ask(client, model, "Two A10 cards: how many GPUs?", response_format=form)
    values = json.loads(reply.choices[0].message.content or "")
    return "" if isinstance(values.get("gpus"), int) else "the reply does not follow the schema"
