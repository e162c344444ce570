"""Finds model names: aliases of the catalog in any spelling, families with a size apart, unknown names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from agent.reading.types import Mention
from agent.reading.words import Words
from knowledge.catalog import Catalog
from knowledge.names import strip_quantization
from knowledge.rows import Model

_TOKEN = re.compile(r"[a-z]+|\d+(?:\.\d+)*|[一-鿿]|\.(?=[a-z0-9])")
_GAP = re.compile(r"[\s_\-·/:']{0,2}")
_LONGEST = 16  # tokens in a name
_TAIL = re.compile(
    r"(?:[-_ ](?:instruct|chat|it|hf|base|awq|gptq|int[48]|fp8|bf16|fp16|gguf|q\d\w*|4bit|8bit"
    r"|bnb|nvfp4|mxfp4|dynamic"
    r"|distill|preview|v\d(?:\.\d)?))+(?![a-z0-9])"
)
# Aliases that are also words of everyday language: a model only beside a word that says so.
_COMMON = {
    "clip",
    "swin",
    "sana",
    "bloom",
    "inkling",
    "chroma",
    "r1",
    "mimo",
    "moonlight",
    "jamba",
    "vits",
    "base",
}
_MODEL_NEAR = re.compile(
    r"模型|model|deepseek|ds|满血|部署|deploy|serve|embedding|vit|llm|671b|蒸馏|distill|推理"
)
SIZE = re.compile(
    r"(?<![\d.a-z])(\d{1,4}(?:\.\d{1,3})?)\s?b(?:illion)?(?![a-z0-9/])(?:[-_ ]?a(\d{1,3}(?:\.\d)?)b)?"
)
_SIZE_WORDS = (
    (
        re.compile(
            r"(\d{1,4}(?:\.\d+)?)\s*(百万|千万|亿|十亿|百亿|千亿)\s*(?:级别?|规模)?(?:的)?\s*(?:参数|模型)"
        ),
        None,
    ),
    (re.compile(r"(?<![\d.a-z])(\d{2,4})\s*m(?:illion)?[\s-](?:params?|parameters?|参数|model)"), 1e-3),
    (re.compile(r"(\d{1,4}(?:\.\d+)?)\s*(?:billion|bn)[\s-](?:params?|parameters?|model)"), 1.0),
)
_UNKNOWN = re.compile(
    r"(?<![a-z0-9./-])([a-z][a-z0-9.]{1,20}(?:-[a-z]{1,12})?)[-_](\d{1,4}(?:\.\d{1,2})?)b(?![a-z0-9])"
)
_NOT_NAMES = {
    "batch",
    "the",
    "a",
    "bf",
    "int",
    "fp",
    "sub",
    "multi",
    "dense",
    "moe",
    "llm",
    "lora",
    "qlora",
    "model",
}
_NOT_PARAMETERS = re.compile(r"\s*(?:个|of)?\s*(?:tokens?|token|字|语料|rows|samples|docs|条|requests)")


@dataclass(frozen=True)
class NameIndex:
    """Every way to write a model: `names` by squashed form, `stems` (names without size) by squashed form."""

    names: dict[str, str]
    stems: dict[str, dict[float, str]]
    by_id: dict[str, Model]


def squash(name: str) -> str:
    """Letters, digits, dots and Chinese characters of a name, in lower case."""
    return re.sub(r"[^a-z0-9.一-鿿]", "", name.lower()).strip(".")


@lru_cache(maxsize=4)
def name_index(catalog: Catalog) -> NameIndex:
    names: dict[str, str] = {}
    stems: dict[str, dict[float, str]] = {}
    by_id = {row.model_id: row for row in catalog.models}
    for row in reversed(catalog.models):
        for name in (row.model_id, row.model_id.rsplit("/", 1)[-1], row.display_name, *row.aliases):
            _add(names, stems, name, row)
    for alias in catalog.model_aliases:
        if alias.model_id and re.fullmatch(r"[\w./ -]+", alias.alias):
            base = strip_quantization(alias.alias)[0]
            for name in (alias.alias, base, base.rsplit("/", 1)[-1]):
                if len(squash(name)) > 3:
                    names.setdefault(squash(name), alias.model_id)
    return NameIndex(names, stems, by_id)


def _add(names: dict[str, str], stems: dict[str, dict[float, str]], name: str, row: Model) -> None:
    for variant in _variants(name):
        key = squash(variant)
        if key and not re.fullmatch(r"[\d.]+b?", key):
            names[key] = row.model_id
        sized = re.match(
            r"^(.*?[a-z0-9一-鿿代])[\s_-]*(?<![\d.])(\d{1,4}(?:\.\d{1,2})?)b(?![a-z])", variant.lower()
        )
        if sized and len(squash(sized[1])) > 1 and "/" not in variant:
            stems.setdefault(squash(sized[1]), {})[float(sized[2])] = row.model_id


def _variants(name: str) -> list[str]:
    """A name with the short forms that people use for its maker and its distillations."""
    low = name.lower()
    found = [low]
    if low.startswith("deepseek-r1-distill-"):
        rest = re.sub(r"^deepseek-r1-distill-(?:qwen|llama)-", "", low)
        found += [
            f"{head} {word} {rest}"
            for head in ("deepseek", "deepseek r1", "r1")
            for word in ("distill", "蒸馏", "蒸馏版")
        ]
        found += [low.removeprefix("deepseek-")]
    for long, short in (
        ("通义千问", "千问"),
        ("通义万相", "万相"),
        ("千问", "qwen"),
        ("万相", "wan"),
        ("meta-llama-", "llama-"),
    ):
        if low.startswith(long):
            found += _variants(short + low.removeprefix(long))
    if low.startswith("wan2.1-t2v-"):
        found += [low.replace("wan2.1-t2v-", "wan "), low.replace("wan2.1-t2v-", "万相")]
    if low in ("deepseek-r1", "deepseek-v3"):
        found += [
            f"{low} 671b",
            low.removeprefix("deepseek-") + " 671b",
            f"ds {low.removeprefix('deepseek-')}",
        ]
    if low == "deepseek-r1":
        found += [
            "r1",
            "deepseek 671b",
            "满血版deepseek",
            "满血版r1",
            "满血版",
            "满血r1",
            "deepseek-r1满血版",
            "r1 满血",
        ]
    return found


def find_models(words: Words, catalog: Catalog) -> list[tuple[int, Mention]]:
    """Model names of a turn in order, known, of a known family, or unknown; takes their words."""
    index = name_index(catalog)
    found = _named(words, index)
    found += _by_stem(words, index, catalog)
    found += _unknown(words, catalog)
    return sorted(found, key=lambda item: item[0])


def _named(words: Words, index: NameIndex) -> list[tuple[int, Mention]]:
    text = words.free
    tokens = [(match.start(), match.end()) for match in _TOKEN.finditer(text)]
    found: list[tuple[int, Mention]] = []
    place = 0
    for at, (start, _) in enumerate(tokens):
        if start < place or (start and text[start - 1].isascii() and text[start - 1].isalnum()):
            continue
        best = _longest(text, tokens, at, index)
        if best is None:
            continue
        end, key = best
        near = text[max(0, start - 30) : end + 30]
        if key in _COMMON and not _MODEL_NEAR.search(near.replace(text[start:end], " ", 1)):
            continue
        tail = _TAIL.match(text, end)
        whole = tail.end() if tail else end
        name = index.names[key]
        found.append((start, Mention(kind="model", text=words.said(start, whole), name=name)))
        # The tail stays readable: it may say the precision ("-AWQ").
        words.take(start, end)
        place = end
    return found


def _longest(text: str, tokens: list[tuple[int, int]], at: int, index: NameIndex) -> tuple[int, str] | None:
    """The longest run of tokens from `at` that is a model's name: its end and key."""
    key = ""
    best: tuple[int, str] | None = None
    last = tokens[at][0]
    for start, end in tokens[at : at + _LONGEST]:
        if not _GAP.fullmatch(text, last, start):
            break
        key += text[start:end]
        last = end
        follower = text[end : end + 1]
        ends = not text[end - 1].isascii() or not (follower.isascii() and follower.isalnum())
        if ends and key in index.names:
            best = (end, key)
    return best


