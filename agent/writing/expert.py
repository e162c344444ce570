"""What an expert adds to an answer: sourced rows of `knowledge/data/advice.csv` that fit the question."""

from __future__ import annotations

from collections.abc import Iterable

from agent.planner.requests import mentioned, models
from agent.steps import Case
from agent.writing.words import Words, bullets
from knowledge.rows import Advice
from tools.contracts.base import SourceRef
from tools.contracts.sizing import Recommendation

_SHOWN = 4
_UNADVISED = frozenset({"greeting", "reset", "out_of_scope", "injection", "empty", "naming"})
_READING_FIELDS = ("nodes", "vram_gb", "latency_ms", "items_per_day", "streams", "hours")


def fitting(case: Case) -> list[Advice]:
    """Rows whose every condition holds, leads and then the most specific first, at most four."""
    if case.reading.intent in _UNADVISED:
        return []
    facts = _facts(case)
    rows = [row for row in case.catalog.advice if all(_holds(term, facts) for term in row.when)]
    return sorted(rows, key=lambda row: (not row.lead, -len(row.when)))[:_SHOWN]


def answered_by_rule(case: Case) -> bool:
    """Whether a sourced rule answers the question itself, so that a guide would only repeat more loosely."""
    return any(row.lead for row in fitting(case))


def lead_section(w: Words, rows: Iterable[Advice]) -> str:
    """Rows that answer the question itself and so stand before the figures."""
    return "\n\n".join(w(row.text_en, row.text_zh) for row in rows if row.lead)


def expert_section(w: Words, rows: Iterable[Advice]) -> str:
    """The other rows as a list."""
    lines = [w(row.text_en, row.text_zh) for row in rows if not row.lead]
    return w("**Worth knowing**\n", "**经验**\n") + bullets(lines) if lines else ""


def expert_sources(rows: Iterable[Advice]) -> list[SourceRef]:
    return [SourceRef(title=row.source, as_of=row.as_of) for row in rows]


def _holds(term: str, facts: dict[str, set[str]]) -> bool:
    """A term is `key=a|b` or `key!=a|b`; a value matches by its beginning ("A100" for "A100-80GB")."""
    key, _, values = term.partition("=")
    wanted = tuple(values.lower().split("|"))
    found = any(value.lower().startswith(wanted) for value in facts[key.removesuffix("!")])
    return found != key.endswith("!")


def _facts(case: Case) -> dict[str, set[str]]:
    """What conditions are held against: by key the values of this question."""
    reading, request, catalog = case.reading, case.reading.request, case.catalog
    found = case.done.first(Recommendation)
    known = [row for name in models(reading) if (row := catalog.find_model(name)) is not None]
    fields = [field for field in _READING_FIELDS if getattr(reading, field) is not None]
    return {
        "task": {request.task},
        "kind": {row.kind for row in known} | {"moe" for row in known if row.num_experts},
        "model": {row.model_id.rsplit("/", 1)[-1] for row in known},
        "method": {request.method} - {""},
        "objective": {request.training_objective} - {""},
        "engine": {request.engine} - {""},
        "intent": {reading.intent, *reading.intents},
        "topic": set(reading.topics),
        "claim": set(reading.claims),
        "precision": {request.precision} - {""},
        "item": {str(reading.item)} - {""},
        "gpu": {item.name for item in mentioned(reading, "gpu")} | set(request.gpu_wanted),
        "family": {item.name for item in mentioned(reading, "family", "instance", "phantom_family")},
        "chosen": {option.gpu_model for option in found.options[:1]} if found is not None else set(),
        "said": {*reading.slots, *fields},
        "gpus": {"several" if (request.gpu_count or 1) > 1 else "one"},
    }


CONDITION_KEYS = frozenset(
    {
        "task",
        "kind",
        "model",
        "method",
        "objective",
        "engine",
        "intent",
        "topic",
        "claim",
        "precision",
        "item",
        "gpu",
        "family",
        "chosen",
        "said",
        "gpus",
    }
)
