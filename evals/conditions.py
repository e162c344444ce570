"""Conditions by which code decides what a line of a case says: words, numbers, options, questions asked.

A condition is a mapping of the keys below (all must hold), a list of such mappings (all must hold), or
`any: [...]` (one must hold). A group is a string or a list of strings of which one must occur.

| key | holds when |
| --- | --- |
| has | one of the strings occurs in the answer |
| has_all | every group occurs somewhere in the answer |
| says | one passage (paragraph, item, table row with its columns) has one string of each group |
| claims | one sentence has one string of each group and no negation |
| matches | the pattern (a regular expression, any case) is found in the answer |
| number | one of the figures ("144 GB", "20..22 CNY/h", "9.53 CNY/h 2%") is found with its unit near |
| states | the answer states as an assumption, or asks for, each topic of the list |
| asks | the answer asks for at least one topic of the list in a question |
| first_gpu, any_gpu | the first option, or any one, has a GPU of the list |
| family | an option is of an instance family of the list, or the answer names one |
| any_family | an option is of an instance family of the list |
| every_option | there are options and each meets the bounds: min_vram_gib, max_hourly_cny … |
| an_option_breaks | an option does not meet the bounds |
| options | whether there is at least one option (true) or none (false) |
| precision | the first option's precision is in the list |
| not | the condition inside does not hold |
| turn | the answer to this turn (1 = first) is read instead of the last one |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evals.numbers import close, read_numbers, unit_named
from evals.outcome import Outcome
from evals.passages import Passage, mentions_any, negated, passages
from evals.recommended import Option, bounds_hold, gpu_named, options_of

TOLERANCE = {"GB": 0.08, "GiB": 0.08, "TB": 0.08}  # lets GB and GiB (factor 1.074) both pass
DEFAULT_TOLERANCE = 0.05
_VALUE = r"\d+(?:\.\d+)?(?:e\d+)?"
_FIGURE = re.compile(
    rf"^(?P<low>{_VALUE})(?:\.\.(?P<high>{_VALUE}))?(?: (?P<unit>1e4 CNY|[^ \d]\S*))?(?: (?P<tol>[\d.]+)%)?$"
)
_ASSUMES = re.compile(
    r"假设|假定|设为|默认|按|取|以.{1,12}计|估|如果|若"
    r"|assum|default|taken as|based on|suppos|if |at \d|for \d|with \d",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"[?？]|请(?:告诉|补充|提供|说明|给出|确认|发|贴)|告诉我|还需要|需要(?:知道|了解)|取决于"
    r"|tell me|let me know|please (?:give|say|share|state|provide)|I need\b|need to know|depends on",
    re.IGNORECASE,
)
TOPICS = {
    "context": ("上下文", "context", "长度", "max_model_len", "max-model-len", "token", "tokens", "文档"),
    "concurrency": (
        "并发",
        "concurrency",
        "concurrent",
        "同时",
        "in flight",
        "requests at",
        "simultaneous",
        "请求",
    ),
    "sequence": ("序列", "长度", "sequence", "seq", "cutoff", "token", "tokens"),
    "batch": ("batch", "批", "micro_batch", "批大小"),
    "task": (
        "任务",
        "训练",
        "推理",
        "微调",
        "用途",
        "做什么",
        "task",
        "training",
        "inference",
        "fine-tuning",
        "workload",
        "用来",
    ),
    "model": ("模型", "参数量", "model", "parameters", "规模"),
    "budget": ("预算", "budget", "spend"),
    "region": ("地域", "region", "哪里", "区域"),
    "precision": ("精度", "量化", "precision", "quantization", "quantisation", "int4", "bf16", "fp16"),
    "usage": ("时长", "小时", "duration", "hours", "多久", "how long", "每天", "24×7", "24x7"),
    "data": ("数据", "data", "样本", "samples", "轮", "epochs"),
    "users": ("用户", "人数", "多少人", "users", "people", "几个人"),
    "latency": ("延迟", "latency", "响应"),
    "engine": ("引擎", "框架", "engine", "framework", "vllm"),
    "symptom": ("报错", "日志", "现象", "症状", "error", "log", "symptom", "nvidia-smi", "慢"),
    "software": ("软件", "software", "应用", "application", "算法", "algorithm"),
    "memory_size": ("40g", "80g", "40 gb", "80 gb", "40gb", "80gb"),
    "exchange_rate": ("汇率", "exchange rate", "cny/usd", "usd", "cny per usd", "美元"),
    "mfu": ("mfu", "利用率", "utilisation", "utilization"),
}


@dataclass(frozen=True)
class Figure:
    """A figure of a condition: a value or a range, its unit and tolerance."""

    low: float
    high: float
    unit: str
    tol: float

    def found_in(self, passage: Passage) -> bool:
        if self.unit and not unit_named(passage.whole, self.unit):
            return False
        numbers = read_numbers(passage.text).numbers
        if self.low == self.high:
            return any(close(number.readings, [self.low], self.tol) for number in numbers)
        low, high = self.low * (1 - self.tol), self.high * (1 + self.tol)
        return any(low <= reading <= high for number in numbers for reading in number.readings)


@dataclass(frozen=True)
class Condition:
    """A parsed condition; call it with an outcome."""

    tests: tuple[Callable[[Outcome], bool], ...]

    def __call__(self, outcome: Outcome) -> bool:
        return all(test(outcome) for test in self.tests)


def parse_condition(value: Any) -> Condition:
    """A condition from YAML values; `ValueError` names a key or figure that does not exist."""
    if isinstance(value, Condition):
        return value
    if isinstance(value, list):
        return Condition(tuple(parse_condition(item) for item in value))
    if not isinstance(value, Mapping):
        raise ValueError(f"a condition is a mapping or a list, not {value!r}")
    turn = value.get("turn")
    tests = tuple(_test(key, wanted) for key, wanted in value.items() if key != "turn")
    if not tests:
        raise ValueError("a condition without a key cannot fail")
    return Condition((_of_turn(tests, turn),) if turn is not None else tests)


def parse_figure(written: str) -> Figure:
    """ "144 GB", "20..22 CNY/h", "9.53 CNY/h 2%" -> a figure."""
    match = _FIGURE.match(written.strip())
    if match is None:
        raise ValueError(f"{written!r} is no figure")
    low, unit = float(match["low"]), match["unit"] or ""
    tol = float(match["tol"]) / 100 if match["tol"] else TOLERANCE.get(unit, DEFAULT_TOLERANCE)
    return Figure(low, float(match["high"] or low), unit, tol)


def _of_turn(tests: Sequence[Callable[[Outcome], bool]], turn: int) -> Callable[[Outcome], bool]:
    return lambda outcome: all(test(outcome.at_turn(turn)) for test in tests)


def _test(key: str, wanted: Any) -> Callable[[Outcome], bool]:
    makers: dict[str, Callable[[Any], Callable[[Outcome], bool]]] = {
        "any": _any_of,
        "not": lambda inside: _negate(parse_condition(inside)),
        "has": lambda words: _mentioned([_group(words)]),
        "has_all": lambda words: _mentioned(_groups(words)),
        "says": lambda words: _said(_groups(words)),
        "claims": lambda words: _claimed(_groups(words)),
        "matches": _matcher,
        "number": _number_test,
        "states": lambda topics: _topic_test(topics, all, _ASSUMES, _QUESTION),
        "asks": lambda topics: _topic_test(topics, any, _QUESTION),
        "first_gpu": lambda names: lambda outcome: _has_gpu(options_of(outcome)[:1], names),
        "any_gpu": lambda names: lambda outcome: _has_gpu(options_of(outcome), names),
        "family": _family_test,
        "any_family": lambda names: (
            lambda outcome: any(option["family"] in names for option in options_of(outcome))
        ),
        "every_option": lambda bounds: (
            lambda outcome: bool(options_of(outcome)) and not _breaks(outcome, bounds)
        ),
        "an_option_breaks": lambda bounds: lambda outcome: _breaks(outcome, bounds),
        "options": lambda present: lambda outcome: bool(options_of(outcome)) == present,
        "precision": lambda names: (
            lambda outcome: any(option["precision"] in names for option in options_of(outcome)[:1])
        ),
    }
    if key not in makers:
        raise ValueError(f"no condition is called {key!r}")
    return makers[key](wanted)


def _group(words: Any) -> list[str]:
    group = [words] if isinstance(words, str) else list(words)
    if not group or not all(isinstance(word, str) for word in group):
        raise ValueError(f"{words!r} is no list of strings")
    return group


def _groups(words: Any) -> list[list[str]]:
    if isinstance(words, str):
        raise ValueError(f"{words!r} is no list of groups")
    return [_group(item) for item in words]


def _any_of(parts: Sequence[Any]) -> Callable[[Outcome], bool]:
    conditions = [parse_condition(part) for part in parts]
    return lambda outcome: any(condition(outcome) for condition in conditions)


def _negate(condition: Condition) -> Callable[[Outcome], bool]:
    return lambda outcome: not condition(outcome)


def _mentioned(groups: Sequence[Sequence[str]]) -> Callable[[Outcome], bool]:
    return lambda outcome: _all_in(outcome.text, groups)


def _said(groups: Sequence[Sequence[str]]) -> Callable[[Outcome], bool]:
    return lambda outcome: any(_all_in(passage.stated, groups) for passage in passages(outcome.text))


def _claimed(groups: Sequence[Sequence[str]]) -> Callable[[Outcome], bool]:
    return lambda outcome: any(
        _all_in(sentence, groups) and not negated(sentence)
        for passage in passages(outcome.text)
        for sentence in passage.sentences
    )


def _all_in(text: str, groups: Sequence[Sequence[str]]) -> bool:
    return all(mentions_any(text, group) for group in groups)


def _breaks(outcome: Outcome, bounds: Mapping[str, float]) -> bool:
    return not all(bounds_hold(option, bounds) for option in options_of(outcome))


def _has_gpu(options: Sequence[Option], names: Sequence[str]) -> bool:
    return any(gpu_named(option, name) for option in options for name in names)


def _matcher(pattern: str) -> Callable[[Outcome], bool]:
    compiled = re.compile(pattern, re.IGNORECASE)
    return lambda outcome: compiled.search(outcome.text) is not None


def _number_test(figures: Sequence[str]) -> Callable[[Outcome], bool]:
    wanted = [parse_figure(figure) for figure in _group(figures)]
    return lambda outcome: any(
        figure.found_in(passage) for passage in passages(outcome.text) for figure in wanted
    )


def _topic_test(
    topics: Sequence[str], how_many: Callable[[Any], bool], *marks: re.Pattern[str]
) -> Callable[[Outcome], bool]:
    for topic in topics:
        if topic not in TOPICS:
            raise ValueError(f"no topic is called {topic!r}")

    def holds(outcome: Outcome) -> bool:
        marked = [
            passage.text
            for passage in passages(outcome.text)
            if any(mark.search(passage.whole) for mark in marks)
        ]
        return how_many(any(mentions_any(text, TOPICS[topic]) for text in marked) for topic in topics)

    return holds


def _family_test(families: Sequence[str]) -> Callable[[Outcome], bool]:
    names = _group(families)

    def holds(outcome: Outcome) -> bool:
        in_options = any(option["family"] == name for option in options_of(outcome) for name in names)
        return in_options or mentions_any(outcome.text, names)

    return holds
