"""What people paste or upload: a config.json is sized, a log is compared, HTML is read as the words in it."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from agent.attached import shortened, text_of_file
from agent.events import Answer
from agent.history import MAX_TURN_CHARS, turns_of
from agent.reading import read
from agent.reading.markup import without_markup
from agent.run import Advisor
from knowledge.catalog import Catalog
from knowledge.errors import InputError
from tools.contracts.compare import CompareLogReport

CONFIG: dict[str, object] = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 40,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "_name_or_path": "acme/Zebra-10B",
}
VLLM = (
    "INFO 10-02 10:00:01 [api_server.py:1839] vLLM API server version 0.11.0\n"
    "INFO 10-02 10:00:02 [core.py:77] Initializing a V1 LLM engine (v0.11.0) with config: "
    "model='meta-llama/Llama-3.1-8B-Instruct', dtype=torch.bfloat16, max_seq_len=16000, "
    "tensor_parallel_size=1, quantization=None, enforce_eager=False, kv_cache_dtype=auto\n"
    "{}"
    "INFO 10-02 10:00:40 [gpu_model_runner.py:2653] Model loading took 14.9889 GiB and 30.1 seconds\n"
    "INFO 10-02 10:01:20 [gpu_worker.py:298] Available KV cache memory: 51.38 GiB\n"
    "INFO 10-02 10:01:21 [kv_cache_utils.py:1087] GPU KV cache size: 420,864 tokens\n"
)
OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 896.00 MiB. GPU 0 has a total\n"
    "capacity of 79.15 GiB of which 524.06 MiB is free. Including non-PyTorch memory, this process has\n"
    "78.45 GiB memory in use. Of the allocated memory 77.92 GiB is allocated by PyTorch, and 0.20 GiB is\n"
    "reserved by PyTorch but unallocated."
)


def answered(advisor: Advisor, *turns: str) -> Answer:
    answer = advisor.answer(turns)
    assert isinstance(answer, Answer)
    return answer


def pasted(**changes: object) -> str:
    return json.dumps({**CONFIG, **changes})


@pytest.mark.parametrize("question", ["what GPU does this need? {}", "这个模型要什么卡？\n{}", "{}"])
def test_a_pasted_config_is_named_sized_and_answered(advisor: Advisor, question: str) -> None:
    answer = answered(advisor, question.replace("{}", pasted()))
    assert answer.reading.request.model == "Zebra-10B (own)"
    assert "9.78B" in answer.text
    assert "160 KiB" in answer.text
    assert "18.2 GiB" in answer.text


def test_a_follow_up_speaks_of_the_pasted_model_and_other_talks_do_not_know_it(advisor: Advisor) -> None:
    answer = answered(advisor, f"which GPU? {pasted()}", "and with 32k context on an L20?")
    assert answer.reading.request.model == "Zebra-10B (own)"
    assert answer.reading.request.context_tokens == 32768
    assert answered(advisor, "which GPU for Zebra-10B?").reading.request.model == ""


def test_a_config_of_a_known_model_is_not_taken_for_the_catalogs(catalog: Catalog) -> None:
    reading = read([f"gpu? {pasted(_name_or_path='Qwen/Qwen2.5-72B-Instruct')}"], catalog)
    assert reading.request.model == "Qwen2.5-72B-Instruct (own)"
    assert reading.own_models[0].model.params_total_b == pytest.approx(9.78, abs=0.01)


@pytest.mark.parametrize(("language", "word"), [("which GPU?", "cannot be used"), ("用什么卡？", "无法使用")])
def test_a_config_that_contradicts_itself_is_named_by_its_key(
    advisor: Advisor, language: str, word: str
) -> None:
    text = answered(advisor, f"{language} {pasted(num_key_value_heads=7)}").text
    assert "`num_key_value_heads`" in text
    assert word in text
    assert "GiB" not in text


def test_an_unknown_architecture_is_bounded_and_said(advisor: Advisor) -> None:
    text = answered(advisor, f"which GPU? {pasted(model_type='zebra')}").text
    assert "Not known to me: model type zebra" in text or "model_type zebra" in text
    assert "upper bound" in text


def test_a_broken_or_hostile_config_never_ends_in_a_fault(advisor: Advisor) -> None:
    for text in (
        pasted()[:-20],
        '{"model_type":"llama","hidden_size":' + "[" * 5000,
        pasted(vocab_size=10**30),
    ):
        assert "cannot be used" in answered(advisor, f"which GPU? {text}").text


def test_a_pasted_start_up_log_is_set_beside_the_estimate(advisor: Advisor) -> None:
    answer = answered(advisor, "Does this look right on one A100?\n" + VLLM.format(""))
    report = next(item.report for item in answer.reports if isinstance(item.report, CompareLogReport))
    assert report.estimate is not None
    assert report.estimate.gpu == "A100-80GB"
    assert "| weights | 15.0 GiB | 15.0 GiB |" in answer.text
    assert "`gpu_memory_utilization" in answer.text


def test_the_card_named_counts_even_where_it_cannot_be_rented(advisor: Advisor) -> None:
    text = answered(advisor, "is this fine on one H100?\n" + VLLM.format("")).text
    assert "1 × H100" in text


def test_an_out_of_memory_trace_is_compared_and_diagnosed_in_both_languages(advisor: Advisor) -> None:
    english = answered(advisor, f"why?\n{OOM}").text
    assert english.startswith("**Out of memory")
    assert "0.88 GiB" in english
    assert "显存不足" in answered(advisor, f"为什么？\n{OOM}").text


def test_a_log_of_hundreds_of_lines_keeps_the_lines_that_tell(advisor: Advisor) -> None:
    padding = "".join(
        f"INFO 10-02 10:00:03 [loader.py:{line}] Loading safetensors checkpoint shards, {line} of 400 done\n"
        for line in range(400)
    )
    answer = answered(advisor, "ok on one A100?\n" + VLLM.format(padding))
    assert not answer.notices
    assert "420,864" in answer.text


@pytest.mark.parametrize(
    "line",
    ["1" * 200_000, "Load weight end." * 12_000, "vllm model='" + "a" * 200_000, "out of memory " * 15_000],
)
def test_a_hostile_log_is_read_in_bearable_time(advisor: Advisor, line: str) -> None:
    started = time.perf_counter()
    answered(advisor, f"INFO vllm\nINFO x\nINFO y\n{line}")
    assert time.perf_counter() - started < 5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<p>Which GPU for <b>Llama-3-8B</b>?</p>", "Which GPU for Llama-3-8B?"),
        ("7B&nbsp;推理<br>用什么卡", "7B\xa0推理\n用什么卡"),
        ("vllm serve <model> --tp 2", "vllm serve <model> --tp 2"),
        ("is 3 < 5 and 7 > 2", "is 3 < 5 and 7 > 2"),
    ],
)
def test_markup_is_read_as_the_words_inside(text: str, words: str) -> None:
    assert without_markup(text) == words


def test_a_question_in_html_is_answered_like_the_question(advisor: Advisor) -> None:
    plain = answered(advisor, "Which GPU for Llama-3-8B?")
    assert (
        answered(advisor, "<div class='q'><p>Which GPU for <b>Llama-3-8B</b>?</p></div>").text == plain.text
    )


def test_files_stand_in_the_talk_as_text(tmp_path: Path) -> None:
    assert "hidden_size" in text_of_file("config.json", pasted().encode())
    index = json.dumps({"metadata": {"total_size": 16_060_522_496}, "weight_map": {"a": "b"}})
    assert "8.030B parameters" in text_of_file("model.safetensors.index.json", index.encode())
    assert "Available KV cache" in text_of_file("C:\\logs\\start.log", VLLM.format("").encode())


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("photo.json", b"\x89PNG\r\n\x00"),
        ("empty.txt", b"  "),
        ("x.gguf", b"GGUF\x03"),
        ("x.safetensors", b"\xff" * 16),
        ("huge.log", b"a" * 2_000_001),
        ("huge.json", b'{"a": "' + b"b" * 2**20 + b'"}'),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_by_name(name: str, data: bytes) -> None:
    with pytest.raises(InputError):
        text_of_file(name, data)


def test_a_long_config_keeps_what_is_read_of_it() -> None:
    labels = {str(number): f"LABEL_{number}" for number in range(3000)}
    text = f"which GPU?\n{pasted(id2label=labels)}"
    assert len(text) > MAX_TURN_CHARS
    short = shortened(text, MAX_TURN_CHARS)
    assert short is not None
    assert "hidden_size" in short
    assert "LABEL" not in short
    assert not turns_of([text])[0].cut


@pytest.mark.parametrize(
    ("log", "first"),
    [
        (
            "(EngineCore_DP0 pid=88) ERROR 03-11 09:12:01 [core.py:700] EngineCore failed to start.\n"
            "ValueError: To serve at least one request with the models's max seq len (131072), (16.00 GiB KV "
            "cache is needed, which is larger than the available KV cache memory (5.12 GiB).",
            "max_model_len",
        ),
        (
            "ERROR 10-02 10:01:20 [core.py:708] ValueError: No available memory for the cache blocks. Try "
            "increasing `gpu_memory_utilization` when initializing the engine.",
            "no room for a KV cache",
        ),
        (
            "ERROR 10-02 10:01:20 [core.py:708] ValueError: Free memory on device (12.11/79.15 GiB) on "
            "startup is less than desired GPU memory utilization (0.9, 71.24 GiB).",
            "Another process",
        ),
    ],
    ids=["cache too small", "no cache", "other process"],
)
def test_a_failed_start_names_its_cause_and_the_flag_first(advisor: Advisor, log: str, first: str) -> None:
    text = answered(advisor, f"what is wrong?\n{log}").text
    assert first in text.splitlines()[0]


def test_a_full_card_is_not_taken_for_need(advisor: Advisor) -> None:
    smi = (
        "| NVIDIA-SMI 550.127.08   Driver Version: 550.127.08   CUDA Version: 12.4 |\n"
        "|   0  Tesla T4                       On  |   00000000:00:07.0 Off |                    0 |\n"
        "| N/A   45C    P0    27W /   70W |   14231MiB /  15360MiB |     97%      Default |\n"
    )
    text = answered(advisor, f"Qwen2.5-7B on this card, why so full?\n{smi}").text
    assert text.startswith("**The GPU uses 13.9 GiB of 15.0 GiB.** A serving engine reserves its share")
