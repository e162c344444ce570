"""Middleware that lets no stated fact through which the reports of this run do not hold."""

from __future__ import annotations

import asyncio
import dataclasses
import re
from collections.abc import Iterator, Sequence
from typing import Any, NotRequired

from langchain.agents.middleware import AgentMiddleware, AgentState, hook_config
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.runtime import Runtime
from typing_extensions import override

from agent.builtin_model import BUILTIN
from agent.claims import Claim, claims_in
from agent.evidence import Evidence
from agent.guides import GuidesFound
from agent.prompt import system_prompt
from agent.prose import spoken
from agent.steps import findings_of, is_question
from agent.subject import retells
from retrieval.chunk import OWN
from tools.contracts.base import Report
from tools.contracts.calls import Fault

REPAIRS = 1  # how often the model may rewrite
_WHOLE = ("stop", "tool_calls")  # finish reasons of an answer that is all there
_RULE = 40  # characters of a rule that nobody writes by chance
_RULE_END = re.compile(r"(?<=[.;:])\s+")
_SCHEMA = re.compile(r'"type"\s*:\s*"function"|"parameters"\s*:\s*\{')
_SENTENCE = re.compile(r"(?<=[.!?;])\s|[。！？；\n]")
_THEIRS = re.compile(
    r"(?i)\byou(?:r|rs)?\b|\bbudget|\blimit|\btarget|\brequire|\brequest|\bask|\bdocument"
    r"|[你您贵]|预算|上限|以内|要求|需求|目标|文档"
)
# What a question may state wrongly: repeated without a word on whose it is, it would pass for a fact.
_FACTS = frozenset({"money", "memory", "bandwidth", "compute", "token_rate", "percent"})
_LISTED = 12  # claims named in the request to rewrite


class Ungrounded(Exception):
    """The prose still states facts without evidence after the repair; the built-in writing takes over."""

    def __init__(self, claims: Sequence[Claim]) -> None:
        self.claims = tuple(claims)
        super().__init__("no evidence for: " + ", ".join(claim.text for claim in claims[:_LISTED]))


class EmptyAnswer(Exception):
    """The model ended without text and without a tool call that could be run."""


class CutAnswer(Exception):
    """The service ended the answer before its end: a broken stream, a token limit, a filter."""


class Unfit(Exception):
    """The model's text is no answer from calculations: chat, or the instructions themselves."""


class GroundingState(AgentState[Any]):
    """The agent's state with the number of repairs asked for in this run."""

    repairs: NotRequired[int]


