"""A conversation in, a stream of events out: the agent, its deadline, and the built-in answer behind it."""

from __future__ import annotations

import asyncio
import logging
import re
import threading
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Literal, cast

from langchain_core.exceptions import ContextOverflowError
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.graph.state import CompiledStateGraph
from pydantic import SecretStr

from agent.breaker import Breaker
from agent.build import build_agent
from agent.builtin_model import BUILTIN, BuiltinChatModel
from agent.events import (
    Answer,
    Event,
    Failed,
    ModelCall,
    Notice,
    NoticeCode,
    Token,
    ToolFinished,
    ToolReport,
    ToolStarted,
)
from agent.grounding import EmptyAnswer, Unfit, Ungrounded
from agent.guides import GuideSearch, guide_tool
from agent.history import Turn, messages_of, slots_set, turns_of, user_texts
from agent.hub import ModelSource, fetched, ids_in
from agent.parts import hub_of, model_of, searcher_of
from agent.prose import clean_prose, spoken
from agent.reader import READ_INTENTS, ModelReader
from agent.reading import read
from agent.reading.language import language_of
from agent.reading.types import OwnModel, Reading
from agent.secrets import without_secrets
from agent.steps import is_question
from agent.subject import on_subject
from agent.timing import model_call_of
from agent.writing.faults import slot_fault_text
from agent.writing.notices import failure_text, notice_text
from agent.writing.sources import sources_of
from knowledge.catalog import Catalog, installed_catalog
from knowledge.errors import InputError
from settings import Settings
from tools.contracts.calls import Fault
from tools.contracts.sizing import Recommendation
from tools.langchain_tools import build_tools

log = logging.getLogger(__name__)
_OVERFLOW = re.compile(
    r"(?i)context_length|context (?:length|window|size)|too many tokens|too long|input length"
)

_NOT_FOR_MODEL = frozenset({"injection", "out_of_scope", "empty"})
Mode = Literal["agent", "reader", "none"]
Agent = CompiledStateGraph[Any, Any, Any, Any]


@dataclass(frozen=True)
class _Agents:
    """The built-in agent, and the one of the language model if there is one, over the same tools."""

    builtin: Agent
    model: Agent | None


