"""Reads one turn on its own: every finder in order, over the words that the earlier ones left free."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from agent.reading.cards import is_consumer
from agent.reading.claims import Scene, find_claims
from agent.reading.clues import quotes_error, set_against, topics_of
from agent.reading.gpus import GpuFound, as_carried, find_gpus
from agent.reading.hardware import hardware_slots
from agent.reading.instances import find_instances
from agent.reading.intents import Seen, weigh
from agent.reading.load import find_load
from agent.reading.models import (
    find_models,
    find_params_b,
    mark_refused,
    model_slots,
    name_index,
    settle_sizes,
)
from agent.reading.money import Amount, budget_factor, find_amounts, find_purchases
from agent.reading.numerals import digits_for_words, mend_slips
from agent.reading.pasted import Pasted, cards_of, split_pasted
from agent.reading.places import find_regions
from agent.reading.precisions import PrecisionFound, find_precisions
from agent.reading.times import find_deadline, find_duration, find_hours_of_use, find_window
from agent.reading.types import Intent, Mention
from agent.reading.unusable import find_unusable
from agent.reading.volume import find_network, find_volume
from agent.reading.words import Found, Words
from agent.reading.work import (
    find_data,
    find_engine,
    find_method,
    find_objective,
    find_tasks,
    find_vram,
    find_wishes,
    usual_tag,
)
from knowledge.calendar import HOURS_PER_MONTH
from knowledge.catalog import Catalog

_COMPANIONS = frozenset({"embedding", "reranker", "asr", "tts"})
TRAINING = ("finetune", "pretrain")
_JOB = re.compile(r"训练|微调|train|tun|跑完|poc|验证|测试|实验|毕设|job|一次性")
_ASKS_PRICE = re.compile(r"多少钱|费用|划算|cost|price|钱")
_LOAD = frozenset(
    {"concurrency", "users", "requests_per_second", "context_tokens", "input_tokens", "ttft_ms"}
)


@dataclass(frozen=True)
class Turn:
    """What one turn says, nothing carried over. `found` is by field of the request or of `Reading`."""

    words: Words
    pasted: Pasted
    mentions: tuple[Mention, ...]
    found: dict[str, Found]
    tasks: tuple[tuple[str, float], ...]
    amounts: tuple[Amount, ...]
    factor: float | None  # by which the budget changes
    purchases: tuple[str, ...]
    topics: tuple[str, ...]
    claims: tuple[str, ...]
    seen: Seen
    weights: tuple[tuple[Intent, float], ...]
    unusable: tuple[str, ...]  # quantities below zero or too large, as written


def read_turn(text: str, catalog: Catalog) -> Turn:
    """All that a turn says by itself."""
    pasted = split_pasted(text)
    words = Words.of(pasted.prose)
    mend_slips(words)
    digits_for_words(words)
    models = find_models(words, catalog)
    rest = words.free
    unusable = find_unusable(words)
    instances = find_instances(words, catalog)
    gpus = find_gpus(words, catalog) or find_gpus(Words.of(cards_of(pasted)), catalog)
    gpus = as_carried(gpus, [mention for _, mention in instances], catalog)
    models = settle_sizes(models, words, max((item.count or 1 for item in gpus), default=1), catalog)
    models = mark_refused(models, words)
    regions = find_regions(words, catalog)
    precision = find_precisions(words, catalog)
    mentions = _in_order([*models, *instances, *regions], gpus, precision)
    named = [mention for _, mention in models]
    model = _main_model(named, catalog)
    tasks = find_tasks(words, name_index(catalog).by_id[model.name].kind if model else "")
    purchases = find_purchases(words)
    uses = find_hours_of_use(words)  # before the money: "8 hours a day" is no budget
    amounts = find_amounts(words)
    params = None if model else find_params_b(words)
    found = _first_of(
        model_slots(model, params, name_index(catalog)),
        find_data(words),
        find_volume(words),
        find_load(words, training=bool(tasks) and tasks[0][0] in TRAINING),
        find_wishes(words),
        _given(uses, find_window(words), find_deadline(words)),
        _given(find_duration(words, loose=bool(purchases or amounts or _ASKS_PRICE.search(words.plain)))),
        _given(
            find_network(words),
            find_vram(words),
            find_method(words),
            find_objective(words),
            find_engine(words),
        ),
        hardware_slots(words, gpus, [mention for _, mention in instances], catalog),
        precision.slots(),
        _given(usual_tag(words)),
    )
    _settle(found, tasks)
    topics = topics_of(rest, pasted)
    if any(is_consumer(catalog, item.mention.name) for item in gpus):
        topics.append("consumer_card")
    claims = find_claims(_scene(words, mentions, precision, found, amounts, catalog), catalog)
    seen = Seen(
        models=len(models),
        params="params_b" in found,
        gpus=len({item.mention.name for item in gpus}),
        instances=len(instances),
        phantoms=sum(mention.kind.startswith("phantom") for _, mention in instances),
        regions=len(regions),
        alternatives=set_against(words, mentions),
        budget=any(amount.cue or amount.period for amount in amounts),
        load=bool(found.keys() & _LOAD),
        task=tasks[0][0] if tasks else "",
        claims=tuple(claims),
        topics=frozenset(topics),
        pasted=pasted.kind,
        quoted_error=quotes_error(words, pasted, bool(models)),
    )
    return Turn(
        words, pasted, mentions, found, tuple(tasks), tuple(amounts), budget_factor(words), tuple(purchases),
        tuple(topics), tuple(claims), seen, tuple(weigh(rest, seen)), tuple(unusable),
    )  # fmt: skip


def _main_model(named: list[Mention], catalog: Catalog) -> Mention | None:
    """The model that sizes the machine: the first named, or the language model beside an embedder, a reranker
    or a speech model, which are its small companions."""
    by_id = name_index(catalog).by_id
    wanted = [mention for mention in named if mention.kind == "model" and not mention.negated]
    large = [mention for mention in wanted if by_id[mention.name].kind not in _COMPANIONS]
    return next(iter(large or wanted), None)


def _given(*items: Found | None) -> Iterable[Found]:
    return [item for item in items if item is not None]


def _first_of(*groups: Iterable[Found]) -> dict[str, Found]:
    """By field; the finder that comes first knows best."""
    found: dict[str, Found] = {}
    for group in groups:
        for item in group:
            found.setdefault(item.field, item)
    return found


def _settle(found: dict[str, Found], tasks: list[tuple[str, float]]) -> None:
    """What values of one turn mean together."""
    used, span = found.get("hours_per_month"), found.get("hours")
    if used and span and float(str(span.value)) >= HOURS_PER_MONTH:  # "8 hours a day, for a month"
        months = float(str(span.value)) / HOURS_PER_MONTH
        found["hours"] = Found("hours", round(months * float(str(used.value)), 1), span.confidence, span.text)
    streams = found.get("streams")
    if streams and tasks and tasks[0][0] in ("asr", "tts"):  # lines of speech at once
        found.setdefault("concurrency", Found("concurrency", streams.value, 0.8, streams.text))


def _in_order(
    placed: list[tuple[int, Mention]], gpus: list[GpuFound], precision: PrecisionFound
) -> tuple[Mention, ...]:
    """Names in the order of the text, each once; precisions last."""
    items = sorted([*placed, *((item.start, item.mention) for item in gpus)], key=lambda item: item[0])
    return tuple(dict.fromkeys([*(mention for _, mention in items), *precision.mentions]))


def _scene(
    words: Words,
    mentions: tuple[Mention, ...],
    precision: PrecisionFound,
    found: dict[str, Found],
    amounts: list[Amount],
    catalog: Catalog,
) -> Scene:
    params = found["params_b"].value if "params_b" in found else None
    if "model" in found:
        params = name_index(catalog).by_id[str(found["model"].value)].params_total_b
    return Scene(
        text=words.plain,
        mentions=mentions,
        precisions=precision.names,
        params_b=_number(params),
        prices=len(amounts),
        gpu_count=int(_number(found["gpu_count"].value) or 1) if "gpu_count" in found else None,
        vram_gb=_number(found["vram_gb"].value) if "vram_gb" in found else None,
    )


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def is_job(turn: Turn, task: str) -> bool:
    """Whether the money is for one job, or for a span that was named, rather than for a running service."""
    return task in TRAINING or "hours" in turn.found or bool(_JOB.search(turn.words.plain))
