"""Reads a whole conversation: each turn by itself, then what is carried over, changed or dropped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from agent.reading.intents import in_domain, special_intent
from agent.reading.language import language_of
from agent.reading.models import name_index
from agent.reading.phrases import tags
from agent.reading.money import as_budget
from agent.reading.turn import Turn, is_job, read_turn
from agent.reading.types import Clarify, Intent, Mention, Reading, Slot
from agent.reading.words import MAX_CHARS, Found
from knowledge.catalog import Catalog
from knowledge.errors import AdvisorError
from tools.contracts.base import parse_request
from tools.contracts.sizing import SizingRequest

_MAX_TURNS = 40
# Slots that describe the work; a new model in a fresh sentence drops them, a changed one keeps them.
_OF_MODEL = ("model", "params_b")
_GENERAL: tuple[Intent, ...] = (
    "buying",
    "naming",
    "lookup",
    "region",
    "troubleshoot",
    "howto",
    "claim",
    "interconnect",
)


@dataclass
class _State:
    """The request as it stands after a turn."""

    slots: dict[str, Slot] = field(default_factory=dict)
    extra: dict[str, Slot] = field(default_factory=dict)  # fields of Reading, not of the request
    mentions: list[Mention] = field(default_factory=list)
    topics: list[str] = field(default_factory=list)
    budget: Slot | None = None
    budget_values: dict[str, Any] = field(default_factory=dict)
    intent: Intent | None = None
    query: str = ""


def read(turns: Sequence[str], catalog: Catalog) -> Reading:
    """The conversation as read after its last user turn. Never raises for any text; the same turns always
    give the same reading. Long pastes are read up to their first 200,000 characters."""
    texts = [turn if isinstance(turn, str) else str(turn) for turn in turns][-_MAX_TURNS:] or [""]
    state = _State()
    turn = read_turn("", catalog)
    intent: Intent = "empty"
    others: tuple[Intent, ...] = ()
    follow_up = False
    changed: tuple[str, ...] = ()
    for index, text in enumerate(texts):
        turn = read_turn(text, catalog)
        special = special_intent(turn.words.plain, turn.seen)
        if special == "reset":
            state, intent, others, follow_up, changed = _State(), "reset", (), False, ()
            continue
        follow_up = index > 0 and _continues(turn, state, special)
        if index and not follow_up and special not in ("greeting", "empty", "injection", "out_of_scope"):
            state = _State()
        changed = _apply(state, turn, index, catalog) if special not in ("empty", "greeting") else ()
        intent, others = _intent(turn, state, special, follow_up)
        if intent not in ("greeting", "empty", "injection", "out_of_scope"):
            state.intent = intent
    return _reading(texts, turn, state, intent, others, follow_up, changed, catalog)


def _short(turn: Turn) -> bool:
    text = turn.words.plain.strip()
    return len(text) <= 26 if re.search(r"[一-鿿]", text) else len(text.split()) <= 9


def _continues(turn: Turn, state: _State, special: Intent | None) -> bool:
    """Whether a turn changes or adds to the request before it, rather than opening another matter."""
    if special in ("greeting", "empty"):
        return True
    if not state.slots and not state.budget and state.intent is None:
        return False
    special_words = tags("special")
    follows = any(special_words[name].search(turn.words.plain) for name in ("follow", "same_work"))
    if turn.pasted.kind:
        return follows or state.intent == "troubleshoot"
    heavy = [intent for intent, weight in turn.weights if weight >= 2.5]
    if turn.found.keys() & set(_OF_MODEL):
        open_work = not state.slots.keys() & set(_OF_MODEL)
        return follows or (_short(turn) and (open_work or not heavy))
    if any(mention.kind in ("instance", "phantom_instance") for mention in turn.mentions):
        return follows
    own = turn.found.keys() - {"hours", "purchase", "instance_wanted"}
    if heavy and heavy[0] in _GENERAL and not follows and not (own and "oom" in turn.topics):
        return False
    return follows or _short(turn) or bool(own or turn.amounts)


def _apply(state: _State, turn: Turn, index: int, catalog: Catalog) -> tuple[str, ...]:
    """Puts a turn's values into the state; the names of the slots that changed."""
    before = {name: slot.value for name, slot in state.slots.items()}
    budget_before = dict(state.budget_values)
    _apply_model(state, turn, index, catalog)
    if "gpu_wanted" in turn.found and "gpu_count" not in turn.found:
        state.slots.pop("gpu_count", None)
    for item in turn.found.values():
        if item.field not in _OF_MODEL:
            target = state.slots if item.field in SizingRequest.model_fields else state.extra
            target[item.field] = _slot(item, index)
    _apply_gpus(state, turn, index)
    _apply_task(state, turn, index)
    _apply_precision(state, turn)
    regions = tuple(dict.fromkeys(m.name for m in turn.mentions if m.kind == "region" and not m.negated))
    if regions:
        state.slots["regions"] = Slot(value=regions, confidence=0.95, turn=index, text=" ".join(regions))
    if len(set(turn.purchases)) == 1:
        state.slots["purchase"] = Slot(
            value=turn.purchases[0], confidence=0.9, turn=index, text=turn.purchases[0]
        )
    _apply_budget(state, turn, index)
    _merge_mentions(state, turn)
    state.topics = list(dict.fromkeys([*turn.topics, *state.topics]))
    changed = [name for name, slot in state.slots.items() if before.get(name) != slot.value]
    changed += [name for name in before if name not in state.slots]
    if state.budget_values != budget_before:
        changed.append("budget")
    return tuple(dict.fromkeys(changed))


