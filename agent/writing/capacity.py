"""Load arithmetic from the user's own figures: pages a day, hours of audio, streams, end-to-end latency."""

from __future__ import annotations

import math

from agent.reading.types import Reading
from agent.writing.words import Words
from knowledge.catalog import Catalog
from knowledge.errors import AdvisorError
from tools.contracts.throughput import ThroughputReport

_DAY_HOURS = 24.0
_USUAL_MFU = 0.4
_TOKENS_PER_PARAMETER = 20
_ITEMS = {
    "image": ("images", "张图"),
    "clip": ("clips", "段视频"),
    "page": ("pages", "页"),
    "document": ("documents", "份文档"),
}


# Assumed until measured: seconds per piece and card, slow and quick; for audio times of real time.
_ASSUMED: dict[str, tuple[float, float]] = {
    "image": (15.0, 5.0),
    "clip": (480.0, 240.0),
    "page": (1.0, 0.2),
    "document": (5.0, 1.0),
    "audio_hour": (20.0, 60.0),
}
_MINUTES_FROM_S = 120
_USUAL_FPS = (10, 25)  # analysed frames of a camera: sampled, every frame


def capacity_section(w: Words, reading: Reading, estimated: bool = False) -> str:
    """The rate that the machines together have to reach, and how to get from it to a number of GPUs; where
    the rate of a card is `estimated` in the same answer, the load alone."""
    rate = _rate(w, reading)
    if not rate:
        return ""
    if estimated:
        return w(f"**Load.** {rate}.", f"**负载**：{rate}。")
    example = _example(w, reading)
    return w(
        f"**Load.** {rate}. GPUs = this rate ÷ the rate of one card at your settings; that rate is to be "
        f"measured on one machine first, an hour is enough.{example}",
        f"**负载**：{rate}。GPU 数 = 该速率 ÷ 单卡实测速率；请先用一台机器按你的设置实测，一小时就够。"
        f"{example}",
    )


def _example(w: Words, reading: Reading) -> str:
    """How many cards two assumed speeds would make, so that a measured one is easily put in."""
    if not reading.items_per_day or reading.item not in _ASSUMED:
        return ""
    seconds = (reading.window_hours or _DAY_HOURS) * 3600
    amount, cards = w.count(reading.items_per_day), []
    item = "page" if reading.item == "image" and reading.request.task == "vision" else reading.item
    for assumed in _ASSUMED[item]:
        if reading.item == "audio_hour":
            number = w.num(reading.items_per_day * 3600 / assumed / seconds, 2)
            cards.append(w(f"{assumed:g} times real time → {number}", f"{assumed:g} 倍实时 → {number}"))
            continue
        number = w.num(reading.items_per_day * assumed / seconds, 3)
        each = w(f"{assumed:g} s each", f"单个 {assumed:g} 秒")
        if assumed >= _MINUTES_FROM_S:
            each = w(f"{assumed / 60:g} min each", f"单个 {assumed / 60:g} 分钟")
        cards.append(f"{each} → {amount} × {assumed:g} ÷ {seconds:,.0f} = {number}")
    return w(
        f" With speeds assumed until you measure: {'; '.join(cards)} GPUs.",
        f"假设速度（待实测）：{'；'.join(cards)} 张卡。",
    )


def _rate(w: Words, reading: Reading) -> str:
    request = reading.request
    if request.requests_per_second and request.output_tokens:
        each = w.num(request.requests_per_second, 3)
        out = w.count(request.requests_per_second * request.output_tokens)
        text = w(
            f"{each} requests/s × {request.output_tokens} = {out} output tokens/s",
            f"每秒 {each} 请求 × {request.output_tokens} = 输出 {out} tokens/s",
        )
        if request.input_tokens:
            into = w.count(request.requests_per_second * request.input_tokens)
            text += w(f", {into} input tokens/s", f"，输入 {into} tokens/s")
        return text
    if request.requests_per_second and request.users:
        rate = w.num(request.requests_per_second, 3)
        return w(
            f"{w.count(request.users)} users' questions over the peak hours = {rate} requests/s",
            f"{w.count(request.users)} 用户的提问集中在高峰时段 = 每秒 {rate} 次请求",
        )
    if reading.streams and reading.fps:
        frames = w.num(reading.streams * reading.fps, 4)
        return w(
            f"{reading.streams} streams × {reading.fps:g} frames/s = {frames} frames/s; video decoding "
            "(NVDEC), CPU and "
            "network have to carry them too",
            f"{reading.streams} 路 × {reading.fps:g} 帧/秒 = {frames} 帧/秒，视频解码（NVDEC）、CPU "
            "和网络也要扛得住",
        )
    if reading.streams and reading.request.task == "vision":
        usual = [(rate, w.count(reading.streams * rate)) for rate in _USUAL_FPS]
        listed = w("; ", "；").join(
            w(f"at {rate} frames/s {total} frames/s", f"每路 {rate} 帧/秒为 {total} 帧/秒")
            for rate, total in usual
        )
        return w(f"{reading.streams} streams: {listed}", f"{reading.streams} 路：{listed}")
    if not reading.items_per_day or not reading.item:
        return ""
    hours = reading.window_hours or _DAY_HOURS
    amount = w.count(reading.items_per_day)
    if reading.item == "audio_hour":
        times = w.num(reading.items_per_day / hours, 4)
        return w(
            f"{amount} hours of audio a day in {hours:g} h = {times} times real time",
            f"每天 {amount} 小时音频 ÷ {hours:g} 小时 = {times} 倍实时速度",
        )
    english, chinese = _ITEMS[reading.item]
    each = w.num(reading.items_per_day / (hours * 3600), 3)
    return w(
        f"{amount} {english} a day in {hours:g} h = {each} a second on average",
        f"每天 {amount} {chinese} ÷ {hours:g} 小时 = 平均每秒 {each}",
    )


