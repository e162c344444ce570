"""A wrong premise that passes unseen is confirmed by silence; a right one that is doubted insults."""

from __future__ import annotations

from typing import Any

import pytest

from knowledge.catalog import shipped_catalog

_WRONG = [row for row in shipped_catalog().claims if row.verdict in ("wrong", "misleading")]


@pytest.mark.parametrize("row", _WRONG, ids=lambda row: row.claim_id)
def test_every_wrong_claim_of_the_table_is_recognised(reader: Any, row: Any) -> None:
    assert row.claim_id in reader(f"I read that {row.claim}, is that right?").claims


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("A100 有 FP8 算力,对吗", "fp8_on_ampere"),
        ("V100 can run FP8, right?", "fp8_on_volta_turing"),
        ("Qwen2.5-7B in bf16 on T4", "bf16_on_volta_turing"),
        ("gn6v 用 bf16 训练", "bf16_on_volta_turing"),
        ("A10 跑双精度 CFD", "fp64_on_graphics_gpu"),
        ("gn7i 带 NVLink 吧", "no_nvlink"),
        ("L20 has NVLink, correct?", "no_nvlink"),
        ("ecs.gn7i-c10g1.20xlarge 有货吗", "phantom_type"),
        ("gn11 是什么卡", "phantom_family"),
        ("g7 系列带 GPU 吗", "g6_not_gpu"),
        ("gn6i 用的是 V100,没错吧", "wrong_family_gpu"),
        ("gn6v 是 Hopper 架构吗", "wrong_family_architecture"),
        ("gn6v is Hopper, isn't it", "claim-008"),
        ("70B fits on one 80GB card in bf16, right?", "model_too_big_for_card"),
        ("T4 比 A10 便宜吧", "t4_cheaper_than_a10"),
        ("只激活 3B,所以 8G 就够跑 30B-A3B 了吧", "moe_active_memory"),
        ("4 张 24G 加起来 96G 显存", "vram_pools_across_gpus"),
        ("显存太小,升级内存就解决了吧", "host_memory_is_not_vram"),
        ("GPU 利用率 100% 说明跑满了吧", "utilisation_is_not_load"),
        ("nvidia-smi shows CUDA 12.2 so the toolkit is installed?", "smi_cuda_is_driver_limit"),
        ("spot 提前 2 分钟通知,对吗", "spot_notice"),
        ("抢占式实例已经改名了吗", "spot_discontinued"),
        ("can I convert spot to subscription", "spot_converts"),
        ("do disks get the spot discount", "spot_disk_discount"),
        ("生产环境用抢占式可以吗", "spot_for_production"),
        ("抢占式出价就是成交价吗", "bid_is_price"),
        ("预留实例券保证库存吗", "reserved_guarantees_stock"),
        ("关机就不收费了吧", "stopped_is_free"),
        ("gn7i 每小时 3 元,对吗", "price_stated"),
        ("H100 在阿里云有吗", "gpu_not_sold"),
        ("v 就是 V100 的意思吧", "suffix_is_gpu_name"),
    ],
)
def test_a_built_in_premise_is_recognised(reader: Any, text: str, code: str) -> None:
    assert code in reader(text).claims


@pytest.mark.parametrize(
    "text",
    [
        "gn7i 和 V100 哪个好", "A10 vs T4 显存带宽", "部署 Qwen2.5-7B,A10 上用 bf16", "gn7i 用的是 A10 吗",
        "L20 支持 fp8 吗",
        "Is gn6v a V100?", "H20 跑 fp8 的 DeepSeek-R1", "Qwen3-30B-A3B 部署要什么卡", "A100 有 NVLink 吗",
        "T4 跑 int8 的 7B",
        "抢占式 A10 多少钱", "gn7e 训练 7B 全参", "4 张 A10 部署 32B", "g: which GPU for SDXL?",
        "nvidia-smi 怎么装",
    ],
)  # fmt: skip
def test_a_sound_question_is_not_corrected(reader: Any, text: str) -> None:
    wrong = {row.claim_id for row in _WRONG} | {
        "wrong_family_gpu", "wrong_family_architecture", "phantom_type", "phantom_family", "g6_not_gpu",
        "fp8_on_ampere",
        "bf16_on_volta_turing", "no_nvlink", "model_too_big_for_card", "moe_active_memory",
        "vram_pools_across_gpus",
    }  # fmt: skip
    assert not wrong & set(reader(text).claims)


def test_two_alternatives_are_no_statement(reader: Any) -> None:
    assert "wrong_family_gpu" not in reader("选 gn7i 还是 V100").claims
    assert "wrong_family_gpu" in reader("gn7i 用的是 V100").claims
