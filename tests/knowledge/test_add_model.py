"""A model added from its config.json is known by its name everywhere; a wrong file is named."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from knowledge.add_model import read_model_file
from knowledge.catalog import Catalog
from knowledge.errors import InputError
from knowledge.own_models import MODELS_FOLDER

ROOT = Path(__file__).parents[2]
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 8192,
    "torch_dtype": "bfloat16",
    "tie_word_embeddings": False,
}


def add(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "knowledge", "add-model", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60, check=False)


def test_an_added_model_is_found_by_its_name_with_its_own_shape(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text(json.dumps(CONFIG), encoding="utf-8")
    done = add(str(config), "--name", "our/desk-8b", "--overlay", str(tmp_path / "live"), "--json")
    assert done.returncode == 0, done.stderr
    added = Catalog(overlay=tmp_path / "live").model("our/desk-8b")
    assert added.kv_bytes_per_token_bf16 == 131_072
    assert added.params_total_b == pytest.approx(8.03, abs=0.01)
    with pytest.raises(InputError):
        Catalog().model("our/desk-8b")


def test_a_wrong_file_is_named_and_nothing_is_kept(tmp_path: Path) -> None:
    broken = tmp_path / "config.json"
    broken.write_text(json.dumps({**CONFIG, "num_hidden_layers": -3}), encoding="utf-8")
    done = add(str(broken), "--overlay", str(tmp_path / "live"))
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "live" / MODELS_FOLDER).exists()
    with pytest.raises(InputError, match=r"missing\.json"):
        read_model_file(tmp_path / "missing.json")


def test_a_damaged_added_model_does_not_stop_the_catalog(tmp_path: Path) -> None:
    folder = tmp_path / MODELS_FOLDER
    folder.mkdir()
    (folder / "bad.json").write_text("{", encoding="utf-8")
    assert Catalog(overlay=tmp_path).model("Qwen3-8B").model_id == "Qwen/Qwen3-8B"