def _by_stem(words: Words, index: NameIndex, catalog: Catalog) -> list[tuple[int, Mention]]:
    """A family and a size that stand apart: "千问2.5 的 72b", "the 8b of llama 3"."""
    text = words.free
    tokens = [(match.start(), match.end()) for match in _TOKEN.finditer(text)]
    found: list[tuple[int, Mention]] = []
    stems = NameIndex({key: key for key in index.stems if len(key) > 2}, {}, {})
    place = 0
    for at, (start, _) in enumerate(tokens):
        if start < place or (start and text[start - 1].isascii() and text[start - 1].isalnum()):
            continue
        best = _longest(text, tokens, at, stems)
        if best is None:
            continue
        end, key = best
        place = end
        sizes = index.stems[key]
        size = _size_for(text, start, end, sizes)
        name = sizes[float(size[1])] if size else ""
        said = words.said(start, end) + (f" {size[0].strip()}" if size else "")
        near = tuple(f"{_display(catalog, index, sizes[value])}" for value in sorted(sizes)[:8])
        kind: Literal["model", "unsized_model"] = "model" if name else "unsized_model"
        found.append((start, Mention(kind=kind, text=said, name=name or said, near=() if name else near)))
        words.take(start, end)
        if size:
            words.take(size.start(), size.end())
    return found


