"""Slots that the user sets by hand: names resolved, numbers with units read, and all else refused by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import get_args

from agent.reading.cards import rentable
from agent.reading.load import tokens
from agent.reading.money import as_budget, find_amounts
from agent.reading.numerals import NUM, SCALE, digits_for_words, number
from agent.reading.types import Mention
from agent.reading.words import Value, Words
from knowledge.catalog import Catalog
from knowledge.errors import AdvisorError, InputError
from knowledge.names import near
from tools.contracts.base import parse_request
from tools.contracts.sizing import Budget, Objective, SizingRequest, Task
from tools.cost.purchase import purchase_of
from tools.engines import known_engine
from tools.training_memory.recipe import resolve_method

GivenValue = Value | Decimal | Budget | None  # None: back to what is assumed
Given = Mapping[str, GivenValue]

_LISTS = frozenset({"regions", "gpu_wanted", "gpu_excluded", "instance_wanted"})
_NOT_BY_HAND = frozenset({"include_unpriced", "allow_derived_prices"})  # how the recommender is asked
_TOKEN_FIELDS = frozenset({"context_tokens", "input_tokens", "output_tokens", "sequence_length"})
_APART = re.compile(r"[,，、;；|]+")
# "8k", "3 万", "70B", "16 GiB", "720 h": the unit is the field's own and says nothing new.
_NUMBER = re.compile(
    rf"\s*(?P<n>{NUM})\s*(?P<scale>{SCALE})?\s*(?:tokens?|[a-z%]{{1,5}}|个|人|路|张|块|卡|小时|天)?\s*"
)
_YES, _NO = (
    frozenset({"yes", "true", "on", "1", "是", "要"}),
    frozenset({"no", "false", "off", "0", "否", "不"}),
)
_MONEY = "an amount with its currency and period, such as 50 CNY/hour, 3 万/月, US$2000 in total"


def given_slots(values: Mapping[str, object], catalog: Catalog) -> dict[str, GivenValue]:
    """Values as a person or a program gives them, by field of `SizingRequest`, in the form of the request.

    Text is read as people write it ("8k", "A100-80GB", 杭州, 包月); an empty text or None puts a field back
    to what is assumed. Raises `InputError` naming the field, with near matches for names.
    """
    found: dict[str, GivenValue] = {}
    for field, value in values.items():
        if field not in SizingRequest.model_fields or field in _NOT_BY_HAND:
            raise InputError(field, value, "a field of the request", near(field, sorted(_fields())))
        if value is None or (isinstance(value, str) and not value.strip()) or value == []:
            found[field] = None
        else:
            found[field] = _checked(field, value, catalog)
    return found


def given_mentions(field: str, value: GivenValue, catalog: Catalog) -> list[Mention]:
    """The names that a slot set by hand stands for, as if the question had named them."""
    names = value if isinstance(value, tuple) else (value,) if isinstance(value, str) else ()
    kinds: dict[str, str] = {
        "model": "model",
        "gpu_wanted": "gpu",
        "regions": "region",
        "precision": "precision",
        "instance_wanted": "instance",
    }
    if field not in kinds:
        return []
    return [
        Mention(kind="family" if name in catalog.families else kinds[field], text=name, name=name)
        for name in names
        if name
    ]


def _fields() -> set[str]:
    return set(SizingRequest.model_fields) - _NOT_BY_HAND


def budget_text(budget: Budget) -> str:
    """A budget as the slot holds it."""
    return f"{budget.amount} {budget.currency} per {budget.period}"


def _checked(field: str, value: object, catalog: Catalog) -> GivenValue:
    try:
        read = _read(field, value, catalog)
    except AdvisorError as error:
        payload = error.payload()
        near_matches = payload["suggestions"]
        raise InputError(
            field, value, str(payload["allowed"]), near_matches if isinstance(near_matches, list) else ()
        ) from None
    request = parse_request(SizingRequest, {field: read})  # its own bounds
    found: GivenValue = getattr(request, field)
    return found


def _read(field: str, value: object, catalog: Catalog) -> object:
    """A value in the request's type; names resolved."""
    if field in _LISTS:
        items = value if isinstance(value, list | tuple) else _APART.split(str(value))
        names = [str(item).strip() for item in items if str(item).strip()]
        return tuple(dict.fromkeys(_one_name(field, name, catalog) for name in names))
    if field in _NAMES:
        return _NAMES[field](str(value).strip(), catalog)
    if field == "budget":
        return _budget(value)
    if not isinstance(value, str):
        return value
    kind = str(SizingRequest.model_fields[field].annotation)
    if "bool" in kind:
        return _yes_or_no(field, value)
    return _number(field, value, whole="float" not in kind) if _is_number(kind) else value.strip()


def _is_number(kind: str) -> bool:
    return "int" in kind or "float" in kind or "Decimal" in kind


def _one_name(field: str, name: str, catalog: Catalog) -> str:
    if field == "regions":
        return catalog.region(name).region_id
    if field == "instance_wanted":
        family = name.lower().removeprefix("ecs.")
        return family if family in catalog.families else catalog.instance(name).instance_type
    gpu = catalog.gpu(name).gpu_model
    nearest = rentable(catalog, gpu) if field == "gpu_wanted" else gpu
    if nearest != gpu:  # in a question the nearest card stands in, and is said to; a slot holds what counts
        raise InputError(field, name, "a card that Alibaba Cloud rents", [nearest] if nearest else [])
    return gpu


def _number(field: str, text: str, whole: bool) -> float | int:
    words = Words.of(text)
    digits_for_words(words)
    match = _NUMBER.fullmatch(words.plain.strip())
    if match is None:
        raise InputError(field, text, "a number, such as 8, 8k or 1.5 万")
    if field in _TOKEN_FIELDS:
        return tokens(match["n"], match["scale"])
    value = number(match["n"], match["scale"])
    return int(value) if whole and value == int(value) else value


def _yes_or_no(field: str, text: str) -> bool:
    word = text.strip().lower()
    if word not in _YES | _NO:
        raise InputError(field, text, "yes or no")
    return word in _YES


def _budget(value: object) -> object:
    if not isinstance(value, str):
        return value
    amounts = find_amounts(Words.of(f"budget {value}"))
    if len(amounts) != 1:
        raise InputError("budget", value, _MONEY)
    return as_budget(amounts[0], job=False)[0]


def _choice(field: str, allowed: tuple[str, ...]) -> Callable[[str, Catalog], str]:
    def choose(text: str, _catalog: Catalog) -> str:
        word = text.lower()
        if word not in allowed:
            raise InputError(field, text, f"one of {', '.join(allowed)}", near(word, list(allowed), 3))
        return word

    return choose


_NAMES: dict[str, Callable[[str, Catalog], str]] = {
    "task": _choice("task", get_args(Task)),
    "objective": _choice("objective", get_args(Objective)),
    "model": lambda text, catalog: catalog.model(text).model_id,
    "precision": lambda text, catalog: catalog.precision(text).name,
    "kv_precision": lambda text, catalog: catalog.kv_precision(text).name,
    "engine": lambda text, _catalog: known_engine(text)[0].name,
    "method": lambda text, _catalog: resolve_method(text, "")[0],
    "purchase": lambda text, _catalog: purchase_of(text),
}
