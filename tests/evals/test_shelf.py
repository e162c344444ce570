"""The figures of search: ranks, refusals and gaps are counted as their names say."""

from __future__ import annotations

import pytest

from evals.gate import read_thresholds, shelf_breaches
from evals.shelf import Found, Query, ShelfReport, misses, search_all, shelf_lines, shelf_values
from retrieval.search import Hit, SearchResult


def found(place: int, language: str = "en", refused: bool = False, off_shelf: bool = False) -> Found:
    query = Query(
        id=f"q-{place}",
        query="q",
        language=language,  # type: ignore[arg-type]
        style="off_shelf" if off_shelf else "question",
        guides=() if off_shelf else ("wanted",),
    )
    return Found(query, place, refused, "other", 0.02)


def test_recall_counts_five_places_and_mrr_all() -> None:
    report = ShelfReport((found(1), found(2), found(6), found(0)))
    assert report.recall().value == pytest.approx(0.5)
    assert report.mrr() == pytest.approx((1 + 1 / 2 + 1 / 6) / 4)


def test_languages_are_counted_apart() -> None:
    report = ShelfReport((found(1, "en"), found(0, "zh")))
    assert (report.recall("en").value, report.recall("zh").value) == (1.0, 0.0)


def test_refusals_of_answered_and_off_shelf_questions_are_apart() -> None:
    report = ShelfReport((found(1, refused=True), found(1), found(0, refused=True, off_shelf=True)))
    assert report.wrongly_refused.value == pytest.approx(0.5)
    assert report.off_shelf_recognised.value == pytest.approx(1.0)


def test_the_gate_names_each_shortfall() -> None:
    limits = read_thresholds().retrieval
    good = ShelfReport((*[found(1), found(1, "zh")] * 20, found(0, refused=True, off_shelf=True)))
    assert shelf_breaches(good, limits) == []
    bad = ShelfReport((found(0, "zh", refused=True), found(1), found(0, off_shelf=True)))
    words = ("recall@5:", "MRR", "Chinese", "off-shelf", "refused")
    breaches = shelf_breaches(bad, limits)
    assert all(any(word in breach for breach in breaches) for word in words), breaches


class _Searcher:
    def search(self, query: str, limit: int) -> SearchResult:
        names = ["first", "second", "ecs.x", "wanted"]
        hits = [
            Hit(name, name, "en", "instance" if "." in name else "guide", "c", 1.0, "s", "t")
            for name in names
        ]
        return SearchResult(tuple(hits[:limit]), no_answer=query == "weather")


def test_spec_pages_do_not_take_a_place() -> None:
    queries = [
        Query(id="a", query="q", language="en", style="question", guides=("wanted",)),
        Query(id="b", query="weather", language="en", style="off_shelf"),
    ]
    report = search_all(queries, _Searcher())  # type: ignore[arg-type]
    assert [item.place for item in report.found] == [3, 0]
    assert [item.refused for item in report.found] == [False, True]
    assert len(misses(report)) == 1
    assert shelf_values(report)["missed"] == []
    assert any("100.0" in line for line in shelf_lines(report))