def _size_for(text: str, start: int, end: int, sizes: dict[float, str]) -> re.Match[str] | None:
    """The nearest size of the turn that this family has, after the name before it."""
    fitting = [match for match in SIZE.finditer(text) if float(match[1]) in sizes]
    return min(fitting, key=lambda match: (match.start() < start, abs(match.start() - end)), default=None)


def _display(catalog: Catalog, index: NameIndex, model_id: str) -> str:
    return index.by_id[model_id].display_name


def _unknown(words: Words, catalog: Catalog) -> list[tuple[int, Mention]]:
    found: list[tuple[int, Mention]] = []
    for match in _UNKNOWN.finditer(words.free):
        if match[1] in _NOT_NAMES or _NOT_PARAMETERS.match(words.free, match.end()):
            continue
        near = tuple(catalog.near_models(match[0], 3))
        said = words.said(*match.span())
        found.append((match.start(), Mention(kind="unknown_model", text=said, name=said, near=near)))
        # The size stays readable, so that the question can be answered by it.
        words.take(match.start(), match.start(2))
    return found


def find_params_b(words: Words, index: NameIndex) -> tuple[float, str] | None:
    """The first parameter count of a turn in 1e9, and the words; "10B tokens" is none."""
    for match in SIZE.finditer(words.free):
        value = float(match[1])
        if 0 < value <= 5000 and not _NOT_PARAMETERS.match(words.free, match.end()):
            words.take(match.start(), match.end())
            return value, words.said(*match.span())
    for pattern, scale in _SIZE_WORDS:
        if words_match := pattern.search(words.free):
            factor = scale or _CHINESE_SIZES[words_match[2]]
            words.take(*words_match.span())
            return float(words_match[1]) * factor, words.said(*words_match.span())
    return None


_CHINESE_SIZES = {"百万": 1e-3, "千万": 1e-2, "亿": 0.1, "十亿": 1.0, "百亿": 10.0, "千亿": 100.0}


def only_model_of_size(params_b: float, index: NameIndex) -> str:
    """The model that a size of 100 B and more stands for ("671b"), when one family alone has it; else ""."""
    if params_b < 100:
        return ""
    fitting = [
        row
        for row in index.by_id.values()
        if row.kind in ("llm", "moe-llm") and row.params_total_b and abs(row.params_total_b - params_b) < 1
    ]
    if not fitting or len({(row.num_layers, row.hidden_size) for row in fitting}) > 1:
        return ""
    preferred = [row for row in fitting if row.model_id == "deepseek-ai/DeepSeek-R1"]
    return (preferred or fitting)[0].model_id
