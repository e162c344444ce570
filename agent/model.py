"""The chat model behind the agent: one OpenAI-compatible endpoint from the settings, or none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_openai import ChatOpenAI

from settings import Settings

REQUEST_TIMEOUT_S = 20.0  # one request; the deadline of the whole answer is a setting
MAX_RETRIES = 2  # on connection errors, 408, 409, 429 and 5xx; the client honours Retry-After
_HIDDEN_FIELDS = frozenset(
    {
        "include_unpriced",
        "allow_derived_prices",
        "engine_version",
        "enforce_eager",
        "flash_attention",
        "fused_loss",
    }
)


class LeanChatOpenAI(ChatOpenAI):
    """`ChatOpenAI` that sends short tool schemas: titles, defaults and null alternatives cost tokens."""

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        return super().bind_tools([lean_tool(tool) for tool in tools], **kwargs)


def open_model(settings: Settings) -> LeanChatOpenAI | None:
    """The configured model, or None where the settings name none. Nothing is sent yet."""
    if not settings.has_model:
        return None
    return LeanChatOpenAI(
        model=settings.openai_model,
        api_key=settings.openai_api_key if settings.openai_api_key.get_secret_value() else _NO_KEY,
        base_url=settings.openai_base_url or None,
        timeout=min(REQUEST_TIMEOUT_S, settings.answer_deadline_s),
        max_retries=MAX_RETRIES,
        temperature=0,
        stream_usage=True,
        use_responses_api=False,
    )


def _NO_KEY() -> str:
    """Local servers want no key, the client wants one."""
    return "none"


def lean_tool(tool: BaseTool | dict[str, Any]) -> dict[str, Any]:
    """A tool in OpenAI's form without what a model does not need to call it."""
    described = convert_to_openai_tool(tool)
    parameters = described["function"]["parameters"]
    definitions = parameters.pop("$defs", {})
    described["function"]["parameters"] = _lean(parameters, definitions)
    return described


def _lean(schema: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_lean(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _lean(definitions[schema["$ref"].rsplit("/", 1)[-1]], definitions)
    if "anyOf" in schema:
        choices = [item for item in schema["anyOf"] if item.get("type") != "null"]
        rest = {key: value for key, value in schema.items() if key != "anyOf"}
        schema = {**rest, **(choices[0] if len(choices) == 1 else {"anyOf": choices})}
    lean = {key: _lean(value, definitions) for key, value in schema.items() if key not in _NOISE}
    if "properties" in schema:
        lean["properties"] = {
            name: _lean(value, definitions)
            for name, value in schema["properties"].items()
            if name not in _HIDDEN_FIELDS
        }
    return lean


_NOISE = frozenset(
    {
        "title",
        "default",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minLength",
        "maxLength",
    }
)