def _slot(item: Found, index: int) -> Slot:
    value = item.value
    if not isinstance(value, str | int | float | bool | tuple):
        value = str(value)
    return Slot(value=value, confidence=round(item.confidence, 2), turn=index, text=item.text)


def _apply_model(state: _State, turn: Turn, index: int, catalog: Catalog) -> None:
    model, params = turn.found.get("model"), turn.found.get("params_b")
    unnamed = [mention for mention in turn.mentions if mention.kind in ("unsized_model", "unknown_model")]
    if params and not model and not unnamed and "model" in state.slots and isinstance(params.value, float):
        # "what about the 70b": the same family in another size.
        sibling = _sibling(str(state.slots["model"].value), params.value, catalog)
        if sibling:
            state.slots["model"] = Slot(value=sibling, confidence=0.8, turn=index, text=params.text)
            return
    if model:
        state.slots["model"] = _slot(model, index)
        state.slots.pop("params_b", None)
        if params and model.confidence < 0.9:
            state.slots["params_b"] = _slot(params, index)
    elif params:
        state.slots["params_b"] = _slot(params, index)
        state.slots.pop("model", None)


def _sibling(model_id: str, params_b: float, catalog: Catalog) -> str:
    index = name_index(catalog)
    known = index.by_id.get(model_id)
    if known is None:
        return ""
    fitting = [
        row
        for row in catalog.models
        if row.family == known.family and row.kind == known.kind and row.params_total_b
        and abs(row.params_total_b - params_b) <= max(0.8, 0.06 * params_b)
    ]  # fmt: skip
    plain = [row for row in fitting if row.model_id.count("-") == known.model_id.count("-")]
    return (plain or fitting)[0].model_id if fitting else ""


def _apply_gpus(state: _State, turn: Turn, index: int) -> None:
    excluded = turn.found.get("gpu_excluded")
    wanted = state.slots.get("gpu_wanted")
    if excluded and wanted and isinstance(wanted.value, tuple) and isinstance(excluded.value, tuple):
        left = tuple(name for name in wanted.value if name not in excluded.value)
        if left:
            state.slots["gpu_wanted"] = wanted.model_copy(update={"value": left})
        elif "gpu_wanted" not in turn.found:
            state.slots.pop("gpu_wanted")
    barred = state.slots.get("gpu_excluded")
    asked = turn.found.get("gpu_wanted")
    if (
        barred
        and asked
        and not excluded
        and isinstance(barred.value, tuple)
        and isinstance(asked.value, tuple)
    ):
        left = tuple(name for name in barred.value if name not in asked.value)
        if left:
            state.slots["gpu_excluded"] = barred.model_copy(update={"value": left})
        else:
            state.slots.pop("gpu_excluded")


