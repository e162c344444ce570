"""The chat model behind the agent: one OpenAI-compatible endpoint from the settings, or none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from settings import Settings

REQUEST_TIMEOUT_S = 20.0  # one request; the deadline of the whole answer is a setting
MAX_RETRIES = 2  # on connection errors, 408, 409, 429 and 5xx; the client honours Retry-After
# The fields of the tools that a model is shown; the others have defaults that reports state as assumptions.
_SHOWN_FIELDS = frozenset(
    {
        "amount", "budget", "concurrency", "context_tokens", "count", "currency", "dataset_tokens",
        "deadline_hours", "duration_s", "epochs", "frames", "gpu", "gpu_count", "gpu_excluded", "gpu_wanted",
        "hours", "input_tokens", "instance_type", "instance_wanted", "kind", "language", "max_hourly_cny",
        "method", "min_gpu_memory_gib", "mode", "model", "months", "name", "names", "nvlink", "objective",
        "output_tokens", "output_tokens_per_s", "params_b", "period", "precision", "purchase", "query",
        "rdma", "region", "regions", "requests_per_second", "resolution", "sequence_length", "task", "tokens",
        "tpot_ms", "ttft_ms", "users", "weight_precision", "zero_stage",
    }
)  # fmt: skip
_WORKLOAD = frozenset(
    {
        "budget", "concurrency", "context_tokens", "gpu_count", "instance_type", "method", "model",
        "params_b", "precision", "purchase", "regions", "task",
    }
)  # fmt: skip
_SHOWN_OF_TOOL = {"launch_commands": _WORKLOAD, "what_if": _WORKLOAD | {"amount", "currency", "period"}}
_HIDDEN_TOOLS = frozenset({"check_claims"})  # takes ids that only the reading knows


class LeanChatOpenAI(ChatOpenAI):
    """`ChatOpenAI` that sends short tool schemas: titles, defaults and null alternatives cost tokens."""

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        shown = [tool for tool in tools if getattr(tool, "name", "") not in _HIDDEN_TOOLS]
        return super().bind_tools([lean_tool(tool) for tool in shown], **kwargs)


def open_model(settings: Settings) -> LeanChatOpenAI | None:
    """The configured model, or None where the settings name none. Nothing is sent yet."""
    if not settings.has_model:
        return None
    return LeanChatOpenAI(
        model=settings.openai_model,
        # Local servers want no key, the client wants one.
        api_key=settings.openai_api_key if settings.openai_api_key.get_secret_value() else SecretStr("none"),
        base_url=settings.openai_base_url or None,
        timeout=min(REQUEST_TIMEOUT_S, settings.answer_deadline_s),
        max_retries=MAX_RETRIES,
        temperature=0,
        stream_usage=True,
        use_responses_api=False,
    )


def lean_tool(tool: BaseTool | dict[str, Any]) -> dict[str, Any]:
    """A tool in OpenAI's form without what a model does not need to call it."""
    described = convert_to_openai_tool(tool)
    function = described["function"]
    parameters = function["parameters"]
    shown = _SHOWN_OF_TOOL.get(function["name"], _SHOWN_FIELDS)
    function["parameters"] = _lean(parameters, parameters.pop("$defs", {}), shown)
    return described


def _lean(schema: Any, definitions: dict[str, Any], shown: frozenset[str]) -> Any:
    if isinstance(schema, list):
        return [_lean(item, definitions, shown) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _lean(definitions[schema["$ref"].rsplit("/", 1)[-1]], definitions, shown)
    if "anyOf" in schema:
        # Of several forms the first is the plain one: an amount is a number, though text is accepted too.
        first = next(item for item in schema["anyOf"] if item.get("type") != "null")
        return _lean(
            {**{key: value for key, value in schema.items() if key != "anyOf"}, **first}, definitions, shown
        )
    lean = {key: _lean(value, definitions, shown) for key, value in schema.items() if key not in _NOISE}
    if "properties" in schema:
        lean["properties"] = {
            name: _lean(value, definitions, shown)
            for name, value in schema["properties"].items()
            if name in shown or name in schema.get("required", ())
        }
    return lean


_NOISE = frozenset(
    {
        "additionalProperties", "title", "default", "minimum", "maximum", "exclusiveMinimum",
        "exclusiveMaximum", "minLength", "maxLength", "pattern",
    }
)  # fmt: skip
