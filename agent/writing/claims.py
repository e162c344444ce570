"""Circulating claims and premises answered: the verdict first, kindly, with the right value."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal

from agent.planner.requests import mentioned
from agent.premises import claim_wordings, premises
from agent.steps import Case
from agent.writing.words import Words
from knowledge.rows import Claim
from tools.contracts.lookup import FamilyReport, GpuReport
from tools.contracts.memory import MemoryReport

_TENTHS = re.compile(r"([1-9](?:\.\d)?) ?折")


def premise_lines(w: Words, codes: Iterable[str]) -> list[str]:
    """What is true instead of the premises of a question, one line each."""
    return [str(premises()[code][w.language]) for code in codes if code in premises()]


def claim_line(w: Words, claim: Claim, asserted: bool = True) -> str:
    """One claim: whether it holds, and what is right; of an open question that touches it the fact alone."""
    text = claim_wordings().get(claim.claim_id, {}).get(w.language, claim.right_value)
    if not asserted:
        return text
    verdicts = {
        "right": w("**Yes.** ", "**是的。** "),
        "wrong": w("**No.** ", "**不是。** "),
        "misleading": w("**Only in part.** ", "**不完全对。** "),
        "unverifiable": w("**There is no source for that.** ", "**这一点没有可靠来源。** "),
    }
    return verdicts[claim.verdict] + text


def discount_lines(w: Words, case: Case) -> list[str]:
    """The list price of the card named, times the tenths that a discount in 折 leaves to pay."""
    said = _TENTHS.search(case.reading.question)
    report = case.done.first(GpuReport)
    if (
        "discount_word" not in case.reading.claims
        or said is None
        or report is None
        or report.from_price is None
    ):
        return []
    share, price = Decimal(said[1]) / 10, report.from_price
    paid = w.price(price.amount * share, price.unit, price.currency)
    return [
        f"{w.price(price.amount, price.unit, price.currency)} × {share} = {paid} ({report.gpu.gpu_model})"
    ]


def own_card_lines(w: Words, case: Case) -> list[str]:
    """Families that were said to carry another card than their own."""
    if "wrong_family_gpu" not in case.reading.claims:
        return []
    lines = []
    for report in case.done.all(FamilyReport):
        said = [item.name for item in mentioned(case.reading, "gpu") if item.name not in report.gpu_models]
        if said and report.gpu_models:
            own = w.listed(report.gpu_models)
            lines.append(
                w(
                    f"**No: {report.family} carries the {own}, not the {said[0]}.**",
                    f"**不是：{report.family} 用的是 {own}，不是 {said[0]}。**",
                )
            )
    return lines


def whole_memory_lines(w: Words, case: Case) -> list[str]:
    """The weights of a model against the nominal memory of all cards of a claim together."""
    report = case.done.first(MemoryReport, "main")
    if report is None or not report.gpu or report.gpu.endswith(" class") or report.gpu_count < 2:
        return []
    size = case.catalog.gpu(report.gpu).memory_gib
    if not size:
        return []
    weights, cards = w.gib(report.weights_gib), f"{report.gpu_count} × {size:g} GiB"
    total = report.gpu_count * size
    return [
        w(
            f"Weights {weights} of {cards} = {total:g} GiB in all; the KV cache, activations and runtime of "
            "every card have to fit beside them.",
            f"权重 {weights}，{cards} = 共 {total:g} GiB；KV cache、激活和每张卡的运行开销还要放得下。",
        )
    ]
