"""Answers to memory questions: verdict, arithmetic, other precisions or methods, what to rent."""

from __future__ import annotations

from agent.planner.calculations import splits_model
from agent.steps import Findings, Step
from agent.writing.memory import (
    AnyMemory,
    kib_per_token,
    limits_table,
    memory_cell,
    memory_line,
    peak_gib,
    states_line,
)
from agent.writing.recommendation import headline, options_table
from agent.writing.words import Words, bullets, short_model, table
from tools.contracts.memory import MemoryReport
from tools.contracts.other import OtherMemoryReport
from tools.contracts.sizing import Recommendation
from tools.contracts.training import TrainingMemoryReport

_KINDS = (MemoryReport, TrainingMemoryReport, OtherMemoryReport)


def memory_sections(
    w: Words,
    findings: Findings,
    brief: bool = False,
    rent: bool = True,
    kv_asked: bool = False,
    count_asked: bool = False,
) -> list[str]:
    """The verdict of each card named; then the arithmetic of the first, variants, and an instance for it.

    `brief`: verdicts and variants only, for an answer that goes on with a recommendation. `rent`: with an
    instance to rent. `kv_asked`: the question is about the KV cache, whose figure comes first. `count_asked`:
    how many cards it takes, so that "one does not" is no answer.
    """
    steps = [step for step in findings if isinstance(step.artifact, _KINDS)]
    main = [_report(step) for step in steps if step.call.purpose in ("main", "")]
    if not main:
        return []
    first = main[0]
    chosen = findings.first(Recommendation)
    quantizes = chosen is None or chosen.request.allow_quantization
    variants = _variants(w, [first, *(_report(step) for step in steps if step.call.purpose == "variant")])
    if brief:
        return [section for section in (_verdicts(w, main, count_asked), variants) if section]
    sections = [kv_line(w, first) if kv_asked else "", _verdicts(w, main, count_asked), memory_line(w, first)]
    if isinstance(first, MemoryReport) and first.kv_capacity_tokens is not None:
        sections.append(_capacity(w, first))
    sections.append(variants)
    sections += _beside_variants(w, steps)
    others = companions(findings)
    if others:
        sections.append(companion_line(w, first, others))
    if first.fits is False and isinstance(first, MemoryReport | TrainingMemoryReport):
        precision = first.weight_precision if isinstance(first, MemoryReport) else ""
        limits = tuple(item for item in first.limits if quantizes or item.field != "weight_precision")
        sections.append(limits_table(w, limits, first.gpu, precision))
    replaced = first.fits is False and any(findings.all(Recommendation, "instead"))
    found = chosen if rent and not replaced else None
    if found is not None and found.options:
        sections.append(w("To rent: ", "可租：") + headline(w, found.options[0]))
        sections.append(options_table(w, list(found.options)))
    return [section for section in sections if section]


def kv_line(w: Words, report: AnyMemory) -> str:
    """The KV cache of all requests on one GPU and how it comes about; "" where there is none."""
    if not isinstance(report, MemoryReport):
        return ""
    total = w.gib(report.kv_cache_gib_per_gpu)
    tokens, each = w.count(report.context_tokens), kib_per_token(w, report)
    if report.gpu_count > 1:
        return w(
            f"**KV cache: {total} per GPU** for {report.concurrency} requests of {tokens} tokens.",
            f"**KV 缓存：每卡 {total}**，{report.concurrency} 个请求，各 {tokens} token。",
        )
    return w(
        f"**KV cache: {total}** for {report.concurrency} × {tokens} tokens, {each} per token.",
        f"**KV 缓存：{total}**，{report.concurrency} × {tokens} token，每 token {each}。",
    )


def _beside_variants(w: Words, steps: list[Step]) -> list[str]:
    """What LoRA split over the cards holds in all, and the stages of ZeRO where they were asked about."""
    reports = [_report(step) for step in steps if step.call.purpose == "variant"]
    split = [
        states_line(w, item).strip()
        for item in reports
        if isinstance(item, TrainingMemoryReport) and item.method == "lora"
    ]
    return [*split, _stages(w, steps)]


def _stages(w: Words, steps: list[Step]) -> str:
    """ZeRO-2 against ZeRO-3 on the same cards: what each shards and what one card then holds."""
    parts = []
    for step in steps:
        if step.call.purpose != "zero":
            continue
        report, stage = _report(step), step.call.args["zero_stage"]
        fits = w("fits", "放得下") if report.fits else w("does not fit", "放不下")
        held = w.gib(report.parameters_gib) if isinstance(report, TrainingMemoryReport) else ""
        cell = memory_cell(w, report)
        parts.append(
            w(
                f"ZeRO-{stage}: {cell} per GPU, of it {held} weights, {fits}",
                f"ZeRO-{stage}：每卡 {cell}，其中权重 {held}，{fits}",
            )
        )
    return bullets(parts) if parts else ""