class Advisor:
    """Answers conversations. It keeps no state of them: the client's messages carry it, so one advisor may
    serve many at a time and any number of replicas agree."""

    def __init__(
        self,
        catalog: Catalog,
        searcher: GuideSearch | None = None,
        model: BaseChatModel | None = None,
        deadline_s: float = 30.0,
        mode: Mode = "agent",
        hub: ModelSource | None = None,
    ) -> None:
        self._hub = hub
        self._catalog = catalog
        self._searcher = searcher
        self._deadline_s = deadline_s
        self._model = model
        self._agents = self._agents_over(catalog)
        self._reader = ModelReader(model, catalog) if model is not None else None
        self._mode: Mode = mode if model is not None else "none"
        secret = getattr(model, "openai_api_key", None)
        self._key = secret.get_secret_value() if isinstance(secret, SecretStr) else ""
        self._model_name = str(getattr(model, "model_name", "model")) if model is not None else BUILTIN
        self._breaker = Breaker()

    def _agents_over(self, catalog: Catalog) -> _Agents:
        """The agents over some facts: the installed ones, or those with a model of the user's own."""
        tools = build_tools(catalog)
        if self._searcher is not None:
            tools.append(guide_tool(self._searcher))
        builtin = BuiltinChatModel(catalog=catalog, has_guides=self._searcher is not None)
        return _Agents(
            build_agent(builtin, tools), build_agent(self._model, tools) if self._model is not None else None
        )

    def _agents_for(self, reading: Reading) -> _Agents:
        """A talk that brings its own model is answered over facts that hold it; nothing of it is kept."""
        if not reading.own_models:
            return self._agents
        return self._agents_over(self._catalog.with_models([own.model for own in reading.own_models]))

    async def _from_hub(self, texts: Sequence[str]) -> tuple[list[OwnModel], NoticeCode | None]:
        """Models named by an id that the catalog lacks, where a hub is set; its silence is a notice."""
        ids = ids_in(texts, self._catalog) if self._hub is not None else []
        if self._hub is None or not ids:
            return [], None
        return await asyncio.to_thread(fetched, ids, self._hub)

    def warm(self) -> None:
        """Loads what the first question would wait for: dictionary and embedder of the guide search."""
        if self._searcher is not None:
            self._searcher.search("driver 驱动", "zh", 1)

    @property
    def catalog(self) -> Catalog:
        """The facts that answers rest on."""
        return self._catalog

    @property
    def mode(self) -> Mode:
        """How the language model is used; "none" without one."""
        return self._mode

    def use(self, mode: Mode) -> None:
        """Changes the way the language model is used, as a probe found it able."""
        if self._model is not None and mode != self._mode:
            log.info("model %s is used as: %s", self._model_name, mode)
            self._mode = mode

    @property
    def searcher(self) -> GuideSearch | None:
        """The guide search, for callers that search without asking; None where it could not be opened."""
        return self._searcher

    async def ask(self, messages: Iterable[object]) -> AsyncIterator[Event]:
        """Events of one answer, the last of them `Answer` or `Failed`. `messages` is the whole talk (see
        `history.turns_of`); a user message may carry `slots`, and one that cannot be used ends in a `Failed`
        with its fault. Nothing but cancellation is raised."""
        started = time.perf_counter()
        run = _Run(started)
        turns: list[Turn] = []
        try:
            # Reading is work for the CPU: done in the event loop it would hold up every other answer.
            turns = await asyncio.to_thread(turns_of, messages)
            own, hub_code = await self._from_hub(user_texts(turns))
            run.reading = await asyncio.to_thread(
                read, user_texts(turns), self._catalog, slots_set(turns), own
            )
            if hub_code:
                yield run.notice(hub_code)
            if turns and turns[-1].cut:
                yield run.notice("input_cut")
            talk = messages_of(turns)
            talk[-1] = HumanMessage(talk[-1].text, additional_kwargs={"reading": run.reading})
            async for event in self._answer(run, talk, self._agents_for(run.reading)):
                yield event
        except Exception as error:
            if isinstance(error, InputError) and run.reading is None:  # a slot that was set by hand
                yield Failed(slot_fault_text(language_of(user_texts(turns)), error), "", error.payload())
                return
            reference = uuid.uuid4().hex[:8]
            log.exception("answer %s failed", reference, exc_info=error)
            yield Failed(failure_text(run.language, reference), reference)

    async def _answer(self, run: _Run, talk: list[AnyMessage], agents: _Agents) -> AsyncIterator[Event]:
        final: AIMessage | None = None
        name = BUILTIN
        if not self._wants_model(run):
            pass
        elif not self._breaker.admits():
            yield run.notice("model_paused")
        elif self._mode == "reader" and self._reader is not None:
            try:
                async with asyncio.timeout(self._deadline_s):
                    await run.complete(self._reader, talk)
                self._breaker.succeeded()
            except Exception as error:  # noqa: BLE001  # the built-in reading stands
                yield self._fell_back(run, error)
        elif agents.model is not None:
            try:
                async for event in run.ask_model(agents.model, talk, self._deadline_s):
                    yield event
                final, name = await asyncio.to_thread(run.checked_final), self._model_name
                self._breaker.succeeded()
            except Exception as error:  # noqa: BLE001  # every fault of a service ends in the built-in answer
                yield self._fell_back(run, error)
        if final is None:
            async for event in run.stream(agents.builtin, talk):
                yield event
            final = run.final
        if final is None:
            raise RuntimeError("the built-in agent ended without an answer")
        for piece in pieces(final.text):
            yield Token(piece)
        yield run.answer(final.text, name)

    def _wants_model(self, run: _Run) -> bool:
        """Whether the language model has a part in this answer: none where the reading saw an attack or
        matter that is not ours, for which the built-in answer is enough."""
        if run.reading is not None and run.reading.intent in _NOT_FOR_MODEL:
            return False
        if self._mode == "reader":
            return run.reading is not None and run.reading.intent in READ_INTENTS
        return self._mode == "agent"

    def _fell_back(self, run: _Run, error: Exception) -> Notice:
        """Logs what the model's service did and says so in one notice; the run starts afresh."""
        code: NoticeCode = "model_failed"
        if isinstance(error, Ungrounded):
            code = "model_ungrounded"
            self._breaker.succeeded()
        elif isinstance(error, Unfit):
            code = "model_unfit"
            self._breaker.succeeded()  # the service works; its model does not
        else:
            code = "model_timeout" if isinstance(error, TimeoutError) else code
            self._breaker.failed()
        said = without_secrets(str(error), self._key)
        log.warning("model %s: %s: %.500s", self._model_name, type(error).__name__, said)
        run.restart()
        return run.notice(code)

    def answer(self, turns: Sequence[str]) -> Answer | Failed:
        """The answer to the last of `turns` (user messages, oldest first), outside an event loop."""
        return asyncio.run(self.answer_async(turns))

    async def answer_async(self, turns: Sequence[str]) -> Answer | Failed:
        """As `answer`, inside an event loop."""
        async with aclosing(cast(AsyncGenerator[Event, None], self.ask(turns))) as events:
            async for event in events:
                if isinstance(event, Answer | Failed):
                    return event
        raise RuntimeError("a run ends with an answer or a failure")


