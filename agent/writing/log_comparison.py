"""A log beside the estimate in words: the cause, then part by part, and what single flags would change."""

from __future__ import annotations

from agent.writing.glossary import entries
from agent.writing.words import Words, quoted, short_model, table
from tools.contracts.compare import CompareLogReport, FlagEffect, PartDifference

_KINDS = {
    "vllm": "vLLM",
    "sglang": "SGLang",
    "llama.cpp": "llama.cpp",
    "out_of_memory": "PyTorch",
    "nvidia_smi": "nvidia-smi",
}
_EFFECTS_SHOWN = 4
_SMALLEST_EFFECT_GIB = 0.1
_FULL = 0.85  # of a card's memory


def log_sections(w: Words, report: CompareLogReport) -> list[str]:
    """What the log says, beside what the calculator expects of the same set-up."""
    return [
        section
        for section in (
            _cause(w, report),
            _read_line(w, report),
            _parts_table(w, report),
            _effects_table(w, report),
        )
        if section
    ]


def _cause(w: Words, report: CompareLogReport) -> str:
    """The first line: the failure, the part that differs most, or that all agrees."""
    known = entries("log_causes")
    if report.cause in known:
        return f"**{known[report.cause][w.language]}**"
    if report.kind == "nvidia_smi":
        return _used(w, report)
    worst = next((part for part in report.parts if f"{part.part}_differs" == report.cause), None)
    if worst is not None and worst.estimated is not None:
        name, flag = part_name(w, worst.part), _flag(worst)
        told = w(
            f"**{_capital(name)} differs: {_figure(w, worst, worst.measured)} in the log, "
            f"{_figure(w, worst, worst.estimated)} expected.**",
            f"**{name}与估算不符：日志 {_figure(w, worst, worst.measured)}，估算 "
            f"{_figure(w, worst, worst.estimated)}**。",  # a full stop inside would keep the bold open
        )
        return told + (w(f" {flag} changes it.", f"由 {flag} 决定。") if flag else "")
    if report.estimate is None:
        return w("**What the log states of memory:**", "**日志中的显存数据：**")
    compared = [part_name(w, part.part) for part in report.parts if part.relative is not None]
    if not compared:
        return w("**What the log states of memory:**", "**日志中的显存数据：**")
    listed = w.listed(compared)
    return w(f"**The log agrees with the estimate: {listed}.**", f"**日志与估算一致：{listed}。**")


def _used(w: Words, report: CompareLogReport) -> str:
    """What nvidia-smi shows of the fullest card; a full one says little where an engine took its share."""
    used, total = report.read.get("total_gib"), report.read.get("nvidia_smi_total_gib")
    if not (isinstance(used, int | float) and isinstance(total, int | float) and total):
        return w("**What the log states of memory:**", "**日志中的显存数据：**")
    cards = int(report.read.get("gpu_count") or 1)
    which = (
        w(f"The fullest of {cards} GPUs", f"{cards} 张卡中占用最多的一张")
        if cards > 1
        else w("The GPU", "这张卡")
    )
    told = w(
        f"**{which} uses {w.gib(used)} of {w.gib(total)}.**",
        f"**{which}已用 {w.gib(used)} / {w.gib(total)}**。",
    )
    if used < _FULL * total:
        return told
    return told + w(
        " A serving engine reserves its share of the card at the start (vLLM 90 % and more), so a full card "
        "does not say that the model needs it.",
        "推理引擎启动时就会占住设定的份额（vLLM 默认 90% 以上），所以占满并不等于模型需要这么多。",
    )


def _read_line(w: Words, report: CompareLogReport) -> str:
    """What the log was read as: engine, version, model, card."""
    parts = [" ".join(filter(None, (_KINDS[report.kind], report.engine_version)))]
    model = str(report.read.get("model") or (report.estimate.model if report.estimate else ""))
    if model:
        parts.append(short_model(quoted(model)))
    if report.estimate is not None:
        parts.append(w.precision(report.estimate.weight_precision))
        cards = f"{report.estimate.gpu_count} × {report.estimate.gpu}" if report.estimate.gpu else ""
        parts.append(cards)
    elif report.read.get("gpu"):
        parts.append(f"{report.read.get('gpu_count', 1)} × {quoted(str(report.read['gpu']))}")
    told = w.listed(filter(None, parts))
    return w(f"Read as: {told}.", f"识别为：{told}。")


def _parts_table(w: Words, report: CompareLogReport) -> str:
    if not report.parts:
        return ""
    compared = any(part.estimated is not None for part in report.parts)
    head = [w("Part", "部分"), w("In the log", "日志")]
    if compared:
        head += [
            w("Estimate", "估算"),
            w("Estimate against log", "估算相对日志"),
            w("Changed by", "由何改变"),
        ]
    rows = []
    for part in report.parts:
        row = [part_name(w, part.part), _figure(w, part, part.measured)]
        if compared:
            estimated = "–" if part.estimated is None else _figure(w, part, part.estimated)
            row += [estimated, _relative(part), _flag(part)]
        rows.append(row)
    return table(head, rows)


def _effects_table(w: Words, report: CompareLogReport) -> str:
    """What single flags would change, the largest gain of cache first."""
    if report.kind == "nvidia_smi":
        return ""
    room = [item for item in report.effects if item.kv_pool_gib_per_gpu > 0]
    told = [
        item
        for item in room
        if abs(item.kv_pool_change_gib) >= _SMALLEST_EFFECT_GIB or item.kv_capacity_change
    ]
    if not told:
        return ""
    ordered = sorted(told, key=lambda item: -(item.kv_capacity_change or 0))[:_EFFECTS_SHOWN]
    head = (w("Flag", "参数"), w("KV cache per GPU", "每卡 KV 缓存"), w("Tokens it holds", "可容纳 token"))
    lead = w("What one flag would change:", "改动单个参数的影响：")
    return f"{lead}\n\n{table(head, [_effect_row(w, item) for item in ordered])}"


def _effect_row(w: Words, item: FlagEffect) -> tuple[str, str, str]:
    value = str(item.value) if not isinstance(item.value, bool) else str(item.value).lower()
    pool = f"{w.gib(item.kv_pool_gib_per_gpu)} ({_signed(w, item.kv_pool_change_gib)})"
    held = "–" if item.kv_capacity_tokens is None else w.count(item.kv_capacity_tokens)
    if item.kv_capacity_change:
        held += f" ({'+' if item.kv_capacity_change > 0 else '−'}{w.count(abs(item.kv_capacity_change))})"
    return f"`{item.flag}={value}`", pool, held


def _signed(w: Words, change: float) -> str:
    return f"{'+' if change >= 0 else '−'}{w.gib(abs(change))}"


def _figure(w: Words, part: PartDifference, value: float) -> str:
    return w.count(value) if part.unit == "tokens" else w.gib(value)


def _relative(part: PartDifference) -> str:
    if part.relative is None:
        return "–"
    sign = "+" if part.relative >= 0 else "−"
    text = f"{sign}{abs(part.relative) * 100:.0f}%"
    return f"**{text}**" if part.differs else text


def _flag(part: PartDifference) -> str:
    return f"`{part.flag}`" if part.flag else ""


def part_name(w: Words, part: str) -> str:
    """A part of the memory as the log's reader knows it."""
    return entries("log_parts").get(part, {}).get(w.language, part.replace("_", " "))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
