"""Every code that a calculator may emit is worded in both languages."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.premises import claim_wordings, premises
from agent.writing.glossary import entries, remark_text
from agent.writing.words import Words
from knowledge.catalog import Catalog
from tools.contracts.base import Remark

TOOLS = Path(__file__).parents[2] / "tools"
_CODE = re.compile(r"[a-z][a-z0-9_]+")


def literals(node: ast.expr | None) -> Iterator[str]:
    """The texts that an expression may be; parts that are computed are left to the runs of other tests."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from literals(node.body)
        yield from literals(node.orelse)


def emitted() -> tuple[set[str], set[str], set[str]]:
    """Codes of remarks, reasons of assumptions and names of assumed fields in the calculators' source."""
    remarks: set[str] = set()
    reasons: set[str] = set()
    fields: set[str] = set()
    for path in TOOLS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            given = {item.arg: item.value for item in node.keywords}
            if name in ("Remark", "warn", "correct"):
                remarks.update(literals(given.get("code") or (node.args[0] if node.args else None)))
            elif name == "assume" and len(node.args) == 3:
                fields.update(literals(node.args[0]))
                reasons.update(literals(node.args[2]))
            elif name == "Assumption":
                fields.update(literals(given.get("field")))
                reasons.update(literals(given.get("reason")))
    return remarks, reasons, fields


@pytest.mark.parametrize("part", [0, 1, 2], ids=["remarks", "reasons", "fields"])
def test_no_code_reaches_a_reader_unworded(part: int) -> None:
    codes = {code for code in emitted()[part] if _CODE.fullmatch(code)}
    known = entries(("remarks", "reasons", "fields")[part])
    assert codes - set(known) == set()


@pytest.mark.parametrize("part", ["remarks", "reasons", "fields", "values", "advice"])
def test_both_languages_are_there_and_take_the_same_figures(part: str) -> None:
    for code, entry in entries(part).items():
        assert entry["en"].strip(), code
        assert entry["zh"].strip(), code
        for suffix in ("", "_bare"):
            if f"en{suffix}" in entry or f"zh{suffix}" in entry:
                english, chinese = entry[f"en{suffix}"], entry[f"zh{suffix}"]
                assert set(re.findall(r"\{(\w+)\}", english)) == set(re.findall(r"\{(\w+)\}", chinese)), code


def test_a_remark_without_a_figure_takes_its_short_wording() -> None:
    remark = Remark(code="no_list_price", params={"region": ""})
    assert remark_text(Words("en"), remark) == "no price is published here"


def test_claims_are_worded_in_both_languages_with_the_figures_of_the_table(catalog: Catalog) -> None:
    for claim in catalog.claims:
        wording = claim_wordings()[claim.claim_id]
        known = numbers(claim.right_value) | numbers(claim.claim)
        for language in ("en", "zh"):
            assert numbers(wording[language]) <= known, (claim.claim_id, language)
        assert numbers(wording["en"]) == numbers(wording["zh"]), claim.claim_id


def test_premises_name_claims_that_exist(catalog: Catalog) -> None:
    known = {claim.claim_id for claim in catalog.claims}
    for code, entry in premises().items():
        assert set(entry.get("claims", [])) <= known, code
        assert entry["en"].strip()
        assert entry["zh"].strip()


def numbers(text: str) -> set[str]:
    """Figures of a text; those inside names (gn7i, c24g1, A100) are left out."""
    text = text.replace(",", "").replace("ninety", "90")
    return {item.rstrip(".") for item in re.findall(r"(?<![\w.-])\d+(?:\.\d+)*(?![\w-])", text)}
