"""Decides what a turn is to the conversation: follow-up or new matter, its intent, what to ask or search."""

from __future__ import annotations

import re

from agent.reading.intents import in_domain
from agent.reading.phrases import tags
from agent.reading.state import OF_MODEL, State
from agent.reading.turn import Turn
from agent.reading.types import Clarify, Intent

_SIZING: tuple[Intent, ...] = ("size", "memory", "speed", "cost")
# Questions that stand on their own: asked without a word that points back they open another matter.
_OWN_MATTER: tuple[Intent, ...] = (
    "buying", "naming", "lookup", "region", "troubleshoot", "howto", "claim", "interconnect",
)  # fmt: skip
_WITH_GUIDE: tuple[Intent, ...] = (
    "troubleshoot", "howto", "buying", "interconnect", "naming", "claim", "compare", "region",
)  # fmt: skip
_TASKS_WITH_GUIDE = ("graphics", "transcoding", "hpc", "development")
# Topics that say how something should be, not what it is about.
_NO_SUBJECT = frozenset(
    {
        "slow",
        "compliance",
        "always_on",
        "acts_for_me",
        "versions",
        "latency",
        "promotion",
        "throughput",
        "consumer_card",
        "full_load",
        "replicas",
        "slower_with_load",
    }
)
_ASKS_PRICE = re.compile(r"多少钱|什么价|价格是|how much|what does .{1,30} cost|price of")
# Work that is measured by what gets through in a time, and the words that give such a load.
_RATED = frozenset({"asr", "tts", "vision", "embedding", "reranker", "diffusion", "video"})
_LOADS = ("items_per_day", "items_per_second", "requests_per_second")
_WAYS_TO_PAY = frozenset({"economical_mode", "spot", "subscription", "reserved", "savings_plan", "refund"})
_SUBJECTS = frozenset({"storage", "network", "spot", "subscription", "vgpu", "oom", "reserved"})
# Names as they stand in logs, flags and code.
_TECHNICAL = re.compile(
    r"[A-Za-z]{2}_[A-Za-z]|\w=\w|[A-Za-z]/[A-Za-z]|\b[A-Z]{3,12}\b|[a-z][A-Z][a-z]"
    r"|\w\.(?:json|py|so|sh|log|cfg)\b|0{3,}\d|\d\s*(?:[GM]bit|MB|TB)/?s?\b"
)
_WISH_WORDS = re.compile(
    r"gpus?|显卡|显存|卡|服务器|servers?|ai|阿里云|云|机器|大?模型|llms?|models?|实例|instances?|主机"
    r"|深度学习|机器学习|(?:deep|machine) learning|something|need|want|要|想|跑|租|买|搞|学|个|性价比|便宜"
    r"|好|高|的|best|good|cloud|alibaba|aliyun|\W|\b(?:an?|the|for|my|me|some)\b"
)
_ASKS_WHERE = re.compile(r"哪|where|which|有.{0,12}[吗么]|(?:are|is) there")
_ASKS_WHY = re.compile(
    r"为(?:什么|啥|何)|(?<![a-z])why(?![a-z])|支持|support|flash|shows?(?![a-z])|显示|还能|怎么|如何"
    r"|how (?:do|can|to)|切(?:成|分)|最低"
)


def continues(turn: Turn, state: State, special: Intent | None) -> bool:
    """Whether a turn changes or adds to the request before it, rather than opening another matter."""
    if special in ("greeting", "empty"):
        return True
    if state.empty:
        return False
    words = tags("special")
    follows = any(words[name].search(turn.words.plain) for name in ("follow", "same_work"))
    if "launch" in turn.topics and not turn.found.keys() & OF_MODEL:
        follows = True  # files start the work that was spoken of
    if turn.pasted.kind:
        return follows or state.intent == "troubleshoot"
    heavy = [intent for intent, weight in turn.weights if weight >= 2.5]
    if turn.found.keys() & OF_MODEL:
        return follows or (_short(turn) and not (heavy and state.knows(*OF_MODEL)))
    if any(mention.kind in ("instance", "phantom_instance") for mention in turn.mentions):
        return follows
    own = turn.found.keys() - {"hours", "purchase", "instance_wanted"}
    if heavy and heavy[0] in _OWN_MATTER and not follows and not (own and "oom" in turn.topics):
        return False
    return follows or _short(turn) or bool(own or turn.amounts)


def _short(turn: Turn) -> bool:
    text = turn.words.plain.strip()
    return len(text) <= 26 if re.search(r"[一-鿿]", text) else len(text.split()) <= 9


