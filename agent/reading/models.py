"""Finds model names: aliases of the catalog in any spelling, families with a size apart, unknown names."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from agent.reading.types import Mention
from agent.reading.words import Found, Words
from knowledge.catalog import Catalog
from knowledge.derived import per_catalog
from knowledge.names import strip_quantization
from knowledge.rows import Model

_TOKEN = re.compile(r"[a-z]+|\d+(?:\.\d+)*|[一-鿿]|\.(?=[a-z0-9])")
_GAP = re.compile(r"[\s_\-·/:']{0,2}")
_LONGEST = 16  # tokens in a name
_TAIL = re.compile(
    r"(?:[-_ ](?:instruct|chat|it|hf|base|awq|gptq|int[48]|fp8|bf16|fp16|gguf|q\d\w*|4bit|8bit|bnb|nvfp4"
    r"|mxfp4"
    r"|dynamic|distill|preview|v\d(?:\.\d)?))+(?![a-z0-9])"
)
# Aliases that are also words of everyday language: a model only beside a word that says so.
_COMMON = {"clip", "swin", "sana", "bloom", "inkling", "chroma", "r1", "mimo", "moonlight", "jamba", "vits"}
_MODEL_NEAR = re.compile(
    r"模型|(?<![a-z])(?:models?|ds|vit|llm)(?![a-z])|deepseek|满血|部署|deploy|serve|embedding|671b|蒸馏|distill|推理"
)
_TOOLKITS = ("funasr", "paddleocr")  # names of a model and of the toolkit around others
_BIG_ONE = re.compile(r"大的|大号|最大|big(?:ger|gest)?|large(?:r|st)?")
_SMALL_ONE = re.compile(r"小的|小号|最小|small(?:er|est)?|tiny|mini")
_SIZE = re.compile(
    r"(?<![\d.a-z])(\d{1,4}(?:\.\d{1,3})?)\s?b(?:illion)?(?![a-z0-9/])(?:[-_ ]?a(\d{1,3}(?:\.\d)?)b)?"
)
_SIZE_IN_WORDS = (
    (
        re.compile(
            r"(\d{1,4}(?:\.\d+)?)\s*(百万|千万|亿|十亿|百亿|千亿)\s*(?:级别?|规模)?的?\s*(?:参数|模型)"
        ),
        {"百万": 1e-3, "千万": 1e-2, "亿": 0.1, "十亿": 1.0, "百亿": 10.0, "千亿": 100.0},
    ),
    (
        re.compile(
            r"(?<![\d.a-z])(\d{1,4}(?:\.\d+)?)\s*(m|million|billion|bn)[\s-](?:params?|parameters?|参数"
            r"|model)"
        ),
        {"m": 1e-3, "million": 1e-3, "billion": 1.0, "bn": 1.0},
    ),
)
_UNKNOWN = re.compile(
    r"(?<![a-z0-9./-])([a-z][a-z0-9.]{1,20}(?:-[a-z]{1,12})?)[-_](\d{1,4}(?:\.\d{1,2})?)b(?![a-z0-9])"
)
# A name of letters, a number and letters ("Foobar-9000-XXL") that is to be run or has a size after it.
_UNKNOWN_BY_PLACE = re.compile(
    r"(?:(?<=serve )|(?<=run )|(?<=deploy )|(?<=host )|(?<=部署)|(?<=部署 )|(?<=跑)|(?<=跑 )|^)"
    r"(?!rtx|gtx|tesla|nvidia|ecs)([a-z]{3,20}-\d{2,6}-[a-z]{2,12})(?![a-z0-9.-])"
)
_NOT_NAMES = {
    "batch", "the", "a", "bf", "int", "fp", "sub", "multi", "dense", "moe", "llm", "lora", "qlora", "model",
}  # fmt: skip
_NOT_PARAMETERS = re.compile(r"\s*(?:个|of)?\s*(?:tokens?|token|字|语料|rows|samples|docs|条|requests)")
# The model that a bare maker's name means on a full machine: its flagship carries that name.
_FLAGSHIPS = {"deepseek": "deepseek-ai/DeepSeek-R1"}
_FULL_MACHINE = 8
# Programs whose names begin like a model's: "LLaMA-Factory 全参微调 7B" names no Llama.
_SOFTWARE = re.compile(r"(?<![a-z])llama[-_. ]?(?:factory|cpp|index|server|cli|swift|stack)(?![a-z])")
_SET_ASIDE_BEFORE = re.compile(r"(?:不要|不用|别用|不想用|instead of|rather than|(?<![a-z])not)\s*$")
_SET_ASIDE_AFTER = re.compile(
    r"\s*(?:is|was|'s)\s(?:boring|too\s(?:small|weak|bad|slow|big|large|dumb|old)|outdated|no good|not good)"
    r"|\s*(?:不行|不好用|太(?:弱|差|小|慢|笨|老|大)了?|效果(?:不好|差|一般)|就算了)"
)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_SLIP = 80.0  # of 100: how much of a name's letters must agree for a slip of the pen
_UNMISTAKABLE_B = 100.0  # from this size on, one number often stands for one model ("671b", "405b")


@dataclass(frozen=True)
class NameIndex:
    """Every way to write a model: `names` by squashed form; `stems`, names without size, to size and id."""

    names: dict[str, str]
    stems: dict[str, dict[float, str]]
    by_id: dict[str, Model]


def squash(name: str) -> str:
    """Letters, digits, dots and Chinese characters of a name, in lower case."""
    return re.sub(r"[^a-z0-9.一-鿿]", "", name.lower()).strip(".")


@per_catalog
def name_index(catalog: Catalog) -> NameIndex:
    """The names of a catalog's models; built once, some 50 ms."""
    index = NameIndex({}, {}, {row.model_id: row for row in catalog.models})
    for row in reversed(catalog.models):
        for name in (row.model_id, row.model_id.rsplit("/", 1)[-1], row.display_name, *row.aliases):
            for variant in _variants(name.lower()):
                _add(index, variant, row.model_id)
    for alias in catalog.model_aliases:
        if alias.model_id and re.fullmatch(r"[\w./ -]+", alias.alias):
            base = strip_quantization(alias.alias)[0]
            for name in (alias.alias, base, base.rsplit("/", 1)[-1]):
                if len(squash(name)) > 3:
                    index.names.setdefault(squash(name), alias.model_id)
    return index


