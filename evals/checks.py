"""The machine check of a case: figures and names in the text, bounds on the recommended options."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evals.cases import Check, NumberEntry
from evals.numbers import Number, NumberText, close, read_numbers
from evals.outcome import Outcome
from evals.passages import mentions, mentions_any
from evals.recommended import bounds_hold, gpu_named, options_of


@dataclass(frozen=True)
class Finding:
    """One thing that was decided: what it is about, whether it is as wanted, and why."""

    what: str
    ok: bool
    detail: str = ""


def run_check(check: Check, outcome: Outcome) -> list[Finding]:
    """One finding for each key that is set, each figure of `numbers` by itself."""
    answer = read_numbers(outcome.text)
    asked = read_numbers("\n".join(outcome.turns))
    found = [
        Finding(f"number {entry.label}", _stands(entry, answer, asked), f"{entry.value:g} {entry.unit}")
        for entry in check.numbers
    ]
    if check.numbers_any:
        ok = any(_stands(entry, answer, asked) for entry in check.numbers_any)
        found.append(
            Finding(
                "numbers_any", ok, ", ".join(f"{entry.value:g} {entry.unit}" for entry in check.numbers_any)
            )
        )
    if check.mentions_all:
        missing = [item for item in check.mentions_all if not mentions(outcome.text, item)]
        found.append(Finding("mentions_all", not missing, ", ".join(missing)))
    if check.mentions_any:
        ok = mentions_any(outcome.text, check.mentions_any)
        found.append(Finding("mentions_any", ok, ", ".join(check.mentions_any)))
    found += _recommended(check, outcome)
    return found


def _recommended(check: Check, outcome: Outcome) -> Iterator[Finding]:
    options = options_of(outcome)
    first = options[0] if options else None
    shown = f"first option {first['instance_type']} x {first['count']}" if first else "no option"
    if check.rec_gpu_any:
        ok = first is not None and any(gpu_named(first, name) for name in check.rec_gpu_any)
        yield Finding("rec_gpu_any", ok, f"{shown}; wanted {', '.join(check.rec_gpu_any)}")
    if check.rec_not_gpu:
        ok = not any(gpu_named(option, name) for option in options for name in check.rec_not_gpu)
        yield Finding("rec_not_gpu", ok, f"{shown}; forbidden {', '.join(check.rec_not_gpu)}")
    for key in ("min_vram_gib", "min_vram_per_gpu_gib", "max_hourly_cny", "max_monthly_cny"):
        bound = getattr(check, f"rec_{key}")
        if bound is not None:
            ok = first is None or bounds_hold(first, {key: bound})
            yield Finding(f"rec_{key}", ok, f"{shown}; bound {bound:g}")


def _stands(entry: NumberEntry, answer: NumberText, asked: NumberText) -> bool:
    targets = (entry.value, *entry.accept)
    return any(
        close(number.readings, targets, entry.tol)
        and not _echo(number, entry.unit, answer, asked.numbers, asked)
        for number in answer.numbers
    )


def _echo(number: Number, unit: str, answer: NumberText, said: Sequence[Number], asked: NumberText) -> bool:
    """Whether the number only repeats the user's: same digits in the question, and no unit of its own."""
    same = [item for item in said if item.digits == number.digits]
    if not same or unit == "count":
        return False
    units = ("GB", "GiB") if unit in ("GB", "GiB") else (unit,)
    in_answer = any(answer.unit_follows(number, item) for item in units)
    in_question = any(asked.unit_follows(item, other) for item in same for other in units)
    return not in_answer or in_question