def choose_intent(turn: Turn, state: State, follow_up: bool) -> tuple[Intent, tuple[Intent, ...]]:
    """The main intent and up to three further ones of the same turn."""
    ranked = [intent for intent, weight in turn.weights if weight >= 2]
    heaviest = max((weight for _, weight in turn.weights), default=0.0)
    if follow_up and state.intent and (heaviest < 2.5 or _only_limits(turn, ranked, state)):
        main = _settled(state.intent, state)
    elif ranked:
        main = _settled(ranked[0], state) if follow_up else ranked[0]
    else:
        main = _by_names(turn)
    slow = turn.seen.topics & {"utilisation", "slow"}
    if main == "size" and slow and "troubleshoot" in ranked and state.knows("gpu_wanted"):
        main = "speed"  # the cards are there and idle: what they could do, not what to buy
    if main == "claim" and not turn.claims and "cost" in ranked and _ASKS_PRICE.search(turn.words.plain):
        main = "cost"  # "what does one cost, and are eight just eight times that": the prices answer
    if (
        main in ("memory", "size")
        and state.value("task") in _RATED
        and any(state.value(name) for name in _LOADS)
    ):
        main = "speed" if main == "memory" else main  # memory is no answer to how much a card gets through
    if (
        state.value("network_gbps")
        and not state.knows(*OF_MODEL)
        and main in ("howto", "size", "vague", "lookup")
    ):
        return "lookup", ()  # machines by their network: the list answers
    placed = state.knows("regions") and state.value("vram_gb") and state.value("task") is None
    if placed and main in (*_SIZING, "vague", "region") and not _knows_enough(turn, state):
        return "lookup", ()  # machines by region and memory: the list answers
    if main in _SIZING and not _knows_enough(turn, state):
        loaded = state.knows("users", "concurrency", "requests_per_second")
        subject = (main == "speed" and not loaded) or turn.seen.topics - _NO_SUBJECT
        main = "troubleshoot" if "troubleshoot" in ranked else "howto" if subject else "vague"
    return main, tuple(intent for intent in ranked if intent != main)[:3]


def _only_limits(turn: Turn, ranked: list[Intent], state: State) -> bool:
    """Whether a turn only sets a new limit ("包月呢", "under 30 CNY") on a question that stays the same."""
    limits: set[Intent] = {"size", "cost"}
    if dict(turn.weights).get("buying", 0.0) < 3:
        limits.add("buying")
    if turn.seen.regions and not _ASKS_WHERE.search(turn.words.plain):
        limits.add("region")
    return set(ranked) <= limits and state.intent in _SIZING


def _settled(intent: Intent, state: State) -> Intent:
    """The standing question once more is known: an out-of-memory symptom with model and GPU is arithmetic."""
    if intent == "vague":
        return "size"
    if (
        intent == "troubleshoot"
        and "oom" in state.topics
        and state.knows(*OF_MODEL)
        and state.knows("gpu_wanted")
    ):
        return "memory"
    return intent


def _by_names(turn: Turn) -> Intent:
    """What a turn without a question wants, by what it names."""
    kinds = {mention.kind for mention in turn.mentions}
    seen = turn.seen
    if turn.unusable and not kinds:
        return "vague"  # "-5 users": what was meant is asked, after the number is named
    if kinds & {"phantom_instance", "phantom_family"}:
        return "naming"
    if seen.model and "gpu" in kinds:
        return "memory"
    if seen.model or seen.budget or seen.load or seen.task not in ("", "inference"):
        return "size"
    if kinds & {"instance", "family", "gpu"} and turn.amounts and "hours" in turn.found:
        return "cost"  # cards for a span and a sum: whether it is enough
    if kinds & {"instance", "family", "gpu"}:
        # Of a way to pay, or of shares of a card, the rules are wanted more than the type's figures.
        whole = all(mention.name.startswith(("gn", "ebm")) for mention in turn.mentions)
        shares = "vgpu" in seen.topics and whole and "instance" not in kinds
        return "buying" if seen.topics & _WAYS_TO_PAY else "howto" if shares else "lookup"
    if "region" in kinds:
        return "region"
    if turn.pasted.kind or seen.quoted_error:
        return "troubleshoot"
    if seen.topics - _NO_SUBJECT:
        return "howto"
    if not in_domain(turn.words.plain) and not turn.found:
        return "howto" if _TECHNICAL.search(turn.words.original) else "out_of_scope"
    # A wish for hardware asks for more; a longer remark on it is looked up in the guides.
    return "vague" if turn.weights or len(_WISH_WORDS.sub("", turn.words.plain)) < 3 else "howto"


def _knows_enough(turn: Turn, state: State) -> bool:
    """Whether sizing has something to work on."""
    if state.knows(
        "model", "params_b", "gpu_wanted", "instance_wanted", "method", "dataset_tokens", "budget"
    ):
        return True
    if turn.seen.phantoms or turn.seen.topics & _SUBJECTS:
        return True
    if any(mention.kind in ("unsized_model", "unknown_model") for mention in state.mentions):
        return True
    return state.value("task") not in (None, "inference", "finetune")


def what_to_ask(intent: Intent, state: State) -> Clarify:
    """What must be asked because the answer would flip; "" where a stated assumption does."""
    if intent == "vague":
        return "task_and_model"
    if intent in _SIZING:
        if not state.knows(*OF_MODEL):
            return "model_size" if any(m.kind == "unsized_model" for m in state.mentions) else ""
        hinted = state.value("latency_ms") is not None or state.knows(
            "task", "method", "precision", "gpu_wanted", "concurrency", "context_tokens", "output_tokens",
            "requests_per_second", "users",
        )  # fmt: skip
        return "" if hinted else "task"
    if (
        intent == "troubleshoot"
        and not state.mentions
        and set(state.topics) <= {"slow", "utilisation", "latency"}
    ):
        return "symptom"
    if intent == "compare" and not state.knows("task", "model", "params_b", "gpu_wanted", "instance_wanted"):
        return "workload"
    return ""


def guide_query(turn: Turn, intent: Intent, state: State) -> str:
    """The words for the guide search; "" where calculators alone answer."""
    prose = re.sub(r"\s+", " ", turn.pasted.prose).strip()[:400]
    if turn.pasted.errors:
        return f"{turn.pasted.errors} {prose[:120]}".strip()
    if intent in _WITH_GUIDE or "oom" in turn.topics or state.value("task") in _TASKS_WITH_GUIDE:
        return prose
    if intent in ("lookup", "speed", "cost") and _ASKS_WHY.search(turn.words.plain):
        return prose
    return ""
