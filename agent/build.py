"""The one LangChain agent: same tools, same middleware, whichever chat model is in front."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelCallLimitMiddleware, ToolErrorMiddleware
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool
from langgraph.graph.state import CompiledStateGraph

from agent.grounding import Grounding
from agent.prompt import system_prompt
from agent.timing import Timing
from agent.whole_log import WholeLog

log = logging.getLogger(__name__)

MODEL_CALL_LIMIT = 8  # a sizing answer takes three; what needs more goes in circles


def build_agent(model: BaseChatModel, tools: Sequence[BaseTool]) -> CompiledStateGraph[Any, Any, Any, Any]:
    """An agent over `tools`. It raises `ModelCallLimitExceededError` in a loop and `Ungrounded` when the
    prose states facts that no report of the run holds, even after one repair."""
    middleware: list[AgentMiddleware[Any, Any, Any]] = [
        ModelCallLimitMiddleware(run_limit=MODEL_CALL_LIMIT, exit_behavior="error"),
        ToolErrorMiddleware(_tool_error),
        WholeLog(),
        Grounding(),
        Timing(),
    ]
    return create_agent(model, list(tools), system_prompt=system_prompt(), middleware=middleware)


def _tool_error(error: Exception, request: ToolCallRequest) -> str:
    """A bug in a tool must not end the run: the log gets all of it, the model one sentence."""
    log.error("tool %s failed on %r", request.tool_call["name"], request.tool_call["args"], exc_info=error)
    return "This tool failed; answer without it and say that this figure could not be calculated."
