"""The figure that a question wants first: how much load a card carries, which tensor-parallel size to set."""

from __future__ import annotations

from agent.steps import Case
from agent.writing.words import Words, short_model, table
from agent.writing.worth import worth_sections
from tools.contracts.memory import MemoryReport
from tools.contracts.throughput import Capacity, ThroughputReport


def opening_sections(w: Words, case: Case) -> list[str]:
    """What is said before the sections of the intent."""
    loads = [
        _load(w, report, report.capacity)
        for report in case.done.all(ThroughputReport)
        if report.capacity is not None
    ]
    return [*worth_sections(w, case), *loads, *_parallel(w, case)]


def _load(w: Words, report: ThroughputReport, found: Capacity) -> str:
    """The requests at once, and the people behind them, that keep the targets."""
    cards = f"{report.gpu_count} × {report.gpu}"
    limits = []
    if found.tpot_target_ms:
        limits.append(
            w(
                f"at most {w.ms(found.tpot_target_ms)} per token",
                f"每 token 不超过 {w.ms(found.tpot_target_ms)}",
            )
        )
    if found.ttft_target_ms:
        limits.append(
            w(f"first token within {w.ms(found.ttft_target_ms)}", f"首 token {w.ms(found.ttft_target_ms)}内")
        )
    kept = w.listed(limits)
    model = f"{short_model(report.model)} ({w.precision(report.weight_precision)})"
    if found.concurrency < 1:
        if not report.max_concurrency:
            return w(
                f"**None: {model} leaves no room for a request on {cards}.**",
                f"**跑不了：{model} 在 {cards} 上放不下任何请求。**",
            )
        return w(
            f"**Not one request of {model} keeps the limits on {cards}** ({kept}); memory would hold "
            f"{report.max_concurrency}.",
            f"**{model} 在 {cards} 上一个请求也达不到要求**（{kept}）；"
            f"显存能放 {report.max_concurrency} 个。",
        )
    tokens = w(
        f"{w.count(report.input_tokens)} tokens in, {w.count(report.output_tokens)} out",
        f"输入 {w.count(report.input_tokens)}、输出 {w.count(report.output_tokens)} token",
    )
    reason = (
        w("memory for the KV cache is the limit", "上限是 KV 缓存的显存")
        if found.limited_by == "kv_cache"
        else w(
            f"speed is the limit, memory would hold {report.max_concurrency}",
            f"上限是速度，显存能放 {report.max_concurrency} 个",
        )
    )
    total, rate = w.num(found.output_tokens_per_s), w.num(found.requests_per_s)
    return w(
        f"**{model} on {cards}: about {w.count(found.concurrency)} requests at once, or about "
        f"{w.count(found.users)} people chatting** ({tokens}; {kept}; each person pauses "
        f"{found.think_time_s:g} s between answer and next question). {reason[0].upper()}{reason[1:]}; "
        f"together {total} tokens/s, {rate} requests/s.",
        f"**{model} 在 {cards} 上约可同时处理 {w.count(found.concurrency)} 个请求，相当于约 "
        f"{w.count(found.users)} 人在线对话**（{tokens}；{kept}；"
        f"每人读完再问平均间隔 {found.think_time_s:g} 秒）。{reason}；"
        f"合计 {total} tokens/s，每秒 {rate} 个请求。",
    )


def _parallel(w: Words, case: Case) -> list[str]:
    """Tensor-parallel sizes side by side; the one that answers a single request fastest comes first."""
    memory = {report.tensor_parallel: report for report in case.done.all(MemoryReport, "parallel")}
    speeds = [
        report
        for report in case.done.all(ThroughputReport, "parallel")
        if report.tensor_parallel in memory and memory[report.tensor_parallel].fits and report.max_concurrency
    ]
    if not speeds:
        return []
    one = max(speeds, key=lambda report: report.single_stream_tokens_per_s)
    size, count, gpu = one.tensor_parallel, one.gpu_count, one.gpu
    least = min(report.tensor_parallel for report in speeds)
    head = w(
        f"**`--tensor-parallel-size {size}` on {count} × {gpu}** answers a single request fastest "
        f"({w.num(one.single_stream_tokens_per_s)} tokens/s)",
        f"**{count} × {gpu} 设 `--tensor-parallel-size {size}`**，单请求最快"
        f"（{w.num(one.single_stream_tokens_per_s)} tokens/s）",
    )
    if least == size and size > 1:
        head += w(f"; below {size} the model does not fit.", f"；小于 {size} 放不下。")
    elif least < size:
        head += w(
            f"; TP={least} is the smallest that fits: {count // least} replicas behind a load balancer spare "
            "the all-reduce and usually carry more in all.",
            f"；TP={least} 是放得下的最小值：{count // least} 个副本加负载均衡省去 all-reduce，"
            "总吞吐通常更高。",
        )
    else:
        head += w(".", "。")
    rows = [
        (
            str(tensor),
            str(count // tensor),
            w.gib(report.total_gib_per_gpu),
            w("fits", "放得下") if report.fits else w("does not fit", "放不下"),
            next(
                (w.num(item.single_stream_tokens_per_s) for item in speeds if item.tensor_parallel == tensor),
                "–",
            ),
            next(
                (w.count(item.max_concurrency or 0) for item in speeds if item.tensor_parallel == tensor), "–"
            ),
        )
        for tensor, report in sorted(memory.items())
    ]
    header = (
        "TP",
        w("Replicas", "副本数"),
        w("Memory per GPU", "每卡显存"),
        w("Verdict", "结论"),
        w("One request, tokens/s", "单请求 tokens/s"),
        w("Requests that memory holds", "显存容纳的请求数"),
    )
    return [head, table(header, rows)]