def other_size_lines(w: Words, findings: Findings) -> str:
    """Verdicts for the other memory sizes of a card that was named without one."""
    reports = [
        _report(step)
        for step in findings
        if step.call.purpose == "other_size" and isinstance(step.artifact, _KINDS)
    ]
    if not reports:
        return ""
    main = [s for s in findings if s.call.purpose == "main" and isinstance(s.artifact, _KINDS)]
    used = _report(main[0]).gpu if main else ""
    others = w.listed(report.gpu for report in reports)
    head = w(
        f"No memory size was named, so {used} is assumed; {others} instead: ",
        f"没有说明显存大小，按 {used} 计算；若是 {others}：",
    )
    return head + w.sentences(_verdict(w, report) for report in reports)


def largest_models_line(w: Words, findings: Findings) -> str:
    """How large a dense model the recommended machine serves, by precision."""
    reports = findings.all(MemoryReport, "holds")
    parts = []
    for precision in dict.fromkeys(report.weight_precision for report in reports):
        same = [report for report in reports if report.weight_precision == precision]
        held = [short_model(report.model) for report in same if report.verdict == "fits"]
        tight = [short_model(report.model) for report in same if report.verdict == "tight"]
        if not held and not tight:
            continue
        text = f"{w.precision(precision)} " + (w(f"up to {held[-1]}", f"最大 {held[-1]}") if held else "")
        if tight:
            text += w(f", {tight[-1]} only just, with a short context", f"，{tight[-1]} 很紧，只能短上下文")
        parts.append(text.replace(" ,", ",").replace(" ，", "，"))
    if not parts:
        return (
            w("**Models.** None of 7B and larger fits.", "**模型**：7B 及以上都放不下。") if reports else ""
        )
    listed = w("; ", "；").join(parts)
    return w(f"**Largest models it serves.** {listed}.", f"**能跑的最大模型**：{listed}。")


def instead_sections(w: Words, findings: Findings) -> list[str]:
    """Other cards that do the work which the cards named cannot."""
    tried = [item for item in findings.all(Recommendation, "instead") if item.options]
    found = next((item for item in tried if not splits_model(item)), next(iter(tried), None))
    if found is None:
        return []
    return [
        w("With other or more cards it works: ", "换别的卡或更多卡可以：") + headline(w, found.options[0]),
        options_table(w, list(found.options)),
    ]


def companions(findings: Findings) -> list[AnyMemory]:
    """Memory of the other models that share the machine."""
    return [
        _report(step)
        for step in findings
        if step.call.purpose == "companion" and isinstance(step.artifact, _KINDS)
    ]


def _report(step: Step) -> AnyMemory:
    report = step.artifact
    if not isinstance(report, _KINDS):
        raise TypeError("a memory step has a memory report")
    return report


def _verdicts(w: Words, reports: list[AnyMemory], count_asked: bool = False) -> str:
    lines = [_fewest(w, report) if count_asked and report.fits else _verdict(w, report) for report in reports]
    return lines[0] if len(lines) == 1 else bullets(lines)


def _fewest(w: Words, report: AnyMemory) -> str:
    """The fewest cards that hold the work."""
    what = f"{short_model(report.model)}" + (f" ({_how(w, report)})" if _how(w, report) else "")
    need, usable = w.gib(peak_gib(report)), w.gib(report.usable_gib_per_gpu or 0.0)
    if report.gpu_count == 1:
        return w(
            f"**1 × {report.gpu} is enough for {what}.** It needs about {need} of {usable} usable.",
            f"**1 张 {report.gpu} 就够：{what}。** 约需 {need}，可用 {usable}。",
        )
    half = report.gpu_count // 2
    counts = (
        w(
            " (counts that divide the attention heads: 1, 2, 4, 8 …)",
            "（卡数要能整除注意力头数：1、2、4、8……）",
        )
        if isinstance(report, MemoryReport)
        else ""
    )
    return w(
        f"**At least {report.gpu_count} × {report.gpu} for {what}.** It then needs about {need} per GPU of "
        f"{usable} usable; {half} cannot hold it{counts}.",
        f"**至少 {report.gpu_count} 张 {report.gpu}：{what}。** 每卡约需 {need}，可用 {usable}；{half} "
        f"张放不下{counts}。",
    )


