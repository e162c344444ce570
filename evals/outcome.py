"""What came of a case: the answers to its turns as JSON values, or the error that took their place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Outcome:
    """The answers of one run of a case, one per turn. `answer` is the one that is judged."""

    case_id: str
    turns: tuple[str, ...]
    answers: tuple[Mapping[str, Any], ...]  # as `agent.output.answer_values` writes them
    judged: int = -1
    error: str = ""  # an exception, or an answer that failed: never counted as a wrong answer of its own

    @property
    def answer(self) -> Mapping[str, Any]:
        return self.answers[self.judged] if self.answers else {}

    @property
    def text(self) -> str:
        return str(self.answer.get("text", ""))

    @property
    def recommendation(self) -> Mapping[str, Any] | None:
        return self.answer.get("recommendation")

    @property
    def seconds(self) -> float:
        """Of the judged answer."""
        return float(self.answer.get("seconds", 0.0))

    def at_turn(self, turn: int) -> Outcome:
        """The same run judged at the answer to a turn, 1 = the first."""
        return replace(self, judged=turn - 1)
