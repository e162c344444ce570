"""Reads a whole conversation: each turn by itself, then what is carried over, changed or dropped."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from agent.reading.decide import choose_intent, continues, guide_query, what_to_ask
from agent.reading.given import given_slots
from agent.reading.intents import after_reset, special_intent
from agent.reading.language import language_of
from agent.reading.markup import without_markup
from agent.reading.own_models import own_model
from agent.reading.pasted import READ_CHARS
from agent.reading.phrases import tags
from agent.reading.state import State
from agent.reading.turn import Turn, read_turn
from agent.reading.types import Clarify, Intent, OwnModel, Reading, Unreadable
from agent.reading.words import MAX_CHARS
from knowledge.catalog import Catalog

_MAX_TURNS = 40
_MOST_PROSE = 40_000  # characters of all turns together: full of names they take two seconds
_OUTSIDE: tuple[Intent, ...] = ("greeting", "empty", "injection", "out_of_scope")  # they leave the request
# What is answered with a question back or a guide while no model is known.
_OPEN: tuple[Intent, ...] = ("vague", "howto", "troubleshoot", "claim", "out_of_scope", "lookup")
_MACHINES = re.compile(r"(?<![\da-z.])(\d{1,4})\s*(?:台|machines|instances|servers)")
_BEFORE_TYPE = re.compile(r"(?<![\d.])(\d{1,4})\s*(?:台|个|x|\*)?\s*$")
_AFTER_TYPE = re.compile(r"\s*(?:x|\*)?\s*(\d{1,4})\s*(?:台|x)")


def read(
    turns: Sequence[str],
    catalog: Catalog,
    given: Sequence[Mapping[str, object]] = (),
    own: Sequence[OwnModel] = (),
) -> Reading:
    """The conversation as read after its last user turn, the question.

    `given` holds for each turn the slots that the user set by hand beside it; they count more than its words
    and hold until a later turn says otherwise. `own` are models known beside the catalog. No text raises
    anything; a slot that cannot be used raises `InputError`. The same turns always give the same reading. The
    last 40 turns are read, of each the first 4,000 characters of prose and 200,000 of pasted material; the
    newest alone where turns are long.
    """
    last = _last_turns(turns)
    texts = [_clean(turn) for turn in turns[-last:]] or [""]
    by_hand = [*given, *({} for _ in turns[len(given) :])][-last:] or [{}]
    own_models: list[OwnModel] = [*own]
    catalog = catalog.with_models([item.model for item in own]) if own else catalog
    state = State()
    asked: set[Clarify] = set()
    clarify: Clarify = ""
    for index, text in enumerate(texts):
        given_model = own_model(text)
        if isinstance(given_model, OwnModel):
            own_models.append(given_model)
            catalog = catalog.with_models([given_model.model])
        anew = after_reset(text)
        turn = read_turn(anew or text, catalog)
        special = special_intent(turn.words.plain, turn.seen)
        follow_up = index > 0 and special != "reset" and not anew and continues(turn, state, special)
        changed: tuple[str, ...] = ()
        if special == "reset" or not (follow_up or special in _OUTSIDE):
            state = State()
        state.unusable = ()
        if special not in ("reset", "empty", "greeting"):
            changed = state.apply(turn, index, catalog)
            if isinstance(given_model, OwnModel):
                state.take_own_model(given_model.model, index)
            slots = given_slots(by_hand[index], catalog)
            state.set_by_hand(slots, index, catalog)
            changed = tuple(dict.fromkeys((*changed, *slots)))
        intent, others = _intent(turn, state, special, follow_up)
        if given_model or by_hand[index]:
            intent, others = _with_model(intent, others, state)
        clarify = "" if given_model else what_to_ask(intent, state)
        clarify = "" if clarify in asked else clarify
        asked.add(clarify)
    reading = _reading(texts, turn, state, intent, others, clarify, follow_up, changed, catalog)
    unreadable = given_model if isinstance(given_model, Unreadable) else None
    return reading.model_copy(update={"own_models": tuple(own_models), "unreadable": unreadable})


def _last_turns(turns: Sequence[str]) -> int:
    """How many turns are read, at least one: as many of the newest as keep to the characters of all."""
    count = chars = 0
    for turn in reversed(turns[-_MAX_TURNS:]):
        chars += min(len(turn), MAX_CHARS)
        if count and chars > _MOST_PROSE:
            break
        count += 1
    return max(count, 1)


def _clean(turn: str) -> str:
    """Text that every encoder takes: lone surrogates and control characters become blanks."""
    text = str(turn)[:READ_CHARS].encode("utf-8", "replace").decode("utf-8")
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", " ", without_markup(text))


def _intent(
    turn: Turn, state: State, special: Intent | None, follow_up: bool
) -> tuple[Intent, tuple[Intent, ...]]:
    if special is not None and special != "injection":
        return special, ()
    intent, others = choose_intent(turn, state, follow_up)
    if special == "injection":  # what is honestly asked beside it can still be answered
        return special, tuple(item for item in (intent, *others) if item not in _OUTSIDE)[:2]
    if intent not in _OUTSIDE:
        state.intent = intent
    return intent, others


def _with_model(
    intent: Intent, others: tuple[Intent, ...], state: State
) -> tuple[Intent, tuple[Intent, ...]]:
    """What a question without words of its own wants once a model is given beside it: its memory."""
    if not state.knows("model", "params_b") or (intent not in _OPEN and "size" not in others):
        return intent, others
    main: Intent = (
        "size"
        if "size" in others or state.knows("concurrency", "users", "budget", "context_tokens")
        else "memory"
    )
    state.intent = main
    return main, tuple(item for item in others if item not in (main, *_OPEN))


def _reading(
    texts: Sequence[str],
    turn: Turn,
    state: State,
    intent: Intent,
    others: tuple[Intent, ...],
    clarify: Clarify,
    follow_up: bool,
    changed: tuple[str, ...],
    catalog: Catalog,
) -> Reading:
    request, slots = state.request()
    count = _machines(turn)
    if count and not request.gpu_count:
        request = request.model_copy(update={"gpu_count": _cards_of(count, turn, catalog)})
    return Reading.model_validate(
        {
            **{name: slot.value for name, slot in state.beside.items()},
            "language": language_of([*texts[:-1], turn.pasted.prose]),
            "intent": intent,
            "intents": others,
            "question": texts[-1].strip()[:MAX_CHARS],
            "request": request,
            "slots": slots,
            "mentions": state.mentions,
            "topics": state.topics,
            "claims": turn.claims,
            "pasted": turn.pasted.kind,
            "pasted_text": turn.pasted.text,
            "follow_up": follow_up,
            "changed": changed,
            "hours": request.hours,
            "count": count,
            "token_price": bool(tags("work")["token_price"].search(turn.words.plain)),
            "search_query": guide_query(turn, intent, state),
            "clarify": clarify,
            "unusable": state.unusable,
        }
    )


def _cards_of(machines: int, turn: Turn, catalog: Catalog) -> int | None:
    """The GPUs of so many machines of a type named, or of a family of one size; None where it is open."""
    sizes = {
        row.whole_gpus
        for mention in turn.mentions
        if mention.kind in ("instance", "family") and not mention.negated
        for row in (
            [catalog.instance(mention.name)]
            if mention.kind == "instance"
            else catalog.in_family(mention.name)
        )
    }
    return machines * sizes.pop() or None if len(sizes) == 1 else None


def _machines(turn: Turn) -> int | None:
    """How many machines of a named type: "2台 ecs.gn7i-…", "gn7i-… x 3"."""
    text = turn.words.plain
    for mention in turn.mentions:
        place = (
            text.find(mention.text.lower())
            if mention.kind in ("instance", "phantom_instance", "family")
            else -1
        )
        if place >= 0:
            end = place + len(mention.text)
            match = _BEFORE_TYPE.search(text[max(0, place - 10) : place]) or _AFTER_TYPE.match(
                text[end : end + 12]
            )
            if match:
                return int(match[1]) or None
    match = _MACHINES.search(text)
    return (int(match[1]) or None) if match else None
