"""Reads one turn on its own: every finder in order, over the words that the earlier ones left free."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

from agent.reading.claims import Scene, find_claims, named_architectures
from agent.reading.gpus import GpuFound, find_gpus, is_consumer, nodes_said, rentable
from agent.reading.instances import find_instances
from agent.reading.intents import Seen, weigh
from agent.reading.load import find_load
from agent.reading.models import find_models, find_params_b, name_index, only_model_of_size
from agent.reading.money import Amount, budget_factor, find_amounts, find_purchases
from agent.reading.numerals import digits_for_words
from agent.reading.pasted import Pasted, split_pasted
from agent.reading.places import find_regions
from agent.reading.precisions import PrecisionFound, find_precisions
from agent.reading.times import find_deadline, find_duration, find_hours_of_use, find_window
from agent.reading.phrases import tags
from agent.reading.types import Intent, Mention
from agent.reading.words import Found, Words
from agent.reading.work import find_data, find_engine, find_method, find_tasks, find_vram, find_wishes
from knowledge.catalog import Catalog

_BIG_ONE = re.compile(r"大的|大号|最大|big(?:ger|gest)?|large(?:r|st)?")
_SMALL_ONE = re.compile(r"小的|小号|最小|small(?:er|est)?|tiny|mini")
_TRAINING = ("finetune", "pretrain")
_TOOLKITS = ("funasr", "paddleocr")  # names of a model and of the toolkit around others
_QUOTED_ERROR = re.compile(
    r"(?:cuda|torch)[\w.: ]{0,24}out of memory|\w+error:|\s--[a-z][\w-]{3,}|traceback|exit\s?code"
    r"|error code|xid|cuda error|nccl (?:warn|error|watchdog)"
    r"|(?<![a-z0-9/.])(?:[a-z]+(?:error|exception|failed|notfound|denied)|err(?:no)?\s?\d+"
    r"|0x[0-9a-f]{4,}|/dev/\w+)(?![a-z])"
)
# An error's name as programs print it: "cudaErrorNotReady", "OperationDenied.NoStock", "gpuReadPcieConfigCycle".
_ERROR_NAME = re.compile(
    r"(?<![A-Za-z])(?:[A-Za-z]+(?:Error|Exception|NotFound|Denied|Invalid|Unsupported|NotSupport"
    r"|Conflict|Failed)\w*"
    r"|[A-Za-z][a-z]+(?:[A-Z][a-z]+){3,}|[A-Z]{2,}(?:_[A-Z]+){2,})(?![a-z])"
)
_JOB = re.compile(r"训练|微调|train|tun|跑完|poc|验证|测试|实验|毕设|job|一次性")


@dataclass(frozen=True)
class Turn:
    """What one turn says, nothing carried over."""

    words: Words
    pasted: Pasted
    mentions: tuple[Mention, ...]
    gpus: tuple[GpuFound, ...]
    found: dict[str, Found]
    tasks: tuple[tuple[str, float], ...]
    precision: PrecisionFound
    amounts: tuple[Amount, ...]
    factor: float | None
    purchases: tuple[str, ...]
    topics: tuple[str, ...]
    claims: tuple[str, ...]
    seen: Seen
    weights: tuple[tuple[Intent, float], ...]

    @property
    def says_nothing(self) -> bool:
        return not (self.found or self.mentions or self.amounts or self.topics or self.tasks or self.weights)


def read_turn(text: str, catalog: Catalog) -> Turn:
    """All that a turn says by itself."""
    pasted = split_pasted(text)
    words = Words.of(pasted.prose)
    digits_for_words(words)
    models = find_models(words, catalog)
    rest = words.free  # "gpt-oss" speaks of no storage
    instances = find_instances(words, catalog)
    gpus = find_gpus(words, catalog)
    models = _sized(models, words, max((item.count or 1 for item in gpus), default=1), catalog)
    regions = find_regions(words, catalog)
    precision = find_precisions(words, catalog)
    found: dict[str, Found] = {}
    model = next((mention for _, mention in models if mention.kind == "model"), None)
    kind = name_index(catalog).by_id[model.name].kind if model else ""
    tasks = find_tasks(words, kind)
    training = bool(tasks) and tasks[0][0] in _TRAINING
    purchases = find_purchases(words)
    uses = find_hours_of_use(words)
    amounts = find_amounts(words)
    _sizes(words, catalog, found, model)
    for item in (*find_data(words), *find_load(words, training), *find_wishes(words)):
        found.setdefault(item.field, item)
    loose = bool(purchases or amounts) or bool(re.search(r"多少钱|费用|划算|cost|price|钱", words.plain))
    for one in (uses, find_window(words), find_deadline(words), find_duration(words, loose), find_vram(words),
                find_method(words), find_engine(words)):  # fmt: skip
        if one is not None:
            found.setdefault(one.field, one)
    _gpu_slots(words, gpus, instances, catalog, found)
    _precision_slots(words, precision, found)
    mentions = _in_order([*instances, *models, *regions], gpus, precision)
    topics = _topics(rest, pasted, gpus)
    scene = Scene(words.plain, mentions, tuple(item.name for item in precision.mentions), _params(found, model, catalog),
                  len(amounts), _int(found.get("gpu_count")), _float(found.get("vram_gb")))  # fmt: skip
    claims = find_claims(scene, catalog)
    seen = Seen(
        models=len(models),
        params="params_b" in found,
        gpus=len({item.mention.name for item in gpus}),
        instances=len(instances),
        phantoms=sum(mention.kind.startswith("phantom") for _, mention in instances),
        regions=len(regions),
        budget=any(amount.cue or amount.period for amount in amounts),
        load=bool(
            found.keys()
            & {"concurrency", "users", "requests_per_second", "context_tokens", "input_tokens", "ttft_ms"}
        ),
        task=tasks[0][0] if tasks else "",
        claims=tuple(claims),
        topics=frozenset(topics),
        pasted=pasted.kind,
        alternatives=_alternatives(words, mentions, len(named_architectures(words.plain))),
        quoted_error=_quotes_error(words, pasted, bool(models)),
    )
    return Turn(words, pasted, mentions, tuple(gpus), found, tuple(tasks), precision, tuple(amounts), budget_factor(words),
                tuple(purchases), tuple(topics), tuple(claims), seen, tuple(weigh(rest, seen)))  # fmt: skip


def _sized(
    models: list[tuple[int, Mention]], words: Words, gpu_count: int, catalog: Catalog
) -> list[tuple[int, Mention]]:
    """Sizes that the words around a name tell: "Wan, the big one"; a bare "DeepSeek" on a full machine."""
    sized: list[tuple[int, Mention]] = []
    for start, mention in models:
        if mention.text.lower() in _TOOLKITS and len(models) > 1:
            continue
        if mention.kind == "unsized_model":
            after = words.plain[start : start + 24]
            pick = -1 if _BIG_ONE.search(after) else 0 if _SMALL_ONE.search(after) else None
            known = [row for row in (catalog.find_model(near) for near in mention.near) if row]
            if pick is not None and known:
                mention = Mention(kind="model", text=mention.text, name=known[pick].model_id)
            elif mention.text.lower() == "deepseek" and gpu_count >= 8:
                mention = Mention(kind="model", text=mention.text, name="deepseek-ai/DeepSeek-R1")
        sized.append((start, mention))
    return sized


def _sizes(words: Words, catalog: Catalog, found: dict[str, Found], model: Mention | None) -> None:
    if model:
        found["model"] = Found("model", model.name, 0.95, model.text)
        return
    params = find_params_b(words, name_index(catalog))
    if params:
        value, text = params
        found["params_b"] = Found("params_b", value, 0.9, text)
        if name := only_model_of_size(value, name_index(catalog)):
            found["model"] = Found("model", name, 0.6, text)


def _gpu_slots(
    words: Words,
    gpus: list[GpuFound],
    instances: list[tuple[int, Mention]],
    catalog: Catalog,
    found: dict[str, Found],
) -> None:
    wanted = [item for item in gpus if item.mention.kind == "gpu" and not item.mention.negated]
    unwanted = [item for item in gpus if item.mention.kind == "gpu" and item.mention.negated]
    names = dict.fromkeys(name for item in wanted if (name := rentable(catalog, item.mention.name)))
    if names:
        found["gpu_wanted"] = Found(
            "gpu_wanted", tuple(names), 0.9, " ".join(item.mention.text for item in wanted)
        )
    if unwanted:
        excluded = tuple(dict.fromkeys(item.mention.name for item in unwanted))
        found["gpu_excluded"] = Found(
            "gpu_excluded", excluded, 0.9, " ".join(item.mention.text for item in unwanted)
        )
    counted = next((item for item in wanted if item.count), None)
    if counted and counted.count and 0 < counted.count <= 100_000:
        found["gpu_count"] = Found("gpu_count", counted.count, 0.9, counted.mention.text)
    elif match := re.search(
        r"(?<![\d.])(\d{1,4})\s*(?:张|块|片)?\s*(?:卡|gpus?(?![a-z])|显卡)(?!利用)", words.free
    ):
        if int(match[1]) > 0:
            found["gpu_count"] = Found("gpu_count", int(match[1]), 0.7, words.said(*match.span()))
    types = tuple(
        dict.fromkeys(m.name for _, m in instances if m.kind in ("instance", "family") and not m.negated)
    )
    if types:
        found["instance_wanted"] = Found("instance_wanted", types, 0.95, " ".join(types))
    if (match := re.search(r"(?<![a-z])tp\s?=?\s?(\d{1,3})(?!\d)", words.plain)) and int(match[1]) > 1:
        counted_before = found.get("gpu_count")
        if counted_before is None or int(match[1]) > _int(counted_before):  # type: ignore[operator]
            found["gpu_count"] = Found("gpu_count", int(match[1]), 0.6, words.said(*match.span()))
    if nodes := nodes_said(words):
        found["nodes"] = Found("nodes", nodes, 0.8, "")


def _precision_slots(words: Words, precision: PrecisionFound, found: dict[str, Found]) -> None:
    if precision.weight:
        found["precision"] = Found("precision", precision.weight, 0.9, precision.weight_text)
    if precision.kv:
        found["kv_precision"] = Found("kv_precision", precision.kv, 0.9, precision.kv)
    if precision.allow_quantization is not None:
        found["allow_quantization"] = Found("allow_quantization", precision.allow_quantization, 0.9, "")


def _in_order(
    placed: list[tuple[int, Mention]], gpus: list[GpuFound], precision: PrecisionFound
) -> tuple[Mention, ...]:
    items = placed + [(item.start, item.mention) for item in gpus]
    ordered = [mention for _, mention in sorted(items, key=lambda item: item[0])]
    return tuple(dict.fromkeys([*ordered, *precision.mentions]))


def _topics(rest: str, pasted: Pasted, gpus: list[GpuFound]) -> list[str]:
    text = f"{rest}\n{pasted.errors.lower()}"
    topics = [name for name, pattern in tags("topics").items() if pattern.search(text)]
    if any(is_consumer(item.mention.name) for item in gpus):
        topics.append("consumer_card")
    return topics


def _quotes_error(words: Words, pasted: Pasted, model: bool) -> bool:
    """Whether a turn holds an error message in its own words, command-line flags or an error's name."""
    if pasted.errors or _QUOTED_ERROR.search(words.plain):
        return True
    return not model and bool(_ERROR_NAME.search(words.original))