def _add(index: NameIndex, name: str, model_id: str) -> None:
    key = squash(name)
    if key and not re.fullmatch(r"[\d.]+b?", key):
        index.names[key] = model_id
    sized = re.match(r"^(.*?[a-z0-9一-鿿])[\s_-]*(?<![\d.])(\d{1,4}(?:\.\d{1,2})?)b(?![a-z])", name)
    if sized and "/" not in name and len(squash(sized[1])) > 1:
        index.stems.setdefault(squash(sized[1]), {})[float(sized[2])] = model_id


def _variants(name: str) -> Iterator[str]:
    """A name with the short forms that people use for its maker and its distillations."""
    yield name
    if distilled := re.match(r"deepseek-r1-distill-((?:qwen|llama)-(.+))", name):
        yield f"r1-distill-{distilled[1]}"
        for head in ("deepseek", "deepseek r1", "r1"):
            yield from (f"{head} {word} {distilled[2]}" for word in ("distill", "蒸馏", "蒸馏版"))
    for long, short in (
        ("通义千问", "千问"), ("通义万相", "万相"), ("千问", "qwen"), ("万相", "wan"),
        ("meta-llama-", "llama-"), ("wan2.1-t2v-", "wan "), ("wan2.1-t2v-", "万相"),
    ):  # fmt: skip
        if name.startswith(long):
            yield from _variants(short + name.removeprefix(long))
    if name.startswith("llama"):
        yield from (word + name.removeprefix("llama") for word in ("拉马", "羊驼", "喇嘛"))
    if name in ("deepseek-r1", "deepseek-v3"):
        short = name.removeprefix("deepseek-")
        yield from (f"{name} 671b", f"{short} 671b", f"ds {short}")
    if name == "deepseek-r1":
        yield from (
            "r1",
            "deepseek 671b",
            "满血版deepseek",
            "满血版r1",
            "满血版",
            "满血r1",
            "deepseek-r1满血版",
        )


