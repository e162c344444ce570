"""The shelf: all guides, their chunks and keyword indexes, worked out once per process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from knowledge.catalog import Catalog
from knowledge.guides import Guide
from retrieval.chunk import Chunk, chunk_guide
from retrieval.keyword import KeywordIndex, TokenCache
from retrieval.specs import spec_chunks
from retrieval.texts import flat


@dataclass
class Shelf:
    """The guides and everything that is derived from them once per process."""

    guides: dict[tuple[str, str], Guide]
    chunks: list[Chunk]
    guide_index: KeywordIndex
    chunk_index: KeywordIndex
    guide_keys: Sequence[tuple[str, str]]  # (guide id, language)
    chunk_key: NDArray[np.intp]  # position in `guide_keys` of each chunk's guide
    spec_chunks: list[Chunk]
    spec_index: KeywordIndex
    symptoms: list[tuple[str, int]]  # flattened literal symptom, position in `guide_keys`


def read_shelf(guides: Sequence[Guide], catalog: Catalog, cache: TokenCache) -> Shelf:
    """The shelf of these guides and the spec pages of the catalog."""
    chunks = [chunk for guide in guides for chunk in chunk_guide(guide)]
    specs = spec_chunks(catalog)
    keys: list[tuple[str, str]] = [(guide.id, guide.language) for guide in guides]
    at = {key: number for number, key in enumerate(keys)}
    guide_tokens = [
        cache.tokens(f"{guide.id} {guide.title}") * 3
        + cache.tokens("\n".join(guide.symptoms)) * 2
        + cache.tokens(guide.body)
        for guide in guides
    ]
    return Shelf(
        guides=dict(zip(keys, guides, strict=True)),
        chunks=chunks,
        guide_index=KeywordIndex(guide_tokens),
        chunk_index=KeywordIndex([cache.tokens(f"{chunk.title} {chunk.text}") for chunk in chunks]),
        guide_keys=keys,
        chunk_key=np.array([at[chunk.guide_id, chunk.language] for chunk in chunks], dtype=np.intp),
        spec_chunks=specs,
        spec_index=KeywordIndex([cache.tokens(f"{chunk.title} {chunk.text}") for chunk in specs]),
        symptoms=[
            (string, number)
            for number, guide in enumerate(guides)
            for symptom in guide.symptoms
            if len(string := flat(symptom)) >= 8
        ],
    )


def user_words(catalog: Catalog) -> list[str]:
    """Names of regions and models that a tokenizer must not cut."""
    words = [word for region in catalog.regions for word in (region.name_zh, *region.aliases)]
    return words + [alias for model in catalog.models for alias in model.aliases]
