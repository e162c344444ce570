"""Middleware that measures each request to the language model."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage
from typing_extensions import override

from agent.events import ModelCall

_SECONDS = "call_seconds"


class Timing(AgentMiddleware[AgentState[Any], Any, Any]):
    """Notes in each reply of the model how long the request took, retries of the client included."""

    @override
    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        begun = time.perf_counter()
        return _noted(handler(request), begun)

    @override
    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        begun = time.perf_counter()
        return _noted(await handler(request), begun)


def _noted(response: ModelResponse[Any], begun: float) -> ModelResponse[Any]:
    for message in response.result:
        if isinstance(message, AIMessage):
            note_seconds(message, time.perf_counter() - begun)
    return response


def note_seconds(message: AIMessage, seconds: float) -> None:
    """Notes in a reply how long it took."""
    message.response_metadata[_SECONDS] = seconds


def model_call_of(message: AIMessage) -> ModelCall:
    """Time and tokens of a reply; 0 for what neither the service nor this program noted."""
    usage = message.usage_metadata
    return ModelCall(
        seconds=float(message.response_metadata.get(_SECONDS, 0.0)),
        input_tokens=usage["input_tokens"] if usage else 0,
        output_tokens=usage["output_tokens"] if usage else 0,
    )
