"""What the user wants: the main intent and further ones, from words of both languages and what was named."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache

from agent.premises import claim_wordings
from agent.reading.phrases import any_of, tags, vocabulary
from agent.reading.types import Intent

_WEIGHTS = {"strong": 3.0, "clear": 2.5, "hint": 1.5}
# Of two intents with the same weight the more special one is the main one.
_ORDER: tuple[Intent, ...] = (
    "claim", "naming", "buying", "interconnect", "region", "compare", "memory", "speed", "size", "cost",
    "lookup", "troubleshoot", "howto",
)  # fmt: skip
_WORKLOAD: tuple[Intent, ...] = ("memory", "size", "speed")
_READABLE = re.compile(r"[a-z0-9一-鿿぀-ヿ가-힯а-яà-ÿ؀-ۿ]")
_GREETING = re.compile(
    r"^\W*(?:hi+|hello|hey|yo|你好|您好|哈喽|嗨|hola|good (?:morning|afternoon|evening|day)|早上?好|下午好"
    r"|晚上好"
    r"|在吗|在么|在不在?|有人吗|thanks?(?: you)?(?: (?:a lot|so much|very much))?|thx|多谢|谢谢(?:你|您|啦"
    r"|了)?|感谢"
    r"|ok(?:ay)?|好的|收到|明白了?|bye|再见|拜拜|nice|great|cool|棒|厉害|help|帮助|你(?:能|会)(?:做"
    r"|干)?(?:什么|啥)"
    r"|what can you do)(?:\s*(?:there|啊|呀|呢|吗|[!.,~?]|你好|everyone|大家好|bot|助手|for me))*\W*$"
)
_RESET = re.compile(
    r"^\W*(?:(?:我们|咱们?|那)?(?:重新(?:来|开始|问|算)(?:过|吧|[一1]次)?|重来(?:[一1]次|吧)?|从头(?:来"
    r"|开始)(?:吧)?"
    r"|清空(?:对话|历史|上下文)?|重置(?:对话|一?下)?|忘(?:掉|了)(?:前面|之前|刚才|上面)(?:的|说的)?(?:吧"
    r"|内容)?"
    r"|换个(?:问题|话题)|不算了重来)|(?:please |let'?s |ok(?:ay)?,? )?(?:start (?:over|again|fresh|anew)"
    r"|reset(?: (?:everything|the conversation|chat|all))?|forget (?:everything|all that|that|it"
    r"|what i said|the above)"
    r"|new (?:conversation|topic|question|chat)|clear (?:all|everything|history|context|the chat)"
    r"|scratch that"
    r"|begin again))\W*$"
)
# "Start over: SDXL images": the reset, then the new matter in the same turn.
_RESET_AND = re.compile(
    r"^\W*(?:(?:我们|咱们?|那)?(?:重新(?:来|开始)(?:过|吧)?|重来(?:吧)?|从头(?:来|开始)(?:吧)?"
    r"|换个(?:问题|话题))"
    r"|(?:ok(?:ay)?,? )?(?:start (?:over|again|fresh)|new (?:topic|question)|reset|scratch that"
    r"|forget (?:that|it|all that|everything)))\s*[:：,，.。;；!！、-]+\s*(?=\S{2})",
    re.IGNORECASE,
)
_ON_OFFER = re.compile(
    r"有.{0,12}(?:吗|么|没有|卖|货)|能(?:买|租|开)|(?:are|is) there|any(?![a-z])"
    r"|(?:do|does|is|are|can).{0,30}(?:have|sell|offer|available|get|rent)"
)
_ASKS_HOW = re.compile(r"怎么|如何|怎样|how (?:to|do|can)")
_OF_NAMES = re.compile(r"命名|名字|后缀|前缀|suffix|prefix|字母|naming|规格名|instance name|family name|型号")
# Premises about words that an attempt would use too.
_MEANING_ASKED = frozenset({"discount_word"})
_STORAGE_TOPICS = frozenset({"storage", "network", "checkpoint", "dataloader", "download"})
# Topics that guides are about, whatever hardware is named beside them.
_GUIDE_TOPICS = frozenset({
    "driver", "cuda", "pytorch", "docker", "image", "install", "monitoring", "mig", "cgpu", "terraform",
    "security_group", "utilisation", "profiling", "resize", "migration", "autoscale", "download",
})  # fmt: skip
# Premises that a question often touches without asserting them: alone they make no claim.
_ASSERTED_ONLY = re.compile(
    r"spot_|bid_|reserved_|price_|gpu_not_sold|stopped_|ram_|vram_pools|t4_cheaper|fp64_|no_nvlink"
    r"|bf16_|fp8_|model_too|moe_|suffix_|smi_|phantom_type"
)
# Premises that need correcting whatever else is asked.
_ALWAYS = {
    "g6_not_gpu", "phantom_family", "host_memory_is_not_vram", "spot_discontinued",
    "wrong_family_architecture", "wrong_family_gpu", "zero_price",
    "label_is_not_usable", "discount_word",
}  # fmt: skip


@dataclass(frozen=True)
class Seen:
    """What a turn names and states, for weighing its words."""

    models: int = 0
    params: bool = False
    gpus: int = 0
    instances: int = 0  # types and families, real or not
    phantoms: int = 0
    regions: int = 0
    alternatives: bool = False  # two names joined by "or", 还是, "vs"
    budget: bool = False
    load: bool = False  # tokens, concurrency, users, rates
    task: str = ""
    claims: tuple[str, ...] = ()
    topics: frozenset[str] = field(default_factory=frozenset)
    pasted: str = ""
    quoted_error: bool = False  # an error message in its own words, or command-line flags

    @property
    def model(self) -> bool:
        return bool(self.models or self.params)

    @property
    def workload(self) -> bool:
        return bool(self.model or self.task)

    @property
    def hardware(self) -> bool:
        return bool(self.gpus or self.instances)


@cache
def _cues() -> tuple[tuple[Intent, float, re.Pattern[str]], ...]:
    return tuple(
        (intent, _WEIGHTS[strength], any_of(phrases))  # type: ignore[misc]
        for intent, by_strength in vocabulary("intents").items()
        for strength, phrases in by_strength.items()
    )


def after_reset(text: str) -> str:
    """What a turn says after a reset at its beginning; "" where it is none or nothing follows."""
    match = _RESET_AND.match(text)
    return text[match.end() :] if match else ""


def special_intent(text: str, seen: Seen) -> Intent | None:
    """Intents that need no weighing: empty, reset, greeting, injection, out of scope."""
    special = tags("special")
    if not _READABLE.search(text):
        return None if seen.pasted else "empty"
    if _RESET.match(text):
        return "reset"
    if _GREETING.match(text):
        return "greeting"
    outside = bool(special["outside"].search(text))
    attempt = special["injection"].search(text) and not _MEANING_ASKED.intersection(seen.claims)
    if attempt and not (outside and not (seen.workload or seen.hardware or seen.topics)):
        return "injection"
    if special["crime"].search(text) or "mining" in seen.topics:
        return "out_of_scope"
    if special["orders"].search(text):  # "delete my instance"
        return "out_of_scope"
    if special["account"].search(text) and special["credentials"].search(text):
        return "out_of_scope"
    if outside and not (seen.model or seen.hardware or seen.task not in ("", "inference", "hpc")):
        return "out_of_scope"
    if "other_cloud" in seen.topics and not special["ours"].search(text) and not seen.claims:
        return "out_of_scope"
    return None


def in_domain(text: str) -> bool:
    """Whether a turn without any name speaks of machines or models at all."""
    return bool(tags("special")["domain"].search(text))


def weigh(text: str, seen: Seen) -> list[tuple[Intent, float]]:
    """Intents with their weights, heaviest first; empty when the words say nothing."""
    weights: dict[Intent, float] = {}
    for intent, weight, pattern in _cues():
        if pattern.search(text):
            weights[intent] = weights.get(intent, 0.0) + weight
    _by_work(weights, seen)
    _by_subject(weights, text, seen)
    _by_names(weights, text, seen)
    _by_premise(weights, text, seen)
    ranked = [(intent, weight) for intent, weight in weights.items() if weight >= 1]
    return sorted(ranked, key=lambda item: (-item[1], _ORDER.index(item[0])))


def _add(weights: dict[Intent, float], intent: Intent, weight: float, only_if_there: bool = False) -> None:
    if not only_if_there or intent in weights:
        weights[intent] = weights.get(intent, 0.0) + weight


def _by_work(weights: dict[Intent, float], seen: Seen) -> None:
    """A named model turns "enough?" into arithmetic; without one the same words are about something else."""
    if seen.model:
        for intent in _WORKLOAD:
            if weights.get(intent, 0.0) >= 2.5:
                _add(weights, intent, 1.5)
                _add(weights, "lookup", -2, only_if_there=True)
        if "memory" in weights and not seen.quoted_error:
            _add(weights, "troubleshoot", -2.5)
        if seen.load:
            _add(weights, "size", 1.5)
    elif seen.task in ("", "inference", "finetune", "pretrain") or seen.instances:
        _add(weights, "memory", -1.5, only_if_there=True)
        if seen.hardware and not seen.budget:
            _add(weights, "size", -1.5, only_if_there=True)
    if seen.budget and not seen.claims:
        _add(weights, "size", 2.5)
        _add(weights, "cost", 2, only_if_there=True)
        _add(weights, "memory", -2.5, only_if_there=True)
    if seen.pasted == "config":
        _add(weights, "memory", 3)


def _by_subject(weights: dict[Intent, float], text: str, seen: Seen) -> None:
    """Storage, drivers, containers and quoted errors are matters of their own, whatever card is named."""
    faulty = "troubleshoot" in weights
    if weights.get("troubleshoot", 0.0) >= 3 and not _ASKS_HOW.search(text):
        _add(weights, "howto", -1.5, only_if_there=True)
    if seen.quoted_error or seen.pasted in ("log", "nvidia_smi"):
        _add(weights, "troubleshoot", 4)
    if seen.topics & _STORAGE_TOPICS and not (
        weights.get("lookup", 0.0) >= 3 and seen.instances and not faulty
    ):
        _add(weights, "howto", 0 if seen.model or faulty else 2)
        if not seen.model or weights["howto"] >= 3:
            for intent in _WORKLOAD:
                _add(weights, intent, -2, only_if_there=True)
    if seen.topics & _GUIDE_TOPICS and not seen.workload and not seen.budget:
        _add(weights, "howto", 0 if faulty else 2)
        _add(weights, "size", -1.5, only_if_there=True)


def _by_names(weights: dict[Intent, float], text: str, seen: Seen) -> None:
    if seen.alternatives:
        _add(weights, "compare", 4.5 if seen.model else 3)
    elif seen.gpus >= 2 or seen.instances >= 2:
        _add(weights, "compare", 1, only_if_there=True)
    elif seen.gpus + seen.instances <= 1:
        _add(weights, "compare", -1, only_if_there=True)
    if seen.instances:
        _add(weights, "lookup", 1, only_if_there=True)
    if (
        not (seen.phantoms or "naming" in seen.topics)
        or seen.quoted_error
        or not (seen.instances or _OF_NAMES.search(text))
    ):
        _add(weights, "naming", -2, only_if_there=True)
    elif seen.instances:
        _add(weights, "naming", 2, only_if_there=True)
    if (
        seen.topics & {"spot", "reserved", "subscription", "savings_plan", "economical_mode", "refund"}
        and weights.get("cost", 0.0) < 3
        and not seen.model
    ):
        _add(weights, "buying", 1)
    if seen.phantoms:
        _add(weights, "naming", 2)
        _add(weights, "troubleshoot", -2, only_if_there=True)
    if seen.regions >= 2:
        _add(weights, "region", 1, only_if_there=True)
        _add(weights, "cost", 1.5 if seen.hardware else 0, only_if_there=True)
    if seen.regions and seen.hardware and _ON_OFFER.search(text):
        _add(weights, "region", 2.5)
    if "multi_node" in seen.topics and not seen.model:
        _add(weights, "interconnect", 1.5, only_if_there=True)


def _told(code: str) -> str:
    """When a premise or claim is corrected: "always", "if_asserted", else where the question doubts it."""
    if code in _ALWAYS:
        return "always"
    return "if_asserted" if _ASSERTED_ONLY.match(code) else claim_wordings().get(code, {}).get("told", "")


def _by_premise(weights: dict[Intent, float], text: str, seen: Seen) -> None:
    special = tags("special")
    asserted = bool(special["asserted"].search(text))
    doubtful = [code for code in seen.claims if _told(code) != "if_asserted"]
    asks_for_plan = seen.model and max(weights.get("size", 0.0), weights.get("memory", 0.0)) >= 4.5
    if any(_told(code) == "always" for code in seen.claims):
        weights["claim"] = 8
    elif seen.claims and asserted:
        weights["claim"] = 4 if asks_for_plan else 9
    elif (doubtful and special["confirm"].search(text)) or (
        seen.claims and max(weights.values(), default=0.0) < 2.5 and special["confirm"].search(text)
    ):
        weights["claim"] = 4
    elif asserted and (seen.hardware or seen.topics):
        weights["claim"] = 3
