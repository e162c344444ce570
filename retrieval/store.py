"""The Chroma collection: built beside the old one, switched to by one file; the only chromadb import."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from pydantic import BaseModel, ConfigDict

from retrieval.chunk import Chunk
from retrieval.embed import Vectors

_BATCH = 500  # Chroma takes up to 5,461 rows a call; smaller ones let progress show
_PREFIX = "guides-"


class Pointer(BaseModel):
    """Which collection is in use, and what it holds; written last, so a killed build changes nothing."""

    model_config = ConfigDict(frozen=True)

    collection: str
    embedder: str
    corpus: str  # hash over all chunk ids
    count: int


class Store:
    """Collections of one index folder, embedded by default or on a Chroma server (`url`)."""

    def __init__(self, folder: Path, url: str = "") -> None:
        self._folder = folder
        self._pointer_file = folder / "current.json"
        self._client = _client(folder, url)

    def pointer(self) -> Pointer | None:
        return read_pointer(self._folder)

    def names(self) -> list[str]:
        """Our collections, finished or not."""
        return [item.name for item in self._client.list_collections() if item.name.startswith(_PREFIX)]

    def start(self, corpus: str, embedder: str) -> str:
        """The collection for this corpus, made if it is not there yet (a killed build goes on in it)."""
        name = f"{_PREFIX}{corpus[:16]}-{_slug(embedder)}"
        self._client.get_or_create_collection(
            name, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )
        return name

    def stored_ids(self, name: str) -> set[str]:
        return set(self._open(name).get(include=[])["ids"])

    def vectors(self, name: str) -> dict[str, Vectors]:
        """Content hash -> vector of everything a collection holds."""
        rows = self._open(name).get(include=["embeddings", "metadatas"])
        return {
            str(meta["hash"]): np.asarray(vector, dtype=np.float32)
            for meta, vector in zip(rows["metadatas"] or [], rows["embeddings"], strict=True)
        }

    def upsert(self, name: str, chunks: Sequence[Chunk], vectors: Vectors) -> None:
        collection = self._open(name)
        for start in range(0, len(chunks), _BATCH):
            part = chunks[start : start + _BATCH]
            collection.upsert(
                ids=[chunk.id for chunk in part],
                embeddings=[vector.tolist() for vector in vectors[start : start + _BATCH]],
                metadatas=[_metadata(chunk) for chunk in part],
            )

    def switch(self, pointer: Pointer) -> None:
        """Makes a finished collection the one in use, then drops the others."""
        part = self._pointer_file.with_suffix(f".{os.getpid()}.part")
        part.write_text(pointer.model_dump_json(), encoding="utf-8")
        part.replace(self._pointer_file)
        for name in self.names():
            if name != pointer.collection:
                self._client.delete_collection(name)

    def nearest(self, name: str, vector: Vectors, limit: int) -> list[tuple[str, float]]:
        """(chunk id, cosine similarity) of the nearest chunks, nearest first."""
        found = self._open(name).query(
            query_embeddings=[vector.tolist()],
            n_results=limit,
            include=["distances"],
        )
        distances = (found["distances"] or [[]])[0]
        return [(key, 1.0 - float(far)) for key, far in zip(found["ids"][0], distances, strict=True)]

    def close(self) -> None:
        close = getattr(self._client, "close", None)
        if close is not None:
            close()

    def _open(self, name: str) -> Any:
        return self._client.get_collection(name, embedding_function=None)


def read_pointer(folder: Path) -> Pointer | None:
    """The pointer of an index folder, or None where no build has finished."""
    try:
        return Pointer.model_validate_json((folder / "current.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _client(folder: Path, url: str) -> Any:
    import chromadb  # 1.6 s: only where vectors are used
    from chromadb.config import Settings as ChromaSettings

    settings = ChromaSettings(anonymized_telemetry=False)
    if url:
        parts = urlsplit(url if "//" in url else f"//{url}")
        return chromadb.HttpClient(
            host=parts.hostname or "127.0.0.1",
            port=parts.port or (443 if parts.scheme == "https" else 8000),
            ssl=parts.scheme == "https",
            settings=settings,
        )
    path = folder / "chroma"
    path.mkdir(parents=True, exist_ok=True)
    return chromadb.PersistentClient(str(path), settings)


def _metadata(chunk: Chunk) -> dict[str, str | int]:
    return {
        "hash": chunk.content_hash,
        "guide": chunk.guide_id,
        "language": chunk.language,
        "kind": chunk.kind,
        "category": chunk.category,
        "order": chunk.order,
    }


def _slug(embedder: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in embedder.lower())[:40].strip("-")


def corpus_hash(chunks: Sequence[Chunk]) -> str:
    """One hash over the ids of all dense chunks: equal when nothing changed."""
    return hashlib.sha256(json.dumps(sorted(chunk.id for chunk in chunks)).encode()).hexdigest()
