"""Answers about the speed of images, video, speech, encoders and vision: rate, arithmetic, job, cost."""

from __future__ import annotations

import math
from dataclasses import dataclass

from agent.steps import Findings
from agent.writing.words import Words, short_model, table
from tools.contracts.cost import CostReport
from tools.contracts.other_speed import OtherSpeedReport

_HOUR = 3600.0
_ROUND_FROM = 100  # sums from here on are shown without decimals
_PARTS = {
    "text_encoder": ("text encoder", "文本编码器"),
    "denoiser": ("denoising", "去噪"),
    "decoder": ("decoder", "解码"),
    "encoder": ("encoder", "编码器"),
    "launches": ("launches and weights", "启动与读权重"),
    "host": ("host (features, silence)", "主机侧（特征、静音检测）"),
    "flow_and_vocoder": ("flow and vocoder", "flow 与声码器"),
    "network": ("network", "网络"),
}
# What a price is told for.
_PRICED = {
    "image": ("image", "张图"),
    "video": ("clip", "条视频"),
    "vision": ("million frames", "百万帧"),
    "embedding": ("million texts", "百万条文本"),
    "reranker": ("million pairs", "百万对"),
    "asr": ("hour of audio", "小时音频"),
    "tts": ("hour of audio", "小时音频"),
}
_MANY = {
    "image": ("images", "张图"),
    "clip": ("clips", "条视频"),
    "text": ("texts", "条文本"),
    "pair": ("pairs", "对"),
}


@dataclass(frozen=True, slots=True)
class Ran:
    """A rate with the cost of the machine that gives it, where it has a price."""

    speed: OtherSpeedReport
    cost: CostReport | None

    @property
    def hourly(self) -> float | None:
        """The list price of the machine."""
        return float(self.cost.hourly) if self.cost is not None and self.cost.hourly is not None else None

    @property
    def unit_cost(self) -> float | None:
        """Money by list price for what `_PRICED` names."""
        work = self.cost.work if self.cost is not None else None
        return float(work.unit_cost) if work is not None and work.quote is None else None


def other_speed_sections(w: Words, findings: Findings) -> list[str]:
    """The best of the cards first, several in a table; how the figure comes about; the job and its cost."""
    runs = _runs(findings)
    if not runs:
        return []
    ranked = sorted(runs, key=lambda run: (run.unit_cost is None, run.unit_cost or 0.0))
    best = ranked[0]
    sections = [_headline(w, best), _job(w, best)]
    if len(runs) > 1:
        sections.append(_table(w, ranked))
    sections += [_arithmetic(w, best.speed), _evidence(w, best.speed)]
    return [section for section in sections if section]


def _runs(findings: Findings) -> list[Ran]:
    costs = {report.instance_type: report for report in findings.all(CostReport)}
    by_card = list(costs.values())
    runs: list[Ran] = []
    for step in findings:
        if isinstance(step.artifact, OtherSpeedReport):
            kind = step.call.args.get("instance_type")
            place = len(runs)
            cost = costs.get(kind) if kind else by_card[place] if place < len(by_card) else None
            runs.append(Ran(step.artifact, cost))
    return runs


def _cards(report: OtherSpeedReport) -> str:
    return f"{report.gpu_count} × {report.gpu}"


def _headline(w: Words, run: Ran) -> str:
    report = run.speed
    where = w(f" on {_cards(report)}", f" 在 {_cards(report)} 上")
    if run.cost is not None:
        where += w(f" ({run.cost.instance_type})", f"（{run.cost.instance_type}）")
    only = "" if report.evidence == "calibrated" else w("; estimate only", "；仅为估算")
    if report.fits is False:
        only += w("; only with weights offloaded or in 8 bit", "；需卸载权重或用 8 比特")
    return w(
        f"**{short_model(report.model)}{where}: about {rate_text(w, report)}** ({_range(w, report)}{only}).",
        f"**{short_model(report.model)}{where}：约{rate_text(w, report)}**（{_range(w, report)}{only}）。",
    )


