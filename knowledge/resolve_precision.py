"""Precision names: of weights and of the KV cache, by alias."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from knowledge.errors import InputError
from knowledge.names import near, normal
from knowledge.rows import Precision

UNQUANTIZED = ("bf16", "fp16", "fp32")  # formats of weights and of caches alike


class PrecisionNames:
    """The names of the precision table and their aliases."""

    def __init__(self, precisions: Sequence[Precision]) -> None:
        self._by_name = {row.name: row for row in precisions}
        self._weights = _names(row for row in precisions if row.category != "kv-cache")
        self._cache = _names(row for row in precisions if row.category == "kv-cache")

    def of_weights(self, name: str) -> Precision:
        """The weight precision of this name; "int4" alone is awq-int4."""
        found = self._weights.get(normal(name))
        if found is None:
            raise InputError("weight_precision", name, "a known weight precision", near(name, self._weights))
        return self._by_name[found]

    def of_cache(self, name: str) -> Precision:
        """The KV-cache precision of this name: bf16, fp16, fp32, fp8, int8, int4 and their aliases."""
        key = normal(name)
        found = self._cache.get(key) or self._cache.get(f"kv{key}")
        if found is None and self._weights.get(key) in UNQUANTIZED:
            found = self._weights[key]
        if found is None:
            allowed = "bf16, fp16, fp32, fp8, int8 or int4"
            raise InputError("kv_precision", name, allowed, near(name, self._cache))
        return self._by_name[found]


def _names(rows: Iterable[Precision]) -> dict[str, str]:
    """Normal form of every name and alias -> the precision's name."""
    return {normal(name): row.name for row in rows for name in (*row.aliases, row.display_name, row.name)}
