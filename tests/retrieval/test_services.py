"""Retrieval over real loopback services: a Chroma server, an OpenAI-compatible embedding endpoint."""

from __future__ import annotations

import gc
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from knowledge.catalog import Catalog
from knowledge.errors import InputError
from knowledge.guides import load_guides
from retrieval.build import build_index
from retrieval.chunk import Chunk, chunk_guides
from retrieval.embed import OpenAIEmbedder
from retrieval.open import settings_embedder
from retrieval.search import open_searcher
from retrieval.store import Store, read_pointer
from settings import Settings
from tests.conftest import HashEmbedder

QUERY = "nvidia-smi has failed because it couldn't communicate with the driver"


@pytest.fixture(scope="module")
def chunks() -> list[Chunk]:
    return chunk_guides(load_guides()[:12])


def _free_port() -> int:
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return int(door.getsockname()[1])


@pytest.fixture
def chroma_url(tmp_path: Path) -> Iterator[str]:
    """A real `chroma run` of this environment."""
    port = _free_port()
    program = Path(sys.executable).with_name("chroma")
    command = [str(program), "run", "--path", str(tmp_path / "server"), "--host", "127.0.0.1"]
    server = subprocess.Popen(
        [*command, "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path
    )
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with socket.socket() as door:
                if door.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()
        gc.collect()


# Chroma's HTTP client leaves its sockets to the garbage collector, `close` or not (1.5.9).
@pytest.mark.filterwarnings("ignore:Exception ignored in.*socket:pytest.PytestUnraisableExceptionWarning")
def test_a_chroma_server_holds_the_index_and_switches_to_a_new_one(
    chunks: list[Chunk], tmp_path: Path, catalog: Catalog, chroma_url: str
) -> None:
    index = tmp_path / "index"
    assert build_index(chunks[:-3], index, HashEmbedder(), url=chroma_url).embedded == len(chunks) - 3
    assert not (index / "chroma").exists()
    searcher = open_searcher(index, catalog, HashEmbedder(), url=chroma_url)
    before = searcher.search(QUERY)
    assert before.note == ""
    assert before.hits

    assert build_index(chunks[1:], index, HashEmbedder(), url=chroma_url).embedded == 3
    assert not build_index(chunks[1:], index, HashEmbedder(), url=chroma_url).changed
    assert searcher.search(QUERY).note == "", "a searcher that was open follows the switch"
    store = Store(index, chroma_url)
    pointer = store.pointer()
    assert pointer is not None
    assert store.names() == [pointer.collection]
    assert store.stored_ids(pointer.collection) == {chunk.id for chunk in chunks[1:]}
    store.close()
    searcher.close()
    del searcher, store


def test_without_the_chroma_server_search_is_by_keyword_and_the_build_says_what_is_missing(
    chunks: list[Chunk], tmp_path: Path, catalog: Catalog
) -> None:
    build_index(chunks, tmp_path, HashEmbedder())
    url = f"http://127.0.0.1:{_free_port()}"
    result = open_searcher(tmp_path, catalog, HashEmbedder(), url=url).search(QUERY)
    assert result.hits
    assert result.note == "keyword_only_error"
    with pytest.raises(InputError, match="CHROMA_URL"):
        build_index(chunks, tmp_path, HashEmbedder(), url=url)


@dataclass
class Endpoint:
    """What a scripted `/v1/embeddings` was asked; it answers with the vectors of `HashEmbedder`, reversed."""

    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    keeps_dimensions: bool = False  # as models that know one size only


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    asked = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.requests.append(body)
            size = 64 if asked.keeps_dimensions else body.get("dimensions", 64)
            rows = [
                {"object": "embedding", "index": number, "embedding": [3 * x for x in vector[:size]]}
                for number, vector in enumerate(HashEmbedder().passages(body["input"]).tolist())
            ]
            reply = {"object": "list", "model": body["model"], "data": rows[::-1], "usage": {}}
            self.send_response(200 if self.path == "/v1/embeddings" else 404)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(reply).encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    asked.url = f"http://127.0.0.1:{server.server_port}/v1"
    yield asked
    server.shutdown()
    server.server_close()
    thread.join()


def _settings(monkeypatch: pytest.MonkeyPatch, url: str, **more: str) -> Settings:
    values = {"EMBEDDER": "openai", "EMBEDDING_BASE_URL": url, "EMBEDDING_MODEL": "pairs", **more}
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    return Settings()


def test_an_embedding_endpoint_serves_build_and_search_in_batches_of_the_size_set(
    chunks: list[Chunk], tmp_path: Path, catalog: Catalog, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = _settings(monkeypatch, endpoint.url, EMBEDDING_BATCH="20", EMBEDDING_DIMENSIONS="48")
    embedder = settings_embedder(settings)
    assert build_index(chunks, tmp_path, embedder).embedded == len(chunks)
    sizes = [len(request["input"]) for request in endpoint.requests]
    assert sizes == [20] * (len(chunks) // 20) + [len(chunks) % 20] * (len(chunks) % 20 > 0)
    assert {request["dimensions"] for request in endpoint.requests} == {48}
    pointer = read_pointer(tmp_path)
    assert pointer is not None
    assert pointer.embedder == "openai/pairs/48"
    store = Store(tmp_path)
    nearest = store.nearest(pointer.collection, embedder.query(chunks[5].passage), 1)
    assert nearest[0] == (chunks[5].id, pytest.approx(1.0, abs=1e-4)), "vectors went to other texts"
    store.close()
    result = open_searcher(tmp_path, catalog, embedder).search(QUERY)
    assert result.note == ""
    assert result.hits[0].guide_id


def test_a_model_of_one_size_is_refused_another_before_anything_is_stored(
    chunks: list[Chunk], tmp_path: Path, endpoint: Endpoint
) -> None:
    endpoint.keeps_dimensions = True
    with pytest.raises(InputError, match=r"EMBEDDING_DIMENSIONS.*64"):
        build_index(chunks, tmp_path, OpenAIEmbedder(endpoint.url, "", "pairs", 48))
    assert read_pointer(tmp_path) is None


def test_an_endpoint_that_is_not_there_is_named_and_search_goes_on(
    chunks: list[Chunk], tmp_path: Path, catalog: Catalog, endpoint: Endpoint
) -> None:
    build_index(chunks, tmp_path / "index", OpenAIEmbedder(endpoint.url, "", "pairs"))
    gone = OpenAIEmbedder(f"http://127.0.0.1:{_free_port()}/v1", "", "pairs")
    with pytest.raises(InputError, match="EMBEDDING_BASE_URL"):
        build_index(chunks, tmp_path / "other", gone)
    result = open_searcher(tmp_path / "index", catalog, gone).search(QUERY)
    assert result.hits
    assert result.note == "keyword_only_error"


def test_the_door_refuses_to_mix_embedders_and_says_how_to_build_anew(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    index = tmp_path / "index"
    build_index(chunk_guides(load_guides()[:1]), index, HashEmbedder())
    environment = {
        "EMBEDDER": "openai",
        "EMBEDDING_BASE_URL": endpoint.url,
        "EMBEDDING_MODEL": "pairs",
        "STATE_DIR": str(tmp_path / "state"),
    }

    def door(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "retrieval", *words, "--index-dir", str(index)]
        root = Path(__file__).parents[2]
        return subprocess.run(command, capture_output=True, text=True, cwd=root, env=environment, timeout=120)

    build = door("build")
    assert build.returncode == 2
    assert "retrieval build --rebuild" in " ".join(build.stderr.split())
    assert endpoint.requests == []
    search = door("search", QUERY)
    assert search.returncode == 0
    assert "retrieval build --rebuild" in " ".join(search.stderr.split())
    assert "nvidia" in search.stdout.lower()
