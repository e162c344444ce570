"""Circulating claims and premises answered: the verdict first, kindly, with the right value."""

from __future__ import annotations

from collections.abc import Iterable

from agent.premises import claim_wordings, premises
from agent.writing.words import Words
from knowledge.rows import Claim


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
