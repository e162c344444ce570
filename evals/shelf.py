"""Whether search finds the right guide: queries with the guide that answers them, or with none that does."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from evals.stats import Rate, percentile, rate
from retrieval.search import Searcher, SearchResult

QUERIES_DIR = Path(__file__).parent / "cases" / "retrieval"
DEPTH = 10  # hits that are looked at; recall counts the first five


class Query(BaseModel):
    """A query and the guides that answer it (one suffices); none for a question off the shelf."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    query: str
    language: Literal["en", "zh", "mixed"]
    style: Literal["question", "error", "typo", "log", "off_shelf"]
    guides: tuple[str, ...] = ()
    source: str = ""


@dataclass(frozen=True)
class Found:
    """What a search gave for a query: the place of the first right guide (0: none) and whether it refused."""

    query: Query
    place: int
    refused: bool
    first: str
    seconds: float


@dataclass(frozen=True)
class ShelfReport:
    """The figures of a set of searches; recall and MRR are over queries that a guide answers."""

    found: tuple[Found, ...]

    def recall(self, language: str = "", style: str = "") -> Rate:
        return rate([0 < item.place <= 5] for item in self._answered(language, style))

    def mrr(self, language: str = "", style: str = "") -> float:
        items = self._answered(language, style)
        return sum(1 / item.place for item in items if item.place) / len(items) if items else 0.0

    @property
    def off_shelf_recognised(self) -> Rate:
        return rate([item.refused] for item in self.found if not item.query.guides)

    @property
    def wrongly_refused(self) -> Rate:
        return rate([item.refused] for item in self._answered("", ""))

    @property
    def median_ms(self) -> float:
        return 1000 * percentile([item.seconds for item in self.found], 0.5)

    def _answered(self, language: str, style: str) -> list[Found]:
        return [
            item
            for item in self.found
            if item.query.guides
            and (not language or item.query.language == language)
            and (not style or item.query.style == style)
        ]


def load_queries(folder: Path = QUERIES_DIR) -> list[Query]:
    """All queries of the set, in the order of their files."""
    return [
        Query.model_validate(json.loads(line))
        for path in sorted(folder.glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip()
    ]


def search_all(queries: Iterable[Query], searcher: Searcher) -> ShelfReport:
    """Every query searched once."""
    return ShelfReport(tuple(_search(query, searcher) for query in queries))


def _search(query: Query, searcher: Searcher) -> Found:
    started = time.perf_counter()
    result = searcher.search(query.query, limit=DEPTH)
    seconds = time.perf_counter() - started
    return Found(query, _place(query, result), result.no_answer, _first(result), seconds)


def _guides(result: SearchResult) -> list[str]:
    return [hit.guide_id for hit in result.hits if hit.kind == "guide"]


def _place(query: Query, result: SearchResult) -> int:
    places = [at for at, guide_id in enumerate(_guides(result), start=1) if guide_id in query.guides]
    return min(places, default=0)


def _first(result: SearchResult) -> str:
    return next(iter(_guides(result)), "")


def shelf_lines(report: ShelfReport) -> list[str]:
    """The report as Markdown lines."""
    lines = ["| | queries | recall@5 | MRR |", "| --- | ---: | ---: | ---: |"]
    languages = ("", "en", "zh", "mixed")
    for name, language, style in (
        *((language or "all", language, "") for language in languages),
        *((style, "", style) for style in ("question", "error", "typo", "log")),
    ):
        recall = report.recall(language, style)
        lines.append(f"| {name} | {recall.of} | {recall} | {report.mrr(language, style):.3f} |")
    lines += [
        "",
        f"Off-shelf questions recognised: {report.off_shelf_recognised} of {report.off_shelf_recognised.of}; "
        f"others refused: {report.wrongly_refused}. Search takes {report.median_ms:.0f} ms (median).",
    ]
    return lines


def shelf_values(report: ShelfReport) -> dict[str, Any]:
    """The report as JSON values, with every query that missed."""
    return {
        "recall_at_5": {key or "all": report.recall(key).value for key in ("", "en", "zh", "mixed")},
        "mrr": {key or "all": report.mrr(key) for key in ("", "en", "zh", "mixed")},
        "off_shelf_recognised": report.off_shelf_recognised.value,
        "wrongly_refused": report.wrongly_refused.value,
        "median_ms": report.median_ms,
        "missed": [
            {"id": item.query.id, "wanted": item.query.guides, "first": item.first}
            for item in report.found
            if item.query.guides and not 0 < item.place <= 5
        ],
    }


def misses(report: ShelfReport) -> Sequence[str]:
    """One line for each query that failed, worst first."""
    return [
        f"{item.query.id} {item.place or '-'} wanted {'|'.join(item.query.guides) or 'none'} "
        f"got {item.first}{' (refused)' if item.refused else ''}: {item.query.query[:80]!r}"
        for item in report.found
        if (item.query.guides and (item.place != 1 or item.refused))
        or (not item.query.guides and not item.refused)
    ]