_OR = re.compile(
    r"\s*(?:,|的)?\s*(?:(?<![a-z])(?:or|vs\.?|versus|against)(?![a-z])|还是|对比|和|与|跟|比)\s*(?:the |an? "
    r"|\d+\s?x\s?|\d\s?[张块卡]|用|直接上|买|选)?\s*"
)


def _alternatives(words: Words, mentions: tuple[Mention, ...], architectures: int) -> bool:
    """Whether two cards, families, types or architectures are set against each other."""
    names = [m for m in mentions if m.kind in ("gpu", "family", "instance", "phantom_family", "unknown_gpu")]
    text = words.plain
    for one, other in itertools.pairwise(names):
        start = text.find(one.text.lower())
        end = text.find(other.text.lower(), start + len(one.text)) if start >= 0 else -1
        if end > 0 and _OR.fullmatch(text[start + len(one.text) : end]) and one.name != other.name:
            return True
    return architectures >= 2 and bool(re.search(r"(?<![a-z])(?:or|vs)(?![a-z])|还是|和", text))


def _params(found: dict[str, Found], model: Mention | None, catalog: Catalog) -> float | None:
    if model:
        return name_index(catalog).by_id[model.name].params_total_b
    return _float(found.get("params_b"))


def _int(item: Found | None) -> int | None:
    return int(item.value) if item and isinstance(item.value, int | float) else None


def _float(item: Found | None) -> float | None:
    return float(item.value) if item and isinstance(item.value, int | float) else None


def is_job(turn: Turn, task: str) -> bool:
    """Whether the money is for one job rather than for a running service."""
    return task in _TRAINING or bool(_JOB.search(turn.words.plain))
