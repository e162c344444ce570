"""BM25 over guides and chunks, in memory; the tokens of unchanged texts come from a cache file."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Sequence
from pathlib import Path

import bm25s
import numpy as np
from numpy.typing import NDArray

from retrieval.words import Tokenizer

Scores = NDArray[np.float32]
_CACHE_VERSION = 1  # raise when `words.py` cuts differently


class KeywordIndex:
    """BM25 scores of a question over a fixed list of token lists."""

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        self._size = len(documents)
        self._known = {token for document in documents for token in document}
        logging.getLogger("bm25s").setLevel(logging.WARNING)  # it sets itself to DEBUG when imported
        self._bm25 = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
        if self._known:
            self._bm25.index([list(document) for document in documents], show_progress=False)

    def scores(self, tokens: Sequence[str]) -> Scores:
        """BM25 of every document; zeros when no token is known. Shape (documents,)."""
        known = [token for token in dict.fromkeys(tokens) if token in self._known]
        if not known:
            return np.zeros(self._size, dtype=np.float32)
        return np.asarray(self._bm25.get_scores(known), dtype=np.float32)

    def coverage(self, tokens: Sequence[str]) -> float:
        """Share of the question's distinct tokens that occur anywhere, 0 to 1."""
        distinct = set(tokens)
        return len(distinct & self._known) / len(distinct) if distinct else 0.0


class TokenCache:
    """Tokens by text hash in one JSON file, so that a start does not cut thousands of Chinese sentences."""

    def __init__(self, tokenizer: Tokenizer, path: Path | None) -> None:
        self._tokenizer = tokenizer
        self._path = path
        self._old: dict[str, str] = self._read()
        self._new: dict[str, str] = {}

    def tokens(self, text: str) -> list[str]:
        key = hashlib.sha256(text.encode()).hexdigest()[:24]
        joined = self._old.get(key)
        if joined is None:
            joined = "\t".join(self._tokenizer.tokens(text))
        self._new[key] = joined
        return joined.split("\t") if joined else []

    def save(self) -> None:
        """Writes what was used, atomically; a folder that cannot be written only costs time."""
        if self._path is None or self._new == self._old:
            return
        part = self._path.with_suffix(f".{os.getpid()}.part")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps({"version": _CACHE_VERSION, "tokens": self._new}), encoding="utf-8")
            part.replace(self._path)
        except OSError:
            part.unlink(missing_ok=True)

    def _read(self) -> dict[str, str]:
        if self._path is None:
            return {}
        try:
            stored = json.loads(self._path.read_text(encoding="utf-8"))
            return dict(stored["tokens"]) if stored["version"] == _CACHE_VERSION else {}
        except (OSError, ValueError, KeyError, TypeError):
            return {}
