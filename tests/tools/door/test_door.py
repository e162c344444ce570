"""The doors of the calculators: a batch never stops, an error names its field, a start is quick and small."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.catalog import Catalog, shipped_catalog
from tools.__main__ import batch
from tools.doors import DOORS

CATALOG = shipped_catalog()
ROOT = Path(__file__).parents[3]
BY_NAME = {door.name: door for door in DOORS}
EXAMPLE = {
    "model": "meta-llama/Llama-3.1-70B-Instruct",
    "gpu": "A100-80GB",
    "gpu_count": 2,
    "tensor_parallel": 2,
    "weight_precision": "bf16",
    "context_tokens": 8192,
    "concurrency": 4,
}
MEMORY_FIELDS = """
    weights_gib weights_gib_per_gpu kv_bytes_per_token kv_cache_gib_per_gpu kv_pool_gib_per_gpu
    kv_capacity_tokens activation_gib_per_gpu overhead_gib_per_gpu total_gib_per_gpu
    usable_gib_per_gpu fits margin_gib limits assumptions
""".split()


def run(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tools", *arguments],
        input=text,
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )


def test_the_batch_prints_one_line_with_the_fields_of_the_contract() -> None:
    done = run("memory", "--batch", text=json.dumps(EXAMPLE) + "\n")
    (line,) = done.stdout.splitlines()
    report = json.loads(line)
    assert set(MEMORY_FIELDS) <= report.keys()
    assert report["kv_bytes_per_token"] == 327_680
    assert report["weights_gib"] == pytest.approx(131.4, abs=0.3)


def test_a_batch_survives_every_kind_of_bad_line_and_keeps_the_order() -> None:
    lines = [
        json.dumps({"id": 1, **EXAMPLE}),
        "not json",
        "[1, 2]",
        json.dumps({"id": 2, "model": "Llama-9-70B", "gpu": "A100-80GB"}),
        json.dumps({"id": 3, "modle": "x"}),
        json.dumps({"id": 4, **EXAMPLE, "gpu_count": -1}),
        json.dumps({"id": 5, **EXAMPLE, "context_tokens": "many"}),
        "[" * 100_000,
        json.dumps({"id": 6, **EXAMPLE}),
    ]
    answers = [json.loads(line) for line in batch(BY_NAME["memory"], lines, CATALOG)]
    assert len(answers) == len(lines)
    assert answers[0]["id"] == 1
    assert "error" not in answers[0]
    assert answers[3]["error"]["field"] == "model"
    assert answers[3]["error"]["suggestions"]
    assert answers[4]["error"]["suggestions"][0] == "model"
    assert answers[5]["error"]["field"] == "gpu_count"
    assert answers[6]["error"]["field"] == "context_tokens"
    assert all("error" in answers[number] for number in (1, 2, 7))
    assert "error" not in answers[8]


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_every_door_opens(name: str) -> None:
    done = run(name, "--help")
    assert done.returncode == 0, done.stderr
    assert "--batch" in done.stdout


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_an_empty_request_is_answered_or_named_never_a_bug(name: str, catalog: Catalog) -> None:
    (answer,) = [json.loads(line) for line in batch(BY_NAME[name], ["{}"], CATALOG)]
    if "error" in answer:
        assert answer["error"]["field"] != "line", answer


@given(
    st.dictionaries(
        st.sampled_from([*EXAMPLE, "engine", "kv_precision", "max_num_seqs", "nonsense"]),
        st.one_of(
            st.none(),
            st.booleans(),
            st.integers(),
            st.floats(),
            st.text(max_size=20),
            st.lists(st.integers()),
        ),
        max_size=5,
    )
)
def test_no_request_is_a_bug(values: dict[str, object]) -> None:
    (answer,) = [
        json.loads(line) for line in batch(BY_NAME["memory"], [json.dumps({**EXAMPLE, **values})], CATALOG)
    ]
    assert "error" not in answer or answer["error"]["field"] != "line", (values, answer)


def test_lookups_take_a_name() -> None:
    done = run("gpu", "h20", "--json")
    assert json.loads(done.stdout)["gpu"]["gpu_model"] == "H20-96GB"
    missing = run("instance", "ecs.gn7i-c24g1.24xlarge", "--json")
    assert missing.returncode == 2
    assert json.loads(missing.stdout)["error"]["suggestions"]


def test_a_start_is_quick_and_imports_nothing_heavy() -> None:
    code = (
        "import sys, runpy\n"
        "sys.argv = ['tools', 'memory', '--model', 'llama3 70b', '--gpu', 'A100-80GB', '--json']\n"
        "try:\n    runpy.run_module('tools', run_name='__main__', alter_sys=True)\n"
        "except SystemExit:\n    pass\n"
        "heavy = {'langchain_core', 'chromadb', 'gradio', 'settings', 'Tea'} & set(sys.modules)\n"
        "peak = next(line for line in open('/proc/self/status') if line.startswith('VmHWM'))\n"
        "print(sorted(heavy), int(peak.split()[1]) // 1024)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60, check=True
    )
    heavy, peak_mib = done.stdout.splitlines()[-1].rsplit(" ", 1)
    assert heavy == "[]"
    assert int(peak_mib) < 80


def test_a_log_file_is_set_beside_the_estimate(tmp_path: Path) -> None:
    log = tmp_path / "vllm.log"
    log.write_text(
        "INFO model='Qwen/Qwen3-8B', dtype=torch.bfloat16, max_seq_len=32768\n"
        "INFO Model loading took 15.2683 GiB and 4.1 seconds\n"
        "INFO GPU KV cache size: 312,704 tokens\n",
        encoding="utf-8",
    )
    done = run("compare-log", str(log), "--gpu", "A100-80GB", "--json")
    report = json.loads(done.stdout)
    assert any(part["part"] == "weights" and part["measured"] == 15.2683 for part in report["parts"]), report
    missing = run("compare-log", str(tmp_path / "none.log"), "--json")
    assert json.loads(missing.stdout)["error"]["field"] == "file"


@pytest.mark.parametrize("given", ["[", "[1,", "[" * 5_000])
def test_an_option_that_is_half_a_list_is_named_and_no_trace(given: str) -> None:
    done = run("recommend", "--model", "qwen2.5-7b", "--regions", given, "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["field"] == "regions"
    assert "Traceback" not in done.stderr
