"""What each signal of search is worth: the retrieval set searched with one of them, and with all."""

from __future__ import annotations

from collections.abc import Sequence

from evals.shelf import Query, search_all
from knowledge.catalog import Catalog
from retrieval.open import settings_embedder
from retrieval.search import Weights, open_searcher
from settings import Settings

VARIANTS = (
    ("dense only", Weights(exact=0.0, keyword=0.0, chunk_keyword=0.0)),
    ("BM25 only", Weights(exact=0.0, dense=0.0)),
    ("BM25 and exact error strings", Weights(dense=0.0)),
    ("fused", Weights()),
)


def ablation_lines(queries: Sequence[Query], settings: Settings, catalog: Catalog) -> list[str]:
    """One Markdown row for each variant. Recall and MRR are over queries that a guide answers."""
    embedder = settings_embedder(settings)
    lines = [
        "| search | recall@5 | recall@5 en | recall@5 zh | MRR | MRR en | MRR zh | median ms |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, weights in VARIANTS:
        searcher = open_searcher(
            settings.index_dir, catalog, embedder, url=settings.chroma_url, weights=weights
        )
        report = search_all(queries, searcher)
        recalls = [report.recall(), report.recall("en"), report.recall("zh")]
        ranks = [f"{report.mrr(language):.3f}" for language in ("", "en", "zh")]
        cells = [name, *map(str, recalls), *ranks, f"{report.median_ms:.0f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines
