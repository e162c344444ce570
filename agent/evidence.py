"""What an answer may state: the facts of this run's reports and the user's own words."""

from __future__ import annotations

import dataclasses
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import combinations
from typing import Any

from pydantic import BaseModel

from agent.claim_forms import Kind
from agent.claims import Claim, claims_in
from agent.commands import commands_in, words_of
from knowledge.calendar import DAYS_PER_MONTH, HOURS_PER_DAY, HOURS_PER_MONTH, HOURS_PER_YEAR

_HOURS_OF = (HOURS_PER_DAY, HOURS_PER_MONTH, HOURS_PER_YEAR)  # their price follows from one per hour
_TOLERANCE = 0.001  # relative, beside half the last digit shown: a figure rounded twice still passes
# Ratios are formed of one field alone, of the first of several options against the next ones: over any two
# figures of a kind every percentage would pass.
_COMPARED = frozenset(
    "hourly monthly hourly_cny monthly_cny effective_hourly job job_cny unit_cost per_million_output_tokens"
    " output_tokens_per_s total_vram_gib gpu_memory_gib memory_gib bandwidth_gbs memory_bandwidth_gbs"
    " bf16_tflops fp8_tflops hours".split()
)
_COMPARED_OPTIONS = 6
_HOURS_IN = {"hour": 1.0, "month": float(HOURS_PER_MONTH)}  # units of a price
# Of one report: the share of a card's memory that is taken, of its peak rate that is reached.
_PARTS = (("total_gib_per_gpu", "usable_gib_per_gpu"), ("sustained_tflops", "peak_tflops"))
_GROUPS = 2  # reports inside which sums and differences are formed: the first ones, those an answer speaks of
_GROUP_SIZE = 12
_MOST_CARDS = 64

# How the fields of reports end, and the kind and base unit of what they hold.
_FIELDS: tuple[tuple[str, str, float], ...] = (
    ("_gib", "memory", 1.0),
    ("_gib_per_gpu", "memory", 1.0),
    ("_gib_per_8k", "memory", 1.0),
    ("_mib", "memory", 1 / 1024),
    ("kib_per_token", "memory", 1 / 2**20),
    ("bytes_per_token", "memory", 1 / 2**30),
    ("_cny", "money", 1.0),
    ("hourly", "money", 1.0),
    ("monthly", "money", 1.0),
    ("amount", "money", 1.0),
    ("price", "money", 1.0),
    ("job", "money", 1.0),
    ("cny_per_usd", "money", 1.0),
    ("per_million_output_tokens", "money", 1.0),
    ("per_million_total_tokens", "money", 1.0),
    ("output_tokens", "tokens", 1.0),
    ("total_tokens", "tokens", 1.0),
    ("_tokens", "tokens", 1.0),
    ("tokens", "tokens", 1.0),
    ("max_position_embeddings", "tokens", 1.0),
    ("_ms", "time", 1e-3),
    ("seconds_each", "time", 1.0),
    ("step_s", "time", 1.0),
    ("clip_s", "time", 1.0),
    ("batch_s", "time", 1.0),
    ("window_s", "time", 1.0),
    ("batch_audio_s", "time", 1.0),
    ("parts_s", "time", 1.0),
    ("video_s_per_minute", "time", 1.0),
    ("per_minute", "cards", 1.0),  # images are counted with the same Chinese word
    ("machines", "cards", 1.0),
    ("machines_whole", "cards", 1.0),
    ("unit_cost", "money", 1.0),
    ("hours", "time", 3600.0),
    ("hours_per_month", "time", 3600.0),
    ("hours_per_month", "time", 3600.0 / DAYS_PER_MONTH),
    ("days", "time", 86400.0),
    ("minutes", "time", 60.0),
    ("_gbs", "bandwidth", 1.0),
    ("_gbs_per_gpu", "bandwidth", 1.0),
    ("_gbps", "bandwidth", 0.125),
    ("_tflops", "compute", 1.0),
    ("_tops", "compute", 1.0),
    ("tflops_per_gpu", "compute", 1.0),
    ("mfu", "percent", 100.0),
    ("percent", "percent", 1.0),
    ("percent_less", "percent", 1.0),
    ("percent_off", "percent", 1.0),
    ("utilization", "percent", 100.0),
    ("count", "cards", 1.0),
    ("_parallel", "cards", 1.0),
    ("nodes", "cards", 1.0),
    ("gpus", "cards", 1.0),
    ("concurrency", "requests", 1.0),
    ("users", "requests", 1.0),
    ("max_num_seqs", "requests", 1.0),
    ("requests_per_s", "request_rate", 1.0),
    ("requests_per_second", "request_rate", 1.0),
    ("params_b", "params", 1.0),
    ("vcpu", "cpu", 1.0),
)
_OWN_COMMANDS = "python -m knowledge sync retrieval build"  # what answers say of this program itself
_SHARES = ("percent", "ratio")  # kinds that two figures of one other kind give together
_NUMBERS = re.compile(r"\d+(?:\.\d+)?")
_SIZES = re.compile(r"(?i)(?<![a-z0-9.])(\d+(?:\.\d+)?)(b|m)(?![a-z0-9])")


class Evidence:
    """Names and figures by kind, and whether a claim is one of them."""

    def __init__(self, artifacts: Iterable[object], texts: Iterable[str]) -> None:
        self._figures: dict[str, set[float]] = {}
        self._groups: dict[str, list[list[float]]] = {}  # figures that stand side by side in one report
        self._names: set[str] = set()
        self._models: set[str] = set()
        self._words = set(_OWN_COMMANDS.split())  # and those of every text, for commands
        self._gpus: set[tuple[str, float]] = set()  # name and memory size; 0 = the name without size
        self._ratios: set[float] = set()
        for artifact in (values := [_values(artifact) for artifact in artifacts]):
            self._walk("", artifact)
        self._compare(values)
        for text in texts:
            self._add_text(text)
        self._sorted = {kind: sorted(values) for kind, values in self._figures.items()}
        self._combined: dict[Kind, list[float]] = {}

    def ungrounded(self, text: str) -> list[Claim]:
        """The claims of a text that no evidence holds, in the order found; then the commands that no evidence
        shows."""
        claims = (*claims_in(text), *(Claim("command", line, name=line) for line in commands_in(text)))
        return [claim for claim in claims if not self.holds(claim)]

    def holds(self, claim: Claim) -> bool:
        """Whether a claim follows from the evidence: a name in it, a figure of its kind within rounding."""
        if claim.kind in ("instance", "family", "contact"):
            return claim.name in self._names
        if claim.kind == "model":
            return any(known.startswith(claim.name) for known in self._models)
        if claim.kind == "command":
            return all(self._holds_word(word) for word in words_of(claim.name))
        if claim.kind == "date":
            return any(name.startswith(claim.name) for name in self._names)
        if claim.kind == "gpu":
            return (claim.name, claim.value) in self._gpus
        values = self._sorted.get(claim.kind, [])
        if _near(claim, values) or _near(claim, self._derived(claim.kind)):
            return True
        # GB and GiB are mixed in everyday speech; both readings of a figure are the same fact.
        if claim.kind == "memory":
            return any(_near(claim, values, factor) for factor in (2**30 / 1e9, 1e9 / 2**30))
        if claim.kind == "number":  # its unit is not said, so every kind may be meant
            return any(_near(claim, self._derived(kind)) for kind in ("money", "memory", "tokens"))
        return claim.kind in _SHARES and self._is_ratio(claim)

    def _holds_word(self, word: str) -> bool:
        """Whether a word of a command stands in the evidence, or is a figure of it."""
        return word in self._words or (
            _NUMBERS.fullmatch(word) is not None and self.holds(Claim("number", word, float(word)))
        )

    def _derived(self, kind: Kind) -> list[float]:
        """Everyday arithmetic: sums and differences inside one report, multiples by a number of cards, prices
        for a day, month or year, tokens of all requests together. Kept small, or it would hold anything."""
        if kind not in self._combined:
            values = self._sorted.get(kind, [])
            found: set[float] = set()
            for group in self._groups.get(kind, [])[:_GROUPS]:
                for low, high in combinations(sorted(group), 2):
                    found |= {low + high, high - low}
            if kind in ("memory", "money"):
                counts = [count for count in self._sorted.get("cards", []) if 1 < count <= _MOST_CARDS]
                found |= {
                    value * count
                    for group in self._groups.get(kind, [])
                    for value in group
                    for count in counts
                }
            if kind == "money":
                found |= {value * hours for value in values for hours in _HOURS_OF}
            if kind == "tokens":
                found |= {value * count for value in values for count in self._sorted.get("requests", [])}
            self._combined[kind] = sorted(found)
        return self._combined[kind]

    def _is_ratio(self, claim: Claim) -> bool:
        """Percentages and multiples between one figure of two options, and how full a card is."""
        whole = 100 if claim.kind == "percent" else 1
        slack = max(0.51 * claim.step, 0.005 * whole)
        for ratio in self._ratios:
            shares = (ratio, 1 - ratio) if whole == 100 else (1 / ratio, 1 / ratio - 1, ratio)
            if min(abs(claim.value - whole * share) for share in shares) <= slack:
                return True
        return False

    def _compare(self, items: Sequence[Any]) -> None:
        """The ratios, smaller over larger, of the first of several reports or options to the others."""
        figures = [_compared(item) for item in items if isinstance(item, Mapping)][:_COMPARED_OPTIONS]
        for base, other in ((figures[0], other) for other in figures[1:]):
            for name, value in other.items():
                if name in base:
                    self._ratios.add(min(base[name], value) / max(base[name], value))

    def _walk(self, key: str, value: Any) -> None:
        if isinstance(value, Mapping):
            self._walk_mapping(key, value)
        elif isinstance(value, list | tuple):
            self._compare(value)
            for item in value:
                self._walk(key, item)
        elif isinstance(value, bool) or value is None:
            return
        elif isinstance(value, int | float | Decimal):
            self._add_number(key, float(value))
        else:
            self._add_text(str(value))

    def _walk_mapping(self, key: str, values: Mapping[str, Any]) -> None:
        """A mapping's items. `{"field": …, "value(s)": …}` is a figure of that field, the items of a `…_gib`
        mapping are memory, and a GPU beside its memory is a name with a size."""
        field = values.get("field")
        if field and isinstance(values.get("values"), list | tuple):  # one field of several things
            self._compare(
                [{"amount": value, "unit": "hour"} for value in values["values"] if _is_size(value)]
            )
        size = values.get("gpu_memory_gib") or (values.get("memory_gib") if "vcpu" not in values else None)
        if size and (gpu := values.get("gpu_model")):
            self._gpus |= {(claim.name, float(size)) for claim in claims_in(str(gpu)) if claim.kind == "gpu"}
        self._add_group(values)
        for part, all_of_it in _PARTS:
            if values.get(part) and values.get(all_of_it):
                self._ratios.add(min(float(values[part]) / float(values[all_of_it]), 1.0))
        # A part of a log comparison names its unit beside its figures.
        unit = {"GiB": "part_gib", "tokens": "part_tokens"}.get(str(values.get("unit")), "")
        for name, item in values.items():
            if unit and name in ("measured", "estimated"):
                self._walk(unit, item)
            elif name in ("value", "values") and isinstance(field, str):
                self._walk(field, item)
            else:
                self._walk(key if key.endswith(("_gib", "parts_s")) else name, item)

    def _add_group(self, values: Mapping[str, Any]) -> None:
        """The memory and money figures of one report, for sums and differences."""
        for kind, endings in (
            ("memory", ("_gib", "_gib_per_gpu")),
            ("money", ("hourly", "monthly", "_cny", "job")),
        ):
            group = [
                float(value)
                for name, value in values.items()
                if name.endswith(endings) and isinstance(value, int | float | Decimal) and value
            ]
            if len(group) >= 2:
                self._groups.setdefault(kind, []).append(group[:_GROUP_SIZE])

    def _add_number(self, key: str, number: float) -> None:
        self._figures.setdefault("number", set()).add(number)
        if "tokens_per_s" in key:
            self._figures.setdefault("token_rate", set()).add(number)
            return
        bare = key.removesuffix("_low").removesuffix("_high")
        # Seconds of sound or video a second ("70 times real time"), and what a remark says in multiples.
        if bare == "per_s" or bare.startswith("times_"):
            self._figures.setdefault("ratio", set()).add(number)
        for ending, kind, factor in _FIELDS:
            if bare.endswith(ending):
                self._figures.setdefault(kind, set()).add(number * factor)
                if ending == "_ms":  # "6.1 s (2.7-13)": a range in brackets bears no unit
                    self._figures["number"].add(number * factor)

    def _add_text(self, text: str) -> None:
        self._words.update(words_of(text))
        numbers = self._figures.setdefault("number", set())
        numbers.update(float(number) for number in _NUMBERS.findall(text.replace(",", "")))
        for claim in claims_in(text):
            numbers.add(claim.value)
            if claim.kind == "model":
                self._models.add(claim.name)
                self._add_sizes(claim.text)
            elif claim.kind == "gpu":
                self._gpus |= {(claim.name, claim.value), (claim.name, 0.0)}
            elif claim.name:
                self._names.add(claim.name)
                if claim.kind == "instance":
                    self._names.add(_family(claim.name))
            else:
                self._figures.setdefault(claim.kind, set()).add(claim.value)

    def _add_sizes(self, model: str) -> None:
        """The sizes in a model's name: 7B is one of its facts."""
        for number, unit in _SIZES.findall(model):
            size = float(number) / (1000 if unit.lower() == "m" else 1)
            self._figures.setdefault("params", set()).add(size)


