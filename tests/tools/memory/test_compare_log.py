"""Logs as people paste them: figures read, set beside the estimate, the differing part and its flag named."""

from __future__ import annotations

import contextlib
import time

import pytest

from knowledge.catalog import Catalog, shipped_catalog
from knowledge.errors import InputError
from tools.compare_log import compare_log
from tools.compare_log.parse import parse_log
from tools.compare_log.telling import telling_lines
from tools.contracts.compare import CompareLogReport, CompareLogRequest, PartDifference

VLLM_V1 = """
INFO 10-02 10:00:01 [api_server.py:1839] vLLM API server version 0.11.0
INFO 10-02 10:00:02 [core.py:77] Initializing a V1 LLM engine (v0.11.0) with config: \
model='meta-llama/Llama-3.1-8B-Instruct', dtype=torch.bfloat16, max_seq_len=16000, tensor_parallel_size=1, \
pipeline_parallel_size=1, quantization=None, enforce_eager=False, kv_cache_dtype=auto
INFO 10-02 10:00:40 [gpu_model_runner.py:2653] Model loading took 14.9889 GiB and 30.1 seconds
INFO 10-02 10:01:20 [gpu_worker.py:298] Available KV cache memory: 51.38 GiB
INFO 10-02 10:01:21 [kv_cache_utils.py:1087] GPU KV cache size: 420,864 tokens
INFO 10-02 10:01:21 [kv_cache_utils.py:1091] Maximum concurrency for 16,000 tokens per request: 26.30x
INFO 10-02 10:01:45 [gpu_model_runner.py:3480] Graph capturing finished in 20 secs, took 0.45 GiB
"""
VLLM_V0 = """
INFO 03-01 08:00:00 llm_engine.py:234] Initializing a V0 LLM engine (v0.7.3) with config: \
model='unsloth/Qwen2.5-3B-Instruct', dtype=torch.float16, max_seq_len=1024, tensor_parallel_size=1
INFO 03-01 08:00:20 worker.py:267] Memory profiling takes 2.1 seconds
INFO 03-01 08:00:20 worker.py:267] the current vLLM instance can use total_gpu_memory (14.74GiB) x \
gpu_memory_utilization (0.50) = 7.37GiB
INFO 03-01 08:00:20 worker.py:267] model weights take 5.75GiB; non_torch_memory takes 0.05GiB; \
PyTorch activation peak memory takes 1.05GiB; the rest of the memory reserved for KV Cache is 0.52GiB.
INFO 03-01 08:00:21 executor_base.py:111] # cuda blocks: 946, # CPU blocks: 7281
"""
SGLANG = """
[2025-07-22 08:00:00] server_args=ServerArgs(model_path='Qwen/Qwen3-235B-A22B-FP8', tp_size=4, pp_size=1, \
mem_fraction_static=0.93, chunked_prefill_size=8192, kv_cache_dtype='auto', quantization='fp8')
[2025-07-22 08:02:00 TP0] Load weight end. type=Qwen3MoeForCausalLM, dtype=torch.bfloat16, avail mem=22.9 \
GB, mem usage=55.31 GB.
[2025-07-22 08:02:01 TP0] KV Cache is allocated. #tokens: 367404, K size: 8.23 GB, V size: 8.23 GB
[2025-07-22 08:02:30 TP0] Capture cuda graph end. Time elapsed: 20.1 s. mem usage=0.90 GB. avail mem=4.1 GB.
"""
LLAMA = """
build: 3772 (23e0d70b) with cc (GCC) 14.2.1 for x86_64-pc-linux-gnu
llama_model_loader: - kv   2:                     general.name str              = Meta Llama 3 8B Instruct
llm_load_print_meta: model ftype      = Q4_K - Medium
llm_load_tensors: offloaded 33/33 layers to GPU
llm_load_tensors:        CPU buffer size =   281.81 MiB
llm_load_tensors:      CUDA0 buffer size =  4403.49 MiB
llama_new_context_with_model: n_ctx      = 8192
llama_new_context_with_model: n_ubatch   = 512
llama_kv_cache_init:      CUDA0 KV buffer size =  1024.00 MiB
llama_new_context_with_model: KV self size  = 1024.00 MiB, K (f16):  512.00 MiB, V (f16):  512.00 MiB
llama_new_context_with_model:      CUDA0 compute buffer size =   560.00 MiB
"""
OOM = """torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 896.00 MiB. GPU 0 has a total
capacity of 95.00 GiB of which 524.06 MiB is free. Including non-PyTorch memory, this process has
86.45 GiB memory in use. Of the allocated memory 71.92 GiB is allocated by PyTorch, and 13.90 GiB is
reserved by PyTorch but unallocated."""
OLD_OOM = """RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 79.15 GiB total capacity;
77.00 GiB already allocated; 30.00 MiB free; 78.00 GiB reserved in total by PyTorch)"""
SMI = """
|=========================================+========================+======================|
|   0  NVIDIA A10                     On  |   00000000:00:07.0 Off |                    0 |
|  0%   45C    P0            150W /  150W |   20511MiB /  23028MiB |     98%      Default |
|   1  NVIDIA A10                     On  |   00000000:00:08.0 Off |                    0 |
|  0%   45C    P0            150W /  150W |   19000MiB /  23028MiB |     98%      Default |
"""


