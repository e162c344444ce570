"""The calculators, look-ups and the guide search as MCP tools: streamable HTTP under `/mcp`, or stdio."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any

from anyio import to_thread
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field
from starlette.types import Receive, Scope, Send

from agent.guides import QUOTED, GuideSearch
from knowledge.catalog import Catalog, installed_catalog
from knowledge.errors import AdvisorError
from serving.gate import Gate
from serving.metrics import Metrics
from serving.problems import Refused
from serving.search import GuideHit, SearchReply, SearchRequest, find_guides
from settings import Settings
from tools.brief import brief
from tools.contracts.base import parse_request
from tools.doors import DOORS, Door

_INSTRUCTIONS = (
    "Facts and calculators for Alibaba Cloud GPU instances. Use recommend_instance for what to buy, the "
    "others for one figure or fact. Names are resolved by alias; an unknown name is an error with near "
    "matches. Figures come with source and date: quote them as they are."
)
_READ_ONLY = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)

Run = Callable[[dict[str, Any]], Awaitable[CallToolResult]]


def build_mcp(catalog: Catalog, searcher: GuideSearch | None, gate: Gate) -> MCPServer[Any]:
    """The server with all tools. It keeps nothing between calls."""
    tools = [
        _tool(
            door.mcp,
            door.help,
            door.request_type(),
            door.report_type(),
            _guarded(gate, _calculation(door, catalog)),
        )
        for door in DOORS
    ]
    if searcher is not None:
        tools.append(
            _tool(
                "search_guides",
                "Guides on errors, drivers, CUDA, storage, network, buying and tuning, English and Chinese.",
                SearchRequest,
                SearchReply,
                _guarded(gate, _searching(searcher)),
            )
        )
    return MCPServer("gpu-sizing-assistant", instructions=_INSTRUCTIONS, tools=tools)


class McpEndpoint:
    """`/mcp` as an ASGI endpoint, stateless: any replica may answer any call."""

    def __init__(self, server: MCPServer[Any]) -> None:
        # Host and origin were judged before the request came here.
        security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        server.streamable_http_app(stateless_http=True, json_response=True, transport_security=security)
        self._sessions = server.session_manager

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """For the life of the application."""
        async with self._sessions.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._sessions.handle_request(scope, receive, send)


def run_on_stdio(settings: Settings) -> None:
    """Serves one local client on standard input and output until it closes them."""
    from retrieval.open import settings_searcher
    from serving.logs import set_up_logs

    set_up_logs(settings.log_format)
    catalog = installed_catalog(
        settings.overlay_dir, settings.cny_per_usd, settings.cny_per_usd_date, settings.default_region
    )
    build_mcp(catalog, settings_searcher(settings, catalog), Gate(2, Metrics())).run(transport="stdio")


def _calculation(door: Door, catalog: Catalog) -> Callable[[dict[str, Any]], CallToolResult]:
    def run(values: dict[str, Any]) -> CallToolResult:
        report = door.calculate(parse_request(door.request_type(), values), catalog)
        return _result(brief(report), report)  # type: ignore[arg-type]  # every report of a door is a Report

    return run


def _searching(searcher: GuideSearch) -> Callable[[dict[str, Any]], CallToolResult]:
    def run(values: dict[str, Any]) -> CallToolResult:
        reply = find_guides(searcher, SearchRequest(**values))
        text = "\n\n".join(_told(hit) for hit in reply.hits)
        return _result("No guide answers this." if reply.no_answer else text, reply)

    return run


def _told(hit: GuideHit) -> str:
    quoted = f"{QUOTED} {hit.source}:\n" if hit.kind == "own" else ""
    return f"{quoted}[{hit.title}] {hit.heading}\n{hit.snippet}"


def _result(text: str, report: BaseModel) -> CallToolResult:
    """A few lines for the model, the whole report for the program."""
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=report.model_dump(mode="json")
    )


def _guarded(gate: Gate, calculate: Callable[[dict[str, Any]], CallToolResult]) -> Run:
    async def run(values: dict[str, Any]) -> CallToolResult:
        try:
            async with gate.place():
                return await to_thread.run_sync(calculate, values)
        except (AdvisorError, Refused) as error:
            raise ToolError(str(error)) from error

    return run


def _tool(
    name: str, help_text: str, request_type: type[BaseModel], report_type: type[BaseModel], run: Run
) -> Tool:
    """A tool whose arguments are the fields of the request, and no others: an argument that is dropped in
    silence would change the answer."""

    async def call(**values: Any) -> CallToolResult:
        return await run({key: value for key, value in values.items() if value is not None})

    parameters = [
        inspect.Parameter(
            key,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.is_required() else field.default,
            annotation=Annotated[field.annotation, *field.metadata, Field(description=field.description)],
        )
        for key, field in request_type.model_fields.items()
    ]
    returns = Annotated[CallToolResult, report_type]
    call.__signature__ = inspect.Signature(parameters, return_annotation=returns)  # type: ignore[attr-defined]
    tool = Tool.from_function(call, name=name, description=help_text, annotations=_READ_ONLY)
    loose = tool.fn_metadata.arg_model
    tool.fn_metadata.arg_model = type(loose.__name__, (loose,), {"model_config": ConfigDict(extra="forbid")})
    tool.parameters = tool.fn_metadata.arg_model.model_json_schema(by_alias=True)
    return tool
