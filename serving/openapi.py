"""The OpenAPI document, and a page that shows it without anything from outside."""

from __future__ import annotations

import html
import json
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse, Response

from serving.access.caller import scope_of
from serving.problems import OpenAIError, Problem

_DESCRIPTION = (
    "Which Alibaba Cloud GPU instance fits, with the arithmetic, sources and dates. Every request may be "
    "sent again: the service keeps no conversation. Errors are problem details (RFC 9457), under `/v1/` in "
    "OpenAI's form."
)
_STYLE = (
    "body{font:15px/1.5 system-ui;max-width:60em;margin:2em auto;padding:0 1em}"
    "pre{background:#f2f4f8;padding:.7em;overflow-x:auto}"
    "summary{cursor:pointer;padding:.3em 0}code{font-size:13px}"
)
_CSP = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"


def add_openapi(app: FastAPI) -> None:
    """Adds errors, security and `/api/docs` to what FastAPI knows of the routes."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]
    app.include_router(_docs(app))


def _document(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(title=app.title, version=app.version, description=_DESCRIPTION, routes=app.routes)
    components = document.setdefault("components", {})
    for kind in (Problem, OpenAIError):
        schema = kind.model_json_schema(ref_template="#/components/schemas/{model}")
        components["schemas"] |= schema.pop("$defs", {})
        components["schemas"][kind.__name__] = schema
    components["securitySchemes"] = {
        "bearer": {
            "type": "http",
            "scheme": "bearer",
            "description": "An API key (`python -m serving keys create`) or a visit token. "
            "On loopback no key is needed while none was created.",
        }
    }
    for path, operations in document["paths"].items():
        scope = scope_of(path)
        for operation in operations.values():
            if scope is not None:
                operation["security"] = [{"bearer": []}, {}]
                operation["x-scope"] = scope
    return document


def _docs(app: FastAPI) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.get("/api/docs")
    async def docs() -> Response:
        return HTMLResponse(_page(app.openapi()), headers={"Content-Security-Policy": _CSP})

    return router


def _page(document: dict[str, Any]) -> str:
    parts = [
        f"<!doctype html><html lang=en><meta charset=utf-8><title>API</title><style>{_STYLE}</style>",
        f"<h1>{html.escape(document['info']['title'])}</h1><p>{html.escape(_DESCRIPTION)}</p>",
        "<p>For programs: <a href='../openapi.json'>openapi.json</a>.</p>",
    ]
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            parts.append(_operation(path, method, operation, document["components"]["schemas"]))
    return "".join(parts)


def _operation(path: str, method: str, operation: dict[str, Any], schemas: dict[str, Any]) -> str:
    text = html.escape(operation.get("description") or operation.get("summary", ""))
    out = [f"<details><summary><b>{method.upper()} {html.escape(path)}</b> {text}</summary>"]
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    schema = content.get("schema", {})
    schema = schemas.get(schema.get("$ref", "").rpartition("/")[2], schema)
    examples = [item["value"] for item in content.get("examples", {}).values()] or schema.get("examples", [])
    for example in examples:
        body = json.dumps(example, ensure_ascii=False)
        out.append(f"<pre>curl -H 'Content-Type: application/json' -d '{html.escape(body)}' …{path}</pre>")
    if schema.get("properties"):
        rows = "".join(_field(name, value) for name, value in schema["properties"].items())
        out.append(f"<p>{html.escape(schema.get('description', ''))}</p><ul>{rows}</ul>")
    return "".join((*out, "</details>"))


def _field(name: str, schema: dict[str, Any]) -> str:
    text = f"{_kind(schema)} {schema.get('description', '')}"
    return f"<li><code>{html.escape(name)}</code> {html.escape(text)}"


def _kind(schema: dict[str, Any]) -> str:
    """The type of a field in a word or two."""
    if "anyOf" in schema:
        return " or ".join(_kind(part) for part in schema["anyOf"] if part.get("type") != "null")
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    return str(schema.get("type") or schema.get("$ref", "").rpartition("/")[2] or schema.get("const", ""))
