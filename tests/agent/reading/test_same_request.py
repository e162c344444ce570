"""The same wish in other words is the same request: paraphrase, unit, language, order, politeness."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from agent.reading import read
from agent.reading.types import Reading
from knowledge.catalog import shipped_catalog

_SEED = 20260927
_CASES = 200


@dataclass(frozen=True)
class Wish:
    """One request in parts; each part can be said in several ways."""

    model: str
    precision: str
    context_k: int
    concurrency: int
    budget: int
    period: str
    region: tuple[str, str]  # English, Chinese


_MODELS = ("Qwen2.5-7B", "Qwen2.5-72B", "Llama-3-70B", "Llama-3.1-8B", "Qwen3-32B", "DeepSeek-R1", "QwQ-32B")
_REGIONS = (("Hangzhou", "杭州"), ("Shanghai", "上海"), ("Singapore", "新加坡"), ("Beijing", "北京"))
_PERIODS = {"hour": ("hour", "小时"), "month": ("month", "月"), "year": ("year", "年")}


def _wishes() -> list[Wish]:
    pick = random.Random(_SEED)
    return [
        Wish(
            model=pick.choice(_MODELS),
            precision=pick.choice(("int4", "fp8", "bf16", "int8")),
            context_k=pick.choice((4, 8, 16, 32)),
            concurrency=pick.choice((5, 10, 20, 64)),
            budget=pick.choice((20, 50, 3000, 20_000, 150_000)),
            period=pick.choice(tuple(_PERIODS)),
            region=pick.choice(_REGIONS),
        )
        for _ in range(_CASES)
    ]


def english(wish: Wish) -> list[str]:
    return [
        f"Which instance for {wish.model} inference",
        f"{wish.precision} weights",
        f"{wish.context_k}k context",
        f"{wish.concurrency} concurrent requests",
        f"under {wish.budget} CNY per {wish.period}",
        f"in {wish.region[0]}",
    ]


def chinese(wish: Wish) -> list[str]:
    return [
        f"部署 {wish.model} 推理用什么实例",
        f"{wish.precision} 量化" if wish.precision.startswith("int") else f"{wish.precision} 权重",
        f"{wish.context_k}k 上下文",
        f"{wish.concurrency} 并发",
        f"每{_PERIODS[wish.period][1]}不超过 {wish.budget} 元",
        f"{wish.region[1]}地域",
    ]


def other_units(wish: Wish) -> list[str]:
    big = wish.budget >= 10_000
    amount = f"{wish.budget / 10_000:g}万" if big else f"{wish.budget}块"
    return [
        f"用什么实例跑 {wish.model.replace('-', ' ')} 的推理",
        f"{wish.precision}",
        f"max-model-len {wish.context_k * 1024}",
        f"并发 {wish.concurrency}",
        f"预算 {amount}{'元' if big else ''}/{_PERIODS[wish.period][1]}",
        f"region {wish.region[0]}",
    ]


def in_words(wish: Wish) -> list[str]:
    """Chinese numerals in place of digits."""
    numerals = {
        5: "五",
        10: "十",
        20: "二十",
        64: "六十四",
        50: "五十",
        3000: "三千",
        20_000: "两万",
        150_000: "十五万",
    }
    parts = chinese(wish)
    parts[3] = f"{numerals[wish.concurrency]}个并发"
    parts[4] = f"每{_PERIODS[wish.period][1]}{numerals[wish.budget]}元以内"
    return parts


def _key(reading: Reading) -> tuple[Any, ...]:
    request = reading.request
    budget = request.budget and (request.budget.amount, request.budget.currency, request.budget.period)
    return (
        request.task, request.model, request.precision, request.context_tokens, request.concurrency, budget,
        request.regions, reading.intent,
    )  # fmt: skip


def _read(text: str) -> tuple[Any, ...]:
    return _key(read([text], shipped_catalog()))


def _share(change: Callable[[Wish], str]) -> float:
    """Share of the wishes that are read as their plain English form."""
    wishes = _wishes()
    same = [_read(", ".join(english(wish)) + "?") == _read(change(wish)) for wish in wishes]
    return sum(same) / len(same)


def test_the_plain_form_is_read_in_full() -> None:
    for wish in _wishes():
        key = _read(", ".join(english(wish)))
        assert key[0] == "inference"
        assert key[3:5] == (wish.context_k * 1024, wish.concurrency)
        assert key[5] is not None
        assert (int(key[5][0]), key[5][2]) == (wish.budget, wish.period)
        assert len(key[6]) == 1
        assert key[1]
        assert key[2].startswith({"int4": "awq-int4", "int8": "int8"}.get(wish.precision, wish.precision))


@pytest.mark.parametrize(
    "change",
    [
        lambda wish: ",".join(chinese(wish)),
        lambda wish: ",".join(other_units(wish)),
        lambda wish: "。".join(in_words(wish)),
        lambda wish: f"Hello! Could you please help me? {'; '.join(english(wish))}. Thank you very much!",
        lambda wish: f"你好,麻烦帮忙看一下:{'，'.join(chinese(wish))}。谢谢!",
        lambda wish: ", ".join(english(wish)).upper(),
        lambda wish: ", ".join(english(wish)).replace(" ", "  "),
        lambda wish: ",".join(itertools.chain(chinese(wish)[:3], english(wish)[3:])),
    ],
    ids=["chinese", "units", "numerals", "polite", "polite-chinese", "capitals", "blanks", "mixed"],
)
def test_another_wording_is_the_same_request(change: Callable[[Wish], str]) -> None:
    assert _share(change) >= 0.98


def test_the_order_of_the_parts_does_not_matter() -> None:
    pick = random.Random(_SEED)
    shuffled = []
    for wish in _wishes():
        parts = english(wish)
        pick.shuffle(parts)
        shuffled.append(_read(", ".join(english(wish))) == _read(", ".join(parts)))
    assert sum(shuffled) / len(shuffled) >= 0.98


def test_the_parts_may_come_one_turn_at_a_time() -> None:
    catalog = shipped_catalog()
    same = []
    for wish in _wishes():
        parts = chinese(wish)
        turns = [parts[0], *(f"{part}呢" for part in parts[1:])]
        same.append(_key(read(turns, catalog)) == _read(",".join(parts)))
    assert sum(same) / len(same) >= 0.98
