"""The MCP server, with the official client over HTTP and over standard input and output."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from retrieval.search import Hit, SearchResult

ROOT = Path(__file__).parents[2]


class OneGuide:
    """A shelf of one guide."""

    def search(self, query: str, language: str = "", limit: int = 5) -> SearchResult:
        hit = Hit(
            "xid-79",
            "Xid 79",
            language or "en",
            "guide",
            "faults",
            0.9,
            "a guide",
            "The GPU fell off the bus.",
        )
        return SearchResult((hit,))

    def guide(self, guide_id: str, language: str) -> None:
        return None


@pytest.fixture
def address(make_api: Callable[..., FastAPI], serve: Callable[..., str]) -> str:
    return f"{serve(make_api(OneGuide()))}/mcp"


def over_http(address: str, name: str, arguments: dict[str, Any], key: str = "") -> Any:
    async def go() -> Any:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(address, http_client=http)) as client,
        ):
            return await client.call_tool(name, arguments)

    return asyncio.run(go())


def test_all_calculators_and_the_search_are_listed(address: str) -> None:
    async def go() -> Any:
        async with Client(address) as client:
            return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in asyncio.run(go())}
    assert {
        "estimate_vram",
        "estimate_throughput",
        "estimate_other_speed",
        "recommend_instance",
        "get_price",
        "search_guides",
    } <= set(tools)
    assert len(tools) == 13
    for tool in tools.values():
        assert tool.annotations.read_only_hint
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema["type"] == "object"
    assert "budget" in tools["recommend_instance"].input_schema["properties"]


def test_a_tool_gives_lines_for_the_model_and_the_whole_report(address: str) -> None:
    result = over_http(address, "estimate_vram", {"model": "llama3-8b", "gpu": "A10"})
    assert not result.is_error
    assert result.structured_content["fits"] is True
    assert result.structured_content["usable_gib_per_gpu"] > 20
    assert len(result.content[0].text) <= 3000


def test_nested_arguments_reach_the_recommender(address: str) -> None:
    budget = {"amount": 50, "currency": "CNY", "period": "hour"}
    result = over_http(address, "recommend_instance", {"model": "llama3-8b", "budget": budget})
    assert result.structured_content["request"]["budget"]["period"] == "hour"
    assert result.structured_content["options"]


def test_the_search_is_a_tool(address: str) -> None:
    result = over_http(address, "search_guides", {"query": "fallen off the bus"})
    assert "fell off the bus" in result.content[0].text
    assert result.structured_content["hits"][0]["guide_id"] == "xid-79"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"model": "llama3-8b", "gpu": "A1000"}, "near matches: A10"),
        ({"model": "llama3-8b", "gpus": 2}, "gpus"),
        ({"model": "llama3-8b", "gpu": "A10", "gpu_count": -1}, "gpu_count"),
    ],
)
def test_a_wrong_argument_is_an_error_that_says_what_to_change(
    address: str, arguments: dict[str, Any], said: str
) -> None:
    result = over_http(address, "estimate_vram", arguments)
    assert result.is_error
    assert said in result.content[0].text


def test_standard_input_and_output_serve_a_local_client(tmp_path: Path) -> None:
    async def go() -> Any:
        environment = {**os.environ, "STATE_DIR": str(tmp_path)}
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "serving", "mcp"], cwd=ROOT, env=environment
        )
        async with Client(server) as client:
            return await client.call_tool("look_up_gpu", {"name": "L20"})

    result = asyncio.run(go())
    assert result.structured_content["gpu"]["gpu_model"] == "L20"
