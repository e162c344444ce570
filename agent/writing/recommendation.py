"""A recommendation in words: the answer first, options side by side, the arithmetic, why not the others."""

from __future__ import annotations

from collections.abc import Sequence

from agent.steps import Findings
from agent.writing.cost_details import stock_lines
from agent.writing.cost_ways import basis_word, nearest_price, other_way
from agent.writing.glossary import remark_text
from agent.writing.memory import memory_cell, memory_line, peak_gib
from agent.writing.smaller_load import smaller_load_words
from agent.writing.speed import speed_cell, speed_line
from agent.writing.words import Words, bullets, table
from tools.contracts.memory import MemoryReport
from tools.contracts.other import OtherMemoryReport
from tools.contracts.sizing import LadderStep, Option, Recommendation, Rejected, Sensitivity, SizingRequest
from tools.contracts.training import TrainingMemoryReport, TrainingTimeReport

_CARD_SIZES_GB = (16, 24, 48, 80, 96)  # memory of the cards sold
_USABLE = 0.9  # of the memory on the label, what a job can have
_REJECTED_SHOWN = 4
_WHOLE_MONTH = 700.0  # hours
_NEARLY_FULL = 0.8  # of the usable memory, above which start limits decide whether it fits
# Warnings that answer the question itself and so stand below the first line.
TOLD_FIRST = frozenset({"budget_lasts_hours", "job_exceeds_budget"})
# Reasons for which an option without a label is shown; the others are warnings about it.
_STANDS_FOR = frozenset(
    {
        "what_the_wish_costs", "wish_in_lower_precision", "budget_buys_smaller_load",
        "budget_buys_machine_only", "without_limit",
    }
)  # fmt: skip
# Refusals that answer no question: nobody wants a type that is not sold or made for something else.
_UNASKED = frozenset({"unknown_status", "legacy_status", "vgpu_for_graphics"})
_LABELS = {
    "cheapest": ("cheapest", "最省"),
    "balanced": ("balanced", "均衡"),
    "fastest": ("fastest", "最快"),
}


def recommendation_sections(w: Words, found: Recommendation, findings: Findings) -> list[str]:
    """The sections of a sizing answer, without assumptions, warnings and sources, which all answers share."""
    if not found.options:
        return _infeasible(w, found, findings)
    best = found.options[0]
    lasts = [remark_text(w, remark) for remark in found.warnings if remark.code in TOLD_FIRST]
    sections = [headline(w, best), *(f"**{text}**" for text in lasts), options_table(w, list(found.options))]
    sections += [memory_line(w, best.memory), speed_line(w, best.speed), _deadline(w, found.request, best)]
    if best.cost is not None and (shelf := stock_lines(w, best.cost)):
        sections.append(bullets(shelf))
    sections.append(_rejected_section(w, found, _ladder_lines(w, found)))
    moved = findings.first(Sensitivity)
    if moved is not None:
        sections.append(_sensitivity(w, moved))
    return [section for section in sections if section]


def headline(w: Words, option: Option) -> str:
    """Type, count, GPUs, precision and price with its region: the answer in one line."""
    count = f"{option.count} × " if option.count > 1 else ""
    cards, price = cards_words(w, option), price_words(w, option) + _job(w, option)
    precision = f", {w.precision(option.precision)}" if option.precision else ""
    if w.language == "zh" and precision:
        precision = f"，{w.precision(option.precision)} 权重"
    elif precision:
        precision += w(" weights", "")
    return w(
        f"**{count}{option.instance_type}** — {cards}{precision}: {price}.",
        f"推荐 **{count}{option.instance_type}**：{cards}{precision}，{price}。",
    )


