"""Middleware: a log that the user pasted reaches its tool whole, whatever piece of it a model writes out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import AnyMessage, ToolMessage
from langgraph.types import Command
from typing_extensions import override

from agent.reading.types import Reading
from agent.steps import last_question

_TOOL = "compare_log"


class WholeLog(AgentMiddleware[Any, Any, Any]):
    """A language model need not repeat thousands of characters, and cannot change one of them."""

    @override
    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        return handler(_with_log(request))

    @override
    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        return await handler(_with_log(request))


def _with_log(request: ToolCallRequest) -> ToolCallRequest:
    text = _pasted(request.state["messages"]) if request.tool_call["name"] == _TOOL else ""
    if not text:
        return request
    return request.override(
        tool_call={**request.tool_call, "args": {**request.tool_call["args"], "text": text}}
    )


def _pasted(messages: Sequence[AnyMessage]) -> str:
    """The log of the last question, as it was read."""
    place = last_question(messages)
    reading = messages[place].additional_kwargs.get("reading") if place >= 0 else None
    return reading.pasted_text if isinstance(reading, Reading) and reading.pasted else ""
