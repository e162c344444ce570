"""Speed reports in words: serving rates and latencies with their ranges, training speed and hours."""

from __future__ import annotations

from agent.writing.words import Words
from tools.contracts.throughput import ThroughputReport
from tools.contracts.training import TrainingTimeReport

AnySpeed = ThroughputReport | TrainingTimeReport

_BOUNDS = {
    "compute": ("compute", "算力"),
    "bandwidth": ("memory bandwidth", "显存带宽"),
    "communication": ("communication between GPUs", "卡间通信"),
    "overhead": ("launch overhead", "启动开销"),
}


def speed_cell(w: Words, report: AnySpeed | None) -> str:
    """The figure that people compare, with its range."""
    if report is None:
        return ""
    if isinstance(report, TrainingTimeReport):
        if report.hours is not None and report.hours_low is not None and report.hours_high is not None:
            return w(
                f"{w.num(report.hours)} h ({w.span(report.hours_low, report.hours_high)})",
                f"{w.num(report.hours)} 小时（{w.span(report.hours_low, report.hours_high)}）",
            )
        return f"{w.num(report.tokens_per_s_per_gpu)} tokens/s" + w(" per GPU", "/卡")
    low, high = report.output_tokens_per_s_low, report.output_tokens_per_s_high
    return f"{w.num(report.output_tokens_per_s)} tokens/s ({w.span(low, high)})"


def speed_line(w: Words, report: AnySpeed | None) -> str:
    """Expected speed in one paragraph, each figure with its range, and what bounds it."""
    if report is None:
        return ""
    return _training(w, report) if isinstance(report, TrainingTimeReport) else _serving(w, report)


def _serving(w: Words, report: ThroughputReport) -> str:
    total = w.num(report.output_tokens_per_s)
    span = w.span(report.output_tokens_per_s_low, report.output_tokens_per_s_high)
    each = f"{w.ms(report.tpot_ms)} ({w.span(report.tpot_ms_low, report.tpot_ms_high)})"
    unit = 1e3 if report.ttft_ms >= 1e3 else 1.0  # as `ms` words it: seconds from one second on
    first = f"{w.ms(report.ttft_ms)} ({w.span(report.ttft_ms_low / unit, report.ttft_ms_high / unit)})"
    single = w.num(report.single_stream_tokens_per_s)
    bound = w(*_BOUNDS[report.decode_bound])
    asked = "request" if report.concurrency == 1 else "requests"
    text = w(
        f"**Speed.** About {total} tokens/s in all ({span}) with {report.concurrency} {asked} in flight; "
        f"{each} per "
        f"token, first token after {first}; one request alone {single} tokens/s. Decoding is bound by "
        f"{bound}.",
        f"**速度**：{report.concurrency} 个并发请求合计约 {total} tokens/s（{span}）；每个 token {each}，首 "
        f"token {first}；单请求约 {single} tokens/s。解码瓶颈是{bound}。",
    )
    if report.concurrency > 1:
        text += w(
            " Load assumed: closed loop, each answer is followed by the next request without a pause.",
            "负载假设：闭环，每个回答结束后立即发下一个请求（无思考时间）。",
        )
    if report.evidence == "estimate_only":
        text += w(
            " Few measurements of this card are published, so take it as an estimate.",
            "这张卡公开的实测很少，请当作估算。",
        )
    return text


def _training(w: Words, report: TrainingTimeReport) -> str:
    rate = w.num(report.tokens_per_s_per_gpu)
    span = w.span(report.tokens_per_s_per_gpu_low, report.tokens_per_s_per_gpu_high)
    mfu = f"{w.percent(report.mfu)} ({w.span(report.mfu_low * 100, report.mfu_high * 100)}%)"
    text = w(
        f"**Speed.** About {rate} tokens/s per GPU ({span}), {w.num(report.tflops_per_gpu)} TFLOPS, MFU "
        f"{mfu}",
        f"**速度**：每卡约 {rate} tokens/s（{span}），{w.num(report.tflops_per_gpu)} TFLOPS，MFU {mfu}",
    )
    if report.hours is None or report.hours_low is None or report.hours_high is None:
        return text + w(
            "; tell me the tokens of the data set (or samples and epochs) for the hours.",
            "；告诉我数据集的 token 数（或样本数与轮数）就能算出时长。",
        )
    tokens = w.big(report.tokens) if report.tokens else ""
    work = f"{report.tflops_per_gpu * 1e12 * report.gpu_count * report.hours * 3600:.2g}".replace("e+", "e")
    rate = f"{report.gpu_count} × {w.num(report.tflops_per_gpu)} TFLOPS"
    span = w.span(report.hours_low, report.hours_high)
    return text + w(
        f"; {tokens} tokens are {work} FLOP ÷ ({rate}) = {w.hours(report.hours)}, range {span} h.",
        f"；{tokens} token 共 {work} FLOP ÷（{rate}）= {w.hours(report.hours)}，区间 {span} 小时。",
    )
