"""What an engine checks or needs when it starts: a plan that fits on paper must also come up."""

from __future__ import annotations

import pytest

from knowledge.catalog import shipped_catalog
from tools.contracts.memory import MemoryReport, MemoryRequest
from tools.memory import estimate_memory


def report(**fields: object) -> MemoryReport:
    return estimate_memory(MemoryRequest.model_validate(fields), shipped_catalog())


def codes(found: MemoryReport) -> set[str]:
    return {item.code for item in found.warnings}


def test_vllm_with_flags_but_no_length_is_held_to_the_models_full_length() -> None:
    start = {"model": "gpt-oss-120b", "gpu": "H100", "engine": "vllm", "gpu_memory_utilization": 0.95}
    whole = report(**start)
    assert whole.context_tokens == 131_072
    assert whole.fits is False
    shorter = next(item for item in whole.limits if item.change == "lower_context")
    assert report(**start, context_tokens=int(shorter.value)).fits


def test_a_full_length_that_the_pool_cannot_hold_stops_vllm_however_short_the_requests() -> None:
    start = {"model": "Qwen3-32B", "gpu": "H100", "engine": "vllm", "context_tokens": 4000}
    assert report(**start, max_model_len=4000).fits
    longest = report(**start, max_model_len=40_000)
    assert longest.fits is False
    shorter = next(item for item in longest.limits if item.change == "lower_context")
    assert shorter.fits
    assert 4000 < int(shorter.value) < 40_000
    assert report(**{**start, "engine": "sglang"}, max_model_len=40_000).fits


def test_naming_vllm_alone_asks_for_the_usual_context_and_not_for_a_million_tokens() -> None:
    assert report(model="Llama-3.1-8B", gpu="A10", engine="vllm").fits


def test_torchao_weights_need_room_for_the_16_bit_ones_at_the_start() -> None:
    card = {"model": "Qwen3-Next-80B-A3B-Instruct", "gpu": "H20-96GB", "engine": "sglang"}
    made = report(**card, weight_precision="int8 (torchao dq)")
    assert made.fits is False
    assert "loads_16_bit_first" in codes(made)
    files = report(**card, weight_precision="int8 (w8a8)")
    assert files.fits
    assert files.weights_gib == pytest.approx(made.weights_gib)


def test_lmdeploy_of_2023_took_half_of_the_card_for_its_cache_whatever_was_left() -> None:
    chat = {"model": "internlm2-chat-7b", "gpu": "RTX 3090", "engine": "lmdeploy"}
    assert report(**chat, engine_version="0.2.0").fits is False
    assert report(**chat, engine_version="0.2.1").fits


def test_a_server_of_unnamed_engine_is_started_for_fewer_sequences_before_it_is_given_up() -> None:
    small = {"model": "01-ai/Yi-6B-Chat-8bits", "gpu": "RTX 4060", "weight_precision": "gptq-int8"}
    found = report(**small)
    assert found.fits
    assert ("max_num_seqs", 16, "lowered_to_fit") in [
        (item.field, item.value, item.reason) for item in found.assumptions
    ]
    assert [item.field for item in found.assumptions].count("max_num_seqs") == 1
    assert report(**small, engine="vllm").fits is False


def test_groups_of_sglang_lose_two_gib_to_nvlink_and_little_without() -> None:
    """4 x H100 with Qwen3-235B in FP8 at 0.93: 16.46 GiB and 367,404 tokens in the log."""
    found = report(
        model="Qwen/Qwen3-235B-A22B-FP8", gpu="H100", gpu_count=4, engine="sglang",
        weight_precision="fp8", gpu_memory_utilization=0.93,
    )  # fmt: skip
    assert found.kv_pool_gib_per_gpu == pytest.approx(16.46, rel=0.02)
    assert found.kv_capacity_tokens == pytest.approx(367_404, rel=0.02)
    plain = {"model": "Qwen3-32B", "engine": "sglang", "gpu_count": 4}
    linked, unlinked = (report(**plain, gpu=name).overhead_gib_per_gpu for name in ("H20-96GB", "L20"))
    assert linked - unlinked == pytest.approx(1.65)


def test_ik_llama_computes_keys_and_values_of_the_whole_cache_from_latents() -> None:
    """Logs of DeepSeek-V3 and R1 at 32,768 tokens say 3.3 to 4.2 GiB of compute buffer."""
    for step, measured in ((512, 3.345), (1024, 3.564), (4096, 4.008)):
        found = report(
            model="DeepSeek-V3", engine="ik_llama.cpp", weight_precision="q4_k_m",
            context_tokens=32_768, max_batched_tokens=step,
        )  # fmt: skip
        assert found.activation_gib_per_gpu == pytest.approx(measured, rel=0.08)
    mainline = report(model="DeepSeek-V3", engine="llama.cpp", weight_precision="q4_k_m")
    assert mainline.activation_gib_per_gpu < 1


@pytest.mark.parametrize(
    ("context", "batch", "measured"),
    [(2048, 1, 17.6), (4096, 1, 19.5), (8192, 1, 23.2), (1024, 16, 31.7), (1024, 32, 48.7)],
)
def test_nvidia_smi_shows_the_context_and_the_cache_twice_beside_what_transformers_allocates(
    context: int, batch: int, measured: float
) -> None:
    """Qwen's table of Qwen-7B-Chat on an A100: the cache grows by concatenation, the allocator keeps both."""
    found = report(
        model="Qwen-7B-Chat", engine="transformers", weight_precision="bf16",
        context_tokens=context, concurrency=batch,
    )  # fmt: skip
    assert found.device_gib_per_gpu is not None
    assert found.device_gib_per_gpu == pytest.approx(measured, rel=0.05)
    assert found.total_gib_per_gpu < found.device_gib_per_gpu


def test_nvidia_smi_of_a_server_shows_its_whole_pool() -> None:
    found = report(model="Qwen3-8B", gpu="H20-96GB", engine="vllm", context_tokens=1000)
    assert found.usable_gib_per_gpu is not None
    assert found.device_gib_per_gpu == pytest.approx(0.92 * found.usable_gib_per_gpu, rel=0.02)


def test_slots_for_adapters_are_paid_whether_used_or_not() -> None:
    """A log of Llama-3.2-3B with adapters of rank 64 shows 0.23 GiB more than one without."""
    plain = {"model": "Llama-3.2-3B-Instruct", "gpu": "T4", "engine": "vllm", "weight_precision": "fp16"}
    without, one, four = (
        report(**plain, **more).weights_gib_per_gpu
        for more in ({}, {"lora_rank": 64}, {"lora_rank": 64, "max_loras": 4})
    )
    assert one - without == pytest.approx(0.23, rel=0.1)
    assert four - without == pytest.approx(4 * (one - without))
    assumed = report(**plain, max_loras=2)
    assert ("lora_rank", 16) in [(item.field, item.value) for item in assumed.assumptions]


def test_slots_shrink_with_tensor_parallel_but_not_by_all_of_it() -> None:
    parts = [
        report(model="Qwen3-32B", gpu="L20", engine="vllm", gpu_count=count, lora_rank=64, max_loras=8)
        for count in (2, 4)
    ]
    bare = [report(model="Qwen3-32B", gpu="L20", engine="vllm", gpu_count=count) for count in (2, 4)]
    two, four = (a.weights_gib_per_gpu - b.weights_gib_per_gpu for a, b in zip(parts, bare, strict=True))
    assert two / 2 < four < two
