"""The chat model that needs no service: reads the talk, calls tools by plan, writes by template."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from pydantic import ConfigDict
from typing_extensions import override

from agent.planner import plan
from agent.reading import read
from agent.reading.types import Reading
from agent.steps import findings_of, is_question, last_question
from agent.writing import write
from knowledge.catalog import Catalog

BUILTIN = "builtin"


class BuiltinChatModel(BaseChatModel):
    """Deterministic: the same conversation gives the same tool calls and the same answer."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    catalog: Catalog
    has_guides: bool = True

    @property
    def _llm_type(self) -> str:
        return BUILTIN

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> Any:
        return {**super()._get_ls_params(stop, **kwargs), "ls_model_name": BUILTIN}

    @override
    def bind_tools(self, tools: Any, **kwargs: Any) -> Runnable[Any, AIMessage]:
        """Its plan names the tools itself, so nothing needs binding."""
        return self

    @override
    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._reply(messages))])

    def _reply(self, messages: list[Any]) -> AIMessage:
        reading = reading_of(messages, self.catalog)
        done = findings_of(messages)
        calls = plan(reading, done, self.catalog, self.has_guides)
        if not calls:
            text = write(reading, done, self.catalog)
            return AIMessage(text, response_metadata={"model_name": BUILTIN})
        ids = [f"call_{len(done) + number}" for number in range(len(calls))]
        return AIMessage(
            "",
            tool_calls=[
                {"name": call.name, "args": call.args, "id": key, "type": "tool_call"}
                for key, call in zip(ids, calls, strict=True)
            ],
            additional_kwargs={"purposes": {key: call.purpose for key, call in zip(ids, calls, strict=True)}},
            response_metadata={"model_name": BUILTIN},
        )


def reading_of(messages: list[AnyMessage], catalog: Catalog) -> Reading:
    """The reading of a conversation: the one its last user message carries, or made now."""
    last = last_question(messages)
    if last >= 0 and isinstance(carried := messages[last].additional_kwargs.get("reading"), Reading):
        return carried
    turns = [message.text for message in messages if is_question(message)]
    return read(turns or [""], catalog)