def rate_text(w: Words, report: OtherSpeedReport) -> str:
    """The rate as people ask for it."""
    rate = report.per_s
    if report.kind == "vision":
        return w(f"{w.num(rate)} images/s", f"每秒 {w.num(rate)} 张图")
    if report.unit == "image":
        return w(
            f"{w.num(report.per_minute)} images per minute, {_seconds(w, report.seconds_each)} each",
            f"每分钟 {w.num(report.per_minute)} 张，单张 {_seconds(w, report.seconds_each)}",
        )
    if report.unit == "clip":
        shown = w.num(report.clip_s or 0.0, 2)
        per_minute = w.num(report.video_s_per_minute or 0.0, 2)
        return w(
            f"{_seconds(w, report.seconds_each)} per clip of {shown} s, {per_minute} s of video per minute",
            f" {_seconds(w, report.seconds_each)}一条（时长 {shown} 秒），每分钟出 {per_minute} 秒视频",
        )
    if report.unit == "audio_second":
        factor = w.num(1 / rate)
        return w(f"{w.num(rate)} times real time (RTF {factor})", f" {w.num(rate)} 倍实时（RTF {factor}）")
    read = report.tokens_per_s or 0.0
    tokens = w.big(round(read, 2 - math.floor(math.log10(max(read, 1.0)))))
    if report.unit == "pair":
        return w(f"{w.num(rate)} pairs/s ({tokens} tokens/s)", f"每秒 {w.num(rate)} 对（{tokens} token/秒）")
    return w(f"{w.num(rate)} texts/s ({tokens} tokens/s)", f"每秒 {w.num(rate)} 条（{tokens} token/秒）")


def _range(w: Words, report: OtherSpeedReport) -> str:
    if report.unit == "clip":
        low, high = report.seconds_each_low, report.seconds_each_high
        return w(f"{_seconds(w, low)} to {_seconds(w, high)}", f"{_seconds(w, low)}到 {_seconds(w, high)}")
    if report.kind == "image":
        return w.span(report.per_minute_low, report.per_minute_high)
    return w.span(report.per_s_low, report.per_s_high)


def _seconds(w: Words, seconds: float) -> str:
    """A duration of an item: seconds, minutes from two, hours from two."""
    if seconds >= 2 * _HOUR:
        return w(f"{w.num(seconds / _HOUR, 2)} h", f"{w.num(seconds / _HOUR, 2)} 小时")
    if seconds >= 120:
        return w(f"{w.num(seconds / 60, 2)} min", f"{w.num(seconds / 60, 2)} 分钟")
    return w(f"{w.num(seconds, 2)} s", f"{w.num(seconds, 2)} 秒")


def _amount(w: Words, report: OtherSpeedReport) -> str:
    amount = report.amount or 0.0
    if report.unit == "audio_second":
        return w(f"{w.num(amount / _HOUR, 4)} h of audio", f"{w.num(amount / _HOUR, 4)} 小时音频")
    english, chinese = _MANY[report.unit]
    return f"{w.big(amount)} {w(english, chinese)}"


def _job(w: Words, run: Ran) -> str:
    """Hours and money of the work asked about; else what a unit costs."""
    report, cost = run.speed, run.cost
    if report.hours is None or report.hours_low is None or report.hours_high is None:
        return _unit_price(w, run)
    if report.machines is not None:
        return _machines(w, run)
    hours, span = w.hours(report.hours), w.span(report.hours_low, report.hours_high)
    line = w(
        f"**Job.** {_amount(w, report)} ÷ {_work_rate(w, report)} = {hours} (range {span} h)",
        f"**任务**：{_amount(w, report)} ÷ {_work_rate(w, report)} = {hours}（区间 {span} 小时）",
    )
    if cost is None or cost.job is None or cost.hourly is None:
        return w.sentences((line + w(".", "。"), _unit_price(w, run)))
    price = w.price(cost.hourly, "hour", cost.currency)
    total = w.money(cost.job, cost.currency, 0 if cost.job >= _ROUND_FROM else 2)
    work = cost.work
    reach = w.span(work.job_low, work.job_high) if work and work.job_low and work.job_high else ""
    purchase = w.purchase(cost.purchase)
    return line + w(
        f" × {price} ({purchase}, {cost.region}) = **{total}** ({reach}); disk and traffic are extra. "
        "Several machines finish sooner for the same money.",
        f" × {price}（{purchase}，{cost.region}）= **{total}**（{reach}），不含云盘和流量。"
        "多台并行更快，总价相同。",
    )


