"""Answers to speed questions: the rate first, then each card with its range and what bounds it."""

from __future__ import annotations

from agent.steps import Case, Findings
from agent.writing.memory import memory_line
from agent.writing.speed import speed_cell, speed_line
from agent.writing.words import Words, short_model, table
from knowledge.errors import AdvisorError
from tools.contracts.cost import CostReport
from tools.contracts.memory import MemoryReport
from tools.contracts.throughput import ThroughputReport
from tools.contracts.training import TrainingMemoryReport, TrainingTimeReport

TUNED_MFU = 0.4  # dense models on Megatron-LM: 0.3 to 0.5 in published runs
_WELL_BELOW = 0.34
_CACHE_WORTH_SAYING = 0.1  # of the weights


def speed_sections(w: Words, findings: Findings) -> list[str]:
    """One card in full, several side by side, with the memory behind the concurrency."""
    serving = findings.all(ThroughputReport)
    training = findings.all(TrainingTimeReport)
    if serving:
        return [*_serving(w, serving), *_memory(w, findings)]
    if training:
        tuned = _tuned(w, training[0], findings.first(CostReport))
        return [*_training(w, training), tuned, *_memory(w, findings)]
    return []


def bound_line(w: Words, case: Case) -> str:
    """The ceiling of one request: all weights are read from memory for each token. Dense models only."""
    report, memory = case.done.first(ThroughputReport), case.done.first(MemoryReport)
    model = case.catalog.find_model(report.model) if report is not None else None
    if report is None or memory is None or (model is not None and model.num_experts):
        return ""
    try:
        bandwidth = case.catalog.gpu(report.gpu).memory_bandwidth_gbs
    except AdvisorError:
        return ""
    if not bandwidth:
        return ""
    weights_gb = memory.weights_gib * 2**30 / 1e9
    cache_gb = memory.kv_bytes_per_token * memory.context_tokens / 1e9
    long = cache_gb > _CACHE_WORTH_SAYING * weights_gb
    bound = w.num(bandwidth * report.tensor_parallel / (weights_gb + (cache_gb if long else 0.0)))
    read = f"({w.num(weights_gb)} + {w.num(cache_gb)}) GB" if long else f"{w.num(weights_gb)} GB"
    cards = f"{report.tensor_parallel} × " if report.tensor_parallel > 1 else ""
    return w(
        f"**Ceiling for one request:** {cards}{w.num(bandwidth, 4)} GB/s ÷ {read} of "
        f"weights{' and KV cache' if long else ''} = {bound} "
        "tokens/s; memory bandwidth, not TFLOPS, sets it, and 60 to 80% of it is normal.",
        f"**单请求上限**：{cards}{w.num(bandwidth, 4)} GB/s ÷ 权重{' + KV 缓存' if long else ''} {read} = "
        f"{bound} tokens/s；"
        "由显存带宽而不是 TFLOPS 决定，达到 60% 到 80% 属正常。",
    )


def _memory(w: Words, findings: Findings) -> list[str]:
    report = findings.first(MemoryReport) or findings.first(TrainingMemoryReport)
    line = memory_line(w, report)
    return [line] if line else []


def _serving(w: Words, reports: list[ThroughputReport]) -> list[str]:
    first = reports[0]
    model = short_model(first.model)
    cards = f"{first.gpu_count} × {first.gpu}" if first.gpu_count > 1 else first.gpu
    one = w.num(first.single_stream_tokens_per_s)
    span = w.span(first.single_stream_tokens_per_s_low, first.single_stream_tokens_per_s_high)
    head = w(
        f"**{model} in {w.precision(first.weight_precision)} on {cards}: about {one} tokens/s for one "
        f"request** ({span})",
        f"**{model}（{w.precision(first.weight_precision)}）在 {cards} 上单请求约 {one} tokens/s**（{span}）",
    )
    if first.concurrency > 1:
        total = w.num(first.output_tokens_per_s)
        head += w(
            f", {total} tokens/s in all with {first.concurrency} in flight",
            f"，{first.concurrency} 并发合计 {total} tokens/s",
        )
    if first.max_concurrency is not None:
        length = w.count(first.input_tokens + first.output_tokens)
        head += w(
            f"; memory holds {first.max_concurrency} requests of {length} tokens",
            f"；显存最多同时容纳 {first.max_concurrency} 个 {length} token 的请求",
        )
    sections = [head + w(".", "。"), speed_line(w, first)]
    if len(reports) > 1:
        sections.insert(1, _table(w, reports))
    return sections


def _table(w: Words, reports: list[ThroughputReport]) -> str:
    rows = [
        (
            f"{item.gpu_count} × {item.gpu}",
            w.num(item.single_stream_tokens_per_s),
            speed_cell(w, item),
            w.ms(item.ttft_ms),
            w.ms(item.tpot_ms),
        )
        for item in reports
    ]
    header = ("GPU", w("One request, tokens/s", "单请求 tokens/s"), w("All requests", "合计"), "TTFT", "TPOT")
    return table(header, rows)


def _training(w: Words, reports: list[TrainingTimeReport]) -> list[str]:
    first = reports[0]
    model = short_model(first.model)
    if first.hours is not None and first.hours_low is not None and first.hours_high is not None:
        hours = w.hours(first.hours)
        span = w.span(first.hours_low, first.hours_high)
        head = w(
            f"**{model} on {first.gpu_count} × {first.gpu}: about {hours}** ({span} h).",
            f"**{model} 在 {first.gpu_count} × {first.gpu} 上约 {hours}**（{span} 小时）。",
        )
    else:
        rate = w.num(first.tokens_per_s_per_gpu)
        head = w(
            f"**{model} on {first.gpu_count} × {first.gpu}: about {rate} tokens/s per GPU.**",
            f"**{model} 在 {first.gpu_count} × {first.gpu} 上每卡约 {rate} tokens/s。**",
        )
    return [head, speed_line(w, first)]


def _tuned(w: Words, report: TrainingTimeReport, cost: CostReport | None) -> str:
    """The hours, and their cost, of a tuned stack where the usual framework stays well below it."""
    if report.hours is None or report.method not in ("full", "pretrain") or report.mfu > _WELL_BELOW:
        return ""
    share = report.mfu / TUNED_MFU
    hours = w.hours(report.hours * share)
    money = ""
    if cost is not None and cost.job is not None and cost.hours:
        total = float(cost.job) / cost.hours * report.hours * share
        money = w(", about ", "，约 ") + w.money(total, decimals=0)
    return w(
        f"**With a tuned stack** (Megatron, fused kernels, large micro-batches) an MFU of "
        f"{w.percent(TUNED_MFU)} is usual (30 to 50%): C = 6·N·D gives {hours}{money}.",
        f"**调优后的框架**（Megatron、融合算子、较大的单卡批）MFU 通常可到 {w.percent(TUNED_MFU)}"
        f"（30% 到 50%）：按 C = 6·N·D 为 {hours}{money}。",
    )
