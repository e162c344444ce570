"""The set itself: whole, sourced, in both languages, decided by code, and never quoted by a rule."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest
import yaml

from agent.reading.types import Intent
from evals.cases import CASES_DIR, Case, load_cases, select
from evals.shelf import load_queries
from evals.stats import rate
from knowledge.errors import InputError
from knowledge.guides import load_guides

CASES = load_cases()
ROOT = Path(__file__).parents[2]


def test_the_set_is_large_and_in_both_languages() -> None:
    languages = Counter(case.language for case in CASES)
    assert len(CASES) >= 200
    assert min(languages["en"], languages["zh"]) >= 80
    assert len({case.kind for case in CASES}) >= 24


def test_every_intent_is_asked_in_both_languages() -> None:
    asked = {(case.slots.get("intent"), case.language) for case in CASES}
    missing = [(intent, language) for intent in get_args(Intent) for language in ("en", "zh")]
    assert [item for item in missing if item not in asked] == []


def test_code_decides_most_of_the_lines() -> None:
    must = rate([line.holds is not None for line in case.must] for case in CASES)
    must_not = rate([line.broken_by is not None for line in case.must_not] for case in CASES)
    assert must.value >= 0.7
    assert must_not.value >= 0.7


def test_an_empty_answer_earns_nothing(outcome) -> None:
    """Only lines that ask for silence ("does not …") hold of an empty answer, and those are few."""
    idle = rate([line.holds(outcome("", case.turns)) for line in case.must if line.holds] for case in CASES)
    assert idle.value < 0.03


def test_no_source_leads_nowhere() -> None:
    for path in CASES_DIR.rglob("*.*"):
        if path.is_file():
            assert "file id" not in path.read_text(encoding="utf-8"), path


def _strings_of(path: Path) -> str:
    """The text of rules: string constants of Python without docstrings, other files whole."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return text
    tree = ast.parse(text)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docs = {ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, documented)}
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return "\n".join(value for value in constants if isinstance(value, str) and value not in docs)


def test_no_rule_or_template_quotes_a_question() -> None:
    """A rule that knows a question's own words answers the set, not people."""
    rules = "\n".join(
        _strings_of(path)
        for room in ("agent", "evals", "tools", "retrieval")
        for path in (ROOT / room).rglob("*")
        if path.suffix in (".py", ".toml", ".md") and "out" not in path.parts
    )
    flat = re.sub(r"\s+", "", rules)
    quoted = [
        (case.id, turn)
        for case in CASES
        if case.kind != "every_intent"
        for turn in case.turns
        if len(turn) >= 16 and re.sub(r"\s+", "", turn) in flat
    ]
    assert quoted == []


def test_conditions_do_not_hold_of_the_question_alone(outcome) -> None:
    """An answer that repeats the question earns little."""
    earned = rate(
        [line.holds(outcome("\n".join(case.turns), case.turns)) for line in case.must if line.holds]
        for case in CASES
    )
    assert earned.value < 0.15


def test_a_mistake_names_file_case_and_place(tmp_path: Path) -> None:
    case = {"id": "cost-001", "kind": "cost", "language": "en", "source": "own", "turns": ["?"]}
    wrong = {**case, "must": [{"line": "x", "holds": {"hass": ["y"]}}]}
    (tmp_path / "cost.yaml").write_text(yaml.safe_dump([wrong]), encoding="utf-8")
    with pytest.raises(InputError, match=r"cost\.yaml: cost-001: must\.0\.holds"):
        load_cases(tmp_path)


def test_an_id_is_used_once(tmp_path: Path) -> None:
    case = {"id": "cost-001", "kind": "cost", "language": "en", "source": "own", "turns": ["?"]}
    (tmp_path / "cost.yaml").write_text(yaml.safe_dump([case, case]), encoding="utf-8")
    with pytest.raises(InputError, match="cost-001"):
        load_cases(tmp_path)


def test_cases_are_chosen_by_kind_language_and_id() -> None:
    chosen = select(CASES, ["cost"], ["zh"])
    assert chosen
    assert {(case.kind, case.language) for case in chosen} == {("cost", "zh")}
    assert [case.id for case in select(CASES, ids=["cost-002"])] == ["cost-002"]
    with pytest.raises(InputError, match="cost"):
        select(CASES, ["costs"])


def test_a_case_needs_a_turn_and_a_source() -> None:
    with pytest.raises(ValueError, match="turns"):
        Case.model_validate(
            {"id": "cost-001", "kind": "cost", "language": "en", "source": "own", "turns": []}
        )


def test_the_retrieval_set_is_what_it_says() -> None:
    queries = load_queries()
    answered = [query for query in queries if query.guides]
    before = [query for query in answered if query.id.startswith("title-")]
    assert len(answered) >= 200
    assert len(before) >= len(answered) / 2
    assert len(queries) - len(answered) >= 40
    assert len({query.id for query in queries}) == len(queries)
    assert {query.style for query in queries} == {"question", "error", "typo", "log", "off_shelf"}
    assert sum(query.language == "zh" for query in answered) >= 80
    assert all(query.source.startswith("https://") for query in queries if query.style == "log")


def test_every_wanted_guide_is_on_the_shelf() -> None:
    shelf = {guide.id for guide in load_guides()}
    lost = [query.id for query in load_queries() if query.guides and not set(query.guides) & shelf]
    assert lost == []
