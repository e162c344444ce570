"""A name taken for another sizes another model, card or type."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("llama3 70b", "meta-llama/Meta-Llama-3-70B-Instruct"),
        ("Llama-3.1-8B-Instruct", "meta-llama/Llama-3.1-8B-Instruct"),
        ("千问2.5-72B 部署", "Qwen/Qwen2.5-72B-Instruct"),
        ("通义千问2.5 的 72b", "Qwen/Qwen2.5-72B-Instruct"),
        ("满血版 R1 要几张卡", "deepseek-ai/DeepSeek-R1"),
        ("deepseek r1 671b", "deepseek-ai/DeepSeek-R1"),
        ("671B 要几张卡", "deepseek-ai/DeepSeek-R1"),
        ("405b on H20", "meta-llama/Llama-3.1-405B-Instruct"),
        ("R1 蒸馏版的 14B", "deepseek-ai/DeepSeek-R1-Distill-Qwen-14B"),
        ("Qwen2.5-72B-Instruct-AWQ", "Qwen/Qwen2.5-72B-Instruct"),
        ("Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf", "meta-llama/Llama-3.1-8B-Instruct"),
        ("混元视频720p", "tencent/HunyuanVideo"),
        ("文生视频用 Wan 大号的", "Wan-AI/Wan2.1-T2V-14B"),
        ("gpt-oss-120b on A100", "openai/gpt-oss-120b"),
        ("QwQ-32B", "Qwen/QwQ-32B"),
    ],
)
def test_a_model_is_found_in_any_spelling(reader: Any, text: str, model: str) -> None:
    assert reader(text).request.model == model


def test_a_family_without_a_size_is_asked_for_its_size(reader: Any) -> None:
    reading = reader("想部署 qwen3,用什么卡")
    assert reading.request.model == ""
    assert reading.clarify == "model_size"
    family = next(mention for mention in reading.mentions if mention.kind == "unsized_model")
    assert any("32B" in name for name in family.near)


def test_an_unknown_model_keeps_its_size_and_is_called_unknown(reader: Any) -> None:
    reading = reader("Zephyrus-40B 要几张 A100")
    assert reading.request.model == ""
    assert reading.request.params_b == 40
    assert [mention.name for mention in reading.mentions if mention.kind == "unknown_model"] == [
        "Zephyrus-40B"
    ]


def test_a_size_alone_stays_a_size(reader: Any) -> None:
    request = reader("how much VRAM for a 72B?").request
    assert (request.model, request.params_b) == ("", 72)


@pytest.mark.parametrize("text", ["I have a clip of 30 seconds", "the bloom of AI", "swin a little"])
def test_everyday_words_are_no_models(reader: Any, text: str) -> None:
    assert reader(text).request.model == ""


@pytest.mark.parametrize("text", ["训练用 10B token", "a dataset of 2B tokens", "1.5B rows of text"])
def test_a_count_of_tokens_is_no_model_size(reader: Any, text: str) -> None:
    assert reader(text).request.params_b is None


@pytest.mark.parametrize(
    ("text", "gpu", "count"),
    [
        ("8*A100 跑 72B", "A100-80GB", 8),
        ("A100*2 跑 72B", "A100-80GB", 2),
        ("2张A10 跑 14B", "A10", 2),
        ("双卡 L20 跑 72B", "L20", 2),
        ("A10一张跑 7B", "A10", 1),
        ("8卡H20 跑 671B", "H20-96GB", 8),
        ("H20 8卡 跑 671B", "H20-96GB", 8),
        ("4x A100 40GB for a 70B", "A100-40GB", 4),
        ("two 32G V100 for a 14B", "V100-32GB", 2),
        ("一张 80G 的 A100", "A100-80GB", 1),
        ("单机八卡 A800", "A800-80GB", 8),
        ("三台 8卡 A100 跑 671B", "A100-80GB", 24),
        ("2台A100*8 跑 671B", "A100-80GB", 16),
        ("three 8xA100 nodes for R1", "A100-80GB", 24),
        ("160 A100s for pretraining", "A100-80GB", 160),
        ("a single T4 for a 7B", "T4", 1),
    ],
)
def test_cards_are_counted_over_all_machines(reader: Any, text: str, gpu: str, count: int) -> None:
    request = reader(text).request
    assert request.gpu_wanted == (gpu,)
    assert request.gpu_count == count


@pytest.mark.parametrize(
    ("text", "excluded"),
    [
        ("7B 推理,不要 T4", ("T4",)),
        ("serve a 7B, not A10", ("A10",)),
        ("7B,除了 A10 都行", ("A10",)),
        ("14B, anything but V100", ("V100-16GB",)),
        ("7B,不要 T4 和 V100", ("T4", "V100-16GB")),
    ],
)
def test_a_card_that_is_not_wanted_is_excluded(reader: Any, text: str, excluded: tuple[str, ...]) -> None:
    request = reader(text).request
    assert request.gpu_excluded == excluded
    assert request.gpu_wanted == ()


def test_why_not_is_no_exclusion(reader: Any) -> None:
    assert reader("why not A10 for a 7B?").request.gpu_excluded == ()
    assert reader("为什么不用 A10 跑 7B").request.gpu_excluded == ()


@pytest.mark.parametrize("card", ["4090", "RTX 3090", "RTX 4090"])
def test_a_card_at_home_is_mapped_to_the_nearest_in_the_cloud(reader: Any, card: str) -> None:
    reading = reader(f"{card} 能跑 Qwen2.5-7B 吗")
    assert reading.request.gpu_wanted == ("A10",)
    assert "consumer_card" in reading.topics
    assert next(mention.name for mention in reading.mentions if mention.kind == "gpu").startswith("RTX-")


def test_a_number_is_no_card(reader: Any) -> None:
    assert reader("7B, 4090 tokens of context").request.gpu_wanted == ()
    assert reader("预算 3090 元,跑 7B").request.gpu_wanted == ()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ecs.gn7i-c16g1.4xlarge", "ecs.gn7i-c16g1.4xlarge"),
        ("GN7I-C16G1.4XLARGE 的配置", "ecs.gn7i-c16g1.4xlarge"),
        ("gn7i-c16g1-4xlarge 多少钱", "ecs.gn7i-c16g1.4xlarge"),
        ("gn7i c16g1 4xlarge 多少钱", "ecs.gn7i-c16g1.4xlarge"),
        ("ecs.gn7i-c16g1.4xl", "ecs.gn7i-c16g1.4xlarge"),
        ("gn7e-c16g1.32xlarge有几张卡", "ecs.gn7e-c16g1.32xlarge"),
    ],
)
def test_a_type_is_found_in_any_spelling(reader: Any, text: str, name: str) -> None:
    assert [mention.name for mention in reader(text).mentions if mention.kind == "instance"] == [name]


@pytest.mark.parametrize(
    "name", ["ecs.gn7i-c24g1.24xlarge", "gn7i.32xlarge", "ecs.gn6v.4xlarge", "ecs.gn9i.4xlarge"]
)
def test_a_type_that_does_not_exist_comes_with_near_ones(reader: Any, name: str) -> None:
    reading = reader(f"{name} 多少钱")
    phantom = next(mention for mention in reading.mentions if mention.kind == "phantom_instance")
    assert phantom.near
    assert "phantom_type" in reading.claims
    assert reading.request.instance_wanted == ()


def test_families_real_and_not(reader: Any) -> None:
    reading = reader("gn7i、gn8i 和 vgn7i 有什么区别")
    kinds = {mention.name: mention.kind for mention in reading.mentions}
    assert kinds == {"gn7i": "family", "gn8i": "phantom_family", "vgn7i-vws": "family"}


@pytest.mark.parametrize(
    ("text", "regions"),
    [
        ("A10 in Singapore", ("ap-southeast-1",)), ("上海的 A10", ("cn-shanghai",)),
        ("cn-beijing 的 A10", ("cn-beijing",)),
        ("A10 in Hangzou", ("cn-hangzhou",)), ("内蒙古的 A10", ("cn-wulanchabu", "cn-huhehaote")),
        ("杭州和北京的 A10", ("cn-hangzhou", "cn-beijing")), ("张家口 V100", ("cn-zhangjiakou",)),
    ],
)  # fmt: skip
def test_a_region_is_found_in_both_languages(reader: Any, text: str, regions: tuple[str, ...]) -> None:
    assert reader(text).request.regions == regions


def test_us_is_a_pronoun_before_it_is_a_country(reader: Any) -> None:
    assert reader("can you help us with a 7B?").request.regions == ()
    assert reader("A10 in the US").request.regions == ("us-east-1", "us-west-1")


def test_several_models_are_all_mentioned_the_first_is_sized(reader: Any) -> None:
    reading = reader("qwen2.5-7b 和 bge-m3 装在同一台,显存多少")
    assert [mention.name for mention in reading.mentions] == ["Qwen/Qwen2.5-7B-Instruct", "BAAI/bge-m3"]
    assert reading.request.model == "Qwen/Qwen2.5-7B-Instruct"
    assert reading.request.task == "inference"
