"""Inputs that no tool could use and facts that are not known, in words."""

from __future__ import annotations

from collections.abc import Sequence

from agent.reading.types import Language
from agent.writing.glossary import entries, field_name
from agent.writing.words import Words, quoted, short_model
from knowledge.errors import InputError
from tools.contracts.calls import Fault


def slot_fault_text(language: Language, error: InputError) -> str:
    """A slot that was set by hand and cannot be used: which, what is allowed, what is near."""
    w = Words(language)
    what, given = field_name(w, error.field), quoted(str(error.given))
    wanted = entries("wanted").get(error.field, entries("wanted")["number"])["zh"]
    text = w(
        f"**{what}: “{given}” cannot be used.** Expected: {error.allowed}.",
        f"**{what}：“{given}”无法使用。** 要求：{wanted}。",
    )
    if error.suggestions:
        near = w.listed(short_model(name) for name in error.suggestions[:5])
        text += w(f" Did you mean {near}?", f"是不是指 {near}？")
    return text


def fault_section(w: Words, faults: Sequence[Fault], failed: bool = False) -> str:
    """The first faults in a sentence each; without any, that a calculation broke or more has to be said."""
    if failed and not faults:
        return w(
            "A calculation failed on my side, so I cannot answer this yet; the log has the detail.",
            "计算在我这边出错了，暂时无法回答；详情已记入日志。",
        )
    if not faults:
        return w(
            "I need a little more to answer: which model or workload, and what about it (memory, speed, "
            "price, an error)?",
            "还需要一点信息才能回答：是哪个模型或任务，想了解显存、速度、价格还是报错？",
        )
    seen = dict.fromkeys(_sentence(w, fault) for fault in faults)
    return "\n".join(list(seen)[:3])


def _sentence(w: Words, fault: Fault) -> str:
    given = quoted(str(fault.given))
    what = field_name(w, fault.field)
    if fault.kind == "not_known":
        return w(
            f"**Not known:** {what} {given}. The catalog has no such fact, and I do not guess.",
            f"**没有数据**：{what} {given}。目录里没有这项事实，我不会猜。",
        )
    near = w.listed(fault.suggestions)
    text = w(f"**I do not know the {what} “{given}”.**", f"**没有找到{what}“{given}”。**")
    if near:
        text += w(f" Did you mean {near}?", f"是不是指 {near}？")
    return text
