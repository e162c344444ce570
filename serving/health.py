"""Health, readiness with reasons, metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from anyio import to_thread
from fastapi import APIRouter
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from pydantic import BaseModel

from serving.metrics import Metrics

Check = Callable[[], str]


class Health(BaseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Readiness(BaseModel):
    """Whether questions can be answered, and each part by name: "ok" or what is wrong with it."""

    status: Literal["ok", "not ready"]
    parts: dict[str, str]


def health_routes(checks: Mapping[str, Check], metrics: Metrics) -> APIRouter:
    """`checks` give a part's state and raise nothing but what is wrong with it."""
    router = APIRouter(tags=["operation"])

    @router.get("/healthz")
    async def healthz() -> Health:
        """The process answers. It asks nothing else: a lost database is no reason to restart a process."""
        return Health()

    @router.get(
        "/readyz",
        response_model=Readiness,
        responses={503: {"model": Readiness, "description": "A part is missing; `parts` says which and why"}},
    )
    async def readyz() -> Response:
        """Questions can be answered and recorded; a proxy sends none while this is 503."""
        parts = {name: await to_thread.run_sync(_state, check) for name, check in checks.items()}
        ready = all(state == "ok" or state.startswith("ok:") for state in parts.values())
        body = Readiness(status="ok" if ready else "not ready", parts=parts)
        return JSONResponse(body.model_dump(), status_code=200 if ready else 503)

    @router.get("/metrics", response_class=PlainTextResponse, include_in_schema=False)
    async def prometheus() -> Response:
        return Response(metrics.text(), media_type="text/plain; version=1.0.0; charset=utf-8")

    return router


def _state(check: Check) -> str:
    try:
        return check()
    except Exception as error:  # noqa: BLE001  # whatever is wrong is the reason
        return f"{type(error).__name__}: {error}"[:200]
