"""Fused search: exact error strings, BM25 and dense vectors, one hit per guide, in the reader's language."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from knowledge.catalog import Catalog
from knowledge.guides import GUIDES_DIR, Guide, load_guides
from retrieval.chunk import Chunk, chunk_guide
from retrieval.embed import Embedder, Vectors
from retrieval.keyword import KeywordIndex, Scores, TokenCache
from retrieval.specs import spec_chunks
from retrieval.store import Store, read_pointer
from retrieval.words import Tokenizer, language_of

log = logging.getLogger(__name__)

LONGEST_QUERY = 6000  # characters; a pasted log is cut around its error lines before it comes here
_ERROR_LINE = re.compile(
    r"error|fail|fatal|exception|traceback|xid|nvrm|nccl|cuda|unable|cannot|could not|denied|refused"
    r"|timed? ?out|killed|not found|mismatch|invalid|unsupported|错误|失败|报错|异常|超时|找不到|无法|不足",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Hit:
    """A guide or spec page that answers, with the passage that does so best."""

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
    note: str = ""  # "", keyword_only_no_index, keyword_only_error


@dataclass(frozen=True)
class Weights:
    """How the signals are fused; each signal is scaled to 0..1 before."""

    exact: float = 1.0
    keyword: float = 0.55
    chunk_keyword: float = 0.25
    dense: float = 0.6
    other_language: float = 0.9  # a guide's match in the other language counts this much
    dense_floor: float = 0.78  # cosine of unrelated texts with multilingual-e5-small
    dense_ceiling: float = 0.92
    least_score: float = 0.30  # below it nothing answers


@dataclass
class _Shelf:
    """The guides and everything that is derived from them once per process."""

    guides: dict[tuple[str, str], Guide]
    chunks: list[Chunk]
    guide_index: KeywordIndex
    chunk_index: KeywordIndex
    guide_keys: Sequence[tuple[str, str]]
    spec_chunks: list[Chunk]
    spec_index: KeywordIndex
    symptoms: list[tuple[str, tuple[str, str]]] = field(default_factory=list)


class Searcher:
    """Search over the shelf. Without an index it ranks by keyword and says so; it never builds one."""

    def __init__(
        self,
        shelf: _Shelf,
        tokenizer: Tokenizer,
        embedder: Embedder | None,
        store: Store | None,
        weights: Weights | None = None,
    ) -> None:
        self._shelf = shelf
        self._tokenizer = tokenizer
        self._embedder = embedder
        self._store = store
        self._weights = weights or Weights()
        self._chunk_keys = {chunk.id: (chunk.guide_id, chunk.language) for chunk in shelf.chunks}
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
        language = language or language_of(text)
        tokens = self._tokenizer.tokens(text)
        if not tokens:
            return SearchResult((), no_answer=True)
        dense, note = self._dense_scores(text)
        scores, best_chunks = self._guide_scores(text, tokens, dense)
        ranked: list[Hit] = []
        for guide_id, score in sorted(scores.items(), key=lambda item: (-item[1], item[0])):
            guide = self.guide(guide_id, language)
            if guide is None or (categories and guide.category not in categories):
                continue
            if families and guide.families and not set(families) & set(guide.families):
                continue
            ranked.append(self._hit(guide, score, best_chunks, tokens))
            if len(ranked) == limit:
                break
        no_answer = not ranked or ranked[0].score < self._weights.least_score
        specs = self._spec_hits(tokens, language)
        return SearchResult((*ranked, *specs), no_answer and not specs, note)

    def _guide_scores(
        self, text: str, tokens: list[str], dense: dict[str, float]
    ) -> tuple[dict[str, float], dict[tuple[str, str], int]]:
        """Fused score by guide, and the best chunk by guide and language."""
        weights, shelf = self._weights, self._shelf
        by_guide = _scaled(shelf.guide_index.scores(tokens))
        by_chunk = _scaled(shelf.chunk_index.scores(tokens))
        keyword = dict(zip(shelf.guide_keys, by_guide.tolist(), strict=True))
        chunk_best: dict[tuple[str, str], float] = {}
        dense_best: dict[tuple[str, str], float] = {}
        best: dict[tuple[str, str], tuple[float, int]] = {}
        for number, chunk in enumerate(shelf.chunks):
            key = (chunk.guide_id, chunk.language)
            near = self._dense_share(dense.get(chunk.id, 0.0))
            word = float(by_chunk[number])
            chunk_best[key] = max(chunk_best.get(key, 0.0), word)
            dense_best[key] = max(dense_best.get(key, 0.0), near)
            if near + word > best.get(key, (-1.0, 0))[0]:
                best[key] = (near + word, number)
        exact = self._exact(text)
        own = language_of(text)
        scores: dict[str, float] = {}
        total = weights.keyword + weights.chunk_keyword + weights.dense
        for key in shelf.guide_keys:
            score = (
                weights.keyword * keyword[key]
                + weights.chunk_keyword * chunk_best.get(key, 0.0)
                + weights.dense * dense_best.get(key, 0.0)
            ) / total
            score *= 1.0 if key[1] == own else weights.other_language
            score = (score + weights.exact * exact.get(key, 0.0)) / (1 + weights.exact * exact.get(key, 0.0))
            scores[key[0]] = max(scores.get(key[0], 0.0), score)
        return scores, {key: number for key, (_score, number) in best.items()}

    def _dense_share(self, cosine: float) -> float:
        low, high = self._weights.dense_floor, self._weights.dense_ceiling
        return min(max((cosine - low) / (high - low), 0.0), 1.0)

    def _dense_scores(self, text: str) -> tuple[dict[str, float], str]:
        """Cosine by chunk id of the nearest chunks, or nothing and the reason."""
        if self._store is None or self._embedder is None:
            return {}, "keyword_only_no_index"
        try:
            pointer = self._store.pointer()
            if pointer is None or pointer.embedder != self._embedder.name:
                return {}, "keyword_only_no_index"
            vector: Vectors = self._embedder.query(text[:1500])
            found = self._store.nearest(pointer.collection, vector, 60, {"kind": "guide"})
        except Exception as error:  # noqa: BLE001 - whatever fails in the store, keywords still answer
            log.warning("dense search failed: %s", error)
            return {}, "keyword_only_error"
        return dict(found), ""

    def _exact(self, text: str) -> dict[tuple[str, str], float]:
        """1.0 for guides whose literal symptom stands in the text, or that quote a long part of it."""
        flat = _flat(text)
        found: dict[tuple[str, str], float] = {}
        for symptom, key in self._shelf.symptoms:
            if symptom in flat:
                strength = min(1.0, len(symptom) / 30)
            elif len(flat) >= 16 and flat in symptom:
                strength = min(1.0, len(flat) / 40)
            else:
                continue
            found[key] = max(found.get(key, 0.0), strength)
        return found

    def _hit(self, guide: Guide, score: float, best: dict[tuple[str, str], int], tokens: list[str]) -> Hit:
        number = best.get((guide.id, guide.language))
        chunk = self._shelf.chunks[number] if number is not None else None
        first = guide.sources[0]
        return Hit(
            guide.id,
            guide.title,
            guide.language,
            "guide",
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
    extra_guides: Iterable[Guide] = (),
) -> Searcher:
    """A searcher over the guides, with vectors where a finished index is in `index_dir` (or on a server)."""
    tokenizer = Tokenizer(_user_words(catalog))
    cache = TokenCache(tokenizer, index_dir / "tokens.json" if index_dir else None)
    shelf = _read_shelf([*load_guides(guides_dir), *extra_guides], catalog, cache)
    cache.save()
    store: Store | None = None
    if embedder is not None and index_dir is not None and read_pointer(index_dir) is not None:
        try:
            store = Store(index_dir, url)
        except Exception as error:  # noqa: BLE001 - without Chroma, keywords still answer
            log.warning("the index could not be opened: %s", error)
    return Searcher(shelf, tokenizer, embedder, store, weights)


def _read_shelf(guides: Sequence[Guide], catalog: Catalog, cache: TokenCache) -> _Shelf:
    chunks = [chunk for guide in guides for chunk in chunk_guide(guide)]
    specs = spec_chunks(catalog)
    keys: list[tuple[str, str]] = [(guide.id, guide.language) for guide in guides]
    guide_tokens = [
        cache.tokens(f"{guide.id} {guide.title}") * 3
        + cache.tokens("\n".join(guide.symptoms)) * 2
        + cache.tokens(guide.body)
        for guide in guides
    ]
    return _Shelf(
        guides=dict(zip(keys, guides, strict=True)),
        chunks=chunks,
        guide_index=KeywordIndex(guide_tokens),
        chunk_index=KeywordIndex([cache.tokens(f"{chunk.title} {chunk.text}") for chunk in chunks]),
        guide_keys=keys,
        spec_chunks=specs,
        spec_index=KeywordIndex([cache.tokens(f"{chunk.title} {chunk.text}") for chunk in specs]),
        symptoms=[
            (flat, key)
            for guide, key in zip(guides, keys, strict=True)
            for symptom in guide.symptoms
            if len(flat := _flat(symptom)) >= 8
        ],
    )


def _user_words(catalog: Catalog) -> list[str]:
    words = [word for region in catalog.regions for word in (region.name_zh, *region.aliases)]
    return words + [alias for model in catalog.models for alias in model.aliases]


def focus(query: str) -> str:
    """A question cut to what search can use: all of a short one, the error lines and ends of a long log."""
    text = query.strip()
    if len(text) <= LONGEST_QUERY // 3:
        return text
    lines = [line.strip()[:400] for line in text[: 40 * LONGEST_QUERY].splitlines() if line.strip()]
    errors = list(dict.fromkeys(line for line in lines if _ERROR_LINE.search(line)))
    kept = [*lines[:3], *errors[-25:], *lines[-3:]]
    return "\n".join(dict.fromkeys(kept))[:LONGEST_QUERY]


def highlight(text: str, tokens: Sequence[str], longest: int = 320) -> str:
    """The lines of a passage that carry the question's words first, cut to a length."""
    lines = [line for line in text.splitlines() if line.strip()]
    wanted = set(tokens)
    ranked = sorted(
        range(len(lines)), key=lambda at: (-sum(token in lines[at].lower() for token in wanted), at)
    )
    chosen: list[int] = []
    size = 0
    for at in ranked:
        if chosen and size + len(lines[at]) > longest:
            break
        chosen.append(at)
        size += len(lines[at])
    return "\n".join(lines[at] for at in sorted(chosen))[: longest + 80]


def _scaled(scores: Scores) -> Scores:
    peak = float(scores.max(initial=0.0))
    return scores / peak if peak > 0 else scores


def _flat(text: str) -> str:
    return re.sub(r"[\s\"'`*“”‘’]+", " ", text.lower()).strip(" .,;:!?。，；：！？")
