"""A recommendation in words: the answer first, options side by side, the arithmetic, why not the others."""

from __future__ import annotations

from agent.steps import Findings
from agent.writing.cost import nearest_price
from agent.writing.glossary import remark_text
from agent.writing.memory import memory_cell, memory_line
from agent.writing.speed import speed_cell, speed_line
from agent.writing.words import Words, bullets, table
from tools.contracts.memory import MemoryReport
from tools.contracts.sizing import Option, Recommendation, Rejected

_REJECTED_SHOWN = 4
# Reasons for which an option without a label is shown; the others are warnings about it.
_STANDS_FOR = frozenset(
    {
        "what_the_wish_costs", "wish_in_lower_precision", "budget_buys_smaller_load", "budget_buys_machine_only",
        "without_limit",
    }
)  # fmt: skip
_LABELS = {
    "cheapest": ("cheapest", "最省"),
    "balanced": ("balanced", "均衡"),
    "fastest": ("fastest", "最快"),
}


def recommendation_sections(w: Words, found: Recommendation, findings: Findings) -> list[str]:
    """The sections of a sizing answer, without assumptions, warnings and sources, which every answer shares."""
    if not found.options:
        return _infeasible(w, found, findings)
    best = found.options[0]
    sections = [headline(w, best), options_table(w, list(found.options))]
    sections += [memory_line(w, best.memory), speed_line(w, best.speed)]
    sections.append(_rejected_section(w, found, _full_precision(w, found, findings)))
    return [section for section in sections if section]


def headline(w: Words, option: Option) -> str:
    """Type, count, GPUs, precision and price with its region: the answer in one line."""
    count = f"{option.count} × " if option.count > 1 else ""
    cards = (
        f"{option.count * option.gpu_count} × {option.gpu_model}" if option.gpu_count else option.gpu_model
    )
    precision = f", {w.precision(option.precision)}" if option.precision else ""
    if w.language == "zh" and precision:
        precision = f"，{w.precision(option.precision)} 权重"
    elif precision:
        precision += w(" weights", "")
    return w(
        f"**{count}{option.instance_type}** — {cards}{precision}: {price_words(w, option)}.",
        f"推荐 **{count}{option.instance_type}**：{cards}{precision}，{price_words(w, option)}。",
    )


def price_words(w: Words, option: Option) -> str:
    """The hourly price with purchase, region and date, or that none is published."""
    if option.hourly_cny is None:
        near = nearest_price(w, option.cost) if option.cost else ""
        return w(
            f"no list price is published for {option.region}"
            + (f"; {near}" if near else ", ask for a quote"),
            f"{option.region} 没有公开目录价" + (f"；{near}" if near else "，需询价"),
        )
    shown = w.price(option.hourly_cny)
    price = option.cost.price if option.cost else None
    if price is None:
        return f"**{shown}** ({option.region})"
    basis = w("list price", "目录价") if price.basis == "list" else w("quote", "报价")
    if price.basis.startswith("derived"):
        basis = w("derived price", "推算价")
    return w(
        f"**{shown}** ({w.purchase(price.purchase)}, {price.region}, {basis} of {w.date(price.as_of)})",
        f"**{shown}**（{w.purchase(price.purchase)}，{price.region}，{w.date(price.as_of)} {basis}）",
    )


def options_table(w: Words, options: list[Option]) -> str:
    """Options side by side; a column that no option fills is left out."""
    header = [
        w("Option", "方案"),
        w("Instance type", "实例规格"),
        w("GPUs", "GPU"),
        w("Precision", "精度"),
        w("Per hour", "每小时"),
        w("Per month", "每月"),
        w("Memory per GPU", "每卡显存"),
        w("Speed", "速度"),
    ]
    rows = [_row(w, option) for option in options]
    kept = [column for column in range(len(header)) if any(row[column] for row in rows)]
    return table(
        [header[column] for column in kept], [[row[column] or "–" for column in kept] for row in rows]
    )


