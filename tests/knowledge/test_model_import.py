"""Models from files of a user: right for known layouts, a clear error or a stated bound for all else."""

from __future__ import annotations

import json
import random
import struct

import pytest

from knowledge.catalog import Catalog
from knowledge.errors import InputError
from knowledge.model_files import gguf_header, safetensors_header, safetensors_index
from knowledge.model_import import model_from_config, model_from_gguf
from knowledge.rows import Model

LLAMA3_8B: dict[str, object] = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "max_position_embeddings": 8192,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}
DEEPSEEK_V3: dict[str, object] = {
    "model_type": "deepseek_v3",
    "hidden_size": 7168,
    "num_hidden_layers": 61,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "intermediate_size": 18432,
    "moe_intermediate_size": 2048,
    "n_routed_experts": 256,
    "num_experts_per_tok": 8,
    "n_shared_experts": 1,
    "first_k_dense_replace": 3,
    "kv_lora_rank": 512,
    "q_lora_rank": 1536,
    "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 128,
    "v_head_dim": 128,
    "vocab_size": 129280,
    "quantization_config": {"quant_method": "fp8"},
}


def test_llama3_8b_and_deepseek_v3_are_read_with_their_published_sizes() -> None:
    llama = model_from_config(json.dumps(LLAMA3_8B), "mine").model
    assert llama.params_total_b == pytest.approx(8.0303, rel=0.0005)
    assert llama.kv_bytes_per_token_bf16 == 131_072
    deepseek = model_from_config(DEEPSEEK_V3, "mine").model
    assert deepseek.params_total_b == pytest.approx(671.0, rel=0.002)
    assert deepseek.kv_bytes_per_token_bf16 == 70_272
    assert deepseek.native_dtype == "fp8"


def test_windows_recurrent_states_and_nested_text_configs_are_read() -> None:
    layers = ["linear_attention"] * 3 + ["full_attention"]
    qwen = {
        **LLAMA3_8B,
        "model_type": "qwen3_next",
        "num_hidden_layers": 64,
        "layer_types": layers * 16,
        "head_dim": 256,
        "num_key_value_heads": 4,
        "linear_num_value_heads": 48,
        "linear_num_key_heads": 16,
        "linear_key_head_dim": 128,
        "linear_value_head_dim": 128,
    }
    found = model_from_config({"model_type": "outer", "text_config": qwen}, "hybrid").model
    assert found.kv_bytes_per_token_bf16 == 65_536
    assert found.linear_state_bytes_per_seq_fp32 == 153_944_064
    window = {
        **LLAMA3_8B,
        "layer_types": ["sliding_attention"] * 31 + ["full_attention"],
        "sliding_window": 1024,
    }
    assert model_from_config(window, "w").model.kv_window_bytes_per_seq_bf16 == 31 * 4096 * 1024


def _config_of(row: Model) -> dict[str, object]:
    return {
        "model_type": "llama",
        "hidden_size": row.hidden_size,
        "num_hidden_layers": row.num_layers,
        "num_attention_heads": row.num_attention_heads,
        "num_key_value_heads": row.num_kv_heads,
        "head_dim": row.head_dim,
        "intermediate_size": row.intermediate_size,
        "vocab_size": row.vocab_size,
        "tie_word_embeddings": bool(row.tie_word_embeddings),
    }


def test_plain_decoders_of_the_catalog_come_back_from_their_own_configs(catalog: Catalog) -> None:
    checked = 0
    for row in catalog.models:
        plain = row.kind == "llm" and row.attention in ("mha", "gqa", "mqa") and not row.sliding_layers
        gated = row.family.startswith(("Llama", "Qwen", "Mistral", "Yi", "InternLM"))
        if not (
            plain and gated and row.check.startswith("+0.0") and row.vocab_size and row.intermediate_size
        ):
            continue
        found = model_from_config(_config_of(row), "again").model
        assert found.kv_bytes_per_token_bf16 == row.kv_bytes_per_token_bf16, row.model_id
        assert found.params_total_b == pytest.approx(row.params_total_b, rel=0.01), row.model_id
        checked += 1
    assert checked > 60


MUTATIONS: tuple[object, ...] = (None, -1, 0, 1.5, 10**12, float("nan"), "many", [], {}, True, [32] * 32)