class Grounding(AgentMiddleware[GroundingState, Any, Any]):
    """Checks the final prose of a language model against the run's artifacts and the user's own words.

    The first time it fails the model is asked to rewrite, with the offending claims named; then `Ungrounded`
    is raised. Built-in answers are made from reports alone and are checked by tests instead.
    """

    state_schema = GroundingState

    @hook_config(can_jump_to=["model"])
    @override
    def after_model(self, state: GroundingState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        messages = state["messages"]
        last = messages[-1]
        if not isinstance(last, AIMessage) or last.tool_calls:
            return None
        if last.response_metadata.get("model_name") == BUILTIN:
            return None
        repairs = state.get("repairs", 0)
        if last.invalid_tool_calls and repairs < REPAIRS:
            return {"messages": _call_again(last), "repairs": repairs + 1, "jump_to": "model"}
        text = spoken(last.text)
        if not text:
            raise EmptyAnswer("the model returned no text")
        _check_end(last)
        if leaks_prompt(text):
            raise Unfit("the answer repeats the system prompt or tool schemas")
        faults = faults_in(text, messages)
        if not faults:
            _check_subject(text, messages)
            return None
        if repairs >= REPAIRS:
            raise Ungrounded(faults)
        return {
            "messages": [repair_request(faults)],
            "repairs": repairs + 1,
            "jump_to": "model",
        }

    @hook_config(can_jump_to=["model"])
    @override
    async def aafter_model(self, state: GroundingState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        return await asyncio.to_thread(self.after_model, state, runtime)


def faults_in(text: str, messages: Sequence[AnyMessage]) -> list[Claim]:
    """Claims without evidence, and figures of a fact that only the user or their own documents named but that
    are not marked as theirs."""
    every = evidence_of(messages)
    reported = Evidence((_without_own(step.artifact) for step in findings_of(messages)), ())
    return [
        *every.ungrounded(text),
        *(
            claim
            for sentence in _SENTENCE.split(text)
            if not _THEIRS.search(sentence)
            for claim in claims_in(sentence)
            if claim.kind in _FACTS and every.holds(claim) and not reported.holds(claim)
        ),
    ]


def _check_subject(text: str, messages: Sequence[AnyMessage]) -> None:
    """An answer comes from tools; after a calculation it says something of what was calculated, after a
    search alone it retells what was found."""
    steps = findings_of(messages)
    if not steps:
        raise Unfit("the model answered without calling a tool")
    calculated = [report for report in steps.all(Report) if not isinstance(report, Fault)]
    if calculated:
        evidence = Evidence(calculated, ())
        if not any(evidence.holds(claim) for claim in claims_in(text)):
            raise Unfit("the answer says nothing of what was calculated")
        return
    searched = steps.all(GuidesFound)
    if searched and not retells(text, _texts(searched, text)):
        raise Unfit("the answer is not what the guides say")


def _texts(searched: Sequence[GuidesFound], answer: str) -> Iterator[str]:
    """What an answer may retell: the guides found, and the user's own documents that it names as its source.
    Unnamed, what somebody wrote into a document would pass for the assistant's word."""
    for found in searched:
        if not found.no_answer:
            yield from (f"{guide.title} {guide.body}" for guide in found.guides)
            yield from (hit.snippet for hit in found.hits if hit.kind != OWN)
        for excerpt in found.own:
            if excerpt.title in answer or excerpt.source in answer:
                yield f"{excerpt.title} {excerpt.text}"


def _without_own(artifact: object) -> object:
    return dataclasses.replace(artifact, own=()) if isinstance(artifact, GuidesFound) else artifact


def leaks_prompt(text: str) -> bool:
    """Whether a text repeats a rule of the system prompt or a tool schema."""
    plain = " ".join(text.split())
    rules = (rule.strip(" -") for rule in _RULE_END.split(system_prompt()))
    return bool(_SCHEMA.search(plain)) or any(len(rule) >= _RULE and rule in plain for rule in rules)


def _call_again(message: AIMessage) -> list[ToolMessage]:
    """Replies to calls whose arguments are no JSON; every call needs one."""
    return [
        ToolMessage(
            "The arguments are not valid JSON. Call again.",
            tool_call_id=call["id"] or "",
            name=call["name"],
            status="error",
        )
        for call in message.invalid_tool_calls
    ]


def _check_end(message: AIMessage) -> None:
    """The client library takes a stream that breaks off for a whole answer; only the reason tells."""
    about = message.response_metadata
    reason = about.get("finish_reason")
    if about.get("model_provider") == "openai" and reason not in _WHOLE:
        raise CutAnswer(f"the answer broke off: finish reason {reason}")


def evidence_of(messages: Sequence[AnyMessage]) -> Evidence:
    """Evidence of a run: the artifacts since the last question, and all that the user said."""
    return Evidence(
        (step.artifact for step in findings_of(messages)),
        (message.text for message in messages if is_question(message)),
    )


def repair_request(faults: Sequence[Claim]) -> HumanMessage:
    """The request to rewrite; it is marked so that it counts neither as a question nor as evidence."""
    named = "; ".join(dict.fromkeys(claim.text for claim in faults[:_LISTED]))
    return HumanMessage(
        f"No tool result of this turn supports: {named}. Rewrite your whole answer using only figures and "
        "names "
        "from the tool results, or call a tool for what is missing. Keep the user's language; do not mention "
        "this request.",
        additional_kwargs={"repair": True},
    )
