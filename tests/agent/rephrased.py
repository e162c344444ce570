"""Questions made of one wish in many wordings: paraphrase, language, units, word order, politeness."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Wordings = dict[str, tuple[str, ...]]
CHANGES = ("paraphrase", "language", "units", "order", "politeness")
_MODELS = (
    ("Qwen2.5-72B-Instruct", "通义千问2.5 72B"), ("Qwen2.5-14B-Instruct", "千问2.5-14B"),
    ("Qwen2.5-7B-Instruct", "qwen2.5 7b"), ("Qwen3-32B", "通义千问3 32B"), ("Qwen3-8B", "qwen3 8b"),
    ("Llama-3.1-8B-Instruct", "llama3.1 8b"), ("Llama-3.3-70B-Instruct", "llama3.3 70b"),
    ("DeepSeek-R1-Distill-Qwen-14B", "deepseek r1 distill qwen 14b"), ("QwQ-32B", "QwQ 32B"),
    ("Mistral-7B-Instruct-v0.3", "mistral 7b"), ("Yi-1.5-34B-Chat", "yi-1.5 34b"),
    ("internlm2_5-20b-chat", "internlm2.5 20b"), ("glm-4-9b-chat", "glm-4 9b"),
)  # fmt: skip
_REGIONS = (("Beijing", "北京"), ("Shanghai", "上海"), ("Singapore", "新加坡"), ("Hangzhou", "杭州"))
_CARDS = ("A10", "L20", "A100 80GB", "H20")
_HEADS: dict[str, Wordings] = {
    "": {
        "en": (
            "serve {m}",
            "deploy {m} for inference",
            "host {m}",
            "run an inference service of {m}",
            "I want to put {m} online as an API",
            "we need an endpoint that serves {m}",
        ),
        "zh": (
            "部署{m}做推理",
            "{m} 推理服务",
            "想上线{m}的推理",
            "跑{m}推理",
            "我们打算用{m}做个推理api",
            "{m}想部署一下",
        ),
    },
    "lora": {
        "en": ("LoRA fine-tuning of {m}", "fine-tune {m} with LoRA", "train a lora for {m}"),
        "zh": ("{m} LoRA微调", "用LoRA微调{m}", "{m}跑个lora"),
    },
    "qlora": {
        "en": ("QLoRA fine-tuning of {m}", "fine-tune {m} with QLoRA"),
        "zh": ("{m} QLoRA微调", "用QLoRA微调{m}"),
    },
    "full": {
        "en": ("full fine-tuning of {m}", "full-parameter fine-tuning of {m}", "fully finetune {m}"),
        "zh": ("全参微调{m}", "{m} 全量微调", "{m} 全参数微调"),
    },
}
# Of each kind of clause the wordings; the second tuple of a language holds the same in other units.
_CLAUSES: dict[str, dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "context": {
        "en": (
            ("{k}k context", "context of {k}k tokens", "{k}k ctx", "context length {k}K"),
            ("context of {n} tokens", "max model length {n}", "max_model_len={n}"),
        ),
        "zh": (
            ("{k}k上下文", "上下文长度{k}k", "上下文大概{k}K", "{k}k 的上下文"),
            ("上下文{n} token", "上下文长度{n}", "max-model-len {n}"),
        ),
    },
    "sequence": {
        "en": (("sequence length {n}", "cutoff length {n}"), ("sequence length {k}k",)),
        "zh": (("序列长度{n}", "cutoff {n}"), ("序列长度{k}k",)),
    },
    "concurrency": {
        "en": (
            ("{n} concurrent requests", "concurrency {n}", "{n} requests at once", "{n} in parallel",
             "concurrency of about {n}"), (),
        ),
        "zh": (("{n}并发", "并发数{n}", "同时{n}个请求", "{n}路并发", "并发大概{n}"), ()),
    },
    "users": {
        "en": (("{n} users", "for {n} people", "{n} colleagues use it"), ("thirty users",)),
        "zh": (("{n}个用户", "给{n}人用", "{n}个同事用"), ("三十个用户",)),
    },
    "hourly": {
        "en": (
            ("under {n} CNY per hour", "budget {n} CNY/h", "at most {n} yuan an hour", "max {n} RMB/hour",
             "no more than ¥{n} per hour", "budget: {n} yuan hourly"), ()),
        "zh": (
            ("每小时{n}元以内", "预算{n}元/小时", "一小时不超过{n}块", "¥{n}/小时以内", "每小时最多{n}块钱",
             "预算{n}块一小时", "{n}元/h以内"), ()),
    },
    "monthly": {
        "en": (
            ("under {n} CNY a month", "budget of {n} CNY per month", "monthly budget {n} yuan"),
            ("budget {t}k CNY/month", "up to {t}k RMB a month"),
        ),
        "zh": (
            ("每月{n}元以内", "预算每月{n}元", "一个月{n}块以内", "月预算{n}元"),
            ("每月{w}万元以内", "预算{w}万/月", "{w}w一个月", "一个月{w}万以内"),
        ),
    },
    "region": {
        "en": (("in {n}", "region {n}", "{n} region", "in the {n} region"), ()),
        "zh": (("地域{n}", "放在{n}", "{n}地域", "{n}区域"), ()),
    },
    "int4": {
        "en": (("in int4", "quantized to int4", "4-bit", "int4 is fine", "AWQ int4"), ()),
        "zh": (("int4", "量化到int4", "4bit量化", "int4也行", "用int4"), ()),
    },
    "fp8": {"en": (("in fp8", "fp8 weights", "FP8"), ()), "zh": (("fp8", "用fp8", "fp8精度"), ())},
    "cards": {
        "en": (
            ("on {c} x {n}", "with {c} {n}", "we have {c}x {n}", "on {c} {n} GPUs"),
            ("on {n} * {c}", "{n} x{c}"),
        ),
        "zh": (("用{c}张{n}", "{c}块{n}", "{c}卡{n}", "手上有{c}张{n}卡"), ("用{n}*{c}", "{n} x {c}")),
    },
    "not": {
        "en": (("no {n}", "without {n}", "anything but {n}", "but not {n}", "don't want {n}"), ()),
        "zh": (("不要{n}", "不用{n}", "不考虑{n}", "{n}不要", "除了{n}"), ()),
    },
}  # fmt: skip
_ASKED: Wordings = {
    "en": (
        "which instance should I rent?",
        "what instance do you recommend?",
        "recommend an instance type",
        "what GPU do I need?",
        "which one?",
    ),
    "zh": ("推荐哪个实例？", "用什么实例规格？", "该选哪款实例？", "用啥卡合适", "选什么机型好"),
}
_POLITE: Wordings = {
    "en": (
        "Hello, could you please help me: {} Thank you!",
        "Hi there! {} Thanks a lot",
        "Sorry to bother you, one more question: {} Much appreciated :)",
        "hey, quick one - {}",
    ),
    "zh": (
        "你好，麻烦帮忙看一下：{} 谢谢！",
        "您好，想请教一下，{} 多谢",
        "大佬们好，小白一个，{} 跪谢",
        "打扰了，请问{} 辛苦啦",
    ),
}


@dataclass(frozen=True)
class Clause:
    """A condition of a wish: its kind and what goes into the wording, in both languages."""

    kind: str
    value: object
    names: tuple[str, str] = ("", "")

    def say(self, language: str, pick: Callable[[Sequence[str]], str], other_units: bool) -> str:
        usual, changed = _CLAUSES[self.kind][language]
        text = pick(changed if other_units and changed else usual)
        if self.kind == "cards":
            count, name = self.value  # type: ignore[misc]
            return text.format(c=count, n=name)
        if self.names[0]:
            return text.format(n=self.names[0 if language == "en" else 1])
        if not isinstance(self.value, int):
            return text
        number = self.value
        return text.format(n=number, k=number // 1024, t=f"{number / 1000:g}", w=f"{number / 10_000:g}")


@dataclass(frozen=True)
class Wish:
    """One request: a model, the kind of work and conditions; `say` words it."""

    model: tuple[str, str]
    method: str
    clauses: tuple[Clause, ...]

    def say(self, rng: random.Random, language: str = "en", change: str = "", first: bool = False) -> str:
        """The wish in words. `first` takes the first wording everywhere; else any one is drawn."""

        def pick(options: Sequence[str]) -> str:
            return options[0] if first else rng.choice(options)

        head = pick(_HEADS[self.method][language]).format(m=self.model[0 if language == "en" else 1])
        clauses = [clause.say(language, pick, change == "units") for clause in self.clauses]
        if change == "order":
            rng.shuffle(clauses)
            half = rng.randrange(len(clauses) + 1)
            parts = [*clauses[:half], head, *clauses[half:]]
        else:
            parts = [head, *clauses]
        joint = ", " if language == "en" else "，"
        text = joint.join([*parts, pick(_ASKED[language])])
        return rng.choice(_POLITE[language]).format(text) if change == "politeness" else text


def draw(rng: random.Random) -> Wish:
    """A wish with one to four conditions that go together."""
    method = rng.choice(["", "", "", "lora", "qlora", "full"])
    options: list[Clause] = []
    if method:
        options.append(Clause("sequence", rng.choice([1024, 2048, 4096, 8192])))
    else:
        options.append(Clause("context", rng.choice([4096, 8192, 16384, 32768])))
        options.append(Clause(*rng.choice([("concurrency", rng.choice([1, 4, 8, 20, 64])), ("users", 30)])))
        if rng.random() < 0.4:
            options.append(Clause(rng.choice(["int4", "fp8"]), ""))
    money = rng.choice(["hourly", "monthly", "", ""])
    if money:
        sums = {"hourly": [12, 40, 80, 150], "monthly": [8000, 20000, 30000]}[money]
        options.append(Clause(money, rng.choice(sums)))
    if rng.random() < 0.35:
        options.append(Clause("region", "", rng.choice(_REGIONS)))
    place = rng.random()
    if place < 0.3:
        options.append(Clause("cards", (rng.choice([1, 2, 4, 8]), rng.choice(_CARDS))))
    elif place < 0.5:
        name = rng.choice(["T4", "V100", "A10"])
        options.append(Clause("not", "", (name, name)))
    rng.shuffle(options)
    return Wish(rng.choice(_MODELS), method, tuple(options[: rng.randint(1, 4)]))


def pair(rng: random.Random, change: str) -> tuple[str, str]:
    """A wish twice: in plain words, and with one kind of change."""
    wish = draw(rng)
    language = rng.choice(["en", "zh"])
    plain = wish.say(rng, language, first=True)
    if change == "language":
        return plain, wish.say(rng, "zh" if language == "en" else "en", first=True)
    return plain, wish.say(rng, language, change, first=change != "paraphrase")