def _near(claim: Claim, values: list[float], factor: float = 1.0) -> bool:
    """Whether one of the sorted values times `factor` is the claim within rounding."""
    target = claim.value / factor
    slack = max(0.51 * claim.step / factor, _TOLERANCE * abs(target))
    index = bisect_left(values, target - slack)
    return index < len(values) and values[index] <= target + slack


def _is_size(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool) and value > 0


def _compared(values: Mapping[str, Any]) -> dict[str, float]:
    """The figures of an option by which it is held against others, its parts' included."""
    found: dict[str, float] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            found |= {
                f"{name}.{inner}": number for inner, number in _compared(value).items() if "." not in inner
            }
        elif name in _COMPARED and _is_size(value):
            found[name] = float(value)
    if values.get("amount") and values.get("unit") in _HOURS_IN:
        found["hour"] = float(values["amount"]) / _HOURS_IN[values["unit"]]
    return found


def _family(instance_type: str) -> str:
    return re.split(r"[-.]", instance_type.removeprefix("ecs."))[0]


def _values(artifact: object) -> Any:
    if isinstance(artifact, BaseModel):
        return artifact.model_dump()
    if dataclasses.is_dataclass(artifact) and not isinstance(artifact, type):
        return {field.name: _values(getattr(artifact, field.name)) for field in dataclasses.fields(artifact)}
    if isinstance(artifact, list | tuple):
        return [_values(item) for item in artifact]
    return artifact
