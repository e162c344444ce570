"""The comparison with other calculators: nobody is asked what it cannot know, and no old answer stays."""

from __future__ import annotations

from collections import Counter

from benchmarks.memory_rows import MemoryRow, memory_rows
from benchmarks.peer_questions import PER_TOKEN, question
from benchmarks.peers import KINDS, PEERS, kept_answers
from knowledge.catalog import Catalog


def asked(catalog: Catalog, peer: str) -> list[tuple[MemoryRow, dict[str, object]]]:
    rows = [row for row in memory_rows() if row.calculator == "inference" and row.kind in KINDS]
    return [(row, found) for row in rows if (found := question(peer, row, catalog))]


def test_every_kept_answer_is_of_a_version_and_a_question_that_still_stand(catalog: Catalog) -> None:
    versions = {peer.name: peer.version for peer in PEERS}
    questions = {peer: {row.row_id for row, _ in asked(catalog, peer)} for peer in versions}
    kept = kept_answers()
    assert {item.peer for item in kept} == set(versions)
    for item in kept:
        assert item.version == versions[item.peer], item
        assert item.row_id in questions[item.peer], item


def test_hf_mem_is_asked_for_caches_and_plain_files_and_never_for_quantized_ones(catalog: Catalog) -> None:
    kinds = Counter(row.kind for row, _ in asked(catalog, "hf-mem"))
    assert kinds[PER_TOKEN] > 15
    assert set(kinds) == {PER_TOKEN, "Transformers peak, 16 bit"}


def test_accelerate_gets_the_class_of_the_model_and_its_own_word_for_the_width(catalog: Catalog) -> None:
    found = asked(catalog, "accelerate")
    assert len(found) > 100
    for row, each in found:
        config = each["config"]
        assert isinstance(config, dict)
        assert str(config["model_type"]).removesuffix("_moe") in ("qwen2", "qwen3", "llama", "mistral")
        assert ("num_experts" in config) == str(config["model_type"]).endswith("_moe")
        assert each["dtype"] == {"bf16": "float16", "fp16": "float16"}.get(row.precision, each["dtype"])
        assert "gpu_count" not in row.request or row.request["gpu_count"] == 1
