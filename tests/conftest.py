"""What all tests share: no network but loopback, a clean environment, the shipped catalog, a small index."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from pytest_socket import socket_allow_hosts

from knowledge.catalog import Catalog, shipped_catalog
from retrieval.embed import Vectors, unit

_CLEAN = (
    "OPENAI_",
    "EMBEDDING_",
    "CHROMA_URL",
    "KNOWLEDGE_DIRS",
    "EMBEDDER",
    "STATE_DIR",
    "HOST",
    "PORT",
    "LANGSMITH_",
    "LANGCHAIN_",
)
# The first example of a property may load a dictionary or a table; a deadline would only measure that.
# CI draws the same examples each time, so that a red run can be repeated; people's runs explore.
settings.register_profile(
    "project",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("project")
# Ten thousand cases of the properties that say so: `pytest --hypothesis-profile=soak tests/tools/throughput`.
settings.register_profile("soak", settings.get_profile("project"), max_examples=10_000, derandomize=False)
os.environ["ALIBABA_CLOUD_ECS_METADATA_DISABLED"] = "true"
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
os.environ["HF_HUB_OFFLINE"] = "1"


@pytest.fixture(autouse=True)
def _only_loopback() -> None:
    socket_allow_hosts(["127.0.0.1", "::1", "localhost"], allow_unix_socket=True)


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.startswith(_CLEAN):
            monkeypatch.delenv(name)
    monkeypatch.setenv("STATE_DIR", str(tmp_path / "state"))


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return shipped_catalog()


class HashEmbedder:
    """A fast deterministic embedder: bags of character pairs, so like texts are near. Counts its work."""

    name = "hash/pairs"
    batch = 16

    def __init__(self) -> None:
        self.embedded = 0

    def passages(self, texts: Sequence[str]) -> Vectors:
        self.embedded += len(texts)
        rows = np.zeros((len(texts), 64), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for left, right in zip(text.lower(), text.lower()[1:], strict=False):
                row[(ord(left) * 31 + ord(right)) % 64] += 1
        return unit(rows)

    def query(self, text: str) -> Vectors:
        self.embedded -= 1
        vector: Vectors = self.passages([text])[0]
        return vector


@pytest.fixture
def hash_embedder() -> Iterator[HashEmbedder]:
    yield HashEmbedder()
