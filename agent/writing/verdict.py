"""Which of the compared GPUs for what: speed of one request, compute, memory, FP8, links, price."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agent.planner.requests import is_training, mentioned
from agent.steps import Case
from agent.writing.memory import peak_gib
from agent.writing.memory_answer import method_word
from agent.writing.words import Words, bullets, short_model
from knowledge.errors import AdvisorError
from knowledge.rows import Gpu
from tools.contracts.cost import CostReport
from tools.contracts.lookup import Comparison
from tools.contracts.memory import MemoryReport
from tools.contracts.throughput import ThroughputReport
from tools.contracts.training import TrainingMemoryReport

_CLEAR = 1.1  # a lead below this is called a draw


# Work that tensor rates and tokens say nothing about.
_OF_OTHER_MEASURE = frozenset({"hpc", "graphics", "transcoding", "diffusion", "video", "vision"})


def verdict_section(w: Words, case: Case, report: Comparison) -> str:
    """What each card is the better choice for; "" where nothing that is known sets them apart."""
    cards = _cards(case, report)
    if len(cards) < 2 or case.reading.request.task in _OF_OTHER_MEASURE:
        return ""
    counts = {mention.name: mention.count or 1 for mention in mentioned(case.reading, "gpu")}
    lines = [
        "" if is_training(case.reading) else
        _lead(w, cards, lambda card: (card.memory_bandwidth_gbs or 0) * counts.get(card.gpu_model, 1),
              "GB/s", "Faster for one request (decoding reads all weights, so bandwidth counts)",
              "单请求更快（解码要读全部权重，看带宽）"),
        _lead(w, cards, lambda card: (card.bf16_tflops or card.fp16_tflops or 0)
              * counts.get(card.gpu_model, 1),
              "TFLOPS", "Faster for training, long prompts and images (16-bit compute counts)",
              "训练、长提示、出图更快（看 16 位算力）"),
        _lead(w, cards, lambda card: (card.memory_gib or 0) * counts.get(card.gpu_model, 1),
              "GB", "More memory headroom: larger models, longer contexts, more requests at once",
              "显存余量更大：更大的模型、更长的上下文、更多并发"),
        _fp32(w, cards) if case.reading.request.precision == "fp32" else "",
        _fp8(w, cards),
        _links(w, cards),
        _price(w, cards, case.done.all(CostReport, "beside"), case),
    ]  # fmt: skip
    shown = [line for line in lines if line]
    return w("**Which for what**\n", "**怎么选**\n") + bullets(shown) if shown else ""


def first_token_line(w: Words, case: Case) -> str:
    """Which of the compared cards meets a limit on the first token; "" where none was set."""
    limit = case.reading.request.ttft_ms
    speeds = case.done.all(ThroughputReport)
    if not limit or len(speeds) < 2:
        return ""
    small = {
        step.artifact.gpu
        for step in case.done
        if step.call.purpose == "on_card"
        and isinstance(step.artifact, MemoryReport)
        and step.artifact.fits is False
    }
    sides = [(speed.gpu, speed.ttft_ms, speed.gpu in small) for speed in speeds]
    met = [gpu for gpu, ttft, over in sides if ttft <= limit and not over]
    shown = w("; ", "；").join(
        f"{gpu} {w.ms(ttft)}" + (w(" (the model does not fit one)", "（单卡放不下）") if over else "")
        for gpu, ttft, over in sides
    )
    head = (
        w(f"Within {w.ms(limit)}: {w.listed(met)}", f"满足首 token {w.ms(limit)}：{w.listed(met)}")
        if met
        else w(f"None meets {w.ms(limit)}", f"都达不到首 token {w.ms(limit)}")
    )
    return w(
        f"**{head}.** First token (TTFT) at {speeds[0].concurrency} in flight: {shown}.",
        f"**{head}。** {speeds[0].concurrency} 并发时的首 token（TTFT）：{shown}。",
    )


def unsold_lines(w: Words, case: Case, report: Comparison) -> list[str]:
    """Of compared cards without a family on sale: the retired or API-only families that carry them."""
    lines = []
    for card in _cards(case, report):
        if case.catalog.with_gpu(card.gpu_model, "current"):
            continue
        rows = case.catalog.with_gpu(card.gpu_model)
        families = w.listed(dict.fromkeys(row.family for row in rows))
        lines.append(
            w(
                f"{card.gpu_model} is in no family on sale; retired or seen in the API only: {families}",
                f"{card.gpu_model} 没有在售规格族；已停售或只在 API 里出现的有 {families}",
            )
            if rows
            else w(
                f"{card.gpu_model} is in no Alibaba Cloud family",
                f"阿里云没有带 {card.gpu_model} 的规格族",
            )
        )
    return lines


def card_memory_lines(w: Words, case: Case) -> list[str]:
    """What the work needs on each card, and whether it fits."""
    lines = []
    for step in case.done:
        report = step.artifact
        if step.call.purpose != "on_card" or not isinstance(report, MemoryReport | TrainingMemoryReport):
            continue
        cards = f"{report.gpu_count} × {report.gpu}" if report.gpu_count > 1 else report.gpu
        each = w(" per GPU", "（每卡）") if report.gpu_count > 1 else ""
        how = (
            report.weight_precision
            if isinstance(report, MemoryReport)
            else w.listed((method_word(w, report.method), w.precision(report.precision)))
        )
        fit = {
            "fits": w("fits", "放得下"),
            "tight": w("fits, but it is tight", "放得下，但偏紧"),
        }.get(report.verdict or "", w("does not fit", "放不下"))
        more = next((item for item in report.limits if item.change == "more_gpus" and item.fits), None)
        if report.verdict == "does_not_fit" and more is not None:
            fit += w(f"; {more.value} cards do", f"，要 {more.value} 张")
        weights = report.weights_gib if isinstance(report, MemoryReport) else report.parameters_gib
        lines.append(
            w(
                f"{short_model(report.model)} ({how}) on {cards}: {w.gib(peak_gib(report))}{each}, weights "
                f"{w.gib(weights)}: {fit}",
                f"{short_model(report.model)}（{how}）在 {cards}：{w.gib(peak_gib(report))}{each}，权重 "
                f"{w.gib(weights)}，{fit}",
            )
        )
    return lines


def _cards(case: Case, report: Comparison) -> list[Gpu]:
    cards = []
    for name in report.names:
        try:
            cards.append(case.catalog.gpu(name))
        except AdvisorError:
            continue
    return cards


def _lead(
    w: Words, cards: Sequence[Gpu], value: Callable[[Gpu], float], unit: str, english: str, chinese: str
) -> str:
    """The card that clearly leads in one figure, with the runner-up."""
    ordered = sorted(cards, key=value, reverse=True)
    best, second = ordered[0], ordered[1]
    if not value(second) or value(best) < _CLEAR * value(second):
        return ""
    against = f"{w.num(value(best), 4)} {unit} {w('against', '对')} {w.num(value(second), 4)}"
    return w(f"{english}: **{best.gpu_model}** ({against})", f"{chinese}：**{best.gpu_model}**（{against}）")


def _fp32(w: Words, cards: Sequence[Gpu]) -> str:
    """FP32 without tensor cores: what a dear card does not speed up."""
    known = [card for card in cards if card.fp32_tflops]
    shown = w.listed(f"{card.gpu_model} {w.num(card.fp32_tflops or 0)}" for card in known)
    return w(
        f"Plain FP32 in TFLOPS: {shown}; a data-centre card is ahead only on its tensor cores, so enable "
        "TF32 or BF16, or take the cheaper card for FP32",
        f"普通 FP32（TFLOPS）：{shown}；数据中心卡的优势在张量核心，请开启 TF32 或 BF16，"
        "只用 FP32 就选便宜的卡",
    )


def _fp8(w: Words, cards: Sequence[Gpu]) -> str:
    able = [card.gpu_model for card in cards if card.fp8_tflops]
    rest = [card.gpu_model for card in cards if not card.fp8_tflops]
    if not able or not rest:
        return ""
    return w(
        f"FP8 computing: {w.listed(able)}; not {w.listed(rest)}",
        f"FP8 计算：{w.listed(able)} 支持，{w.listed(rest)} 不支持",
    )


def _links(w: Words, cards: Sequence[Gpu]) -> str:
    """Links between cards matter to work that is split over them, and to nothing else."""
    values = {card.gpu_model: card.nvlink_gbs or 0 for card in cards}
    if len(set(values.values())) < 2:
        return ""
    shown = w.listed(
        f"{name} {w.num(speed)} GB/s" if speed else w(f"{name} none", f"{name} 无")
        for name, speed in values.items()
    )
    return w(
        f"NVLink ({shown}, figures of public data sheets) matters for training and tensor parallelism over "
        "several cards; on one card it makes no difference",
        f"NVLink（{shown}，公开资料的数字）影响多卡训练和张量并行；单卡没有差别",
    )


def _price(w: Words, cards: Sequence[Gpu], costs: Sequence[CostReport], case: Case) -> str:
    """The cheapest per hour, and the cards that it beats in memory bandwidth and memory as well."""
    by_card = {
        case.catalog.instance(report.instance_type).gpu_model: report
        for report in costs
        if report.hourly is not None
    }
    priced = [card for card in cards if card.gpu_model in by_card]
    if len(priced) < 2:
        return ""
    best = min(priced, key=lambda card: by_card[card.gpu_model].hourly or 0)
    found = by_card[best.gpu_model]
    price = w.price(found.hourly or 0, "hour", found.currency)
    text = w(
        f"Cheaper per hour: **{best.gpu_model}** ({price})", f"每小时更便宜：**{best.gpu_model}**（{price}）"
    )
    beaten = [
        card.gpu_model
        for card in priced
        if card is not best
        and (card.memory_bandwidth_gbs or 0) < (best.memory_bandwidth_gbs or 0)
        and (card.memory_gib or 0) <= (best.memory_gib or 0)
    ]
    if beaten:
        text += w(
            f"; it beats {w.listed(beaten)} on price and on capability",
            f"；价格和能力都胜过 {w.listed(beaten)}",
        )
    return text
