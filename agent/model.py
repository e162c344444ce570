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
# The arguments of each tool that a model is shown. The others stay allowed; their defaults are stated as
# assumptions in the reports. A tool without a line is not shown: `check_claims` takes ids that only the
# reading knows, and `what_if` is `recommend_instance` asked again.
_SERVE = "model params_b gpu instance_type gpu_count weight_precision concurrency"
_TRAIN = "model params_b method precision sequence_length gpu instance_type gpu_count"
_SHOWN = {
    "recommend_instance": "task model params_b precision context_tokens input_tokens output_tokens "
    "concurrency users requests_per_second ttft_ms tpot_ms method dataset_tokens "
    "deadline_hours budget amount currency period purchase regions gpu_wanted gpu_excluded "
    "instance_wanted gpu_count objective",
    "estimate_memory": f"{_SERVE} context_tokens",
    "estimate_throughput": f"{_SERVE} input_tokens output_tokens",
    "estimate_training_memory": _TRAIN,
    "estimate_training_time": f"{_TRAIN} tokens",
    "estimate_other_memory": "model gpu instance_type resolution frames",
    "estimate_other_speed": "model gpu instance_type resolution amount",
    "estimate_cost": "instance_type count region purchase hours",
    "look_up": "name",
    "compare": "names",
    "decode_name": "name",
    "find_instances": "gpu gpu_count min_gpu_memory_gib nvlink rdma max_hourly_cny",
    "launch_commands": "instance_type model precision context_tokens concurrency",
    "search_guides": "query",
}


class LeanChatOpenAI(ChatOpenAI):
    """`ChatOpenAI` that sends short tool schemas: titles, defaults and null alternatives cost tokens."""

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        return super().bind_tools(lean_tools(tools), **kwargs)


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


def lean_tools(tools: Sequence[BaseTool]) -> list[dict[str, Any]]:
    """The tools a model is shown in OpenAI's form, without what it does not need to call them."""
    return [_lean_tool(tool) for tool in tools if tool.name in _SHOWN]


def _lean_tool(tool: BaseTool) -> dict[str, Any]:
    described = convert_to_openai_tool(tool)
    function = described["function"]
    parameters = function["parameters"]
    shown = frozenset(_SHOWN[tool.name].split())
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
    if "enum" in lean:
        lean.pop("type", None)  # the values say it
    if "properties" in schema:
        lean["properties"] = {
            name: _lean(value, definitions, shown)
            for name, value in schema["properties"].items()
            if name in shown or name in schema.get("required", ())
        }
    return lean


_NOISE = frozenset(
    {
        "additionalProperties", "title", "default", "description", "minItems", "minimum", "maximum",
        "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "pattern",
    }
)  # fmt: skip
