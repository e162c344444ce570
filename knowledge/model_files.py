"""Weights by file header: safetensors index or header, GGUF header. Exact sizes; no tensor is read."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from math import prod

from knowledge.errors import InputError

MAX_HEADER_BYTES = 256 * 2**20
MAX_ENTRIES = 2_000_000
_SAFETENSORS_BYTES = {
    "F64": 8.0, "I64": 8.0, "F32": 4.0, "I32": 4.0, "F16": 2.0, "BF16": 2.0, "I16": 2.0, "U16": 2.0,
    "I8": 1.0, "U8": 1.0, "F8_E4M3": 1.0, "F8_E5M2": 1.0, "F8_E8M0": 1.0, "BOOL": 1.0, "U32": 4.0, "U64": 8.0,
}  # fmt: skip
# GGML tensor types: (values in a block, bytes of a block), from ggml's type table.
_GGML_TYPES = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 9: (32, 36),
    10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 15: (256, 292),
    16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18), 21: (256, 110), 22: (256, 82),
    23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 29: (256, 56), 30: (1, 2),
    39: (32, 17),
}  # fmt: skip
_GGUF_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_GGUF_STRING, _GGUF_ARRAY = 8, 9


@dataclass(frozen=True, slots=True)
class FileWeights:
    """What a header says: bytes of all tensors, their element count (None in an index), GGUF metadata."""

    tensor_bytes: int
    parameters: int | None
    metadata: dict[str, object]


def safetensors_index(data: bytes | str) -> FileWeights:
    """`model.safetensors.index.json`: the total size it states."""
    raw = data.encode() if isinstance(data, str) else data
    _limit(len(raw), "safetensors index")
    try:
        index = json.loads(raw)
        total = index["metadata"]["total_size"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(
            "safetensors index", "no metadata.total_size", "an index of safetensors files"
        ) from None
    if isinstance(total, bool) or not isinstance(total, int | float) or not 0 < total < 1e15:
        raise InputError("metadata.total_size", total, "the size in bytes")
    parameters = index["metadata"].get("total_parameters")
    return FileWeights(int(total), parameters if isinstance(parameters, int) else None, {})


def safetensors_header(data: bytes) -> FileWeights:
    """The head of one safetensors file (8 bytes of length, then JSON): shapes and types of its tensors."""
    if len(data) < 8:
        raise InputError("safetensors", f"{len(data)} bytes", "a safetensors header")
    (size,) = struct.unpack("<Q", data[:8])
    _limit(size, "safetensors header")
    if len(data) < 8 + size:
        raise InputError("safetensors", f"{len(data)} bytes", f"the first {8 + size} bytes of the file")
    try:
        header = json.loads(data[8 : 8 + size])
    except (ValueError, RecursionError):
        raise InputError("safetensors", "no JSON header", "a safetensors header") from None
    if not isinstance(header, dict):
        raise InputError("safetensors", "no JSON object", "a safetensors header")
    total = elements = 0.0
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        shape, dtype = _tensor(name, entry)
        elements += prod(shape)
        total += prod(shape) * _SAFETENSORS_BYTES[dtype]
    return FileWeights(int(total), int(elements), {})


def _tensor(name: str, entry: object) -> tuple[list[int], str]:
    if not isinstance(entry, dict) or not isinstance(entry.get("shape"), list):
        raise InputError("safetensors", name, "a shape and a type for each tensor")
    shape, dtype = entry["shape"], entry.get("dtype")
    if dtype not in _SAFETENSORS_BYTES:
        raise InputError(f"safetensors: {name}", dtype, f"one of {', '.join(_SAFETENSORS_BYTES)}")
    if not all(isinstance(side, int) and not isinstance(side, bool) and 0 <= side < 2**40 for side in shape):
        raise InputError(f"safetensors: {name}", shape, "whole numbers")
    return shape, dtype


def gguf_header(data: bytes) -> FileWeights:
    """The head of a GGUF file: metadata and tensor list. Raises `InputError` where it is cut off."""
    reader = _Reader(data)
    if reader.take(4) != b"GGUF":
        raise InputError("gguf", "no GGUF magic", "the first bytes of a GGUF file")
    version = reader.number("I")
    if version not in (2, 3):
        raise InputError("gguf version", version, "2 or 3")
    tensors, pairs = reader.number("Q"), reader.number("Q")
    if tensors > MAX_ENTRIES or pairs > MAX_ENTRIES:
        raise InputError("gguf", f"{tensors} tensors, {pairs} entries", f"at most {MAX_ENTRIES} of each")
    metadata = {reader.text(): reader.value(reader.number("I")) for _ in range(pairs)}
    total = elements = 0
    for _ in range(tensors):
        name = reader.text()
        sides = [reader.number("Q") for _ in range(min(reader.number("I"), 8))]
        kind = reader.number("I")
        reader.number("Q")
        if kind not in _GGML_TYPES:
            raise InputError(f"gguf: {name}", kind, "a known ggml tensor type")
        block, size = _GGML_TYPES[kind]
        count = prod(sides)
        elements += count
        total += -(-count // block) * size
    return FileWeights(total, elements, metadata)


class _Reader:
    """Little-endian values from the head of a file."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def take(self, size: int) -> bytes:
        if size > len(self._data) - self._at:
            raise InputError(
                "gguf", f"{len(self._data)} bytes", "the whole header; more of the file is needed"
            )
        self._at += size
        return self._data[self._at - size : self._at]

    def number(self, kind: str) -> int:
        return int(struct.unpack(f"<{kind}", self.take(struct.calcsize(f"<{kind}")))[0])

    def text(self) -> str:
        return self.take(self.number("Q")).decode("utf-8", "replace")

    def value(self, kind: int) -> object:
        """A metadata value; of an array only the length is kept."""
        if kind == _GGUF_STRING:
            return self.text()
        if kind == _GGUF_ARRAY:
            return self._array()
        if kind not in _GGUF_SCALARS:
            raise InputError("gguf", kind, "a known metadata type")
        scalar = _GGUF_SCALARS[kind]
        return struct.unpack(f"<{scalar}", self.take(struct.calcsize(f"<{scalar}")))[0]

    def _array(self) -> int:
        kind, length = self.number("I"), self.number("Q")
        if kind == _GGUF_ARRAY or length > 10 * MAX_ENTRIES:
            raise InputError("gguf", f"array of {length}", "a flat array of bearable length")
        if kind == _GGUF_STRING:
            for _ in range(length):
                self.take(self.number("Q"))
        elif kind in _GGUF_SCALARS:
            self.take(length * struct.calcsize(f"<{_GGUF_SCALARS[kind]}"))
        else:
            raise InputError("gguf", kind, "a known metadata type")
        return length


def _limit(size: int, what: str) -> None:
    if size > MAX_HEADER_BYTES:
        raise InputError(what, f"{size} bytes", f"at most {MAX_HEADER_BYTES} bytes")