def _job(w: Words, option: Option) -> str:
    """How long the whole job takes and what it costs, where its size is known."""
    hours, speed = option.cost.hours if option.cost else None, option.speed
    if option.job_cny is None or hours is None:
        return ""
    amount = w.money(option.job_cny, decimals=0 if option.job_cny >= 100 else 2)
    if isinstance(speed, TrainingTimeReport) and speed.hours_low and speed.hours_high:
        span = w.span(speed.hours_low, speed.hours_high)
        return w(
            f"; about **{w.hours(hours)}** ({span} h), **{amount}** in all",
            f"；约 **{w.hours(hours)}**（{span} 小时），共 **{amount}**",
        )
    return w(f"; **{amount}** for {w.hours(hours)}", f"；{w.hours(hours)}共 **{amount}**")


def cards_words(w: Words, option: Option) -> str:
    """GPUs of all machines together; a vGPU type as the slice that it is."""
    if option.vgpu:
        slices = f"{option.count} × " if option.count > 1 else ""
        return slices + w(
            f"{option.gpu_memory_gib:g} GB slice of {option.gpu_model}",
            f"{option.gpu_model} 的 {option.gpu_memory_gib:g} GB 切片",
        )
    return f"{option.count * option.gpu_count} × {option.gpu_model}"


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
    prices = (*option.cost.options, *option.cost.derived) if option.cost else ()
    price = next((item for item in prices if item.purchase == "payg"), None)
    if price is None or option.cost is None:
        return f"**{shown}** ({option.region})"
    basis = basis_word(w, "derived" if price.basis.startswith("derived") else price.basis)
    when = price.at or w.date(price.as_of)
    dated = w(f"{basis} of {when}", f"{when} {basis}")
    return w(
        f"**{shown}** ({w.purchase(price.purchase)}, {price.region}, {dated})",
        f"**{shown}**（{w.purchase(price.purchase)}，{price.region}，{dated}）",
    ) + other_way(w, option.cost)


def options_table(w: Words, options: list[Option]) -> str:
    """Options side by side; a column that no option fills is left out."""
    header = [
        w("Option", "方案"),
        w("Instance type", "实例规格"),
        w("GPUs", "GPU"),
        w("Precision", "精度"),
        w("Per hour", "每小时"),
        w("Per month", "每月") + _of_hours(w, options),
        w("Whole job", "整个任务"),
        w("Memory per GPU", "每卡显存"),
        w("Speed", "速度"),
    ]
    rows = [_row(w, option) for option in options]
    kept = [column for column in range(len(header)) if any(row[column] for row in rows)]
    return table(
        [header[column] for column in kept], [[row[column] or "–" for column in kept] for row in rows]
    )


def _of_hours(w: Words, options: Sequence[Option]) -> str:
    """The hours of use that a month is counted with, where they are not the whole month."""
    hours = next((item.cost.hours_per_month for item in options if item.cost), None)
    return w(f" ({w.num(hours)} h)", f"（{w.num(hours)} 小时）") if hours and hours < _WHOLE_MONTH else ""


def _row(w: Words, option: Option) -> list[str]:
    labels = w.listed(w(*_LABELS[label]) for label in option.labels) or why_words(w, option)
    count = f"{option.count} × " if option.count > 1 else ""
    hourly = w.price(option.hourly_cny) if option.hourly_cny is not None else w("not published", "未公布")
    monthly = w.money(option.monthly_cny, decimals=0) if option.monthly_cny is not None else ""
    return [
        labels,
        f"{count}{option.instance_type}",
        cards_words(w, option),
        w.precision(option.precision) if option.precision else "",
        hourly,
        monthly,
        w.money(option.job_cny, decimals=0 if option.job_cny >= 100 else 2)
        if option.job_cny is not None
        else "",
        memory_cell(w, option.memory) + _counted_with(w, option),
        speed_cell(w, option.speed),
    ]


