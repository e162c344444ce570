"""Facts are found in prose of both languages, each with its kind and size."""

from __future__ import annotations

import pytest

from agent.claims import claims_in


def found(text: str) -> list[tuple[str, float]]:
    return [(claim.kind, round(claim.value, 6)) for claim in claims_in(text) if not claim.name]


def names(text: str) -> set[tuple[str, str]]:
    return {(claim.kind, claim.name) for claim in claims_in(text) if claim.name}


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("34.742 CNY per hour", "money", 34.742),
        ("每小时 34.742 元", "money", 34.742),
        ("约 2.54 万元一个月", "money", 25_400),
        ("US$3.50/h", "money", 3.5),
        ("¥1,234 a month", "money", 1_234),
        ("25.0 GiB of KV cache", "memory", 25.0),
        ("24G显存", "memory", 24.0),
        ("about 310 tokens/s", "token_rate", 310),
        ("约 310 tokens/秒", "token_rate", 310),
        ("81,920 tokens", "tokens", 81_920),
        ("128k tokens", "tokens", 128_000),
        ("4 TB/s", "bandwidth", 4_000),
        ("312 TFLOPS", "compute", 312),
        ("31 ms per token", "time", 0.031),
        ("9.3 小时", "time", 33_480),
        ("3 days", "time", 259_200),
        ("10% less", "percent", 10),
        ("4 张卡", "cards", 4),
        ("8 GPUs", "cards", 8),
        ("每小时4.44元", "money", 4.44),
        ("每小时四十元", "money", 40),
        ("forty dollars an hour", "money", 40),
        ("USD 3.5", "money", 3.5),
        ("显存８０GiB", "memory", 80),
        ("a 70B model", "params", 70),
        ("67亿参数", "params", 6.7),
        ("1.5x faster", "ratio", 1.5),
        ("快 3 倍", "ratio", 3),
        ("16 vCPU", "cpu", 16),
        ("50 users", "requests", 50),
        ("约 30 QPS", "request_rate", 30),
        ("it costs 4.44 per hour", "number", 4.44),
        ("CUDA 12.4", "number", 12.4),
        ("| GPU | 价格（元/小时） |\n| --- | --- |\n| A10 | 4.44 |", "money", 4.44),
        ("| | A10 |\n| --- | --- |\n| Memory (GiB) | **99** |", "memory", 99),
    ],
)
def test_a_figure_is_read_with_its_unit(text: str, kind: str, value: float) -> None:
    assert (kind, value) in found(text)


def test_gb_and_gib_are_told_apart() -> None:
    (gb,) = [claim for claim in claims_in("80 GB") if claim.kind == "memory"]
    (gib,) = [claim for claim in claims_in("80 GiB") if claim.kind == "memory"]
    assert gb.value == pytest.approx(74.505806, rel=1e-6)
    assert gib.value == 80


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("take ecs.gn7e-c16g1.4xlarge", "instance", "ecs.gn7e-c16g1.4xlarge"),
        ("take gn7i-2x.8xlarge.", "instance", "ecs.gn7i-2x.8xlarge"),
        ("the gn6v family", "family", "gn6v"),
        ("V100 和 A10", "gpu", "v100"),
        ("NVIDIA H100-SXM5-80GB", "gpu", "h100"),
        ("list of 2024-12-31", "date", "2024-12-31"),
        ("2024年12月31日的价目", "date", "2024-12-31"),
        ("the list of December 2024", "date", "2024-12"),
        ("Dec 31, 2024", "date", "2024-12-31"),
        ("选ecs.gn7e-c16g1.4xlarge实例", "instance", "ecs.gn7e-c16g1.4xlarge"),
        ("gn7i规格族", "family", "gn7i"),
        ("Qwen3-999B would do", "model", "qwen3999b"),
        ("用通义千问2.5 72B", "model", "qwen2572b"),
        ("write to a.b@c.example", "contact", "a.b@c.example"),
    ],
)
def test_a_name_is_read(text: str, kind: str, name: str) -> None:
    assert (kind, name) in names(text)


@pytest.mark.parametrize(
    "text",
    [
        "A100",
        "H20",
        "c16g1",
        "vgn7i-vws",
        "2024-12",
        "1/6 张 A10",
        "8 × H20-96GB",
        "2x A10",
        "1024x1024",
        "driver 550.54.15",
        "step 3 of 4",
        "13. the list goes on",
        "http://127.0.0.1:8000/v1",
        "Qwen2.5-7B",
    ],
)
def test_digits_of_a_name_are_no_figure(text: str) -> None:
    assert found(text) == []


def test_a_gpu_keeps_the_memory_in_its_name() -> None:
    (claim,) = [claim for claim in claims_in("A100 40GB") if claim.kind == "gpu"]
    assert (claim.name, claim.value) == ("a100", 40)