def _verdict(w: Words, report: AnyMemory) -> str:
    need = w.gib(peak_gib(report))
    span = w.span(*_range(report), 3)
    what = f"{short_model(report.model)}" + (f" ({_how(w, report)})" if _how(w, report) else "")
    if report.fits is None or report.usable_gib_per_gpu is None:
        return w(
            f"**{what} needs about {need}** ({span}) of GPU memory.",
            f"**{what} 约需 {need} 显存**（{span}）。",
        )
    cards = f"{report.gpu_count} × {report.gpu}" if report.gpu_count > 1 else w.card(report.gpu)
    each = w(" per GPU", "每卡") if report.gpu_count > 1 else ""
    usable = w.gib(report.usable_gib_per_gpu)
    if not report.fits:
        return w(
            f"**No: {what} does not fit on {cards}.** It needs about {need}{each}, {usable} are usable.",
            f"**放不下：{what} 在 {cards} 上不行。** {each}约需 {need}，可用 {usable}。",
        )
    tight = report.verdict == "tight"
    return w(
        f"**Yes{', but only just' if tight else ''}: {what} fits on {cards}.** It needs about {need}{each} "
        f"of {usable} usable.",
        f"**可以{'，但很紧' if tight else ''}：{what} 能放进 {cards}。** {each}约需 {need}，可用 {usable}。",
    )


def _how(w: Words, report: AnyMemory) -> str:
    if isinstance(report, MemoryReport):
        load = w(
            f"{w.count(report.context_tokens)} tokens × {report.concurrency}",
            f"{w.count(report.context_tokens)} token × {report.concurrency} 并发",
        )
        return w.listed((w.precision(report.weight_precision), load))
    if isinstance(report, TrainingMemoryReport):
        return w.listed((method_word(w, report.method), w.precision(report.precision)))
    return w.listed(part for part in (report.task, report.mode) if part)


_METHODS = {
    "full": ("full fine-tuning", "全参微调"),
    "freeze": ("freeze-tuning", "冻结微调"),
    "lora": ("LoRA", "LoRA"),
    "qlora": ("QLoRA", "QLoRA"),
    "pretrain": ("pre-training", "预训练"),
}


def method_word(w: Words, method: str) -> str:
    return w(*_METHODS.get(method, (method, method)))


def _range(report: AnyMemory) -> tuple[float, float]:
    if isinstance(report, MemoryReport):
        return report.total_gib_per_gpu_low, report.total_gib_per_gpu_high
    return report.peak_gib_per_gpu_low, report.peak_gib_per_gpu_high


def _capacity(w: Words, report: MemoryReport) -> str:
    capacity = w.count(report.kv_capacity_tokens or 0)
    held = report.max_concurrency or 0
    context = w.count(report.context_tokens)
    if not held:
        return w(
            f"The engine would keep room for about {capacity} tokens of KV cache, not enough for one "
            f"request of {context} tokens: set the maximum length below it.",
            f"引擎约能留出 {capacity} token 的 KV 缓存，放不下一个 {context} token 的请求：请把最大长度设小。"
            "",
        )
    return w(
        f"The engine would keep room for about {capacity} tokens of KV cache: {held} requests of {context} "
        "tokens at once.",
        f"引擎约能留出 {capacity} token 的 KV 缓存：可同时容纳 {held} 个 {context} token 的请求。",
    )


def _variants(w: Words, reports: list[AnyMemory]) -> str:
    """The same job in other precisions or by other methods, one row each."""
    rows: dict[str, tuple[str, str, str]] = {}
    for report in reports:
        if isinstance(report, OtherMemoryReport):
            return ""
        if isinstance(report, MemoryReport):
            name, weights = w.precision(report.weight_precision), report.weights_gib
        else:
            name, weights = method_word(w, report.method), report.parameters_gib
        fits = {True: w("fits", "放得下"), False: w("does not fit", "放不下"), None: ""}[report.fits]
        more = next((item for item in report.limits if item.change == "more_gpus" and item.fits), None)
        if report.fits is False and more is not None:
            fits += w(f"; {more.value} cards do", f"，要 {more.value} 张")
        rows.setdefault(name, (w.gib(weights), memory_cell(w, report), fits))
    if len(rows) < 2:
        return ""
    label = w("Precision", "精度") if isinstance(reports[0], MemoryReport) else w("Method", "方法")
    header = [label, w("Weights", "权重"), w("Memory per GPU", "每卡显存"), w("Verdict", "结论")]
    width = len(header) if any(fits for _, _, fits in rows.values()) else len(header) - 1
    return table(header[:width], [(name, *cells)[:width] for name, cells in rows.items()])


def companion_line(w: Words, first: AnyMemory, others: list[AnyMemory]) -> str:
    """What the other models of the same machine add, and the sum."""
    total = peak_gib(first) + sum(peak_gib(item) for item in others)
    parts = [f"{short_model(item.model)} {w.gib(peak_gib(item))}" for item in others]
    return w(
        f"On the same machine besides: {w.listed(parts)}; together {w.gib(total)}.",
        f"同机还有：{w.listed(parts)}；合计 {w.gib(total)}。",
    )