def find_models(words: Words, catalog: Catalog) -> list[tuple[int, Mention]]:
    """Model names of a turn in order, known, of a known family, or unknown; takes their words."""
    index = name_index(catalog)
    for match in _SOFTWARE.finditer(words.free):
        words.take(*match.span())
    found = [*_named(words, index), *_by_stem(words, index), *_unknown(words, catalog)]
    return sorted(found, key=lambda item: item[0])


def _names_in(text: str, names: Container[str]) -> Iterator[tuple[int, int, str]]:
    """Start, end and key of each name, the longest from every place, without overlap."""
    tokens = [match.span() for match in _TOKEN.finditer(text)]
    place = 0
    for at, (start, _) in enumerate(tokens):
        if start < place or (start and text[start - 1].isascii() and text[start - 1].isalnum()):
            continue
        key, end, best = "", start, None
        for token_start, token_end in tokens[at : at + _LONGEST]:
            if not _GAP.fullmatch(text, end, token_start):
                break
            key, end = key + text[token_start:token_end], token_end
            inside = text[end : end + 1].isascii() and text[end : end + 1].isalnum()
            if key in names and not (text[end - 1].isascii() and inside):
                best = (start, end, key)
        if best:
            place = best[1]
            yield best


def _named(words: Words, index: NameIndex) -> list[tuple[int, Mention]]:
    text = words.free
    found: list[tuple[int, Mention]] = []
    families = {start: end for start, end, _ in _names_in(text, index.stems)}
    for start, end, key in _names_in(text, index.names):
        if families.get(start, 0) > end:  # "R1 蒸馏版的 14B" is no R1
            continue
        around = text[max(0, start - 30) : start] + " " + text[end : end + 30]
        if key in _COMMON and not _MODEL_NEAR.search(around):
            continue
        tail = _TAIL.match(text, end)
        said = words.said(start, tail.end() if tail else end)
        found.append((start, Mention(kind="model", text=said, name=index.names[key])))
        words.take(start, end)  # the tail stays readable: it may say the precision ("-AWQ")
    return found


def _by_stem(words: Words, index: NameIndex) -> list[tuple[int, Mention]]:
    """A family and a size that stand apart: "千问2.5 的 72b", "the 8b of llama 3"."""
    text = words.free
    found: list[tuple[int, Mention]] = []
    for start, end, key in _names_in(text, index.stems):
        if len(key) < 3:
            continue
        sizes = index.stems[key]
        size = _size_for(text, start, end, sizes)
        said = words.said(start, end) + (f" {size[0].strip()}" if size else "")
        words.take(start, end)
        if size:
            found.append((start, Mention(kind="model", text=said, name=sizes[float(size[1])])))
            words.take(size.start(), size.end())
        else:
            near = tuple(index.by_id[sizes[value]].display_name for value in sorted(sizes)[:8])
            found.append((start, Mention(kind="unsized_model", text=said, name=said, near=near)))
    return found


def _size_for(text: str, start: int, end: int, sizes: Iterable[float]) -> re.Match[str] | None:
    """The nearest size of the turn that this family has, after the name before it."""
    fitting = [match for match in _SIZE.finditer(text) if float(match[1]) in sizes]
    return min(fitting, key=lambda match: (match.start() < start, abs(match.start() - end)), default=None)


def _unknown(words: Words, catalog: Catalog) -> list[tuple[int, Mention]]:
    found: list[tuple[int, Mention]] = []
    for match in _UNKNOWN.finditer(words.free):
        if match[1] in _NOT_NAMES or _NOT_PARAMETERS.match(words.free, match.end()):
            continue
        said = words.said(*match.span())
        near = tuple(catalog.near_models(match[0], 3))
        if meant := _slip_of(match[0], near, catalog):
            words.take(*match.span())
            found.append(
                (match.start(), Mention(kind="model", text=said, name=meant.model_id, near=near[:1]))
            )
            continue
        found.append((match.start(), Mention(kind="unknown_model", text=said, name=said, near=near)))
        words.take(match.start(), match.start(2))  # by its size the question can be answered
    for match in _UNKNOWN_BY_PLACE.finditer(words.free):
        said = words.said(*match.span())
        near = tuple(catalog.near_models(match[0], 3))
        found.append((match.start(), Mention(kind="unknown_model", text=said, name=said, near=near)))
        words.take(*match.span())
    return found


