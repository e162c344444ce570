"""Vectors of the shipped texts, kept as int8 by content hash, so that a first start is fast."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.embed import Vectors, unit

VECTORS_DIR = Path(__file__).parent / "vectors"
_PER_FILE = 2200  # 384 bytes of vector and 16 of hash each: about 0.9 MB a file


def quantize(vectors: Vectors) -> NDArray[np.int8]:
    """Unit vectors to int8, each row scaled by its own largest component (undone by normalising)."""
    peak = np.abs(vectors).max(axis=1, keepdims=True)
    return np.round(vectors / np.where(peak == 0, 1, peak) * 127).astype(np.int8)


def write_vectors(vectors_by_hash: Mapping[str, Vectors], folder: Path = VECTORS_DIR) -> list[Path]:
    """Writes the files anew, ordered by hash so that the same texts give the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("part-*.npy"):
        old.unlink()
    written: list[Path] = []
    hashes = sorted(vectors_by_hash)
    for start in range(0, len(hashes), _PER_FILE):
        names = hashes[start : start + _PER_FILE]
        keys = np.frombuffer(b"".join(bytes.fromhex(name) for name in names), dtype=np.int8).reshape(-1, 16)
        values = quantize(np.stack([vectors_by_hash[name] for name in names]))
        path = folder / f"part-{start // _PER_FILE:02d}.npy"
        np.save(path, np.concatenate([keys, values], axis=1))
        written.append(path)
    return written


def read_vectors(folder: Path = VECTORS_DIR) -> dict[str, Vectors]:
    """Content hash -> unit vector, of all files."""
    found: dict[str, Vectors] = {}
    for path in sorted(folder.glob("part-*.npy")):
        table = np.load(path, allow_pickle=False)
        vectors = unit(table[:, 16:].astype(np.float32))
        for key, vector in zip(table[:, :16], vectors, strict=True):
            found[key.tobytes().hex()] = vector
    return found