def _apply_task(state: _State, turn: Turn, index: int) -> None:
    if not turn.tasks:
        return
    task, sure = turn.tasks[0]
    known = state.slots.get("task")
    if known is None or sure >= 0.6:
        keep = (
            known is not None
            and known.value in ("finetune", "pretrain")
            and task in ("inference", "embedding")
            and sure < 0.9
        )
        if not keep:
            state.slots["task"] = Slot(value=task, confidence=sure, turn=index, text=task)
    if (
        task not in ("finetune", "pretrain")
        and "method" in turn.found
        and turn.found["method"].value in ("lora", "qlora")
    ):
        state.slots["task"] = Slot(
            value="finetune", confidence=0.8, turn=index, text=turn.found["method"].text
        )


def _apply_precision(state: _State, turn: Turn) -> None:
    denied = {mention.name for mention in turn.mentions if mention.kind == "precision" and mention.negated}
    known = state.slots.get("precision")
    if known and known.value in denied:
        state.slots.pop("precision")
    allow = turn.found.get("allow_quantization")
    if allow and allow.value is False and known and str(known.value) not in ("bf16", "fp16", "fp32"):
        state.slots.pop("precision", None)


def _apply_budget(state: _State, turn: Turn, index: int) -> None:
    job = is_job(turn, str(state.slots["task"].value) if "task" in state.slots else "")
    asserted = any(code in turn.claims for code in ("price_stated", "claim-017", "claim-018", "claim-019"))
    limits = [amount for amount in turn.amounts if amount.cue or not asserted]
    if limits:
        limits.sort(key=lambda amount: not amount.cue)
        budget, sure = as_budget(limits[0], job)
        if not limits[0].period and state.budget_values.get("period"):
            budget = budget.model_copy(update={"period": state.budget_values["period"]})
        state.budget_values = budget.model_dump()
        state.budget = Slot(
            value=f"{budget.amount} {budget.currency} per {budget.period}",
            confidence=sure,
            turn=index,
            text=limits[0].text,
        )
    elif turn.factor and state.budget_values:
        amount = Decimal(state.budget_values["amount"]) * Decimal(str(turn.factor))
        state.budget_values = {**state.budget_values, "amount": amount}
        unit = f"{state.budget_values['currency']} per {state.budget_values['period']}"
        state.budget = Slot(
            value=f"{amount} {unit}", confidence=0.9, turn=index, text=turn.words.original[:60]
        )


_GROUPS = {
    "phantom_instance": "instance", "family": "instance", "phantom_family": "instance", "unsized_model": "model",
    "unknown_model": "model", "unknown_gpu": "gpu",
}  # fmt: skip


def _merge_mentions(state: _State, turn: Turn) -> None:
    """Names of a kind replace the earlier ones of that kind: "what about an A10 then"."""
    new = {_GROUPS.get(mention.kind, mention.kind) for mention in turn.mentions}
    if "params_b" in turn.found:
        new.add("model")
    kept = [mention for mention in state.mentions if _GROUPS.get(mention.kind, mention.kind) not in new]
    state.mentions = list(dict.fromkeys([*kept, *turn.mentions]))


def _intent(
    turn: Turn, state: _State, special: Intent | None, follow_up: bool
) -> tuple[Intent, tuple[Intent, ...]]:
    ranked = [intent for intent, weight in turn.weights if weight >= 2]
    if special is not None:
        return special, tuple(ranked[:2])
    weights = dict(turn.weights)
    heaviest = max(weights.values(), default=0.0)
    if follow_up and state.intent and heaviest < 2.5:
        main = _settled(state.intent, state)
    elif (
        follow_up
        and state.intent
        and set(ranked) <= {"size", "cost"}
        and state.intent in ("size", "memory", "speed")
    ):
        # A new limit on the same question: the question stands.
        main = _settled(state.intent, state)
    elif ranked:
        main = _settled(ranked[0], state) if follow_up else ranked[0]
    else:
        main = _by_names(turn, state)
    if main in ("size", "memory", "speed", "cost") and not _knows_enough(turn, state):
        main = "howto" if main == "speed" or turn.seen.topics - _NO_SUBJECT else "vague"
    return main, tuple(intent for intent in ranked if intent != main)[:3]


def _settled(intent: Intent, state: _State) -> Intent:
    """The standing question once more is known: an out-of-memory symptom with model and GPU is arithmetic."""
    known = state.slots.keys() & set(_OF_MODEL)
    if intent == "vague":
        return "size"
    if intent == "troubleshoot" and "oom" in state.topics and known and "gpu_wanted" in state.slots:
        return "memory"
    return intent