def report(text: str, **fields: object) -> CompareLogReport:
    return compare_log(CompareLogRequest.model_validate({"text": text, **fields}), shipped_catalog())


def part(found: CompareLogReport, name: str) -> PartDifference:
    return next(item for item in found.parts if item.part == name)


def test_a_vllm_v1_log_agrees_with_the_estimate_part_by_part() -> None:
    found = report(VLLM_V1, gpu="H100")
    assert (found.kind, found.engine_version) == ("vllm", "0.11.0")
    for name in ("weights", "kv_pool", "kv_tokens"):
        assert part(found, name).relative == pytest.approx(0, abs=0.02)
    assert found.cause == ""


def test_unquantized_weights_in_a_log_are_named_as_the_part_that_differs() -> None:
    found = report(VLLM_V0, gpu="T4", max_num_seqs=192, weight_precision="nf4")
    assert part(found, "weights").differs
    assert part(found, "weights").flag == "quantization"
    assert part(found, "activation").relative == pytest.approx(0, abs=0.02)
    assert part(found, "kv_tokens").measured == 946 * 16
    assert found.cause in ("weights_differs", "kv_pool_differs")


def test_an_sglang_log_is_read() -> None:
    found = report(SGLANG, gpu="H100")
    assert part(found, "weights").relative == pytest.approx(0, abs=0.02)
    assert part(found, "kv_pool").measured == pytest.approx(16.46)
    assert part(found, "kv_pool").relative == pytest.approx(0, abs=0.1)
    assert found.estimate is not None
    assert found.estimate.tensor_parallel == 4


def test_a_llama_cpp_log_is_read_with_its_buffers_summed() -> None:
    found = report(LLAMA)
    assert part(found, "weights").measured == pytest.approx(4.30, abs=0.01)
    assert part(found, "weights").relative == pytest.approx(0, abs=0.02)
    assert part(found, "kv_cache").relative == pytest.approx(0, abs=0.001)


def test_an_allocator_that_holds_unused_memory_is_named_as_the_cause() -> None:
    found = report(OOM)
    assert found.cause == "fragmented_allocator"
    assert part(found, "usable").measured == 95.0
    assert part(found, "tried_to_allocate").measured == pytest.approx(0.875)
    assert report(OLD_OOM).cause == "out_of_memory"


def test_nvidia_smi_gives_card_count_and_the_fullest_gpu() -> None:
    found = report(SMI, model="Qwen2.5-7B")
    assert found.read["gpu"] == "NVIDIA A10"
    assert found.read["gpu_count"] == 2
    assert part(found, "total").measured == pytest.approx(20_511 / 1024)


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        (
            "ValueError: To serve at least one request with the models's max seq len (131072), (16.00 GiB KV"
            " cache is needed, which is larger than the available KV cache memory (4.45 GiB). vllm",
            "cache_below_max_model_len",
        ),
        ("ValueError: No available memory for the cache blocks. vllm", "no_room_for_cache"),
        (
            "ValueError: Free memory on device (20.1/22.06 GiB) on startup is less than desired GPU memory"
            " utilization (0.92, 20.3 GiB). vllm",
            "other_process_holds_memory",
        ),
    ],
)
def test_failures_in_vllms_words_get_their_cause(line: str, cause: str) -> None:
    assert report(line).cause == cause


