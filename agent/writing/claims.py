"""Circulating claims answered: the verdict first, kindly, with the right value."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from agent.writing.words import Words
from knowledge.rows import Claim

_FOLDER = Path(__file__).parent


@cache
def wordings() -> dict[str, dict[str, str]]:
    """Claim id -> the right value in both languages."""
    return tomllib.loads((_FOLDER / "claims.toml").read_text(encoding="utf-8"))


@cache
def premises() -> dict[str, dict[str, Any]]:
    """Premise code -> what is true instead in both languages, and the claims that say the same."""
    return tomllib.loads((_FOLDER / "premises.toml").read_text(encoding="utf-8"))


def claim_ids(codes: Iterable[str]) -> list[str]:
    """Claims to look up for the codes of a reading: its own, and those that a premise rests on."""
    found: dict[str, None] = {}
    for code in codes:
        for claim in [code] if code.startswith("claim-") else premises().get(code, {}).get("claims", []):
            found.setdefault(claim)
    return list(found)


def premise_lines(w: Words, codes: Iterable[str]) -> list[str]:
    """What is true instead of the premises of a question, one line each."""
    return [str(premises()[code][w.language]) for code in codes if code in premises()]


def claim_line(w: Words, claim: Claim) -> str:
    """One claim: whether it holds, and what is right."""
    wording = wordings().get(claim.claim_id, {})
    text = wording.get(w.language, claim.right_value)
    verdicts = {
        "right": w("**Yes.** ", "**是的。** "),
        "wrong": w("**No.** ", "**不是。** "),
        "misleading": w("**Only in part.** ", "**不完全对。** "),
        "unverifiable": w("**There is no source for that.** ", "**这一点没有可靠来源。** "),
    }
    return verdicts[claim.verdict] + text
