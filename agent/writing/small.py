"""Answers that need no report: greetings, refusals, unreadable input, questions back."""

from __future__ import annotations

from agent.reading.types import Intent, Reading
from agent.writing.words import Words, bullets

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


def _out_of_scope(w: Words, reading: Reading) -> str:
    if "other_cloud" in reading.topics:
        return w(
            "I only know the instances and prices of Alibaba Cloud, so I cannot price other clouds and will "
            "not guess. "
            "If you tell me the GPU and the work, I can give the Alibaba Cloud type for it as a yardstick.",
            "我只掌握阿里云的实例和价格，其他云的价格无法给出，也不会猜。告诉我 GPU 型号和任务，"
            "我可以给出对应的阿里云规格作参照。",
        )
    if "mining" in reading.topics:
        return w(
            "I cannot help with cryptocurrency mining: it breaks the terms of cloud GPU services. I am glad "
            "to help with AI, rendering or scientific computing.",
            "挖矿违反云服务条款，我不能协助。AI 训练推理、渲染或科学计算方面的 GPU 选型我很乐意帮忙。",
        )
    return w(
        "That is outside what I can help with: I choose, price and troubleshoot GPU instances on Alibaba "
        "Cloud. I cannot act "
        "in an account, and please never send passwords or access keys here. Tell me the model or workload "
        "and I will size it.",
        "这个超出了我的范围：我负责阿里云 GPU 实例的选型、报价和排障，不能代为操作账号，"
        "也请不要在这里发送密码或 AccessKey。告诉我模型或任务，我来帮你选型。",
    )


def _injection(w: Words, _reading: Reading) -> str:
    return w(
        "I am an advisor for GPU instances on Alibaba Cloud. I keep to the facts of my catalog and do not "
        "share my "
        "instructions or change my role. Ask me about a model, a GPU, a price or an error and I will help.",
        "我是阿里云 GPU 选型助手，只依据目录里的事实作答，不公开内部说明，也不更换角色。可以问我模型、GPU、"
        "价格或报错，我来帮你。",
    )


def _empty(w: Words, _reading: Reading) -> str:
    return (
        w(
            "I could not read a question in that. Tell me in a sentence what you want to run, for example:",
            "没有读到问题。请用一句话说说你想跑什么，比如：",
        )
        + "\n\n"
        + _examples(w)
    )