class _Run:
    """What one run gathers: the reading, tool steps, notices, and the final message."""

    reading: Reading | None = None

    def __init__(self, started: float) -> None:
        self._started = started
        self._notices: list[Notice] = []
        self._model_calls: list[ModelCall] = []
        self.restart()

    def restart(self) -> None:
        """Forgets the steps of a failed try; notices and token counts stay."""
        self._reports: list[ToolReport] = []
        self._begun: dict[str, float] = {}
        self.final: AIMessage | None = None

    def checked_final(self) -> AIMessage:
        """The model's last message with its prose made safe to show; `EmptyAnswer` without one."""
        if self.final is None:
            raise EmptyAnswer("the run ended without an answer")
        titles = [source.title for source in sources_of(item.report for item in self._reports)]
        text = on_subject(clean_prose(without_secrets(spoken(self.final.text)), titles))
        if not text:
            raise Unfit("no sentence of the answer is about the question's matter")
        return AIMessage(text)

    @property
    def language(self) -> str:
        return self.reading.language if self.reading else "en"

    def notice(self, code: NoticeCode) -> Notice:
        notice = Notice(code, notice_text(self.language, code))
        self._notices.append(notice)
        return notice

    async def complete(self, reader: ModelReader, talk: list[AnyMessage]) -> None:
        """Lets a reader complete the reading; the last message carries it to the built-in model."""
        if self.reading is None:
            raise RuntimeError("a run reads before it is completed")
        words = [item.text for item in talk if is_question(item)]
        reply = await reader.ask(words)
        self._model_calls.append(model_call_of(reply))
        self.reading = reader.complete(self.reading, words, reply)
        talk[-1] = HumanMessage(talk[-1].text, additional_kwargs={"reading": self.reading})

    async def ask_model(
        self, agent: Agent, talk: list[AnyMessage], deadline_s: float
    ) -> AsyncIterator[Event]:
        """Runs the agent of a language model. A talk too long for it is asked again from its last question
        on, within the same deadline."""
        ends = asyncio.get_running_loop().time() + deadline_s
        try:
            async for event in self.stream(agent, talk, ends):
                yield event
        except Exception as error:
            if len(talk) == 1 or not is_overflow(error):
                raise
            log.info("the talk of %d messages is too long for the model", len(talk))
            self.restart()
            async for event in self.stream(agent, talk[-1:], ends):
                yield event

    async def stream(
        self, agent: Agent, talk: list[AnyMessage], ends: float | None = None
    ) -> AsyncIterator[Event]:
        """Runs an agent and yields its tool steps; the final message is left in `final`. `ends` is a time of
        the event loop's clock."""
        stream = agent.astream({"messages": talk}, stream_mode=["updates"], version="v2")
        async with aclosing(cast(AsyncGenerator[Any, None], stream)) as parts:
            while True:
                # One deadline for the whole run; it must not span a `yield`, where other code runs.
                async with asyncio.timeout_at(ends):
                    part = await anext(parts, None)
                if part is None:
                    return
                for update in part["data"].values():
                    for message in (update or {}).get("messages", []):
                        for event in self._events(message):
                            yield event

    def _events(self, message: AnyMessage) -> list[Event]:
        if isinstance(message, AIMessage):
            if message.response_metadata.get("model_name") != BUILTIN:
                self._model_calls.append(model_call_of(message))
            if not message.tool_calls:
                self.final = message
            return [self._tool_started(call) for call in message.tool_calls]
        return [self._tool_finished(message)] if isinstance(message, ToolMessage) else []

    def _tool_started(self, call: Any) -> ToolStarted:
        self._begun[call["id"]] = time.perf_counter()
        return ToolStarted(call["id"], call["name"], call["args"])

    def _tool_finished(self, message: ToolMessage) -> ToolFinished:
        begun = self._begun.get(message.tool_call_id, time.perf_counter())
        name = message.name or ""
        failed = message.status == "error" or isinstance(message.artifact, Fault)
        if message.artifact is not None:
            self._reports.append(ToolReport(name, message.artifact))
        return ToolFinished(
            message.tool_call_id,
            name,
            message.text,
            message.artifact,
            not failed,
            time.perf_counter() - begun,
        )

    def _usage(self) -> dict[str, int]:
        """The sums over the requests to the language model; empty without any."""
        if not self._model_calls:
            return {}
        return {
            "model_calls": len(self._model_calls),
            "input_tokens": sum(call.input_tokens for call in self._model_calls),
            "output_tokens": sum(call.output_tokens for call in self._model_calls),
        }

    def answer(self, text: str, model: str) -> Answer:
        if self.reading is None:
            raise RuntimeError("a run reads before it answers")
        return Answer(
            text=text,
            language=self.reading.language,
            reading=self.reading,
            recommendation=_shown(self._reports),
            reports=tuple(self._reports),
            sources=sources_of([item.report for item in self._reports]),
            seconds=time.perf_counter() - self._started,
            model=model,
            notices=tuple(self._notices),
            usage=self._usage(),
            model_calls=tuple(self._model_calls),
        )


