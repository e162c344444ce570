"""Cases of the evaluation set: questions with what a right answer must and must not say, from YAML files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from evals.conditions import Condition, parse_condition
from knowledge.errors import InputError

CASES_DIR = Path(__file__).parent / "cases"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class NumberEntry(_Part):
    """One figure to find: `tol` is relative, `accept` holds other right values (another unit or variant)."""

    label: str
    value: float
    unit: str
    tol: float = Field(ge=0, lt=1)
    accept: tuple[float, ...] = ()


class Check(_Part):
    """The machine check of a case; every key that is set must hold. Keys `rec_*` read the structured
    recommendation, the others the text of the answer."""

    numbers: tuple[NumberEntry, ...] = ()
    numbers_any: tuple[NumberEntry, ...] = ()
    mentions_all: tuple[str, ...] = ()
    mentions_any: tuple[str, ...] = ()
    rec_gpu_any: tuple[str, ...] = ()
    rec_not_gpu: tuple[str, ...] = ()
    rec_min_vram_gib: float | None = None
    rec_min_vram_per_gpu_gib: float | None = None
    rec_max_hourly_cny: float | None = None
    rec_max_monthly_cny: float | None = None


def _parsed(value: Any) -> Condition | None:
    return None if value is None else parse_condition(value)


class Must(_Part):
    """A line that a right answer fulfils; `holds` is how code decides it, None where only a reader can."""

    line: str
    holds: Annotated[Any, AfterValidator(_parsed)] = None


class MustNot(_Part):
    """A line that makes an answer wrong; it is broken when `broken_by` holds."""

    line: str
    broken_by: Annotated[Any, AfterValidator(_parsed)] = None


class Case(_Part):
    """A question or a dialogue; the last answer is judged unless a condition names a turn."""

    id: str = Field(pattern=r"^[a-z_]+-\d{3}$")
    kind: str
    language: Literal["en", "zh", "mixed"]
    turns: tuple[str, ...] = Field(min_length=1)
    slots: dict[str, Any] = {}
    check: Check = Check()
    must: tuple[Must, ...] = ()
    must_not: tuple[MustNot, ...] = ()
    facts: tuple[dict[str, str], ...] = ()
    source: str = Field(min_length=3)


def load_cases(folder: Path = CASES_DIR) -> list[Case]:
    """All cases, sorted by id. `InputError` names the file and the case that cannot be read."""
    cases: dict[str, Case] = {}
    for path in sorted(folder.glob("*.yaml")):
        for values in yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader):
            try:
                case = Case.model_validate(values)
            except ValidationError as error:
                first = error.errors()[0]
                where = ".".join(str(part) for part in first["loc"])
                raise InputError(
                    f"{path.name}: {values.get('id')}: {where}", first["input"], first["msg"]
                ) from None
            if case.id in cases:
                raise InputError("id", case.id, "an id that no other case has")
            cases[case.id] = case
    return [cases[key] for key in sorted(cases)]


def select(
    cases: Sequence[Case], kinds: Sequence[str] = (), languages: Sequence[str] = (), ids: Sequence[str] = ()
) -> list[Case]:
    """The cases of these kinds, languages and ids; an empty filter lets all pass."""
    chosen = [
        case
        for case in cases
        if (not kinds or case.kind in kinds)
        and (not languages or case.language in languages)
        and (not ids or case.id in ids)
    ]
    if not chosen:
        raise InputError(
            "kind", ", ".join(kinds) or "-", "a kind of the set", sorted({case.kind for case in cases})
        )
    return chosen
