"""Finds what is to be done: the task, the training method, the engine, the data and the wishes."""

from __future__ import annotations

import re

from agent.reading.numerals import NUM, SCALE, number
from agent.reading.phrases import tags
from agent.reading.words import Found, Words
from tools.engines import spoken_engine

_TRAINING = ("finetune", "pretrain")
_BY_MODEL = {"diffusion": "diffusion", "video": "video", "asr": "asr", "tts": "tts", "vision": "vision",
             "embedding": "embedding", "reranker": "reranker"}  # fmt: skip
# Tasks whose words also describe what a language model serves ("agent with embeddings").
_BESIDE_A_MODEL = ("embedding", "reranker", "development", "vision")
_OBJECTIVE = re.compile(r"(?<![a-z])(dpo|kto|orpo|simpo|grpo|ppo|rlhf)(?![a-z])")
_COUNT = rf"(?P<n>{NUM})\s*(?P<scale>{SCALE})?"
_DATA_TOKENS = re.compile(rf"(?P<n>{NUM})\s*(?P<scale>t|b|{SCALE})?\s*(?:个|的|of)?\s*(?:tokens?|词元)")
_DATA_NEAR = re.compile(r"训|train|数据|data|语料|corpus|epoch|微调|tun|全参|budget|chinchilla")
_SAMPLES = (
    re.compile(
        rf"{_COUNT}\s*(?:多|来)?\s*(?:条|对(?!话)|个?样本|samples?|examples?|rows?|pairs?|conversations"
        rf"|records|sentences|reviews|dialog(?:ue)?s|句(?:话|子)?|段(?:文本|对话|话)"
        r"|instructions|组对话|问答对|组数据|份数据|篇数据)"
    ),
    re.compile(
        rf"(?:数据(?:集|量)?|dataset|样本(?:数|量)?)(?:of|有|约|大概|是|为|:|\s){{0,4}}{_COUNT}\s*(?:条|对|$)"
    ),
)
_EPOCHS = (
    re.compile(rf"(?P<n>{NUM})\s*(?:个)?\s*(?:epochs?|轮(?!胎|询))"),
    re.compile(rf"epochs?\s*(?:=|:|of)?\s*(?P<n>{NUM})"),
)
_RANK = re.compile(r"(?:lora[-_\s]?)?(?:rank|(?<![a-z])r)\s*(?:=|:|of|为|是)?\s*(\d{1,4})(?![\d.])")
_MAX_GPUS = re.compile(
    r"(?:最多|不超过|至多|at most|no more than|up to|max(?:imum)?(?: of)?)\s*(\d{1,4})\s*[张块片个]?\s*(?:卡"
    r"|gpus?|显卡|cards?)"
    r"|1\s?卡(?:就|能|跑|搞定|解决|方案)|on 1 (?:gpu|card)|(?:only 1|1) (?:gpu|card)(?: only)"
)
_MEMORY = r"(\d{1,4})\s*g(?:i?b)?"
_VRAM = re.compile(
    rf"(?<![\d.]){_MEMORY}\s*(?:的|of\s)?\s*"
    rf"(?:显存|vram|gpus?(?![a-z])|cards?|显卡|1?\s?[张块]?卡|video memory"
    rf"|gpu memory)"
    rf"|(?:显存|vram|每[人卡张])\s*(?:有|是|为|of|只有|要|:)?\s*{_MEMORY}(?![a-z])"
    rf"|(?:at least|>=?|no less than|minimum)\s{_MEMORY}\s(?:on|per|in)\s(?:1|one|each|a|the)\s(?:gpu|card)"
    rf"|\b(?:is|are|will|would)\s{_MEMORY}\s(?:enough|ok|sufficient|do)|(?<![\d.]){_MEMORY}\s*(?:够|行)"
)


