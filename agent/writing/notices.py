"""Notices about how an answer came to be, and the sentence for an answer that could not be made."""

from __future__ import annotations

_NOTICES = {
    "model_failed": (
        "The language model did not answer; this is the built-in answer.",
        "语言模型没有响应，以下是内置回答。",
    ),
    "model_timeout": (
        "The language model took too long; this is the built-in answer.",
        "语言模型响应超时，以下是内置回答。",
    ),
    "model_ungrounded": (
        "The language model stated facts that the calculations do not show; this is the built-in answer.",
        "语言模型给出了计算结果中没有的事实，已改用内置回答。",
    ),
    "model_unfit": (
        "The language model's text was no answer from the calculations; this is the built-in answer.",
        "语言模型的回答不是根据计算结果得出的，已改用内置回答。",
    ),
    "hub_unreachable": (
        "The model hub could not be reached, or keeps this model closed: give its config.json instead.",
        "无法访问模型仓库，或该模型未公开：请改为提供它的 config.json。",
    ),
    "hub_without_model": (
        "The model hub has no usable config.json under this id: check the id, or give the file.",
        "模型仓库里没有这个 id 的可用 config.json：请检查 id，或直接提供文件。",
    ),
    "input_cut": (
        "Your message is very long: its beginning and its end were read.",
        "你的消息很长，只读取了开头和结尾。",
    ),
    "model_paused": (
        "The language model has failed several times and is paused; this is the built-in answer.",
        "语言模型连续失败，暂时停用，以下是内置回答。",
    ),
}


def notice_text(language: str, code: str) -> str:
    """The sentence of a notice in the question's language."""
    english, chinese = _NOTICES[code]
    return chinese if language == "zh" else english


def failure_text(language: str, reference: str) -> str:
    """The sentence shown when an answer could not be made; the log has the rest under the reference."""
    if language == "zh":
        return f"抱歉，这次没能得出回答，请换个说法再试一次（编号 {reference}）。"
    return f"Sorry, I could not work out an answer; please try another wording (reference {reference})."
