"""A real small model in front: right answers all the same, because what it invents is not shown."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence

import pytest

from agent.events import Answer
from agent.evidence import Evidence
from agent.model import open_model
from agent.output import answer_values
from agent.run import Advisor, Mode
from evals.cases import Case, load_cases
from evals.outcome import Outcome
from evals.score import score
from knowledge.catalog import Catalog
from settings import ROOT, Settings
from tests.agent.conftest import OneGuide

pytestmark = pytest.mark.slow

COUNT = int(os.environ.get("SMALL_MODEL_QUESTIONS", "8"))
DEADLINE_S = 30.0
_KINDS = ("inference_sizing", "cost", "gpu_comparison", "finetune_sizing", "naming", "instance_lookup")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    command = [sys.executable, "-m", "tests.agent.small_model"]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        line = next((line for line in server.stdout if line.startswith('{"url"')), "")
        assert line, "the model server ended before it listened"
        yield json.loads(line)["url"]
        server.stdin.close()
        server.kill()


def questions(count: int) -> list[Case]:
    """Single questions of several kinds, in turn, spread over the evaluation set."""
    by_kind = [
        [case for case in load_cases() if case.kind == kind and len(case.turns) == 1] for kind in _KINDS
    ]
    return [kind[place] for place in range(max(map(len, by_kind))) for kind in by_kind if place < len(kind)][
        :count
    ]


def ungrounded(answer: Answer, turns: Sequence[str]) -> list[str]:
    """Facts of the model's own prose without evidence; built-in prose is checked by its own tests."""
    if answer.model == "builtin":
        return []
    evidence = Evidence([item.report for item in answer.reports], turns)
    return [claim.text for claim in evidence.ungrounded(answer.text)]


@pytest.mark.parametrize("mode", ["agent", "reader"])
def test_a_tiny_model_never_makes_an_answer_wrong(
    address: str, catalog: Catalog, mode: Mode, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(openai_base_url=f"{address}/v1", openai_model="smollm2")
    advisor = Advisor(catalog, OneGuide(), open_model(settings), deadline_s=DEADLINE_S, mode=mode)
    cases = questions(COUNT if mode == "agent" else max(2, COUNT // 4))
    told = [advisor.answer(list(case.turns)) for case in cases]
    answers = [answer for answer in told if isinstance(answer, Answer)]
    assert len(answers) == len(cases)
    fell_back = sum(bool(answer.notices) for answer in answers)
    with capsys.disabled():
        print(f"\nSmolLM2-135M as {mode}: {len(answers)} answers, {fell_back} by the built-in fallback")
    assert all(answer.seconds < DEADLINE_S + 15 for answer in answers)
    for case, answer in zip(cases, answers, strict=True):
        assert ungrounded(answer, case.turns) == [], case.id
        outcome = Outcome(case.id, case.turns, (answer_values(answer),))
        assert score(case, outcome, catalog).violations == (), case.id
