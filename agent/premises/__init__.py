"""Circulating claims and wrong premises with what is true instead, worded in both languages."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent


@cache
def claim_wordings() -> dict[str, dict[str, str]]:
    """Claim id of `knowledge/data/claims.csv` -> the right value in both languages."""
    return tomllib.loads((_FOLDER / "claims.toml").read_text(encoding="utf-8"))


@cache
def premises() -> dict[str, dict[str, Any]]:
    """Premise code of the reading -> what is true instead in both languages, and claims that say the same."""
    return tomllib.loads((_FOLDER / "premises.toml").read_text(encoding="utf-8"))


def claim_ids(codes: Iterable[str]) -> list[str]:
    """Claims to look up for the codes of a reading: its own, and those that a premise rests on."""
    found: dict[str, None] = {}
    for code in codes:
        for claim in [code] if code.startswith("claim-") else premises().get(code, {}).get("claims", []):
            found.setdefault(claim)
    return list(found)
