"""`POST /api/v1/search`: the guides that answer a question, with the passage that does so best."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from anyio import to_thread
from fastapi import APIRouter, Body
from pydantic import BaseModel, ConfigDict, Field

from agent.guides import GuideSearch
from serving.gate import Gate
from serving.problems import Refused, refusals

_EXAMPLE = {"example": {"value": {"query": "NCCL WARN Connect to failed: Connection refused", "limit": 3}}}


class SearchRequest(BaseModel):
    """Words, an error message or a pasted log; in Chinese or English."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field(min_length=1, max_length=100_000)
    language: Literal["", "en", "zh"] = Field(default="", description="of the guides; empty = the query's")
    limit: int = Field(default=5, ge=1, le=20)


class GuideHit(BaseModel):
    """A guide or a page of facts; scores compare within one answer only."""

    guide_id: str
    title: str
    language: str
    kind: str
    category: str
    score: float
    source: str
    heading: str
    snippet: str
    text: str = Field(default="", description="the whole guide as Markdown, of the first three")


class SearchReply(BaseModel):
    """Hits best first. `no_answer`: nothing on the shelf answers. `note`: why search was weaker."""

    hits: list[GuideHit]
    no_answer: bool
    note: str


def search_routes(searcher: GuideSearch | None, gate: Gate) -> APIRouter:
    """The guide search of the API."""
    router = APIRouter(tags=["search"])

    @router.post("/api/v1/search", responses=refusals())
    async def search(body: Annotated[SearchRequest, Body(openapi_examples=_EXAMPLE)]) -> SearchReply:
        """Guides on errors, drivers, CUDA, memory, storage, network, buying and tuning."""
        if searcher is None:
            raise Refused(503, "No guides", "The guide index could not be opened; the log says why.")
        async with gate.place():
            return await to_thread.run_sync(find_guides, searcher, body)

    return router


def find_guides(searcher: GuideSearch, request: SearchRequest) -> SearchReply:
    """The hits of a request; the first three with the whole guide."""
    result = searcher.search(request.query, request.language, request.limit)
    hits = []
    for place, hit in enumerate(result.hits):
        values: dict[str, Any] = asdict(hit)
        guide = searcher.guide(hit.guide_id, hit.language) if place < 3 and hit.kind == "guide" else None
        hits.append(GuideHit(**values, text=guide.body if guide else ""))
    return SearchReply(hits=hits, no_answer=result.no_answer, note=result.note)