def compute_budget_section(w: Words, reading: Reading, catalog: Catalog) -> str:
    """What a given number of GPUs and hours can train when no model is named: C = 6 N D with D = 20 N, the
    compute-optimal ratio of Hoffmann et al. (2022)."""
    request = reading.request
    hours, count = request.hours or reading.hours, request.gpu_count
    if (
        request.task != "pretrain"
        or request.model
        or request.params_b
        or not (hours and count and request.gpu_wanted)
    ):
        return ""
    try:
        gpu = catalog.gpu(request.gpu_wanted[0])
    except AdvisorError:
        return ""
    peak = gpu.bf16_tflops or gpu.fp16_tflops
    if not peak:
        return ""
    work = count * hours * 3600 * peak * 1e12 * _USUAL_MFU
    params_b = math.sqrt(work / (6 * _TOKENS_PER_PARAMETER)) / 1e9
    tokens_b = _TOKENS_PER_PARAMETER * params_b
    arithmetic = f"{count} × {hours:g} h × {w.num(peak)} TFLOPS × {w.percent(_USUAL_MFU)} MFU"
    flop = f"{work:.2g}".replace("e+", "e")
    return w(
        f"**Compute budget.** {arithmetic} = about {flop} FLOP (MFU 30 to 50% is usual). With C = 6·N·D and "
        f"{_TOKENS_PER_PARAMETER} tokens per parameter that trains about N = {w.num(params_b, 2)}B on D = "
        f"{w.num(tokens_b, 2)}B tokens; a smaller model takes more tokens in proportion.",
        f"**算力预算**：{arithmetic} ≈ {flop} FLOP（MFU 通常 30% 到 50%）。按 C = 6·N·D、每参数 "
        f"{_TOKENS_PER_PARAMETER} "
        f"token，约可训练 N = {w.num(params_b, 2)}B、D = {w.num(tokens_b, 2)}B token；模型更小则 token "
        "按比例更多。",
    )


def latency_section(w: Words, reading: Reading, report: ThroughputReport) -> str:
    """What an end-to-end limit leaves for each token, beside what the card does."""
    limit, tokens = reading.latency_ms, report.output_tokens
    if not limit or tokens < 1:
        return ""
    left = (limit - report.ttft_ms) / tokens
    if left <= 0:
        return w(
            f"**Latency.** The first token alone takes {w.ms(report.ttft_ms)}, more than the {w.ms(limit)} "
            "allowed.",
            f"**延迟**：仅首 token 就要 {w.ms(report.ttft_ms)}，超过要求的 {w.ms(limit)}。",
        )
    meets = report.tpot_ms <= left
    verdict = w("meets it", "满足") if meets else w("misses it", "达不到")
    return w(
        f"**Latency.** {w.ms(limit)} for {tokens} tokens leaves ({w.ms(limit)} − {w.ms(report.ttft_ms)}) ÷ "
        f"{tokens} = "
        f"{w.ms(left)} per token, {w.num(1000 / left)} tokens/s for each request; {report.gpu} with "
        f"{w.ms(report.tpot_ms)} {verdict}.",
        f"**延迟**：{w.ms(limit)} 输出 {tokens} token，每 token 可用（{w.ms(limit)} − "
        f"{w.ms(report.ttft_ms)}）÷ "
        f"{tokens} = {w.ms(left)}，即每路 {w.num(1000 / left)} tokens/s；{report.gpu} 为 "
        f"{w.ms(report.tpot_ms)}，{verdict}。",
    )