def _by_names(turn: Turn, state: _State) -> Intent:
    """What a turn without a question wants, by what it names."""
    kinds = {mention.kind for mention in turn.mentions}
    if kinds & {"phantom_instance", "phantom_family"}:
        return "naming"
    if turn.seen.model and "gpu" in kinds:
        return "memory"
    if turn.seen.model or turn.seen.budget or turn.seen.load or turn.seen.task not in ("", "inference"):
        return "size"
    if kinds & {"instance", "family", "gpu"}:
        return "lookup"
    if "region" in kinds:
        return "region"
    if turn.pasted.kind or turn.seen.quoted_error:
        return "troubleshoot"
    if turn.seen.topics - _NO_SUBJECT:
        return "howto"
    if not in_domain(turn.words.plain) and not turn.found:
        return "howto" if _TECHNICAL.search(turn.words.original) else "out_of_scope"
    # A wish for hardware asks for more; a longer remark on it is looked up in the guides.
    return "vague" if turn.weights or len(_GENERIC.sub("", turn.words.plain)) < 3 else "howto"


def _knows_enough(turn: Turn, state: _State) -> bool:
    slots = state.slots
    if (
        slots.keys() & {"model", "params_b", "gpu_wanted", "instance_wanted", "method", "dataset_tokens"}
        or state.budget
    ):
        return True
    if turn.seen.phantoms or turn.seen.topics & {
        "storage",
        "network",
        "spot",
        "subscription",
        "vgpu",
        "oom",
        "reserved",
    }:
        return True
    if any(mention.kind in ("unsized_model", "unknown_model") for mention in state.mentions):
        return True
    task = slots.get("task")
    return task is not None and task.value not in ("inference", "finetune")


def _clarify(intent: Intent, state: _State) -> Clarify:
    """What must be asked because the answer would flip; "" where a stated assumption does."""
    slots = state.slots
    if intent == "vague":
        return "task_and_model"
    if intent in ("size", "memory", "speed", "cost"):
        unsized = [mention for mention in state.mentions if mention.kind == "unsized_model"]
        if unsized and not slots.keys() & set(_OF_MODEL):
            return "model_size"
        if (
            slots.keys() & set(_OF_MODEL)
            and "task" not in slots
            and "method" not in slots
            and "precision" not in slots
        ):
            return "task" if not slots.keys() & {"gpu_wanted", "concurrency", "context_tokens"} else ""
    if (
        intent == "troubleshoot"
        and set(state.topics) <= {"slow", "utilisation", "latency"}
        and not state.mentions
    ):
        return "symptom"
    if intent == "compare" and not slots.keys() & {
        "task",
        "model",
        "params_b",
        "gpu_wanted",
        "instance_wanted",
    }:
        return "workload"
    return ""


_TOKEN_PRICE = re.compile(
    r"每百万|百万\s*token|per (?:1m|million|m)\s*tokens?|/\s?1?m\s?tok|tokens? (?:per"
    r"|for each) (?:yuan|dollar|rmb|cny)|token\s*(?:成本|单价|价格)|cost per token|每(?:千|万)?token|/百万"
)
_GUIDE_INTENTS: tuple[Intent, ...] = (
    "troubleshoot",
    "howto",
    "buying",
    "interconnect",
    "naming",
    "claim",
    "compare",
    "region",
)
# Topics that say how something should be, not what it is about.
_NO_SUBJECT = frozenset({"slow", "compliance", "latency", "promotion", "throughput", "consumer_card"})
# Names as they stand in logs, flags and code.
_TECHNICAL = re.compile(
    r"[A-Za-z]{2,}_[A-Za-z]|\w=\w|[A-Za-z]+/[A-Za-z]+/?|\b[A-Z]{3,}\b|[a-z]+[A-Z][a-z]+|\w+\.(?:json"
    r"|py|so|sh|log|cfg)\b|0{3,}\d|\d\s*(?:[GM]bit|MB|TB)/?s?\b"
)
_GENERIC = re.compile(
    r"gpus?|显卡|显存|卡|服务器|servers?|ai|阿里云|云|机器|大?模型|llms?|models?|实例|instances?|主机|need|want|要|想|跑|租|买"
    r"|个|性价比|便宜|好|高|的|best|good|cloud|alibaba|aliyun|\W|\b(?:an?|the|for|my|me|some)\b"
)
_ASKS_WHY = re.compile(
    r"为(?:什么|啥|何)|(?<![a-z])why(?![a-z])|支持|support|flash|shows?(?![a-z])|显示|还能|怎么|如何|how (?:do|can"
    r"|to)|切(?:成|分)|最低"
)
_GUIDE_TASKS = ("graphics", "transcoding", "hpc", "development")


