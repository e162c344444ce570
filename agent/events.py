"""What a run tells its listener: tool steps, text, notices, and at the end one `Answer` or `Failed`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from agent.reading.types import Language, Reading
from tools.contracts.base import SourceRef
from tools.contracts.sizing import Recommendation

NoticeCode = Literal[
    "model_failed", "model_ungrounded", "model_unfit", "model_timeout", "model_paused", "input_cut",
    "hub_unreachable", "hub_without_model",
]  # fmt: skip


@dataclass(frozen=True)
class ToolStarted:
    """A calculation or search begins; `arguments` are those the model chose."""

    call_id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class ToolFinished:
    """A calculation or search ended. `artifact` is its report, a search result or a `Fault`."""

    call_id: str
    name: str
    text: str
    artifact: object
    ok: bool
    seconds: float


@dataclass(frozen=True)
class Token:
    """The next piece of the answer's text; only checked text is sent."""

    text: str


@dataclass(frozen=True)
class Notice:
    """Something the reader should know about how the answer came to be, in the question's language."""

    code: NoticeCode
    text: str


@dataclass(frozen=True)
class ModelCall:
    """One request to the language model: how long it took, and its tokens as the service counts them (0 where
    it does not say)."""

    seconds: float
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True)
class ToolReport:
    """One report behind an answer and the tool that made it."""

    tool: str
    report: object


@dataclass(frozen=True)
class Answer:
    """The whole answer; `text` is what the tokens add up to. Tables and plots are made from `reports`."""

    text: str
    language: Language
    reading: Reading
    recommendation: Recommendation | None = None
    reports: tuple[ToolReport, ...] = ()
    sources: tuple[SourceRef, ...] = ()
    seconds: float = 0.0
    model: str = "builtin"
    notices: tuple[Notice, ...] = ()
    usage: dict[str, int] = field(default_factory=dict)
    model_calls: tuple[ModelCall, ...] = ()


@dataclass(frozen=True)
class Failed:
    """No answer could be made; `text` is one clear sentence, the detail is in the log under `reference`.
    `fault` is the error object of a slot that was set by hand and cannot be used."""

    text: str
    reference: str
    fault: dict[str, Any] | None = None


Event = ToolStarted | ToolFinished | Token | Notice | Answer | Failed
