"""The OpenAI form: `/v1/chat/completions` and `/v1/models`, for any desk that can talk to a model."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from agent.events import Answer, Event, Failed, Token
from knowledge.errors import InputError
from serving.chat import EVENT, STREAM_HEADERS, Calling, channel_of, end_of, with_heartbeat
from serving.desk import Desk, closing
from serving.problems import refusals
from serving.replies import chat_reply

MODEL = "gpu-sizing-assistant"
_EXAMPLE = {
    "example": {
        "value": {"model": MODEL, "messages": [{"role": "user", "content": "8B 模型 bf16 单卡 A10 放得下吗"}]}
    }
}
_IGNORED = (
    "Accepted and without effect: `temperature`, `max_tokens`, `tools`, `seed` and all other parameters of "
    "the form. System and developer messages are not read: a desk's prompt cannot change a figure."
)


class ContentPart(BaseModel):
    """A piece of a message; only text can be read."""

    model_config = ConfigDict(extra="ignore")

    type: str
    text: str = Field(default="", max_length=400_000)


class OpenAIMessage(BaseModel):
    """A message in OpenAI's form."""

    model_config = ConfigDict(extra="ignore")

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Annotated[str, Field(max_length=400_000)] | list[ContentPart] | None = None

    def text(self) -> str:
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content)
        return self.content or ""


class StreamOptions(BaseModel):
    model_config = ConfigDict(extra="ignore")

    include_usage: bool = False


class CompletionRequest(BaseModel):
    """A chat completion as OpenAI's clients send it."""

    model_config = ConfigDict(extra="ignore")

    model: str = Field(default=MODEL, max_length=200)
    messages: list[OpenAIMessage] = Field(min_length=1, max_length=400)
    stream: bool = False
    stream_options: StreamOptions | None = None
    n: int | None = None


class ModelCard(BaseModel):
    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "gpu-sizing-assistant"


class ModelList(BaseModel):
    object: Literal["list"] = "list"
    data: list[ModelCard]


def openai_routes(desk: Desk) -> APIRouter:
    """The two paths that OpenAI's clients need."""
    router = APIRouter(tags=["openai"])

    @router.get("/v1/models", responses=refusals(openai=True))
    async def models() -> ModelList:
        """The one model there is."""
        return ModelList(data=[ModelCard(id=MODEL)])

    @router.get("/v1/models/{model}", responses=refusals(404, openai=True))
    async def model(model: str) -> ModelCard:
        """Any name is answered by the one model there is, as in completions."""
        return ModelCard(id=model)

    @router.post(
        "/v1/chat/completions", responses={200: _described(), **refusals(openai=True)}, description=_IGNORED
    )
    async def completions(
        body: Annotated[CompletionRequest, Body(openapi_examples=_EXAMPLE)], caller: Calling
    ) -> Any:
        _check(body)
        answer_id = uuid.uuid4().hex
        events = await desk.begin(
            [
                {"role": message.role, "content": message.text()}
                for message in body.messages
                if message.role in ("user", "assistant")
            ],
            channel="openai" if caller.kind != "visit" else channel_of(caller),
            subject=caller.subject,
            answer_id=answer_id,
        )
        envelope = _Envelope(answer_id, body.model)
        if body.stream:
            usage = body.stream_options is not None and body.stream_options.include_usage
            return StreamingResponse(
                envelope.stream(events, usage), media_type="text/event-stream", headers=STREAM_HEADERS
            )
        return envelope.whole(await end_of(events))

    return router


def _check(body: CompletionRequest) -> None:
    if body.n not in (None, 1):
        raise InputError("n", body.n, "1: a question has one answer")
    for place, message in enumerate(body.messages):
        if isinstance(message.content, list):
            for part in message.content:
                if message.role == "user" and part.type != "text":
                    raise InputError(f"messages.{place}.content", part.type, "text: nothing else can be read")


class _Envelope:
    """What stands around a text in OpenAI's form."""

    def __init__(self, answer_id: str, model: str) -> None:
        self._common = {"id": f"chatcmpl-{answer_id}", "created": int(time.time()), "model": model}
        self._answer_id = answer_id

    def whole(self, answer: Answer) -> dict[str, Any]:
        message = {"role": "assistant", "content": answer.text, "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        return {
            **self._common,
            "object": "chat.completion",
            "choices": [choice],
            "usage": _usage(answer),
            "advice": self._advice(answer),
        }

    async def stream(self, events: AsyncIterator[Event], with_usage: bool) -> AsyncIterator[str]:
        yield self._chunk({"role": "assistant", "content": ""})
        async with closing(with_heartbeat(events)) as beating:
            async for event in beating:
                if event is None:
                    yield ": still working\n\n"
                elif isinstance(event, Token):
                    yield self._chunk({"content": event.text})
                elif isinstance(event, Answer):
                    yield self._chunk({}, finish="stop", advice=self._advice(event))
                    if with_usage:
                        last = {**self._common, "object": "chat.completion.chunk", "choices": []}
                        yield _data({**last, "usage": _usage(event)})
                elif isinstance(event, Failed):
                    yield _data({"error": {"message": event.text, "type": "server_error", "code": None}})
        yield "data: [DONE]\n\n"

    def _chunk(self, delta: dict[str, str], finish: str | None = None, **more: object) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _data({**self._common, "object": "chat.completion.chunk", "choices": [choice], **more})

    def _advice(self, answer: Answer) -> dict[str, Any]:
        """The extension: the structured answer without the text, which the message holds."""
        return chat_reply(answer, self._answer_id).model_dump(mode="json", exclude={"text", "reports"})


def _data(value: object) -> str:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n"


def _usage(answer: Answer) -> dict[str, int]:
    """Tokens of the language model; the built-in one uses none."""
    given, made = answer.usage.get("input_tokens", 0), answer.usage.get("output_tokens", 0)
    return {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}


def _described() -> dict[str, Any]:
    example = {
        "id": "chatcmpl-5f1c0e6d",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": MODEL,
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": "**…**"}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        "advice": {
            "id": "5f1c0e6d",
            "language": "zh",
            "kind": "memory",
            "recommendation": None,
            "sources": [],
        },
    }
    return {
        "description": "OpenAI's form; `advice` holds the recommendation, sources, notices and the reading",
        "content": {
            "application/json": {"schema": {"type": "object"}, "example": example},
            "text/event-stream": {"schema": EVENT},
        },
    }