def _reading(
    texts: Sequence[str],
    turn: Turn,
    state: _State,
    intent: Intent,
    others: tuple[Intent, ...],
    follow_up: bool,
    changed: tuple[str, ...],
    catalog: Catalog,
) -> Reading:
    request, slots = _request(state)
    task = str(state.slots["task"].value) if "task" in state.slots else ""
    return Reading(
        language=language_of([*texts[:-1], turn.pasted.prose]),
        intent=intent,
        intents=others,
        question=texts[-1].strip()[:MAX_CHARS],
        request=request,
        slots=slots,
        mentions=tuple(state.mentions),
        topics=tuple(state.topics),
        claims=turn.claims,
        pasted=turn.pasted.kind,
        pasted_text=turn.pasted.text,
        follow_up=follow_up,
        changed=changed,
        hours=_float(state.slots.get("hours")),
        count=_machines(turn),
        token_price=bool(_TOKEN_PRICE.search(turn.words.plain)),
        search_query=_query(turn, intent, task),
        clarify=_clarify(intent, state),
        nodes=_whole(state.extra.get("nodes")),
        vram_gb=_float(state.extra.get("vram_gb")),
        latency_ms=_float(state.extra.get("latency_ms")),
        items_per_day=_float(state.extra.get("items_per_day")),
        item=str(state.extra["item"].value) if "item" in state.extra else "",
        window_hours=_float(state.extra.get("window_hours")),
        streams=_whole(state.extra.get("streams")),
        fps=_float(state.extra.get("fps")),
    )


def _float(slot: Slot | None) -> float | None:
    return float(slot.value) if slot and isinstance(slot.value, int | float) else None


def _whole(slot: Slot | None) -> int | None:
    return int(slot.value) if slot and isinstance(slot.value, int | float) else None


def _request(state: _State) -> tuple[SizingRequest, dict[str, Slot]]:
    """The slots as a request; a value out of range is left out rather than failing the whole."""
    slots = dict(state.slots)
    if state.budget:
        slots["budget"] = state.budget
    good: dict[str, object] = {}
    for name, slot in slots.items():
        value = state.budget_values if name == "budget" else slot.value
        if name in SizingRequest.model_fields and _valid(name, value):
            good[name] = value
    return parse_request(SizingRequest, good), {name: slot for name, slot in slots.items() if name in good}


def _valid(name: str, value: object) -> bool:
    try:
        parse_request(SizingRequest, {name: value})
    except AdvisorError:
        return False
    return True


def _machines(turn: Turn) -> int | None:
    """How many machines of a named type: "2台 ecs.gn7i-…", "gn7i-… x 3"."""
    for mention in turn.mentions:
        if mention.kind in ("instance", "phantom_instance", "family"):
            place = turn.words.plain.find(mention.text.lower())
            if place < 0:
                continue
            head, tail = (
                turn.words.plain[max(0, place - 10) : place],
                turn.words.plain[place + len(mention.text) :][:12],
            )
            match = re.search(r"(?<![\d.])(\d{1,4})\s*(?:台|个|x|\*)?\s*$", head) or re.match(
                r"\s*(?:x|\*)?\s*(\d{1,4})\s*(?:台|x)", tail
            )
            if match and 0 < int(match[1]) <= 10_000:
                return int(match[1])
    match = re.search(r"(?<![\d.])(\d{1,4})\s*(?:台|machines|instances|servers)", turn.words.plain)
    return int(match[1]) if match and 0 < int(match[1]) <= 10_000 else None


def _query(turn: Turn, intent: Intent, task: str) -> str:
    """The words for the guide search; "" where calculators alone answer."""
    prose = re.sub(r"\s+", " ", turn.pasted.prose).strip()[:400]
    if turn.pasted.errors:
        return f"{turn.pasted.errors} {prose[:120]}".strip()
    if intent in _GUIDE_INTENTS or "oom" in turn.topics or task in _GUIDE_TASKS:
        return prose
    if intent in ("lookup", "speed", "cost") and _ASKS_WHY.search(turn.words.plain):
        return prose
    return ""
