"""The reader over the shipped catalog."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agent.reading import read
from agent.reading.types import Reading
from knowledge.catalog import shipped_catalog

Reader = Callable[..., Reading]


@pytest.fixture(scope="session")
def reader() -> Reader:
    """`reader("first turn", "second turn")`."""
    catalog = shipped_catalog()
    return lambda *turns: read(turns, catalog)
