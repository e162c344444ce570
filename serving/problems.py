"""Errors as problem details (RFC 9457), and in OpenAI's own form under `/v1/`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from knowledge.errors import AdvisorError
from serving.asgi import path_of

PROBLEM = "application/problem+json"
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")


class FieldError(BaseModel):
    """Which field cannot be used, what was given, what is allowed, and near matches of names."""

    kind: str = Field(description="input, or not_known where a fact is missing")
    field: str
    given: Any = None
    allowed: str = ""
    suggestions: list[str] = []


class Problem(BaseModel):
    """An error of the API, as RFC 9457 describes it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "about:blank",
                    "title": "The request cannot be answered",
                    "status": 422,
                    "detail": "`gpu`: 'A1000' cannot be used; a GPU model; near matches: A100-80GB, A10",
                    "request_id": "5f1c0e6d2b6b4d0c",
                    "error": {
                        "kind": "input",
                        "field": "gpu",
                        "given": "A1000",
                        "allowed": "a GPU model",
                        "suggestions": ["A100-80GB", "A10"],
                    },
                }
            ]
        }
    )

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    request_id: str = ""
    error: FieldError | None = None


class OpenAIFault(BaseModel):
    """What OpenAI's clients read of an error."""

    message: str
    type: str
    param: str | None = None
    code: str | None = None


class OpenAIError(BaseModel):
    """An error in OpenAI's form."""

    error: OpenAIFault


class Refused(Exception):
    """A request that is refused with a problem; `headers` say when or how to try again."""

    def __init__(
        self, status: int, title: str, detail: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.title = title
        self.detail = detail
        self.headers = dict(headers or {})


def problem(
    path: str,
    status: int,
    title: str,
    detail: str,
    *,
    request_id: str = "",
    error: Mapping[str, object] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """An error response in the form that the callers of a path understand."""
    if path.startswith("/v1/"):
        body = _openai(status, detail, error).model_dump()
        return JSONResponse(body, status_code=status, headers=dict(headers or {}))
    shown = Problem(title=title, status=status, detail=detail, request_id=request_id)
    values = shown.model_dump(mode="json", exclude={"error"})
    if error is not None:
        values["error"] = dict(error)
    return JSONResponse(values, status_code=status, media_type=PROBLEM, headers=dict(headers or {}))


def _openai(status: int, detail: str, error: Mapping[str, object] | None) -> OpenAIError:
    kinds = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
    kind = kinds.get(status, "server_error" if status >= 500 else "invalid_request_error")
    param = str(error["field"]) if error else None
    return OpenAIError(error=OpenAIFault(message=detail, type=kind, param=param))


def add_problems(app: FastAPI) -> None:
    """Every error of a route as a problem; what is not expected goes on to the guard, which logs it."""

    def answer(request: Request, status: int, title: str, detail: str, **extra: Any) -> Response:
        request_id = str(getattr(request.state, "request_id", ""))
        return problem(path_of(request.scope), status, title, detail, request_id=request_id, **extra)

    @app.exception_handler(AdvisorError)
    async def _of_input(request: Request, error: AdvisorError) -> Response:
        return answer(request, 422, "The request cannot be answered", str(error), error=error.payload())

    @app.exception_handler(Refused)
    async def _of_refusal(request: Request, error: Refused) -> Response:
        return answer(request, error.status, error.title, error.detail, headers=error.headers)

    @app.exception_handler(RequestValidationError)
    async def _of_validation(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        broken = first["type"] == "json_invalid"
        field = "body" if broken else ".".join(str(part) for part in first["loc"][1:]) or "body"
        fault = {"kind": "input", "field": field, "given": None, "allowed": first["msg"], "suggestions": []}
        status = 400 if broken else 422
        return answer(
            request, status, "The request is not well formed", f"`{field}`: {first['msg']}", error=fault
        )

    @app.exception_handler(HTTPException)
    async def _of_http(request: Request, error: HTTPException) -> Response:
        phrase = HTTPStatus(error.status_code).phrase
        return answer(request, error.status_code, phrase, str(error.detail), headers=error.headers)


def add_unknown(app: FastAPI, prefixes: Sequence[str]) -> None:
    """404 and 405 below the prefixes, which else the page mounted at the root would answer. Comes last."""

    async def unknown(request: Request) -> Response:
        allowed = app.openapi()["paths"].get(path_of(request.scope))
        if allowed:
            raise HTTPException(405, "Not for this method.", {"Allow": ", ".join(allowed).upper()})
        raise HTTPException(404, "There is no such path.")

    for prefix in prefixes:
        app.add_api_route(f"{prefix}{{path:path}}", unknown, methods=list(_METHODS), include_in_schema=False)


def refusals(*statuses: int, openai: bool = False) -> dict[int | str, dict[str, Any]]:
    """The errors of a route for the OpenAPI document; those that any route may give are always there."""
    told = {
        400: "The body is no JSON",
        401: "No key, or one that does not work",
        403: "The caller may not do this",
        404: "There is no such thing",
        413: "The body is too large",
        415: "The body is of another media type",
        422: "A field cannot be used, or a fact is not known",
        429: "Asked too often; `Retry-After` says when to come again",
        500: "A fault of the service; it is logged under the request id",
        503: "Too many questions at once, or the database is away; `Retry-After` says when to come again",
    }
    always = (400, 401, 403, 413, 415, 422, 429, 500, 503)
    form, media = ("OpenAIError", "application/json") if openai else ("Problem", PROBLEM)
    content = {media: {"schema": {"$ref": f"#/components/schemas/{form}"}}}
    return {
        status: {"description": told[status], "content": content} for status in sorted({*always, *statuses})
    }