def _row(w: Words, option: Option) -> list[str]:
    labels = w.listed(w(*_LABELS[label]) for label in option.labels) or why_words(w, option)
    count = f"{option.count} × " if option.count > 1 else ""
    hourly = w.price(option.hourly_cny) if option.hourly_cny is not None else w("not published", "未公布")
    monthly = w.money(option.monthly_cny, decimals=0) if option.monthly_cny is not None else ""
    return [
        labels,
        f"{count}{option.instance_type}",
        f"{option.count * option.gpu_count} × {option.gpu_model}",
        w.precision(option.precision) if option.precision else "",
        hourly,
        monthly,
        memory_cell(w, option.memory),
        speed_cell(w, option.speed),
    ]


def _rejected_line(w: Words, item: Rejected) -> str:
    name = item.instance_type or item.family
    return w(
        f"{name} ({item.gpu_model}): {remark_text(w, item.reason)}",
        f"{name}（{item.gpu_model}）：{remark_text(w, item.reason)}",
    )


def _full_precision(w: Words, found: Recommendation, findings: Findings) -> str:
    """What the same load needs without quantization, and what fewer such cards would hold."""
    other = findings.first(Recommendation, "full_precision")
    if other is None or not other.options:
        return ""
    best, full = found.options[0], other.options[0]
    price = w.price(full.hourly_cny) if full.hourly_cny is not None else w("no published price", "无公开价格")
    cards = full.count * full.gpu_count
    text = w(
        f"Without quantization ({full.precision}) this load needs {cards} such cards: {full.instance_type}, {price}",
        f"不量化（{full.precision}）时同样的负载需要 {cards} 张卡：{full.instance_type}，{price}",
    )
    if full.gpu_model != best.gpu_model:
        text = w(
            f"Without quantization ({full.precision}): {cards} × {full.gpu_model}, {full.instance_type}, {price}",
            f"不量化（{full.precision}）：{cards} × {full.gpu_model}，{full.instance_type}，{price}",
        )
    fewer = findings.first(MemoryReport, "fewer_cards")
    if fewer is not None and fewer.max_concurrency is not None:
        text += _fewer(w, fewer)
    return text + w(".", "。")


def _fewer(w: Words, fewer: MemoryReport) -> str:
    held = fewer.max_concurrency or 0
    context = w.count(fewer.context_tokens)
    if held == 0:
        return w(
            f"; {fewer.gpu_count} hold the weights and no whole request of {context} tokens",
            f"；{fewer.gpu_count} 张只装得下权重，放不下一个 {context} token 的完整请求",
        )
    return w(
        f"; {fewer.gpu_count} hold the weights and only {held} such requests at once",
        f"；{fewer.gpu_count} 张装得下权重，但同时只能放 {held} 个这样的请求",
    )


def _infeasible(w: Words, found: Recommendation, findings: Findings) -> list[str]:
    """Nothing priced meets every limit: said, with what the money buys and what the wish costs."""
    request = found.request
    limit = ""
    if request.budget is not None:
        amount = w.price(request.budget.amount, request.budget.period, request.budget.currency)
        limit = w(f" within {amount}", f"（预算 {amount}）")
    lines = [
        w(
            f"**No priced Alibaba Cloud GPU instance does this{limit}.**",
            f"**没有一款已知价格的阿里云 GPU 实例能满足{limit}。**",
        )
    ]
    buys = findings.first(Recommendation, "buys")
    if buys is not None and buys.options:
        lines.append(
            w("What the budget buys when the precision is free: ", "放宽精度后这个预算能买到：")
            + headline(w, buys.options[0])
        )
        lines.append(options_table(w, list(buys.options)))
    if found.fallback:
        lines.append(w("What comes closest to the wish:", "最接近要求的方案："))
        lines.append(options_table(w, list(found.fallback)))
        lines.append(memory_line(w, found.fallback[0].memory))
    lines.append(_rejected_section(w, found))
    return [line for line in lines if line]


def _rejected_section(w: Words, found: Recommendation, first: str = "") -> str:
    lines = [first] if first else []
    lines += [_rejected_line(w, item) for item in found.rejected[:_REJECTED_SHOWN]]
    return w("**Why not the others**\n", "**为什么不选其他**\n") + bullets(lines) if lines else ""


def why_words(w: Words, option: Option) -> str:
    """Why an option without a label stands in the table."""
    shown = [remark_text(w, remark) for remark in option.why if remark.code in _STANDS_FOR]
    return w("; ", "；").join(shown) or w("also", "另选")