def is_overflow(error: Exception) -> bool:
    """Whether a service says that the request is longer than its context; each words it in its own way."""
    if isinstance(error, ContextOverflowError):
        return True
    status = getattr(error, "status_code", None)
    return status in (400, 413, 422) and bool(_OVERFLOW.search(f"{getattr(error, 'code', '')} {error}"))


def pieces(text: str) -> list[str]:
    """A text cut at line ends, so that a table row or a step arrives whole."""
    return text.splitlines(keepends=True)


def open_advisor(settings: Settings, catalog: Catalog | None = None) -> Advisor:
    """The advisor of the settings: shipped facts, the search index if any, the model if one is named."""
    catalog = catalog or installed_catalog(
        settings.overlay_dir, settings.cny_per_usd, settings.cny_per_usd_date, settings.default_region
    )
    advisor = Advisor(
        catalog,
        searcher_of(settings, catalog),
        model_of(settings),
        settings.answer_deadline_s,
        "agent" if settings.model_mode == "auto" else settings.model_mode,
        hub_of(settings),
    )
    if settings.has_model and settings.model_mode == "auto":
        threading.Thread(target=_use_as_probed, args=(advisor, settings), daemon=True).start()
    return advisor


def _use_as_probed(advisor: Advisor, settings: Settings) -> None:
    """Finds out beside the first questions what the service can do. One that cannot be reached stays the
    agent's: the circuit breaker looks after it."""
    from agent.probe import probe, probe_lines

    try:
        found = probe(settings)
    except Exception:
        log.exception("the model service could not be probed")
        return
    log.info("model service: %s", "; ".join(probe_lines(found)))
    if found.can("chat"):
        advisor.use(found.mode)


def _shown(reports: Iterable[ToolReport]) -> Recommendation | None:
    """The recommendation that the answer goes by: the first with options, else the first that found none."""
    found = [item.report for item in reports if isinstance(item.report, Recommendation)]
    return next((item for item in found if item.options), found[0] if found else None)
