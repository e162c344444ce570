"""Shared by the agent's tests: the shipped catalog, a guide search without index, advisors."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from agent.run import Advisor
from knowledge.catalog import Catalog, shipped_catalog
from knowledge.guides import GUIDES_DIR, Guide, parse_guide
from retrieval.search import Hit, SearchResult


class OneGuide:
    """A search that finds one guide whatever is asked: what the agent does with it is under test."""

    def __init__(self, guide_id: str = "nvidia-smi-cannot-communicate", note: str = "") -> None:
        self.guide_id = guide_id
        self.note = note
        self.asked: list[str] = []

    def search(self, query: str, language: str = "", limit: int = 5) -> SearchResult:
        self.asked.append(query)
        language = language or ("zh" if re.search(r"[\u4e00-\u9fff]", query) else "en")
        guide = self.guide(self.guide_id, language)
        hit = Hit(guide.id, guide.title, language, "guide", guide.category, 1.0, guide.sources[0].title, "")
        return SearchResult((hit,), no_answer=False, note=self.note)

    def guide(self, guide_id: str, language: str) -> Guide:
        path = GUIDES_DIR / language / f"{guide_id}.md"
        return parse_guide(path.read_text(encoding="utf-8"), path.name)


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return shipped_catalog()


@pytest.fixture(scope="session")
def one_guide() -> type[OneGuide]:
    return OneGuide


@pytest.fixture(scope="session")
def advisor(catalog: Catalog) -> Iterator[Advisor]:
    """The built-in model over the shipped facts, with a stub guide search."""
    yield Advisor(catalog, OneGuide())
