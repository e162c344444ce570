"""Answers that need no report: greetings, refusals, unreadable input, questions back."""

from __future__ import annotations

import re

from agent.reading.phrases import tags
from agent.reading.types import Intent, Reading
from agent.reading.words import Words as QuestionWords
from agent.writing.glossary import entries
from agent.writing.words import Words, bullets, quoted

# Tags of special.toml, the graver first, with the answer of each.
_SHADES = {
    "break_in": "break_in", "account": "account", "orders": "account", "personal": "personal",
    "identity": "identity",
}  # fmt: skip
_NOT_POSITIVE = re.compile(r"[$¥￥]?[-–—−－]|负|minus|negative|[0０]\s?\D", re.IGNORECASE)
_EXAMPLES = (
    (
        "Llama-3-70B inference, 8k context, 10 concurrent, under 50 CNY per hour",
        "Llama-3-70B 推理，8k 上下文，10 并发，每小时 50 元以内",
    ),
    (
        "LoRA fine-tuning of a 14B model: which GPU, how long, how much?",
        "14B 模型 LoRA 微调：用什么卡，多久，多少钱？",
    ),
    ("A10 against L20 for image generation", "出图选 A10 还是 L20"),
    ("an error message or log of a GPU machine", "GPU 机器的报错或日志"),
)  # fmt: skip


def left_out_line(w: Words, reading: Reading) -> str:
    """One sentence on quantities that cannot be meant as written; "" without any."""
    large = [text for text in reading.unusable if not _NOT_POSITIVE.match(text)]
    small = [text for text in reading.unusable if text not in large]
    parts = []
    if small:
        said = w.listed(f"“{quoted(text)}”" for text in small)
        parts.append(w(f"{said}: a count must be positive", f"{said}：数量必须为正"))
    if large:
        said = w.listed(f"“{quoted(text)}”" for text in large)
        parts.append(w(f"{said}: this number is too large", f"{said}：数字过大"))
    told = w("; ", "；").join(parts)
    return w(f"**I left out** {told}.", f"**没有采用** {told}。") if parts else ""


def small_answer(w: Words, reading: Reading) -> str:
    """One clear, friendly sentence or two; for an injection nothing of the attempt is repeated."""
    return {
        "greeting": _greeting,
        "reset": _reset,
        "out_of_scope": _out_of_scope,
        "injection": _injection,
        "empty": _empty,
    }[_known(reading.intent)](w, reading)


def _known(intent: Intent) -> str:
    return intent if intent in ("greeting", "reset", "out_of_scope", "injection") else "empty"


def _examples(w: Words) -> str:
    return bullets(w(english, chinese) for english, chinese in _EXAMPLES)


def _greeting(w: Words, _reading: Reading) -> str:
    return (
        w(
            "Hello! Tell me what AI work you want to run and I will name the right Alibaba Cloud GPU "
            "instance, with the memory arithmetic, speed, price and sources. For example:",
            "你好！告诉我你想跑什么 AI 任务，我来给出合适的阿里云 GPU 实例，附显存计算、速度、价格和来源。"
            "比如：",
        )
        + "\n\n"
        + _examples(w)
    )


def _reset(w: Words, _reading: Reading) -> str:
    return w(
        "Done, I start afresh: nothing of the earlier request is kept. What do you want to run?",
        "好的，重新开始，之前的条件都不再沿用。你想跑什么任务？",
    )


def declined(w: Words, code: str) -> str:
    """What is said of something that is not done."""
    return str(entries("declined")[code][w.language])


def _out_of_scope(w: Words, reading: Reading) -> str:
    """Declined kindly, with what is possible instead; the shade is read from the question's own words."""
    asked = QuestionWords.of(reading.question).plain
    if "mining" in reading.topics:
        return declined(w, "mining")
    for shade, code in _SHADES.items():
        if tags("special")[shade].search(asked):
            return declined(w, code)
    return declined(w, "other_cloud" if "other_cloud" in reading.topics else "outside")


def _injection(w: Words, reading: Reading) -> str:
    """One friendly sentence on what is not done; the honest part is answered after it."""
    asked = QuestionWords.of(reading.question).plain
    return declined(w, "discount" if tags("special")["discount"].search(asked) else "attempt")


def _empty(w: Words, _reading: Reading) -> str:
    return (
        w(
            "I could not read a question in that. Tell me in a sentence what you want to run, for example:",
            "没有读到问题。请用一句话说说你想跑什么，比如：",
        )
        + "\n\n"
        + _examples(w)
    )
