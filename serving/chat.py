"""`POST /api/v1/chat`: a conversation in; an answer out, whole or as server-sent events."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from agent.events import Answer, Event, Failed
from knowledge.errors import InputError
from serving.access.caller import Caller
from serving.desk import Desk, closing
from serving.problems import Refused, refusals
from serving.replies import ChatReply, chat_reply, event_data, event_name

HEARTBEAT_S = 15.0  # a comment line, so that no proxy takes a working stream for a dead one
# One server-sent event, as OpenAPI 3.2 describes a stream's items.
EVENT = {"type": "object", "properties": {"event": {"type": "string"}, "data": {"type": "string"}}}
STREAM_HEADERS = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}
_EXAMPLES: dict[str, Any] = {
    "English": {"messages": [{"role": "user", "content": "Llama-3-70B inference under 50 CNY per hour"}]},
    "Chinese, streamed": {
        "messages": [{"role": "user", "content": "7B LoRA 微调用哪个实例划算"}],
        "stream": True,
    },
    "A follow-up": {
        "messages": [
            {"role": "user", "content": "Qwen2.5-14B inference, 8k context, 4 users"},
            {"role": "assistant", "content": "**ecs.gn7i-c16g1.4xlarge** …"},
            {"role": "user", "content": "and with int4?"},
        ]
    },
    "An assumption corrected": {
        "messages": [
            {
                "role": "user",
                "content": "Qwen2.5-14B inference, 8k context, 4 users",
                "slots": {"concurrency": 20, "gpu_wanted": ["L20"]},
            }
        ]
    },
}
_STREAM_EXAMPLE = (
    'event: tool_started\ndata: {"call_id": "1", "name": "recommend_instance", "arguments": {}}\n\n'
    'event: token\ndata: {"text": "**ecs.gn7e-c16g1.4xlarge** …"}\n\n'
    'event: answer\ndata: {"id": "5f1c0e6d", "text": "…", "sources": []}\n\n'
)


class ChatMessage(BaseModel):
    """One message of a conversation."""

    model_config = ConfigDict(extra="ignore")

    role: Literal["user", "assistant"]
    content: str = Field(max_length=400_000)
    slots: dict[str, Any] | None = Field(
        default=None,
        max_length=40,
        description="fields of the request that the user set by hand beside these words, by name as in "
        "`reading.request` (text as people write it is read; null puts one back to what is assumed). A user "
        "message without words sets them for the question before it",
    )


class ChatRequest(BaseModel):
    """A whole conversation; its last message is the question. The server keeps nothing of it, so the same
    request may be sent again at any time."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": list(_EXAMPLES.values())})

    messages: list[ChatMessage] = Field(min_length=1, max_length=400)
    stream: bool = Field(default=False, description="server-sent events instead of one JSON object")


def caller_of(request: Request) -> Caller:
    """The caller that the gatekeeper let in."""
    caller: Caller = request.state.caller
    return caller


Calling = Annotated[Caller, Depends(caller_of)]


def channel_of(caller: Caller) -> str:
    """The channel's name in metrics and report."""
    return "widget" if caller.kind == "visit" else "api"


def chat_routes(desk: Desk) -> APIRouter:
    """The chat of the API."""
    router = APIRouter(tags=["chat"])

    @router.post(
        "/api/v1/chat",
        response_model=ChatReply,
        responses={
            200: {
                "description": "The answer; with `stream` the events, the last one `answer` or `failed`",
                "content": {"text/event-stream": {"schema": EVENT, "example": _STREAM_EXAMPLE}},
            },
            **refusals(),
        },
    )
    async def chat(body: ChatRequest, caller: Calling) -> Any:
        """Answers the last message of a conversation.

        With `stream` come server-sent events: `tool_started`, `tool_finished`, `notice`, `token` (pieces of
        the text) and at the end `answer` with everything, or `failed`.
        """
        answer_id = uuid.uuid4().hex  # our own: a request id is the client's, and may come twice
        events = await desk.begin(
            [message.model_dump() for message in body.messages],
            channel=channel_of(caller),
            subject=caller.subject,
            answer_id=answer_id,
        )
        if body.stream:
            return StreamingResponse(
                server_sent(events, answer_id), media_type="text/event-stream", headers=STREAM_HEADERS
            )
        return chat_reply(await end_of(events), answer_id)

    return router


async def end_of(events: AsyncIterator[Event]) -> Answer:
    """The answer at the end of events. Raises `Refused` with 500 where none could be made."""
    async with closing(events):
        async for event in events:
            if isinstance(event, Answer):
                return event
            if isinstance(event, Failed) and event.fault is not None:
                fault = event.fault
                raise InputError(fault["field"], fault["given"], fault["allowed"], fault["suggestions"])
            if isinstance(event, Failed):
                raise Refused(500, "No answer could be made", event.text)
    raise RuntimeError("a run ends with an answer or a failure")


async def server_sent(events: AsyncIterator[Event], answer_id: str) -> AsyncIterator[str]:
    """Events as `event: <name>` and one JSON line of data each."""
    async with closing(with_heartbeat(events)) as beating:
        async for event in beating:
            if event is None:
                yield ": still working\n\n"
            else:
                data = json.dumps(event_data(event, answer_id), ensure_ascii=False)
                yield f"event: {event_name(event)}\ndata: {data}\n\n"


async def with_heartbeat(
    events: AsyncIterator[Event], every_s: float = HEARTBEAT_S
) -> AsyncIterator[Event | None]:
    """The events, and None after each silence of `every_s`."""
    coming = asyncio.ensure_future(anext(events, None))
    async with closing(events):
        try:
            while True:
                done, _ = await asyncio.wait({coming}, timeout=every_s)
                if not done:
                    yield None
                    continue
                event = coming.result()
                if event is None:
                    return
                yield event
                coming = asyncio.ensure_future(anext(events, None))
        finally:
            # The reader is gone, or all is read: the run ends with the stream, its place is free again.
            coming.cancel()
            await asyncio.wait({coming})
