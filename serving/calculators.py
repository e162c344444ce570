"""The calculators over HTTP: one POST each, the same requests and reports as the doors of `tools`."""

from __future__ import annotations

from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Body
from fastapi.openapi.models import Example

from knowledge.catalog import Catalog
from serving.gate import Gate
from serving.problems import refusals
from tools.doors import DOORS, Door

_EXAMPLES: dict[str, dict[str, Any]] = {
    "memory": {
        "model": "llama3-70b",
        "gpu": "A100-80GB",
        "gpu_count": 2,
        "context_tokens": 8192,
        "concurrency": 10,
    },
    "training-memory": {"model": "Qwen2.5-7B", "method": "lora", "gpu": "A10", "sequence_length": 2048},
    "other-memory": {"model": "FLUX.1-dev", "task": "diffusion", "gpu": "L20", "resolution": "1024x1024"},
    "throughput": {
        "model": "llama3-8b",
        "gpu": "A10",
        "input_tokens": 512,
        "output_tokens": 256,
        "concurrency": 8,
    },
    "other-speed": {"model": "FLUX.1-dev", "gpu": "L20", "resolution": "1024x1024", "amount": 10000},
    "training": {"model": "llama3-8b", "method": "full", "gpu": "H800", "gpu_count": 8, "tokens": 1e9},
    "cost": {"instance_type": "ecs.gn7i-c16g1.4xlarge", "count": 2, "region": "cn-hangzhou", "hours": 100},
    "recommend": {
        "task": "inference",
        "model": "Qwen2.5-72B",
        "context_tokens": 8192,
        "concurrency": 20,
        "budget": {"amount": 100, "currency": "CNY", "period": "hour"},
    },
    "compare-log": {
        "text": "INFO 09-12 10:11:12 [gpu_worker.py:298] Available KV cache memory: 6.51 GiB",
        "model": "llama3-8b",
        "gpu": "A10",
    },
    "instance": {"name": "ecs.gn7i-c16g1.4xlarge"},
    "gpu": {"name": "L20"},
    "model": {"name": "通义千问2.5 72B"},
}


def calculator_routes(catalog: Catalog, gate: Gate) -> APIRouter:
    """`POST /api/v1/<door>` for every calculator and look-up."""
    router = APIRouter(tags=["calculators"])
    for door in DOORS:
        _add(router, door, catalog, gate)
    return router


def _add(router: APIRouter, door: Door, catalog: Catalog, gate: Gate) -> None:
    report_type = door.report_type()

    async def calculate(body: Any) -> Any:
        async with gate.place():
            return await to_thread.run_sync(door.calculate, body, catalog)

    calculate.__name__ = door.name.replace("-", "_")
    calculate.__doc__ = door.help
    example: dict[str, Example] = {"example": {"value": _EXAMPLES[door.name]}}
    calculate.__annotations__ = {
        "body": Annotated[door.request_type(), Body(openapi_examples=example)],
        "return": report_type,
    }
    router.post(f"/api/v1/{door.name}", response_model=report_type, responses=refusals())(calculate)
