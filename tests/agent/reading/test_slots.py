"""A figure that is misread sizes the wrong machine: every slot in the forms people write it."""

from __future__ import annotations

from typing import Any

import pytest

from agent.reading.numerals import chinese_number
from tools.cost.schedule import hours_per_month


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("三千", 3000), ("十二", 12), ("两", 2), ("一百二", 120), ("两万五", 25000), ("十万", 100_000),
        ("一百零五", 105), ("一百万", 1_000_000), ("三亿", 300_000_000), ("二十", 20), ("一千二百", 1200),
    ],
)  # fmt: skip
def test_a_chinese_numeral_keeps_its_value(text: str, value: int) -> None:
    assert chinese_number(text) == value


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("Llama 3 8B under $3/hr", ("3", "USD", "hour")),
        ("Qwen2.5-7B 每小时 50 元以内", ("50", "CNY", "hour")),
        ("预算 2w/月,跑 32B", ("20000", "CNY", "month")),
        ("月预算 3 万,部署 72B", ("30000", "CNY", "month")),
        ("一年 20 万预算,7B 推理集群", ("200000", "CNY", "year")),
        ("7B on a budget of 500 dollars per month", ("500", "USD", "month")),
        ("三十到五十块一小时,跑 14B", ("50", "CNY", "hour")),
        ("30-50块一小时,跑 14B", ("50", "CNY", "hour")),
        ("总共 300 块,想微调 7B", ("300", "CNY", "total")),
        ("¥3000/月 部署 14B", ("3000", "CNY", "month")),
        ("3k RMB monthly for a 13B", ("3000", "CNY", "month")),
        ("每月最多五千元,14B", ("5000", "CNY", "month")),
        ("13B, 20 刀一天", ("20", "USD", "day")),
        ("14B, no more than 40 CNY per hour", ("40", "CNY", "hour")),
        ("预算每小时 300,671B", ("300", "CNY", "hour")),
        ("serve a 13B for at most $1,000/month", ("1000", "USD", "month")),
    ],
)
def test_a_budget_keeps_amount_currency_and_period(
    reader: Any, text: str, budget: tuple[str, str, str]
) -> None:
    read = reader(text).request.budget
    assert read is not None
    assert (f"{read.amount:f}".rstrip("0").rstrip("."), read.currency, read.period) == tuple(
        part.rstrip("0").rstrip(".") if "." in part else part for part in budget
    ) or (read.amount == int(budget[0]) and (read.currency, read.period) == budget[1:])


