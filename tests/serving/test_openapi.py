"""The OpenAPI document: its examples work, no request by or against it gets a 5xx or a wrong form."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from retrieval.search import Hit, SearchResult
from serving.access.sites import add_site
from serving.store import Store

Call = Callable[..., httpx.Response]
Make = Callable[..., FastAPI]


class Shelf:
    def search(self, query: str, language: str = "", limit: int = 5) -> SearchResult:
        return SearchResult((Hit("g", "t", language or "en", "guide", "c", 0.5, "s", "snippet"),))

    def guide(self, guide_id: str, language: str) -> None:
        return None


def examples_of(document: dict[str, Any], operation: dict[str, Any]) -> list[Any]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    schema = content.get("schema", {})
    schema = document["components"]["schemas"].get(schema.get("$ref", "").rpartition("/")[2], schema)
    return [item["value"] for item in content.get("examples", {}).values()] or schema.get("examples", [])


def test_every_operation_is_described_and_every_example_works(
    make_api: Make, call: Call, store: Store
) -> None:
    app = make_api(Shelf(), handover_url="http://127.0.0.1:9/")
    document = call(app, "GET", "/openapi.json").json()
    answer_id = call(
        app, "POST", "/api/v1/chat", json={"messages": [{"role": "user", "content": "x"}]}
    ).json()["id"]
    site = add_site(store, "Desk", ["https://desk.example"])
    tried = 0
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            assert operation.get("description") or operation.get("summary"), path
            for example in examples_of(document, operation) if not path.startswith("/bots/") else ():
                example |= {"answer_id": answer_id} if path.endswith("feedback") else {}
                example |= {"site": site.key} if path.endswith("visits") else {}
                headers = {"Origin": "https://desk.example"} if path.endswith("visits") else {}
                reply = call(app, method.upper(), path, json=example, headers=headers)
                assert reply.status_code < 300, f"{path}: {reply.text[:300]}"
                tried += 1
    assert tried >= 16


def test_the_document_names_all_that_a_desk_needs(make_api: Make, call: Call) -> None:
    paths = call(make_api(), "GET", "/openapi.json").json()["paths"]
    doors = ("chat", "recommend", "memory", "throughput", "training", "cost", "instance", "model", "search")
    assert {f"/api/v1/{door}" for door in doors} <= set(paths)
    assert {"/v1/chat/completions", "/v1/models", "/healthz", "/readyz"} <= set(paths)


def test_the_docs_page_needs_nothing_from_outside(make_api: Make, call: Call) -> None:
    text = call(make_api(), "GET", "/api/docs").text
    assert "POST /api/v1/recommend" in text
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert "<script" not in text


@pytest.mark.slow
def test_no_request_by_or_against_the_document_breaks_the_service(
    make_api: Make, serve: Callable[..., str]
) -> None:
    base = serve(make_api(Shelf(), handover_url="http://127.0.0.1:9/", max_answers=32))
    done = subprocess.run(
        [
            Path(sys.executable).with_name("schemathesis"), "run", f"{base}/openapi.json",
            "--phases", "examples,coverage,fuzzing", "--max-examples", "10", "--generation-deterministic",
            # Names are resolved by alias: a text that fits the schema may still name nothing. And 0 is taken
            # for false, as pydantic does.
            "--exclude-checks", "positive_data_acceptance,negative_data_rejection",
            "--no-color", "--no-shrink",
        ],
        capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:]
    assert "24 selected / 24 total" in done.stdout
