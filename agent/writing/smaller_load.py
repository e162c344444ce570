"""How far a load shrinks that a budget can carry, in words."""

from __future__ import annotations

from agent.writing.words import Words
from tools.contracts.base import Remark

_QLORA_TOKENS = 1024


def smaller_load_words(w: Words, remark: Remark) -> str:
    """What the budget buys against what was asked: requests at once or a second, and their length."""
    params = remark.params
    parts = [
        part
        for part in (
            _fewer(w, remark, "requests_per_s", "requests a second", "每秒请求数"),
            _fewer(w, remark, "concurrency", "requests at once", "并发"),
            _fewer(w, remark, "context_tokens", "tokens each", "每个请求的 token 数"),
        )
        if part
    ]
    if params.get("method") == "qlora":
        parts = [
            w(
                f"QLoRA, one sequence of {_QLORA_TOKENS:,} tokens at a time",
                f"QLoRA，每次一条 {_QLORA_TOKENS:,} token 的序列",
            )
        ]
    told = w.listed(parts) or w("the load without its latency targets", "不含延迟目标的负载")
    return w(f"what the budget buys: {told}", f"预算能买到的：{told}")


def _fewer(w: Words, remark: Remark, field: str, english: str, chinese: str) -> str:
    now, asked = remark.params.get(field), remark.params.get(f"asked_{field}")
    if not isinstance(asked, int | float) or now == asked:
        return ""
    if not isinstance(now, int | float):
        return w(
            f"one request at a time in place of {w.num(asked)} {english}",
            f"一次一个请求（原要求{chinese} {w.num(asked)}）",
        )
    return w(
        f"{w.num(now, 6)} {english} in place of {w.num(asked, 6)}",
        f"{chinese} {w.num(now, 6)}（原要求 {w.num(asked, 6)}）",
    )