@pytest.mark.parametrize(
    "text",
    [
        "2块A100 40G一周多少钱", "8块4090能跑72B吗", "gn6i 是 8 元一小时,对吗",
        "p95 latency budget 800ms for a 7B",
        "8 hours a day on a T4",
    ],
)  # fmt: skip
def test_a_count_of_cards_a_stated_price_or_a_time_is_no_budget(reader: Any, text: str) -> None:
    assert reader(text).request.budget is None


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("7B, 8k context", "context_tokens", 8192),
        ("7B 上下文 32k", "context_tokens", 32768),
        ("7B with --max-model-len 32768", "context_tokens", 32768),
        ("14B 跑 128k 长文本", "context_tokens", 131072),
        ("14B, 100k context", "context_tokens", 100_000),
        ("7B, 4096 token 输入, 500 输出", "input_tokens", 4096),
        ("7B, 4096 token 输入, 500 输出", "output_tokens", 500),
        ("7B, 200 in / 60 out", "output_tokens", 60),
        ("7B, 20 并发", "concurrency", 20),
        ("7B, 并发 20 左右", "concurrency", 20),
        ("7B for 20 concurrent users", "concurrency", 20),
        ("7B, 同时有 3-5 个请求", "concurrency", 5),
        ("7B, 10路并发", "concurrency", 10),
        ("7B for 20 users", "users", 20),
        ("给 30 来个人用的 7B", "users", 30),
        ("日活 5 万的客服,7B", "users", 50_000),
        ("7B, 3 qps", "requests_per_second", 3.0),
        ("7B at 30 req/s", "requests_per_second", 30.0),
        ("7B, 每分钟 120 次请求", "requests_per_second", 2.0),
        ("7B, TTFT under 800 ms", "ttft_ms", 800.0),
        ("7B, 首字延迟 1 秒以内", "ttft_ms", 1000.0),
        ("7B, 20 tok/s per user", "tpot_ms", None),
        ("拿三千条数据给 8B 做 LoRA", "dataset_samples", 3000.0),
        ("LoRA 8B on 50k samples, 3 epochs", "epochs", 3.0),
        ("1B tokens 继续预训练 7B", "dataset_tokens", 1e9),
        ("10 亿 token 的数据, 全参训练 7B", "dataset_tokens", 1e9),
        ("LoRA rank 64 on a 14B", "lora_rank", 64),
        ("微调 7B,序列长度 4096", "sequence_length", 4096),
        ("微调 7B,一周内跑完", "deadline_hours", 168.0),
        ("finetune a 7B in 3 days", "deadline_hours", 72.0),
        ("半天内微调完 7B", "deadline_hours", 12.0),
        ("7B, 每天 8 小时", "hours_per_month", 243.3),
        ("7B, weekdays 9-18", "hours_per_month", 195.5),
        ("7B, always on", "hours_per_month", 730.0),
        ("7B 周一到周五 9点到18点", "hours_per_month", 195.5),
        ("7B for 1,000 hours", "hours", 1000.0),
        ("微调 7B 最便宜的方案", "objective", "cheapest"),
        ("A10 包月多少钱", "purchase", "subscription_1m"),
        ("a spot A10 for batch jobs", "purchase", "spot"),
        ("预训练 3B", "method", "pretrain"),
        ("qlora 32B", "method", "qlora"),
        ("全参微调 7B", "method", "full"),
        ("full fine tune of an 8B", "method", "full"),
        ("deploy a 7B with sglang", "engine", "sglang"),
        ("必须带 NVLink,72B", "needs_nvlink", True),
        ("至多 2 张卡跑 72B", "max_gpus", 2),
        ("72B 不量化", "allow_quantization", False),
        ("serve a 70B without quantization", "allow_quantization", False),
        ("72B int4", "precision", "awq-int4"),
        ("72B GPTQ 4bit", "precision", "gptq-int4"),
        ("7B q4_k_m gguf", "precision", "gguf-q4_k_m"),
        ("7B fp16 with fp8 kv cache", "kv_precision", "fp8"),
        ("7B fp16 with fp8 kv cache", "precision", "fp16"),
        ("Wan2.1 14B, 720p 81 帧", "frames", 81),
        ("SDXL 1024*1024", "resolution", "1024x1024"),
    ],
)
def test_a_slot_is_read_as_it_is_written(reader: Any, text: str, field: str, value: Any) -> None:
    request = reader(text).request
    if field == "tpot_ms":
        assert request.tpot_ms == pytest.approx(50)
    else:
        assert getattr(request, field) == value


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("部署 Qwen2.5-7B", "inference"), ("LoRA 微调 8B", "finetune"),
        ("pretrain a 1B from scratch", "pretrain"),
        ("SDXL 出图", "diffusion"), ("text to video with Wan2.1 14B", "video"), ("whisper 转写录音", "asr"),
        ("CosyVoice2 语音合成", "tts"), ("bge-m3 向量化", "embedding"), ("bge-reranker-v2-m3", "reranker"),
        ("yolov8m 目标检测", "vision"), ("云桌面做 3D 设计", "graphics"), ("4K 视频转码", "transcoding"),
        ("OpenFOAM in double precision", "hpc"), ("a GPU for learning CUDA", "development"),
    ],
)  # fmt: skip
def test_the_task_decides_the_calculator(reader: Any, text: str, task: str) -> None:
    assert reader(text).request.task == task


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("SDXL, 一天 10 万张图", "items_per_day", 100_000.0),
        ("whisper, 3000 hours of audio a day", "item", "audio_hour"),
        ("yolov8m on 60 cameras at 10 fps", "streams", 60),
        ("yolov8m on 60 cameras at 10 fps", "fps", 10.0),
        ("2000 clips per night in an 8h window with Wan2.1 1.3B", "window_hours", 8.0),
        ("7B on a 24GB card", "vram_gb", 24.0),
        ("7B, p95 延迟 800ms", "latency_ms", 800.0),
        ("two nodes of 8xA100 for a 70B", "nodes", 2),
        ("2 台 ecs.gn7i-c8g1.2xlarge 一个月多少钱", "count", 2),
        ("A10 跑一周多少钱", "hours", 168.0),
        ("how much per million tokens for a 7B on A10", "token_price", True),
    ],
)
def test_what_is_no_field_of_the_request_stands_beside_it(
    reader: Any, text: str, field: str, value: Any
) -> None:
    assert getattr(reader(text), field) == value


def test_every_slot_says_where_it_was_read(reader: Any) -> None:
    reading = reader("部署 Llama-3-70B", "每小时五十元以内,上下文 8k")
    assert reading.slots["model"].turn == 0
    assert reading.slots["model"].text == "Llama-3-70B"
    assert reading.slots["budget"].turn == 1
    assert "五十" in reading.slots["budget"].text
    assert all(0 < slot.confidence <= 1 for slot in reading.slots.values())


def test_a_guess_is_less_sure_than_a_statement(reader: Any) -> None:
    stated = reader("14B 每月预算 3000 元").slots["budget"].confidence
    guessed = reader("14B 预算 3000").slots["budget"].confidence
    assert guessed < 0.6 < stated


@pytest.mark.parametrize("schedule", ["weekdays 9-18", "工作日 9-18", "5 hours a day", "20 hours a week"])
def test_a_schedule_has_the_same_hours_in_a_question_and_in_a_cost_request(
    reader: Any, schedule: str
) -> None:
    read = reader(f"7B, {schedule}").request.hours_per_month
    assert read == pytest.approx(hours_per_month(schedule), abs=0.051)  # a question is read to a tenth
