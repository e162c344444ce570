"""Tables worked out from a catalog, kept as long as it lives and its live rows stay the same."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from knowledge.catalog import Catalog

_P = ParamSpec("_P")
_T = TypeVar("_T")


def per_catalog(make: Callable[Concatenate[Catalog, _P], _T]) -> Callable[Concatenate[Catalog, _P], _T]:
    """Keeps what `make` gives for a catalog and further hashable arguments. A catalog that nobody uses any
    more is freed with its tables, so the table itself must not hold the catalog; a refresh of the live rows
    discards the older tables."""
    kept: WeakKeyDictionary[Catalog, tuple[int, dict[Hashable, Any]]] = WeakKeyDictionary()

    @wraps(make)
    def table_of(catalog: Catalog, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        edition = catalog.live.edition
        found = kept.get(catalog)
        if found is None or found[0] != edition:
            found = kept[catalog] = (edition, {})
        key = (args, tuple(kwargs.items()))
        if key not in found[1]:
            found[1][key] = make(catalog, *args, **kwargs)
        result: _T = found[1][key]
        return result

    return table_of
