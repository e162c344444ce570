"""The request as it stands after each turn: what a new turn adds, changes and drops."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from agent.reading.given import Given, budget_text, given_mentions
from agent.reading.models import name_index
from agent.reading.money import as_budget
from agent.reading.turn import TRAINING, Turn, is_job
from agent.reading.types import Intent, Mention, Slot
from agent.reading.words import Found
from knowledge.catalog import Catalog
from knowledge.errors import AdvisorError
from knowledge.resolve_precision import UNQUANTIZED
from knowledge.rows import Model
from tools.contracts.base import parse_request
from tools.contracts.sizing import Budget, SizingRequest

OF_MODEL = frozenset({"model", "params_b"})
# Mentions of one group name the same kind of thing: a new one replaces the earlier ones.
_GROUPS = {
    "phantom_instance": "instance", "family": "instance", "phantom_family": "instance",
    "unsized_model": "model", "unknown_model": "model", "unknown_gpu": "gpu",
}  # fmt: skip
_SLOT_NAMES = {
    "model": "model", "params_b": "model", "gpu_wanted": "gpu", "regions": "region", "precision": "precision",
    "instance_wanted": "instance",
}  # fmt: skip
# What the words for serving mean once the work is known to be training.
_IN_TRAINING = {"context_tokens": "sequence_length", "batch": "micro_batch"}
_OF_TEXT = frozenset({"inference", "finetune", "pretrain", "embedding", "reranker"})
_OF_TOKENS = (
    "context_tokens", "input_tokens", "output_tokens", "sequence_length", "ttft_ms", "tpot_ms", "precision",
    "kv_precision", "engine",
)  # fmt: skip
_LARGEST_BUDGET = 10**15  # of `Budget`


@dataclass
class State:
    """Slots of the request, values beside it, names and topics; `intent` is the standing question."""

    slots: dict[str, Slot] = field(default_factory=dict)
    beside: dict[str, Slot] = field(default_factory=dict)  # fields of Reading that are none of the request
    mentions: list[Mention] = field(default_factory=list)
    topics: list[str] = field(default_factory=list)
    budget: Budget | None = None
    intent: Intent | None = None
    unusable: tuple[str, ...] = ()  # quantities of the last turn that were left out

    def value(self, name: str) -> object:
        """What a slot says, or None."""
        slot = self.slots.get(name) or self.beside.get(name)
        return slot.value if slot else None

    def knows(self, *names: str) -> bool:
        return any(name in self.slots for name in names)

    @property
    def empty(self) -> bool:
        return not self.slots and self.intent is None

    def apply(self, turn: Turn, index: int, catalog: Catalog) -> tuple[str, ...]:
        """Puts a turn's values into the state; the names of the slots that changed."""
        before = {name: slot.value for name, slot in self.slots.items()}
        self.unusable = turn.unusable
        self._models(turn, index, catalog)
        if "gpu_wanted" in turn.found and "gpu_count" not in turn.found:
            self.slots.pop("gpu_count", None)  # the count belonged to the card before
        self._task(turn, index)
        for item in turn.found.values():
            if item.field not in OF_MODEL:
                name = (
                    _IN_TRAINING.get(item.field, item.field) if self.value("task") in TRAINING else item.field
                )
                if name == "batch" and self.value("task") in (None, "inference"):
                    name = "concurrency"  # what a language model serves at once
                    if name in turn.found:
                        continue
                target = self.slots if name in SizingRequest.model_fields else self.beside
                target[name] = self._joined(slot_of(item, index), name)
        self._gpus(turn)
        self._precision(turn)
        self._places_and_purchase(turn, index)
        self._money(turn, index)
        self._names(turn)
        self._leave_out(index)
        changed = [name for name, slot in self.slots.items() if before.get(name) != slot.value]
        return (*changed, *(name for name in before if name not in self.slots))

    def take_own_model(self, model: Model, index: int) -> None:
        """The model of a config.json is what the turn speaks of, whatever names stand in the file."""
        for name in OF_MODEL:
            self.slots.pop(name, None)
        kept = [item for item in self.mentions if _GROUPS.get(item.kind, item.kind) != "model"]
        self.mentions = [Mention(kind="model", text=model.model_id, name=model.model_id), *kept]
        self.slots["model"] = Slot(value=model.model_id, confidence=0.95, turn=index, text="config.json")
        if model.native_dtype.startswith("gguf"):  # the file is in this format, whatever else could be made
            self.slots["precision"] = Slot(value=model.native_dtype, confidence=0.95, turn=index, text="GGUF")

    def _joined(self, slot: Slot, name: str) -> Slot:
        """Cards refused in one turn stay refused when the next refuses another: "nor the T4"."""
        standing = self.slots.get(name)
        if name != "gpu_excluded" or standing is None or not isinstance(standing.value, tuple):
            return slot
        refused = (*standing.value, *slot.value) if isinstance(slot.value, tuple) else standing.value
        return slot.model_copy(update={"value": tuple(dict.fromkeys(refused))})

    def set_by_hand(self, given: Given, index: int, catalog: Catalog) -> None:
        """Puts slots that the user set beside a turn in place of what its words say; None empties a slot.
        Names follow, so that plans speak of what was set."""
        for name, value in given.items():
            self.slots.pop(name, None)
            for other in OF_MODEL if name in OF_MODEL else ():
                self.slots.pop(other, None)
            group = _SLOT_NAMES.get(name)
            if group:
                kept = [item for item in self.mentions if _GROUPS.get(item.kind, item.kind) != group]
                self.mentions = [*given_mentions(name, value, catalog), *kept]
            if name == "budget":
                self.budget = value if isinstance(value, Budget) else None
            if value is not None:
                shown = budget_text(value) if isinstance(value, Budget) else value
                shown = float(shown) if isinstance(shown, Decimal) else shown
                self.slots[name] = Slot(value=shown, confidence=1.0, turn=index, by_hand=True)

    def _models(self, turn: Turn, index: int, catalog: Catalog) -> None:
        model, params = turn.found.get("model"), turn.found.get("params_b")
        known = self.value("model")
        unnamed = any(mention.kind in ("unsized_model", "unknown_model") for mention in turn.mentions)
        if params and not model and not unnamed and isinstance(known, str):
            sibling = _sibling(known, float(str(params.value)), catalog)
            if sibling:  # "and the 32B?": the same family in another size
                self.slots["model"] = Slot(value=sibling, confidence=0.8, turn=index, text=params.text)
                return
        if model or params or unnamed:
            self.slots.pop("model", None)
            self.slots.pop("params_b", None)
        for item in (model, params):
            if item:
                self.slots[item.field] = slot_of(item, index)

    def _gpus(self, turn: Turn) -> None:
        """A card is either wanted or excluded; the latest word on it holds."""
        for new, old in (("gpu_excluded", "gpu_wanted"), ("gpu_wanted", "gpu_excluded")):
            said, standing = turn.found.get(new), self.slots.get(old)
            if said is None or standing is None or not isinstance(standing.value, tuple):
                continue
            left = tuple(name for name in standing.value if name not in said.value)  # type: ignore[operator]
            if left:
                self.slots[old] = standing.model_copy(update={"value": left})
            elif old not in turn.found:
                self.slots.pop(old)

    def _task(self, turn: Turn, index: int) -> None:
        method = turn.found.get("method")
        task, sure = turn.tasks[0] if turn.tasks else ("", 0.0)
        if method and method.value in ("lora", "qlora") and task not in TRAINING:
            task, sure = "finetune", 0.8
        known = self.value("task")
        if not task or (known is not None and sure < 0.6):
            return
        if known in TRAINING and task in ("inference", "embedding") and sure < 0.9:
            return  # a passing word does not turn a training job into serving
        if known is not None and (known in _OF_TEXT) != (task in _OF_TEXT):
            for name in _OF_TOKENS:  # lengths and rates of text say nothing of images or speech
                self.slots.pop(name, None)
        self.slots["task"] = Slot(value=task, confidence=sure, turn=index, text=task)

    def _precision(self, turn: Turn) -> None:
        denied = {
            mention.name for mention in turn.mentions if mention.kind == "precision" and mention.negated
        }
        allowed = turn.found.get("allow_quantization")
        known = self.value("precision")
        refused = allowed is not None and allowed.value is False and known not in UNQUANTIZED
        if known in denied or refused:
            self.slots.pop("precision", None)

    def _places_and_purchase(self, turn: Turn, index: int) -> None:
        regions = tuple(dict.fromkeys(m.name for m in turn.mentions if m.kind == "region" and not m.negated))
        if regions:
            text = " ".join(mention.text for mention in turn.mentions if mention.kind == "region")
            self.slots["regions"] = Slot(value=regions, confidence=0.95, turn=index, text=text)
        if len(turn.purchases) == 1:  # several are compared, not chosen
            purchase = turn.purchases[0]
            self.slots["purchase"] = Slot(value=purchase, confidence=0.9, turn=index, text=purchase)

    def _money(self, turn: Turn, index: int) -> None:
        """A sum is a budget unless it is the price of something named, put up for confirmation."""
        price = "price_stated" in turn.claims
        limits = sorted(
            (sum_ for sum_ in turn.amounts if sum_.cue or not price), key=lambda sum_: not sum_.cue
        )
        if limits:
            if limits[0].amount > _LARGEST_BUDGET:
                self.unusable = (*self.unusable, limits[0].text)
                return
            budget, sure = as_budget(limits[0], is_job(turn, str(self.value("task"))))
            if not limits[0].period and self.budget is not None:
                budget = budget.model_copy(update={"period": self.budget.period})
            text = limits[0].text
        elif turn.factor and self.budget is not None:
            amount = self.budget.amount * Decimal(str(turn.factor))
            budget, sure, text = (
                self.budget.model_copy(update={"amount": amount}),
                0.9,
                turn.words.original[:60],
            )
        else:
            return
        self.budget = budget
        self.slots["budget"] = Slot(value=budget_text(budget), confidence=sure, turn=index, text=text)

    def _names(self, turn: Turn) -> None:
        """Names of a kind replace the earlier ones of that kind: "and on an L20?"."""
        new = {_GROUPS.get(mention.kind, mention.kind) for mention in turn.mentions}
        new |= {"model"} if "params_b" in turn.found else set()
        kept = [mention for mention in self.mentions if _GROUPS.get(mention.kind, mention.kind) not in new]
        self.mentions = list(dict.fromkeys([*kept, *turn.mentions]))
        self.topics = list(dict.fromkeys([*turn.topics, *self.topics]))

    def _leave_out(self, index: int) -> None:
        """Drops numbers of this turn that no request takes and keeps their words to say so."""
        for name, slot in [*self.slots.items()]:
            number = isinstance(slot.value, int | float) and not isinstance(slot.value, bool)
            if slot.turn == index and number and not _valid(name, slot.value):
                self.unusable = (*self.unusable, slot.text)
                del self.slots[name]
        self.unusable = tuple(dict.fromkeys(self.unusable))

    def request(self) -> tuple[SizingRequest, dict[str, Slot]]:
        """The slots as a request; a value out of its range is left out rather than failing the whole."""
        good: dict[str, object] = {}
        for name, slot in self.slots.items():
            value = self.budget if name == "budget" else slot.value
            if _valid(name, value):
                good[name] = value
        seat = self.beside.get("vram_gb")
        if seat is not None and good.get("task") in ("graphics", "development"):  # of one desktop or seat
            good["min_gpu_memory_gib"] = seat.value
        slots = {name: slot for name, slot in self.slots.items() if name in good}
        return parse_request(SizingRequest, good), slots


def slot_of(item: Found, index: int) -> Slot:
    return Slot(value=item.value, confidence=round(item.confidence, 2), turn=index, text=item.text)


def _sibling(model_id: str, params_b: float, catalog: Catalog) -> str:
    """The model of the same family, or else of the same maker, in another size; "" without one."""
    known = name_index(catalog).by_id.get(model_id)
    if known is None:
        return ""
    sized = [
        row
        for row in catalog.models
        if row.kind == known.kind
        and row.params_total_b
        and abs(row.params_total_b - params_b) <= max(0.8, 0.06 * params_b)
    ]
    kin = [row for row in sized if row.family == known.family]
    if kin:
        # Of "Qwen2.5-7B", "Qwen2.5-Coder-7B", "Qwen2.5-7B-1M" the one that is named as the known one.
        return min(kin, key=lambda row: row.model_id.count("-") != known.model_id.count("-")).model_id
    maker = model_id.split("/")[0]
    same_maker = [row for row in sized if row.model_id.split("/")[0] == maker]
    return max(same_maker, key=lambda row: row.released).model_id if same_maker else ""


def _valid(name: str, value: object) -> bool:
    try:
        parse_request(SizingRequest, {name: value})
    except AdvisorError:
        return False
    return True