def _machines(w: Words, run: Ran) -> str:
    """How many machines a day's work takes within its window."""
    report = run.speed
    length = (report.hours or 0.0) / (report.machines or 1.0)
    need, reach = (
        w.num(report.machines or 0.0),
        w.span(report.machines_low or 0.0, report.machines_high or 0.0),
    )
    each = f"{_amount(w, report)} ÷ {_work_rate(w, report)} = {w.hours(report.hours or 0.0)}"
    cards = (report.machines_whole or 0) * report.gpu_count
    gpus = w(f"{cards} GPU{'' if cards == 1 else 's'}", f"{cards} 张 GPU")
    return w(
        f"**Machines: {report.machines_whole} ({gpus}).** A day's {each} of one machine; "
        f"in {w.num(length)} h that takes {need} ({reach}), with no reserve for peaks. {_unit_price(w, run)}",
        f"**需要 {report.machines_whole} 台（{gpus}）**：每天 {each}（单台）；"
        f"在 {w.num(length)} 小时内完成需 {need} 台（{reach}），未留峰值余量。{_unit_price(w, run)}",
    )


def _work_rate(w: Words, report: OtherSpeedReport) -> str:
    if report.unit == "audio_second":
        return w(f"{w.num(report.per_s)} times real time", f"{w.num(report.per_s)} 倍实时")
    if report.unit in ("image", "clip") and report.kind != "vision":
        return w(f"{w.num(report.per_hour)} an hour", f"每小时 {w.num(report.per_hour)} 个")
    return w(f"{w.num(report.per_s)}/s", f"每秒 {w.num(report.per_s)} 个")


def _unit_price(w: Words, run: Ran) -> str:
    """What a unit costs by the list price of the machine; where no list has it by a quote, said to be one."""
    cost = run.cost
    if cost is None:
        return ""
    if cost.work is None:
        return w("No list price of this machine is published.", "这台机器没有公开目录价。")
    english, chinese = _PRICED[run.speed.kind]
    what = w(", ", "，").join((w.purchase(cost.purchase), cost.region))
    if cost.work.quote is not None:
        quote = cost.work.quote
        what = w(
            f"a quote of {quote.as_of}{quote.region and ', ' + quote.region}, no list price",
            f"{quote.as_of} 的报价{quote.region and '，' + quote.region}，无目录价",
        )
    price = w.price(cost.work.hourly, "hour", cost.work.currency)
    amount = w.money(cost.work.unit_cost, cost.work.currency, 2 if cost.work.unit_cost >= 1 else 4)
    return w(
        f"At {price} ({what}) that is {amount} per {english}.",
        f"按 {price}（{what}），每{chinese}约 {amount}。",
    )


def _table(w: Words, runs: list[Ran]) -> str:
    """Cards side by side, the cheapest per unit first."""
    english, chinese = _PRICED[runs[0].speed.kind]
    header = [
        "GPU",
        w("Instance type", "实例规格"),
        w("Rate", "速率"),
        w("Range", "区间"),
        w("Hours of the job", "任务时长"),
        w("Price per hour", "每小时价格"),
        w(f"Cost per {english}", f"每{chinese}成本"),
    ]
    rows = [_row(w, run) for run in runs]
    if runs[0].speed.hours is None:
        header, rows = [*header[:4], *header[5:]], [[*row[:4], *row[5:]] for row in rows]
    return table(header, rows)


def _row(w: Words, run: Ran) -> list[str]:
    report, cost = run.speed, run.cost
    unit = (
        w.money(run.unit_cost, cost.currency, 2 if run.unit_cost >= 1 else 4)
        if run.unit_cost and cost
        else "–"
    )
    return [
        _cards(report),
        cost.instance_type if cost else "–",
        rate_text(w, report).strip(),
        _range(w, report),
        w.hours(report.hours) if report.hours is not None else "–",
        w.price(run.hourly, "hour", cost.currency) if run.hourly and cost else w("not published", "未公布"),
        unit,
    ]