def test_what_each_flag_would_change_is_computed() -> None:
    effects = {effect.flag: effect for effect in report(VLLM_V1, gpu="H100").effects}
    assert effects["max_num_seqs"].kv_pool_change_gib == pytest.approx(2.39, abs=0.1)
    assert effects["kv_cache_dtype"].kv_capacity_change == pytest.approx(420_864, rel=0.03)
    assert effects["gpu_memory_utilization"].kv_pool_change_gib == pytest.approx(0.05 * 79.18, abs=0.1)
    assert effects["enforce_eager"].kv_pool_change_gib == pytest.approx(0)
    assert effects["swap_space"].kv_pool_change_gib == 0
    assert -1 < effects["max_loras"].kv_pool_change_gib < -0.1


def test_a_log_without_a_known_model_is_still_read() -> None:
    found = report("INFO vllm Model loading took 7.5 GiB and 3 seconds")
    assert part(found, "weights").measured == 7.5
    assert {remark.code for remark in found.warnings} >= {"model_not_stated"}


@pytest.mark.parametrize(
    "text", ["hello", "x" * 100_000, "out of coffee", "🙂🙂", "<script>alert(1)</script>"]
)
def test_what_is_no_log_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_log(text)


def test_a_model_that_the_user_misspells_is_refused_and_not_replaced(catalog: Catalog) -> None:
    found = compare_log(CompareLogRequest(text=VLLM_V1, model="Llama-9-8B"), catalog)
    assert found.estimate is None
    assert [remark.code for remark in found.warnings if remark.code == "no_estimate"]


VLLM_AWQ = """INFO 11-05 08:41:10 llm_engine.py:237] Initializing an LLM engine (v0.6.3.post1) with config: \
model='Qwen/Qwen2.5-72B-Instruct-AWQ', dtype=torch.float16, max_seq_len=32768, tensor_parallel_size=2, \
quantization=awq_marlin, enforce_eager=False, kv_cache_dtype=auto
INFO 11-05 08:42:40 model_runner.py:1067] Loading model weights took 19.3811 GB
INFO 11-05 08:42:50 distributed_gpu_executor.py:57] # GPU blocks: 5923, # CPU blocks: 1638
"""


def test_the_dtype_of_a_quantized_model_is_not_taken_for_that_of_its_weights() -> None:
    found = report(VLLM_AWQ, gpu="A100-40GB", gpu_count=2)
    assert found.estimate is not None
    assert found.estimate.weight_precision == "awq-int4"
    assert part(found, "weights").relative == pytest.approx(0, abs=0.02)


@pytest.mark.parametrize(
    "text",
    [
        "vllm\n" + "1" * 500_000,
        "vllm " + "Graph capturing finished in " * 20_000,
        "out of memory " + "9" * 100_000 + " GiB free",
        "NVIDIA-SMI " + "MiB / " * 100_000,
        ("Load weight end." * 700 + "\n") * 40,
    ],
)
def test_a_hostile_log_is_read_in_bearable_time(text: str) -> None:
    started = time.perf_counter()
    with contextlib.suppress(InputError):
        parse_log(text)
    telling_lines(text)
    assert time.perf_counter() - started < 5


@pytest.mark.parametrize(
    "text",
    [
        "vllm Model loading took 1.2.3 GiB",
        "vllm Model loading took " + "9" * 5_000 + " GiB",
        "vllm tensor_parallel_size=" + "9" * 400,
        "vllm block_size=" + "9" * 5_000 + " # GPU blocks: 7",
        "out of memory. Tried to allocate 1.2.3 GiB",
        "out of memory 1.2.3 GiB free",
        "ggml_ CUDA0 model buffer size = 1.2.3 MiB",
    ],
)
def test_a_log_with_numbers_that_are_none_is_read_without_them_or_refused(text: str) -> None:
    with contextlib.suppress(InputError):
        assert all(0 <= value < 1e15 for value in parse_log(text).parts.values())


def test_the_lines_that_tell_are_kept_of_a_long_log() -> None:
    lines = telling_lines("noise of no meaning\n" * 5000 + VLLM_V1 + "noise\n" * 5000 + OOM)
    assert "420,864" in lines
    assert "noise" not in lines
    assert "reserved by PyTorch" in lines
