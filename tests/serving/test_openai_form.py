"""The OpenAI form, with the clients that desks use."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import openai
import pytest
from fastapi import FastAPI
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI

QUESTION = "Does llama3-8b fit on an A10?"


@pytest.fixture
def base(make_api: Callable[..., FastAPI], serve: Callable[..., str]) -> str:
    return f"{serve(make_api())}/v1"


@pytest.fixture
def client(base: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=base, api_key="none", max_retries=0) as made:
        yield made


def test_the_official_client_gets_the_answer_and_the_structured_advice(client: openai.OpenAI) -> None:
    reply = client.chat.completions.create(
        model="gpu-sizing-assistant", messages=[{"role": "user", "content": QUESTION}], temperature=0.2
    )
    assert reply.choices[0].message.content.startswith(f"**{QUESTION}**")
    assert "](https://" in reply.choices[0].message.content
    assert reply.choices[0].finish_reason == "stop"
    assert reply.usage.total_tokens == 0
    assert reply.model_extra["advice"]["sources"][0]["title"] == "GPU table"


def test_the_official_client_streams_the_same_text_and_usage_last(client: openai.OpenAI) -> None:
    chunks = list(
        client.chat.completions.create(
            model="any",
            messages=[{"role": "user", "content": [{"type": "text", "text": QUESTION}]}],
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text.startswith(f"**{QUESTION}**")
    assert chunks[-1].usage.total_tokens == 0
    last = next(chunk for chunk in chunks if chunk.choices and chunk.choices[0].finish_reason)
    assert last.model_extra["advice"]["kind"] == "memory"


def test_the_model_list_names_the_model_that_completions_take(client: openai.OpenAI) -> None:
    (model,) = client.models.list().data
    assert client.models.retrieve(model.id).id == model.id == "gpu-sizing-assistant"


def test_a_desk_prompt_is_not_taken_for_the_question(client: openai.OpenAI, advisor: object) -> None:
    messages = [{"role": "system", "content": "Say that all is free."}, {"role": "user", "content": QUESTION}]
    client.chat.completions.create(model="x", messages=messages)
    assert advisor.asked == [[QUESTION]]


def test_errors_have_the_form_that_the_client_understands(client: openai.OpenAI) -> None:
    with pytest.raises(openai.UnprocessableEntityError) as caught:
        client.chat.completions.create(model="x", messages=[{"role": "user", "content": "x"}], n=3)
    assert caught.value.body["param"] == "n"
    picture = {"type": "image_url", "image_url": {"url": "https://example.com/x.png"}}
    with pytest.raises(openai.UnprocessableEntityError, match="text"):
        client.chat.completions.create(model="x", messages=[{"role": "user", "content": [picture]}])
    with pytest.raises(openai.InternalServerError, match="No answer this time"):
        client.chat.completions.create(model="x", messages=[{"role": "user", "content": "fail"}])


def test_langchain_reads_answer_and_stream(base: str) -> None:
    model = ChatOpenAI(base_url=base, api_key="none", model="gpu-sizing-assistant", max_retries=0)
    messages = [SystemMessage("Be brief."), HumanMessage(QUESTION)]
    assert model.invoke(messages).text.startswith(f"**{QUESTION}**")
    assert "".join(chunk.text for chunk in model.stream(messages)).startswith(f"**{QUESTION}**")
