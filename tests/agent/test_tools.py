"""The calculators as LangChain tools: strict in, text and report out, faults as reports."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from pydantic import ValidationError

from agent.guides import guide_tool
from agent.model import lean_tools
from agent.prompt import system_prompt
from knowledge.catalog import Catalog
from tests.agent.conftest import OneGuide
from tests.agent.model_server import tokens_of
from tools.contracts.calls import Fault
from tools.contracts.cost import CostReport
from tools.contracts.sizing import Recommendation
from tools.langchain_tools import build_tools


@pytest.fixture(scope="module")
def tools(catalog: Catalog) -> dict[str, BaseTool]:
    return {tool.name: tool for tool in build_tools(catalog)}


@pytest.fixture(scope="module")
def lean(catalog: Catalog) -> list[dict[str, Any]]:
    """The tools as a language model is sent them."""
    return lean_tools([*build_tools(catalog), guide_tool(OneGuide())])


def call(tool: BaseTool, **args: Any) -> ToolMessage:
    message = tool.invoke({"name": tool.name, "args": args, "id": "1", "type": "tool_call"})
    assert isinstance(message, ToolMessage)
    return message


def test_the_report_is_the_artifact_and_the_text_is_short(tools: dict[str, BaseTool]) -> None:
    message = call(tools["recommend_instance"], model="Qwen/Qwen2.5-7B-Instruct", concurrency=2)
    assert isinstance(message.artifact, Recommendation)
    assert len(message.text) <= 3_000
    shown = json.loads(message.text)
    assert shown["options"][0]["instance_type"].startswith("ecs.")


def test_an_unknown_argument_is_refused(tools: dict[str, BaseTool]) -> None:
    with pytest.raises(ValidationError, match="colour"):
        call(tools["estimate_cost"], instance_type="ecs.gn7i-c8g1.2xlarge", colour="red")


def test_an_unknown_name_is_a_fault_with_near_names(tools: dict[str, BaseTool]) -> None:
    message = call(tools["estimate_cost"], instance_type="ecs.gn7i-c24g1.24xlarge")
    assert isinstance(message.artifact, Fault)
    assert message.artifact.kind == "input"
    assert message.artifact.suggestions
    assert "near matches" in message.text


def test_a_missing_fact_is_a_fault_that_says_not_known(tools: dict[str, BaseTool]) -> None:
    message = call(tools["look_up"], name="GU100", kind="gpu")
    assert isinstance(message.artifact, Fault)


@pytest.mark.parametrize("name", ["ecs.gn7i-c8g1.2xlarge", "gn7i", "A10", "Qwen/Qwen2.5-7B-Instruct", "fp8"])
def test_a_look_up_finds_the_kind_by_itself(tools: dict[str, BaseTool], name: str) -> None:
    assert not isinstance(call(tools["look_up"], name=name).artifact, Fault)


def test_launch_files_follow_the_plan_of_the_type(tools: dict[str, BaseTool]) -> None:
    message = call(
        tools["launch_commands"], model="Qwen/Qwen2.5-7B-Instruct", instance_type="ecs.gn7i-c8g1.2xlarge"
    )
    names = {file.name for file in message.artifact.files}
    assert {"main.tf", "serve.sh"} <= names


def test_prices_keep_their_exact_amount(tools: dict[str, BaseTool]) -> None:
    report = call(tools["estimate_cost"], instance_type="ecs.gn7i-c8g1.2xlarge").artifact
    assert isinstance(report, CostReport)
    assert str(report.hourly) == "9.5326"


def test_a_model_reads_few_tokens_before_it_can_call(lean: list[dict[str, Any]]) -> None:
    shown = json.dumps(lean, separators=(",", ":"))
    assert tokens_of(shown) + tokens_of(system_prompt()) <= 1_500
    assert '"title"' not in shown
    assert '"default"' not in shown


def test_the_prefix_of_every_request_is_the_same(catalog: Catalog, lean: list[dict[str, Any]]) -> None:
    again = lean_tools([*build_tools(catalog), guide_tool(OneGuide())])
    assert json.dumps(again) == json.dumps(lean)


def test_lean_schemas_keep_what_a_tool_requires(lean: list[dict[str, Any]]) -> None:
    for tool in lean:
        parameters = tool["function"]["parameters"]
        assert set(parameters.get("required", [])) <= set(parameters["properties"]), tool


def test_every_tool_shows_the_arguments_that_name_its_subject(lean: list[dict[str, Any]]) -> None:
    shown = {tool["function"]["name"]: tool["function"]["parameters"]["properties"] for tool in lean}
    assert {"task", "model", "budget", "concurrency"} <= set(shown["recommend_instance"])
    assert set(shown["recommend_instance"]["budget"]["properties"]) == {"amount", "currency", "period"}
    assert all(properties for properties in shown.values())
    assert "check_claims" not in shown


def test_a_claim_that_nobody_wrote_down_is_an_error_not_an_empty_verdict(tools: dict[str, BaseTool]) -> None:
    fault = call(tools["check_claims"], claim_ids=["claim-001", "claim-999"]).artifact
    assert isinstance(fault, Fault)
    assert (fault.field, fault.given) == ("claim_ids", "claim-999")
    assert fault.suggestions
