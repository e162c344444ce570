"""Runs cases through the advisor: every turn is answered as a client would send it."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Sequence

from agent.events import Failed
from agent.output import answer_values
from agent.run import Advisor, open_advisor
from evals.cases import Case
from evals.outcome import Outcome
from knowledge.catalog import shipped_catalog
from knowledge.errors import InputError
from settings import Settings

Progress = Callable[[Outcome], None]
MODEL_CONCURRENCY = 4  # questions in flight at a model service; the built-in model takes one at a time


def open_evaluated(model: str) -> tuple[Advisor, int]:
    """The advisor of this name ("builtin" or "openai") and how many questions it takes at once."""
    settings = Settings()
    if model == "builtin":
        return open_advisor(settings.model_copy(update={"model_mode": "none"}), shipped_catalog()), 1
    if not settings.has_model:
        raise InputError("model", model, "a configured model: set OPENAI_MODEL and OPENAI_API_KEY")
    return open_advisor(settings, shipped_catalog()), MODEL_CONCURRENCY


def run_cases(
    cases: Sequence[Case], advisor: Advisor, at_once: int = 1, progress: Progress | None = None
) -> list[Outcome]:
    """The outcomes in the order of `cases`. An exception becomes the outcome's error; nothing is raised."""
    return asyncio.run(_run(cases, advisor, at_once, progress))


async def _run(
    cases: Sequence[Case], advisor: Advisor, at_once: int, progress: Progress | None
) -> list[Outcome]:
    gate = asyncio.Semaphore(at_once)

    async def one(case: Case) -> Outcome:
        async with gate:
            outcome = await run_case(case, advisor)
        if progress:
            progress(outcome)
        return outcome

    return list(await asyncio.gather(*(one(case) for case in cases)))


async def run_case(case: Case, advisor: Advisor) -> Outcome:
    """All answers of a case, each knowing only what was said up to its turn."""
    answers = []
    error = ""
    try:
        for count in range(1, len(case.turns) + 1):
            result = await advisor.answer_async(case.turns[:count])
            if isinstance(result, Failed):
                error = f"answer {count} failed: {result.text}"
                break
            answers.append(answer_values(result))
    except Exception:  # noqa: BLE001 - whatever breaks is the case's failure, and the set goes on
        error = traceback.format_exc()
    return Outcome(case.id, case.turns, tuple(answers), error=error)