def _counted_with(w: Words, option: Option) -> str:
    """What the memory figure counts with beyond the usual: stages and experts of a training over machines, or
    a start limit where the engine's own default may not fit."""
    plan, memory = option.plan, option.memory
    if plan.expert_parallel > 1 and isinstance(memory, TrainingMemoryReport):
        degrees = f"Megatron, PP {plan.pipeline_parallel} × EP {plan.expert_parallel}"
        return w(f" ({degrees})", f"（{degrees}）")
    limit = plan.max_num_seqs
    if limit is None or not isinstance(memory, MemoryReport) or memory.usable_gib_per_gpu is None:
        return ""
    if memory.total_gib_per_gpu < _NEARLY_FULL * memory.usable_gib_per_gpu:
        return ""
    return w(f" at `max_num_seqs` {limit}", f"（`max_num_seqs` 取 {limit}）")


def _rejected_line(w: Words, reason: str, items: Sequence[Rejected]) -> str:
    """What lost for one reason: a type in full, several as families."""
    if len(items) == 1:
        names = items[0].instance_type or items[0].family
        machines = items[0].reason.params.get("count")
        if isinstance(machines, int) and machines > 1:
            names = f"{machines} × {names}"  # the price that follows is that of all of them
        return w(f"{names} ({items[0].gpu_model}): {reason}", f"{names}（{items[0].gpu_model}）：{reason}")
    names = w.listed(
        w(f"{item.family} ({item.gpu_model})", f"{item.family}（{item.gpu_model}）") for item in items
    )
    return w(f"{names}: {reason}", f"{names}：{reason}")


def _ladder_lines(w: Words, found: Recommendation) -> list[str]:
    """What the other precisions need on the same GPU, and what fewer such cards would hold."""
    lines = []
    for precision in dict.fromkeys(step.precision for step in found.precision_ladder):
        steps = [step for step in found.precision_ladder if step.precision == precision]
        carrying = next((step for step in steps if step.carries_load), None)
        part = next((step for step in steps if not step.carries_load), None)
        if carrying is None or carrying.chosen:
            continue
        if not precision:
            text = w("The smallest machine with whole GPUs: ", "整卡的最小选择：") + _machine(w, carrying)
            lines.append(text + _month_of(w, found, carrying) + w(".", "。"))
            continue
        text = w(
            f"In {w.precision(precision)} this load needs {carrying.gpus} × {carrying.gpu_model}: "
            f"{_machine(w, carrying)}",
            f"用 {w.precision(precision)} 时同样的负载需要 {carrying.gpus} × {carrying.gpu_model}："
            f"{_machine(w, carrying)}",
        ) + _month_of(w, found, carrying)
        if part is not None:
            text += w(
                f"; {part.gpus} ({_machine(w, part)}) hold the weights and only {part.max_concurrency} such "
                "requests at once",
                f"；{part.gpus} 张（{_machine(w, part)}）装得下权重，但同时只能放 {part.max_concurrency} "
                "个这样的请求",
            )
        lines.append(text + w(".", "。"))
    return lines


def _month_of(w: Words, found: Recommendation, step: LadderStep) -> str:
    """What a step costs in the hours of use, and whether it is above the budget."""
    text = ""
    hours = found.request.hours_per_month
    if hours and step.hourly_cny is not None:
        amount = w.money(float(step.hourly_cny) * hours, decimals=0)
        text = w(f" × {w.num(hours)} h = {amount} a month", f" × {w.num(hours)} 小时 = 每月 {amount}")
    if not step.within_limits and found.request.budget is not None:
        text += w(", over the limits", "，超出限制（预算或卡数）")
    return text


def _deadline(w: Words, request: SizingRequest, option: Option) -> str:
    """Whether the first option's hours hold the deadline."""
    limit, speed = request.deadline_hours, option.speed
    if limit is None or not isinstance(speed, TrainingTimeReport) or speed.hours is None:
        return ""
    held = w("held", "满足") if speed.hours <= limit else w("missed", "超期")
    return w(
        f"**Deadline.** {w.hours(limit)}: {held} with {w.hours(speed.hours)}.",
        f"**期限**：{w.hours(limit)}，{held}（约 {w.hours(speed.hours)}）。",
    )