def _arithmetic(w: Words, report: OtherSpeedReport) -> str:
    """How the figure comes about, in the parts that were added up."""
    parts = " + ".join(
        f"{w(*_PARTS[name])} {_seconds(w, value)}" for name, value in report.parts_s.items() if value > 0
    )
    total = f"{parts} = {_seconds(w, report.batch_s)}"
    if report.step_s is not None:
        return _sampling(w, report, total)
    if report.kind == "asr":
        return _recognition(w, report, total)
    if report.kind == "tts":
        return w(
            f"**Arithmetic.** For one second of each of {report.batch} streams, {report.engine}: {total}.",
            f"**计算**：{report.batch} 路并行，每路每秒音频，{report.engine}：{total}。",
        )
    return _items(w, report, total)


def _sustained(w: Words, report: OtherSpeedReport) -> str:
    share = w.percent(report.sustained_tflops / report.peak_tflops)
    rate, peak = w.num(report.sustained_tflops), w.num(report.peak_tflops)
    return w(
        f"{rate} TFLOPS sustained, {share} of the {peak} TFLOPS peak in {report.compute_precision}",
        f"持续 {rate} TFLOPS，为 {report.compute_precision} 峰值 {peak} TFLOPS 的 {share}",
    )


def _sampling(w: Words, report: OtherSpeedReport, total: str) -> str:
    steps, passes, work = report.steps, report.guidance_passes, w.num(report.tflop_each, 4)
    each = _seconds(w, report.step_s or 0.0)
    twice = w("with guidance, two passes each", "带引导，每步两次前向")
    once = w("one pass each", "每步一次前向")
    how = (
        twice if passes == 2 else once if passes == 1 else w(f"{passes} passes each", f"每步 {passes} 次前向")
    )
    held = _sustained(w, report)
    return w(
        f"**Arithmetic.** {report.resolution}, {steps} steps, {how}: {work} TFLOP. {report.engine}: {held}, "
        f"{each} a step; {total} (batch {report.batch}).",
        f"**计算**：{report.resolution}，{steps} 步，{how}，共 {work} TFLOP。{report.engine}：{held}，"
        f"每步 {each}；{total}（批大小 {report.batch}）。",
    )


def _recognition(w: Words, report: OtherSpeedReport, total: str) -> str:
    window, heard = w.num(report.window_s or 0.0), w.count(report.batch_audio_s or 0.0)
    return w(
        f"**Arithmetic.** {report.batch} windows of {window} s together, beam {report.beam}, "
        f"{report.engine}: {total} for {heard} s of audio. The decoder reads weights and caches for every "
        "token of text, so larger batches pay more than a bigger card.",
        f"**计算**：{report.batch} 个 {window} 秒窗口一批，beam {report.beam}，{report.engine}：{total}，"
        f"对应 {heard} 秒音频。解码每个字都要读一遍权重和缓存，所以加大批量比换大卡更有效。",
    )


def _items(w: Words, report: OtherSpeedReport, total: str) -> str:
    length = w(f" of {report.tokens} tokens", f"（{report.tokens} token）") if report.tokens else ""
    each, held = w.num(report.tflop_each), _sustained(w, report)
    return w(
        f"**Arithmetic.** {each} TFLOP for each item{length}, {report.batch} together, {report.engine}: "
        f"{total}; {held}.",
        f"**计算**：每条{length} {each} TFLOP，{report.batch} 条一批，{report.engine}：{total}；{held}。",
    )


def _evidence(w: Words, report: OtherSpeedReport) -> str:
    if report.evidence == "calibrated":
        return ""
    return w(
        f"**Estimate only.** No published measurement of this kind of work on the {report.gpu} stands behind "
        "it; measure one batch before you plan on it.",
        f"**仅为估算**：{report.gpu} 上没有公开的同类实测，请先跑一批再定规模。",
    )
