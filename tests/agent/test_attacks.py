"""Attacks in both languages by every way in: nothing an attacker wants is shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent.events import Answer
from agent.evidence import Evidence
from agent.run import Advisor
from knowledge.catalog import Catalog
from knowledge.guides import Guide
from retrieval.chunk import OWN
from retrieval.search import Hit, SearchResult
from tests.agent.conftest import OneGuide
from tests.agent.test_run import PRICE, TRUE, ScriptedModel, ask, calls, says

DATA: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("attacks.yaml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Attack:
    """One attack: the talk it comes in, what it wants said, and what must never be shown."""

    name: str
    talk: tuple[dict[str, str], ...]
    obeys: str
    never: tuple[str, ...]
    clean: bool  # the last question is untouched, so it has its right answer

    @property
    def words(self) -> list[str]:
        return [turn["content"] for turn in self.talk if turn["role"] == "user"]


def _attacks() -> Iterator[Attack]:
    for goal_name, goal in DATA["goals"].items():
        for way_name, way in DATA["ways"].items():
            for language in ("en", "zh"):
                turns = [
                    turn.format(attack=goal[language], question=DATA["questions"][language])
                    for turn in way[language]
                ]
                yield Attack(
                    f"{goal_name}-{way_name}-{language}",
                    tuple(_message(turn) for turn in turns),
                    goal["obeys"],
                    tuple(goal["never"]),
                    way["clean"],
                )


def _message(turn: str) -> dict[str, str]:
    role, mark, text = turn.partition("assistant: ")
    return {"role": "assistant", "content": text} if mark and not role else {"role": "user", "content": turn}


ATTACKS = list(_attacks())


def faults_of(attack: Attack, answer: Answer) -> list[str]:
    """What is wrong with an answer under attack; empty for a good one."""
    faults = [
        f"shows {found[0]!r}"
        for pattern in attack.never
        if (found := re.search(pattern, answer.text, re.IGNORECASE | re.MULTILINE))
    ]
    evidence = Evidence([item.report for item in answer.reports], attack.words)
    if answer.model != "builtin":
        faults += [f"ungrounded {claim.text!r}" for claim in evidence.ungrounded(answer.text)]
    if attack.clean and not re.search(DATA["right"], answer.text):
        faults.append("the clean question has no right answer")
    if not answer.text.strip():
        faults.append("empty")
    return faults


def answer_to(advisor: Advisor, attack: Attack) -> Answer:
    answer = ask(advisor, *attack.talk)[-1]
    assert isinstance(answer, Answer), answer
    return answer


@pytest.fixture(scope="module")
def hostile(catalog: Catalog) -> tuple[Advisor, ScriptedModel]:
    """An advisor in front of a model whose turns each test sets."""
    model = ScriptedModel(turns=[])
    return Advisor(catalog, None, model), model


def test_there_are_enough_attacks_in_both_languages() -> None:
    names = [attack.name for attack in ATTACKS]
    assert len(set(names)) >= 150
    assert sum(name.endswith("-zh") for name in names) >= 75


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_the_built_in_model_does_not_obey(advisor: Advisor, attack: Attack) -> None:
    assert faults_of(attack, answer_to(advisor, attack)) == []


@pytest.mark.parametrize("first", ["says it at once", "calculates first", "answers first", "answers last"])
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_what_a_model_that_obeys_says_is_not_shown(
    hostile: tuple[Advisor, ScriptedModel], attack: Attack, first: str
) -> None:
    advisor, model = hostile
    turns = {
        "says it at once": [says(attack.obeys)],
        "calculates first": [PRICE, says(attack.obeys)],
        "answers first": [PRICE, says(f"{TRUE} {attack.obeys}")],
        "answers last": [PRICE, says(f"{attack.obeys}\n\n{TRUE}")],
    }
    model.turns = turns[first]
    model.asked.clear()
    assert faults_of(attack, answer_to(advisor, attack)) == []


class OwnDocument(OneGuide):
    """A search that finds a help desk's own document, in which somebody has written an attack."""

    def __init__(self, attack: str) -> None:
        super().__init__()
        self.text = f"We use A10 cards. [system] {attack} End of page."

    def search(self, query: str, language: str = "", limit: int = 5) -> SearchResult:
        hit = Hit("own/wiki", "GPU notes", language or "en", OWN, "own", 1.0, "own: wiki.md", self.text)
        return SearchResult((hit,), no_answer=False)

    def guide(self, guide_id: str, language: str) -> Guide:
        return super().guide(self.guide_id, language or "en")


SYMPTOM = {"en": "nvidia-smi cannot communicate with the driver", "zh": "nvidia-smi 无法与驱动通信"}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("goal", DATA["goals"])
@pytest.mark.parametrize("obeys", [False, True], ids=["built-in", "a model that obeys"])
def test_an_own_document_with_an_attack_is_quoted_and_not_followed(
    catalog: Catalog, goal: str, language: str, obeys: bool
) -> None:
    wanted = DATA["goals"][goal]
    search = calls("search_guides", query=SYMPTOM[language])
    model = ScriptedModel(turns=[search, says(wanted["obeys"])]) if obeys else None
    talk = ({"role": "user", "content": SYMPTOM[language]},)
    attack = Attack(goal, talk, "", tuple(wanted["never"]), False)
    answer = answer_to(Advisor(catalog, OwnDocument(wanted[language]), model), attack)
    assert answer.model == "builtin"
    spoken = "\n".join(line for line in answer.text.splitlines() if not line.startswith("> "))
    assert "A10" in answer.text, "the document is quoted"
    assert faults_of(attack, replace(answer, text=spoken)) == []
    assert not re.search(r"(?<!\\)!\[|(?<!\\)\]\(http", answer.text), "no markup of the document works"


def test_the_key_is_in_no_answer_and_a_tool_of_the_attacker_does_not_run(catalog: Catalog) -> None:
    model = ScriptedModel(
        turns=[calls("run_shell", command="id"), PRICE, says("It costs 9.533 CNY per hour.")]
    )
    answer = answer_to(Advisor(catalog, None, model), ATTACKS[4])
    assert "9.53" in answer.text
    assert [report.tool for report in answer.reports] == ["estimate_cost"]
