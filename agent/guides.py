"""The guide search as a tool: excerpts for the model, the guides themselves for the writer and the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import Field

from knowledge.guides import Guide
from retrieval.search import Hit, SearchResult
from tools.contracts.base import Request

_GUIDES_WHOLE = 3  # hits whose whole guide is handed on
_EXCERPT_CHARS = 900


class GuideSearch(Protocol):
    """What the agent needs of a searcher."""

    def search(self, query: str, language: str = "", limit: int = 5) -> SearchResult: ...

    def guide(self, guide_id: str, language: str) -> Guide | None: ...


class GuideRequest(Request):
    """Words to look for, in the user's own language."""

    query: str = Field(min_length=1, max_length=6000)
    language: str = Field(default="", description="en or zh; empty = the query's")


@dataclass(frozen=True)
class GuidesFound:
    """Hits best first, the best ones with their whole guide; `note` says why search was weaker than usual."""

    hits: tuple[Hit, ...]
    guides: tuple[Guide, ...]
    no_answer: bool
    note: str


def guide_tool(searcher: GuideSearch) -> BaseTool:
    """The tool `search_guides` over a searcher, which ranks by keyword and says so without an index."""

    def run(query: str, language: str = "") -> tuple[str, GuidesFound]:
        result = searcher.search(query, language)
        wanted = [hit for hit in result.hits if hit.kind == "guide"][:_GUIDES_WHOLE]
        guides = (searcher.guide(hit.guide_id, hit.language) for hit in wanted)
        found = GuidesFound(
            result.hits, tuple(guide for guide in guides if guide), result.no_answer, result.note
        )
        return _text(found), found

    return StructuredTool.from_function(
        func=run,
        name="search_guides",
        description=(
            "Guides on errors, drivers, CUDA, memory, storage, network, buying and tuning on GPU instances. "
            "Call it for any symptom, how-to or concept. Not for prices, specs or sizes of instances."
        ),
        args_schema=GuideRequest,
        response_format="content_and_artifact",
    )


def _text(found: GuidesFound) -> str:
    if found.no_answer:
        return "No guide answers this."
    bodies = {guide.id: guide.body for guide in found.guides}
    parts = [
        f"[{number}] {hit.title}\n{bodies.get(hit.guide_id, hit.snippet)[:_EXCERPT_CHARS]}"
        for number, hit in enumerate(found.hits[:_GUIDES_WHOLE], 1)
    ]
    return "\n\n".join(parts)