def _slip_of(name: str, near: Sequence[str], catalog: Catalog) -> Model | None:
    """The model that a name misspells: nearly the same letters and the very same numbers, else None."""
    numbers = _NUMBER.findall(name)
    for candidate in near:
        model = catalog.find_model(candidate)
        short = squash(candidate.rsplit("/", 1)[-1])[: len(squash(name)) + 1]
        same_numbers = _NUMBER.findall(candidate.lower())[: len(numbers)] == numbers
        if model and same_numbers and fuzz.ratio(squash(name), short) >= _SLIP:
            return model
    return None


def mark_refused(models: list[tuple[int, Mention]], words: Words) -> list[tuple[int, Mention]]:
    """Models set aside for another one of the same turn: "not SDXL, I want FLUX", "X is too slow, so Y"."""
    kinds = [mention.kind for _, mention in models]
    marked = [
        (start, mention.model_copy(update={"negated": _refused(start, mention, words)}))
        for start, mention in models
    ]
    left = [mention for _, mention in marked if mention.kind == "model" and not mention.negated]
    return marked if kinds.count("model") > 1 and left else models


def _refused(start: int, mention: Mention, words: Words) -> bool:
    after = words.plain[start + len(mention.text) : start + len(mention.text) + 24]
    return bool(
        _SET_ASIDE_AFTER.match(after) or _SET_ASIDE_BEFORE.search(words.plain[max(0, start - 14) : start])
    )


def settle_sizes(
    models: list[tuple[int, Mention]], words: Words, gpu_count: int, catalog: Catalog
) -> list[tuple[int, Mention]]:
    """Sizes that the words around a family tell: "Wan, the big one"; a bare "DeepSeek" on a full machine."""
    settled: list[tuple[int, Mention]] = []
    for start, mention in models:
        name = mention.text.lower()
        if name in _TOOLKITS and len(models) > 1:
            continue
        if mention.kind == "unsized_model":
            after = words.plain[start : start + 24]
            known = [row.model_id for row in (catalog.find_model(near) for near in mention.near) if row]
            meant = _FLAGSHIPS.get(name, "") if gpu_count >= _FULL_MACHINE else ""
            if known and _BIG_ONE.search(after):
                meant = known[-1]
            elif known and _SMALL_ONE.search(after):
                meant = known[0]
            mention = Mention(kind="model", text=mention.text, name=meant) if meant else mention
        settled.append((start, mention))
    return settled


def find_params_b(words: Words) -> tuple[float, str] | None:
    """The first parameter count of a turn in 1e9, and the words; "10B tokens" is none."""
    for match in _SIZE.finditer(words.free):
        value = float(match[1])
        if 0 < value <= 5000 and not _NOT_PARAMETERS.match(words.free, match.end()):
            words.take(*match.span())
            return value, words.said(*match.span())
    for pattern, scales in _SIZE_IN_WORDS:
        if in_words := pattern.search(words.free):
            words.take(*in_words.span())
            return float(in_words[1]) * scales[in_words[2]], words.said(*in_words.span())
    return None


def model_slots(model: Mention | None, params: tuple[float, str] | None, index: NameIndex) -> Iterator[Found]:
    """The named model, else the size; from 100 B on also the one model that has it."""
    if model:
        yield Found("model", model.name, 0.95, model.text)
    elif params:
        value, text = params
        yield Found("params_b", value, 0.9, text)
        if name := _only_model_of_size(value, index):
            yield Found("model", name, 0.6, text)


def _only_model_of_size(params_b: float, index: NameIndex) -> str:
    if params_b < _UNMISTAKABLE_B:
        return ""
    fitting = [
        row
        for row in index.by_id.values()
        if row.kind in ("llm", "moe-llm") and row.params_total_b and abs(row.params_total_b - params_b) < 1
    ]
    if len({(row.num_layers, row.hidden_size) for row in fitting}) != 1:
        return ""
    flagship = next((row for row in fitting if row.model_id in _FLAGSHIPS.values()), fitting[0])
    return flagship.model_id