_CHANGES = {
    "context_doubled": ("context doubled to {} tokens", "上下文加倍到 {} token"),
    "concurrency_doubled": ("load doubled to {} requests at once", "并发加倍到 {}"),
    "next_cheaper": ("the next cheaper option", "再便宜一档"),
    "budget_raised": ("budget doubled to {}", "预算加倍到 {}"),
}


def _sensitivity(w: Words, report: Sensitivity) -> str:
    """How the choice moves when one thing changes, and what a lower price gives up."""
    lines = []
    for case in report.cases:
        change = w(*_CHANGES[case.change]).format(case.value)
        if case.same_option:
            lines.append(w(f"{change}: the same option still does it", f"{change}：仍是同一方案"))
        elif case.option is None:
            lines.append(w(f"{change}: nothing found", f"{change}：没有方案"))
        else:
            given_up = w("; ", "；").join(remark_text(w, remark) for remark in case.gives_up)
            text = f"{change}{w(': ', '：')}{headline(w, case.option)}"
            lines.append(f"{text} ({given_up})" if given_up else text)
    return w("**What if**\n", "**如果条件变化**\n") + bullets(lines)


def _machine(w: Words, step: LadderStep) -> str:
    count = f"{step.count} × " if step.count > 1 else ""
    price = w.price(step.hourly_cny) if step.hourly_cny is not None else w("no list price", "无目录价")
    return w(f"{count}{step.instance_type}, {price}", f"{count}{step.instance_type}，{price}")


def _infeasible(w: Words, found: Recommendation, findings: Findings) -> list[str]:
    """Nothing priced meets every limit: said, with what the money buys and what the wish costs."""
    request = found.request
    limit = ""
    if request.budget is not None:
        amount = w.price(request.budget.amount, request.budget.period, request.budget.currency)
        limit = w(f" within {amount}", f"（预算 {amount}）")
    if request.regions:
        limit += w(f" in {w.listed(request.regions)}", f"（{w.listed(request.regions)}）")
    lines = [
        w(
            f"**No priced Alibaba Cloud GPU instance does this{limit}.**",
            f"**没有一款已知价格的阿里云 GPU 实例能满足{limit}。**",
        )
    ]
    lines.append(_adapters_line(w, findings))
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


def _adapters_line(w: Words, findings: Findings) -> str:
    """What LoRA needs where full fine-tuning fits no machine."""
    lora = findings.first(TrainingMemoryReport, "adapters") or findings.first(OtherMemoryReport, "adapters")
    if lora is None:
        return ""
    need = w.gib(peak_gib(lora))
    card = next((size for size in _CARD_SIZES_GB if peak_gib(lora) <= _USABLE * size), None)
    if card is not None:
        need += w(f" (one {card} GB card holds it)", f"（一张 {card} GB 卡放得下）")
    return w(
        f"LoRA of the same model needs {need}: take that, or full fine-tuning with smaller batches "
        "sharded over several cards (FSDP, ZeRO-3).",
        f"同一模型做 LoRA 需要 {need}：建议用 LoRA，或减小 batch、多卡切分（FSDP、ZeRO-3）做全参。",
    )


def _rejected_section(w: Words, found: Recommendation, first: Sequence[str] = ()) -> str:
    """Other precisions, then families that lost, with the reasons; what nobody would ask is left out."""
    by_reason: dict[str, list[Rejected]] = {}
    for item in found.rejected:
        if item.reason.code not in _UNASKED:
            by_reason.setdefault(remark_text(w, item.reason), []).append(item)
    lost = [_rejected_line(w, reason, items) for reason, items in by_reason.items()]
    lines = [*first, *lost[:_REJECTED_SHOWN]]
    return w("**Why not the others**\n", "**为什么不选其他**\n") + bullets(lines) if lines else ""


def why_words(w: Words, option: Option) -> str:
    """Why an option without a label stands in the table."""
    shown = [
        smaller_load_words(w, remark) if remark.code == "budget_buys_smaller_load" else remark_text(w, remark)
        for remark in option.why
        if remark.code in _STANDS_FOR
    ]
    return w("; ", "；").join(shown) or w("also", "另选")