def test_two_hundred_mutated_configs_give_a_clear_error_or_a_stated_model() -> None:
    dice = random.Random(7)
    outcomes = {"error": 0, "model": 0}
    for index in range(200):
        config = dict(LLAMA3_8B if index % 2 else DEEPSEEK_V3)
        for _ in range(dice.randint(1, 2)):
            key = dice.choice(sorted(config))
            action = dice.randint(0, 2)
            if action == 0:
                del config[key]
            elif action == 1:
                config[key.upper()] = config.pop(key)
            else:
                config[key] = dice.choice(MUTATIONS)
        try:
            found = model_from_config(config, "mutant")
        except InputError as error:
            assert error.field
            outcomes["error"] += 1
        else:
            outcomes["model"] += 1
            assert found.model.model_id == "mutant"
            assert found.model.params_total_b
            for name in ("hidden_size", "num_hidden_layers", "vocab_size"):
                assert (
                    config[name]
                    == {
                        "hidden_size": found.model.hidden_size,
                        "num_hidden_layers": found.model.num_layers,
                        "vocab_size": found.model.vocab_size,
                    }[name]
                )
    assert outcomes["error"] > 80


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"num_key_value_heads": 7}, "num_key_value_heads"),
        ({"hidden_size": None}, "hidden_size"),
        ({"num_attention_heads": 33}, "head_dim"),
        ({"layer_types": ["full_attention"]}, "layer_types"),
        ({"kv_lora_rank": 512}, "qk_rope_head_dim"),
        ({"num_local_experts": 8, "num_experts_per_tok": 9}, "num_experts_per_tok"),
        ({"vocab_size": 10**9}, "vocab_size"),
        ({"tie_word_embeddings": "no"}, "tie_word_embeddings"),
    ],
)
def test_a_contradiction_is_named_by_its_key(change: dict[str, object], field: str) -> None:
    with pytest.raises(InputError) as caught:
        model_from_config({**LLAMA3_8B, **change}, "wrong")
    assert caught.value.field == field


@pytest.mark.parametrize("data", ["", "{", "[]", "[" * 100_000, '{"a": 1}', b"\xff\xfe", "x" * (2**20 + 1)])
def test_what_is_no_config_is_refused(data: bytes | str) -> None:
    with pytest.raises(InputError):
        model_from_config(data, "nothing")


def test_an_unknown_architecture_is_bounded_and_said_to_be_unknown() -> None:
    strange = {**LLAMA3_8B, "model_type": "zebra", "layer_types": ["striped"] * 32}
    found = model_from_config(strange, "zebra")
    assert found.unknown == ("model_type zebra", "layer type striped")
    assert found.model.kv_bytes_per_token_bf16 == 131_072


def test_an_imported_model_is_found_by_its_name(catalog: Catalog) -> None:
    model = model_from_config(LLAMA3_8B, "my-own-8b").model
    extended = catalog.with_models([model])
    assert extended.model("my-own-8b") == model
    assert extended.model("Qwen/Qwen3-8B") == catalog.model("Qwen/Qwen3-8B")
    with pytest.raises(InputError):
        catalog.model("my-own-8b")


def test_safetensors_headers_give_exact_sizes() -> None:
    index = safetensors_index('{"metadata": {"total_size": 16060522496}, "weight_map": {}}')
    assert index.tensor_bytes == 16_060_522_496
    header = json.dumps(
        {"a": {"dtype": "BF16", "shape": [2, 3]}, "b": {"dtype": "F8_E4M3", "shape": [10]}}
    ).encode()
    found = safetensors_header(struct.pack("<Q", len(header)) + header)
    assert (found.tensor_bytes, found.parameters) == (22, 16)
    for wrong in (b"", b"\x00" * 8, struct.pack("<Q", 2**40) + b"{}", struct.pack("<Q", 2) + b"[]"):
        with pytest.raises(InputError):
            safetensors_header(wrong)


def _gguf(pairs: dict[str, int | str], tensors: list[tuple[str, list[int], int]]) -> bytes:
    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs))
    for key, value in pairs.items():
        head += text(key)
        head += struct.pack("<I", 8) + text(value) if isinstance(value, str) else struct.pack("<II", 4, value)
    for name, shape, kind in tensors:
        head += text(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *shape)
        head += struct.pack("<IQ", kind, 0)
    return head


def test_a_gguf_header_gives_layout_and_exact_size() -> None:
    pairs: dict[str, int | str] = {
        "general.architecture": "llama",
        "llama.embedding_length": 4096,
        "llama.block_count": 32,
        "llama.attention.head_count": 32,
        "llama.attention.head_count_kv": 8,
        "llama.feed_forward_length": 14336,
        "llama.vocab_size": 128256,
        "llama.context_length": 8192,
    }
    data = _gguf(pairs, [("token_embd.weight", [4096, 128256], 12), ("output.weight", [4096, 128256], 14)])
    found = model_from_gguf(data, "file.gguf")
    assert found.model.kv_bytes_per_token_bf16 == 131_072
    assert found.weight_bytes == 4096 * 128256 * 144 // 256 + 4096 * 128256 * 210 // 256
    for cut in (3, 20, len(data) - 1):
        with pytest.raises(InputError):
            gguf_header(data[:cut])
