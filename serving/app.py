"""The HTTP application: health, chat as JSON or server-sent events, and the calculators."""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import asdict, is_dataclass
from typing import Any, Literal

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from agent.events import Answer, Event, Failed
from agent.run import Advisor
from knowledge.catalog import shipped_catalog
from knowledge.errors import AdvisorError
from serving.calculators import add_calculators
from settings import Settings

log = logging.getLogger(__name__)
MAX_BODY_BYTES = 2_000_000


class ChatMessage(BaseModel):
    """One message of a conversation."""

    model_config = ConfigDict(extra="ignore")

    role: Literal["user", "assistant"]
    content: str = Field(max_length=400_000)


class ChatRequest(BaseModel):
    """A whole conversation; its last message is the question. The server keeps nothing of it."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"messages": [{"role": "user", "content": "Llama-3-70B inference under 50 CNY per hour"}]}
            ]
        },
    )

    messages: list[ChatMessage] = Field(min_length=1, max_length=400)
    stream: bool = False


class ChatReply(BaseModel):
    """An answer with everything it rests on."""

    text: str
    language: str
    reading: dict[str, Any]
    recommendation: dict[str, Any] | None = None
    reports: list[dict[str, Any]] = []
    sources: list[dict[str, Any]] = []
    notices: list[str] = []
    model: str
    seconds: float


def build_api(advisor: Advisor, settings: Settings) -> FastAPI:
    """The application without the page."""
    app = FastAPI(
        title="GPU sizing assistant",
        version="1",
        description="Which Alibaba Cloud GPU instance fits, with the arithmetic, sources and dates.",
        root_path=settings.root_path,
        docs_url="/api/docs",
        redoc_url=None,
    )
    app.middleware("http")(_guard)
    app.add_exception_handler(AdvisorError, _problem_of_input)
    app.add_exception_handler(RequestValidationError, _problem_of_validation)
    _add_health(app)
    _add_chat(app, advisor)
    add_calculators(app, shipped_catalog())
    return app


def _add_health(app: FastAPI) -> None:
    @app.get("/healthz", tags=["operation"])
    def healthz() -> dict[str, str]:
        """The process answers."""
        return {"status": "ok"}

    @app.get("/readyz", tags=["operation"])
    def readyz() -> dict[str, object]:
        """The facts are loaded and questions can be answered."""
        return {"status": "ok", "instance_types": len(shipped_catalog().instances)}


def _add_chat(app: FastAPI, advisor: Advisor) -> None:
    @app.post("/api/v1/chat", response_model=ChatReply, tags=["chat"])
    async def chat(body: ChatRequest) -> Any:
        """Answers the last message of a conversation; with `stream` as server-sent events."""
        messages = [message.model_dump() for message in body.messages]
        if body.stream:
            return StreamingResponse(
                _server_sent(advisor.ask(messages)),
                media_type="text/event-stream",
                headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"},
            )
        async for event in advisor.ask(messages):
            if isinstance(event, Answer):
                return chat_reply(event)
            if isinstance(event, Failed):
                return _problem(500, "No answer could be made", event.text, reference=event.reference)
        return _problem(500, "No answer could be made", "the run ended without an answer")


def chat_reply(answer: Answer) -> ChatReply:
    """The JSON form of an answer."""
    return ChatReply(
        text=answer.text,
        language=answer.language,
        reading=answer.reading.model_dump(mode="json", exclude={"pasted_text"}),
        recommendation=answer.recommendation.model_dump(mode="json") if answer.recommendation else None,
        reports=[{"tool": item.tool, "report": _plain(item.report)} for item in answer.reports],
        sources=[source.model_dump(mode="json") for source in answer.sources],
        notices=[notice.text for notice in answer.notices],
        model=answer.model,
        seconds=round(answer.seconds, 4),
    )


async def _server_sent(events: AsyncIterator[Event]) -> AsyncIterator[str]:
    """Events as `event: <name>` and one JSON line of data each."""
    async for event in events:
        name = type(event).__name__
        data = chat_reply(event).model_dump(mode="json") if isinstance(event, Answer) else _plain(event)
        yield f"event: {_snake(name)}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"


def _plain(value: object) -> Any:
    """A report or event as JSON values."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if is_dataclass(value) and not isinstance(value, type):
        return {key: _plain(item) for key, item in asdict(value).items()}
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool | type(None)) else str(value)


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


async def _guard(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    """Request ids, a body limit, and one sentence instead of a stack trace for the API's own paths."""
    request_id = request.headers.get("x-request-id", "")[:64] or uuid.uuid4().hex
    length = request.headers.get("content-length", "0")
    if request.url.path.startswith("/api/") and length.isdigit() and int(length) > MAX_BODY_BYTES:
        return _problem(413, "The body is too large", f"at most {MAX_BODY_BYTES} bytes")
    try:
        response = await call_next(request)
    except Exception:
        log.exception("request %s failed", request_id)
        response = _problem(500, "Something went wrong", "The fault is logged.", reference=request_id)
    response.headers["X-Request-Id"] = request_id
    response.headers.setdefault("X-Content-Type-Options", "nosniff")
    return response


def _problem_of_input(_request: Request, error: Exception) -> Response:
    if not isinstance(error, AdvisorError):
        raise error
    return _problem(422, "The request cannot be answered", str(error), error=error.payload())


def _problem_of_validation(_request: Request, error: Exception) -> Response:
    if not isinstance(error, RequestValidationError):
        raise error
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"][1:]) or "body"
    return _problem(
        422, "The request is not well formed", f"`{field}`: {first['msg']}", error={"field": field}
    )


def _problem(status: int, title: str, detail: str, **extra: object) -> JSONResponse:
    """An error as RFC 9457 problem details."""
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail, **extra}
    return JSONResponse(body, status_code=status, media_type="application/problem+json")
