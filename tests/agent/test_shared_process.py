"""One answer shares its process with others: it neither holds them up nor shows a key in the log."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from langchain_core.runnables import Runnable
from pydantic import SecretStr

from agent.events import Answer
from agent.reading import read
from agent.run import Advisor
from knowledge.catalog import Catalog

KEY = "plain-key-of-a-private-gateway"


class Refusing(BaseChatModel):
    """A model whose service repeats the key in its refusal."""

    openai_api_key: SecretStr = SecretStr(KEY)
    model_name: str = "refusing"

    @property
    def _llm_type(self) -> str:
        return "refusing"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Runnable[Any, Any]:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        raise RuntimeError(f"the credential {KEY} is not known here")


def test_the_key_of_the_model_service_stays_out_of_the_log_whatever_its_form(
    catalog: Catalog, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        end = Advisor(catalog, None, Refusing()).answer(["How much does ecs.gn7i-c8g1.2xlarge cost?"])
    assert isinstance(end, Answer)
    assert "is not known here" in caplog.text
    assert KEY not in caplog.text


def test_others_are_served_while_a_long_talk_is_read(catalog: Catalog) -> None:
    advisor = Advisor(catalog)
    advisor.answer(["8B on A10"])
    gaps: list[float] = []

    async def beat() -> None:
        while True:
            begun = time.perf_counter()
            await asyncio.sleep(0.01)
            gaps.append(time.perf_counter() - begun)

    async def ask() -> None:
        beating = asyncio.create_task(beat())
        await asyncio.sleep(0.05)
        await advisor.answer_async(talk)
        beating.cancel()

    talk = ["8B model on A10, 20 users, 1元 " * 130] * 14
    begun = time.perf_counter()
    read(talk, catalog)
    reading_s = time.perf_counter() - begun
    asyncio.run(ask())
    assert max(gaps) < reading_s / 2, f"nothing else for {max(gaps):.1f} s of {reading_s:.1f} s"