def find_tasks(words: Words, model_kind: str) -> list[tuple[str, float]]:
    """Tasks of a turn with confidence, the main one first; the kind of a named model speaks too."""
    text = words.plain
    found = [name for name, pattern in tags("tasks").items() if pattern.search(text)]
    by_model = _BY_MODEL.get(model_kind)
    if by_model and by_model not in found:
        found.append(by_model)
    tuned = [name for name in found if name in _TRAINING]
    if tuned:
        return [(tuned[0], 0.95)] + [(name, 0.7) for name in found if name not in tuned]
    serving = bool(tags("work")["inference"].search(text))
    if tags("work")["training"].search(text) and not serving:
        return [("finetune", 0.5)] + [(name, 0.6) for name in found]
    if model_kind in ("llm", "moe-llm") and all(name in _BESIDE_A_MODEL for name in found):
        return [("inference", 0.8)] + [(name, 0.5) for name in found]
    if found:
        return [(name, 0.85) for name in found]
    return [("inference", 0.8)] if serving else []


def find_method(words: Words) -> Found | None:
    """The training method; of several the first of the vocabulary, as the more special one."""
    for name, pattern in tags("methods").items():
        if match := pattern.search(words.plain):
            return Found("method", name, 0.9, words.said(*match.span()))
    return None


def find_objective(words: Words) -> Found | None:
    """What is trained for, where more than the one model is then in memory: DPO, GRPO, PPO and their kin."""
    if match := _OBJECTIVE.search(words.plain):
        name = "ppo" if match[1] == "rlhf" else match[1]
        return Found("training_objective", name, 0.9, words.said(*match.span()))
    return None


def find_engine(words: Words) -> Found | None:
    """The serving engine that a turn names, also one that no calculator knows: the answer then says so."""
    found = spoken_engine(words.plain)
    if found is None:
        return None
    name, place = found
    return Found("engine", name, 0.95, words.said(*place))


def usual_tag(words: Words) -> Found | None:
    """The format behind an engine's plain model names, where it has one: Ollama's library serves Q4_K_M."""
    engine = find_engine(words)
    if engine is None or engine.value != "ollama":
        return None
    return Found("precision", "gguf-q4_k_m", 0.6, engine.text)


def find_data(words: Words) -> list[Found]:
    """Tokens, samples and epochs of a training set; takes their words."""
    found: list[Found] = []
    if _DATA_NEAR.search(words.plain) and (match := _DATA_TOKENS.search(words.free)):
        count = number(match["n"], match["scale"])
        if count >= 100_000:
            found.append(Found("dataset_tokens", count, 0.9, words.said(*match.span())))
            words.take(*match.span())
    for field, patterns in (("dataset_samples", _SAMPLES), ("epochs", _EPOCHS)):
        match = next((hit for pattern in patterns if (hit := pattern.search(words.free))), None)
        if match and (value := number(match["n"], match.groupdict().get("scale"))) > 0:
            found.append(Found(field, value, 0.9, words.said(*match.span())))
            words.take(*match.span())
    if "lora" in words.plain and (match := _RANK.search(words.plain)) and 1 <= int(match[1]) <= 8192:
        found.append(Found("lora_rank", int(match[1]), 0.9, words.said(*match.span())))
    return found


def find_wishes(words: Words) -> list[Found]:
    """NVLink, bare metal, cheapest or fastest, at most so many GPUs, derived prices in the ranking."""
    text, work = words.plain, tags("work")
    found: list[Found] = []
    if (match := work["nvlink"].search(text)) and not work["no_nvlink"].search(text):
        found.append(Found("needs_nvlink", True, 0.8, words.said(*match.span())))
    if match := work["virtual"].search(text):
        found.append(Found("bare_metal", False, 0.8, words.said(*match.span())))
    elif match := work["bare_metal"].search(text):
        found.append(Found("bare_metal", True, 0.7, words.said(*match.span())))
    if match := work["derived_prices"].search(text):
        found.append(Found("allow_derived_prices", True, 0.8, words.said(*match.span())))
    for objective in ("cheapest", "fastest"):
        if match := work[objective].search(text):
            found.append(Found("objective", objective, 0.9, words.said(*match.span())))
            break
    if match := _MAX_GPUS.search(text):
        found.append(Found("max_gpus", max(1, int(match[1] or 1)), 0.8, words.said(*match.span())))
    return found


def find_vram(words: Words) -> Found | None:
    """The memory of a card that is named by its memory only: "a 24GB card", "每人8G"."""
    if match := _VRAM.search(words.free):
        value = float(next(group for group in match.groups() if group))
        if 0 < value <= 2000:
            return Found("vram_gb", value, 0.8, words.said(*match.span()))
    return None
