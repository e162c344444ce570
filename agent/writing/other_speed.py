"""Answers about the speed of images, video, speech, encoders and vision: rate, arithmetic, job, cost."""

from __future__ import annotations

import math
from dataclasses import dataclass

from agent.steps import Findings
from agent.writing.words import Words, short_model, table
from tools.contracts.cost import CostReport
from tools.contracts.other_speed import OtherSpeedReport

_HOUR = 3600.0
_DAY_HOURS = 24.0
_WINDOW_S = 30  # of audio that a recognizer hears at once
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
# A price is told for so many units: (units, English, Chinese).
_PRICED = {
    "image": (1000.0, "1,000 images", "1,000 张图"),
    "clip": (1.0, "clip", "条视频"),
    "text": (1e6, "million texts", "百万条文本"),
    "pair": (1e6, "million pairs", "百万对"),
    "audio_second": (_HOUR, "hour of audio", "小时音频"),
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
        return float(self.cost.hourly) if self.cost is not None and self.cost.hourly is not None else None

    @property
    def each(self) -> float | None:
        """Money for the units that `_PRICED` counts."""
        if self.hourly is None:
            return None
        return self.hourly / _HOUR / self.speed.per_s * _PRICED[self.speed.unit][0]


def other_speed_sections(
    w: Words, findings: Findings, a_day: float | None, window: float | None
) -> list[str]:
    """The best of the cards first, several in a table; how the figure comes about; the job and its cost."""
    runs = _runs(findings)
    if not runs:
        return []
    best = min(runs, key=lambda run: (run.each is None, run.each or 0.0)) if len(runs) > 1 else runs[0]
    sections = [_headline(w, best), _job(w, best, a_day, window)]
    if len(runs) > 1:
        sections.append(_table(w, runs))
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
            f"{w.num(rate * 60)} images per minute, {_seconds(w, report.seconds_each)} each",
            f"每分钟 {w.num(rate * 60)} 张，单张 {_seconds(w, report.seconds_each)}",
        )
    if report.unit == "clip":
        shown = w.num(report.clip_s or 0.0, 2)
        per_minute = w.num(rate * 60 * (report.clip_s or 0.0), 2)
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
    scale = 60.0 if report.unit == "image" and report.kind == "image" else 1.0
    return w.span(report.per_s_low * scale, report.per_s_high * scale)


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
    return w(f"{w.big(amount)} {english}", f"{w.big(amount)}{chinese}")


def _job(w: Words, run: Ran, a_day: float | None, window: float | None) -> str:
    """Hours and money of the work asked about; else what a unit costs."""
    report, cost = run.speed, run.cost
    if report.hours is None or report.hours_low is None or report.hours_high is None:
        return _unit_price(w, run)
    rate = _work_rate(w, report)
    hours, span = w.hours(report.hours), w.span(report.hours_low, report.hours_high)
    if a_day:
        length = window or _DAY_HOURS
        need = report.hours / length
        machines = max(1, math.ceil(need))
        reach = w.span(report.hours_low / length, report.hours_high / length)
        return w(
            f"**Machines: {machines}.** {_amount(w, report)} a day ÷ {rate} = {hours} of one machine; in "
            f"{length:g} h that takes {w.num(need)} ({reach}), with no reserve for peaks. "
            f"{_unit_price(w, run)}",
            f"**需要 {machines} 台**：每天 {_amount(w, report)} ÷ {rate} = 单台 {hours}；"
            f"在 {length:g} 小时内完成需 {w.num(need)} 台（{reach}），未留峰值余量。{_unit_price(w, run)}",
        )
    line = w(
        f"**Job.** {_amount(w, report)} ÷ {rate} = {hours} (range {span} h)",
        f"**任务**：{_amount(w, report)} ÷ {rate} = {hours}（区间 {span} 小时）",
    )
    if run.hourly is None or cost is None:
        return line + w("; no list price of this machine is published.", "；这台机器没有公开目录价。")
    low, high = run.hourly * report.hours_low, run.hourly * report.hours_high
    price = w.price(run.hourly, "hour", cost.currency)
    total = w.money(run.hourly * report.hours, cost.currency, 0 if run.hourly * report.hours >= 100 else 2)
    purchase = w.purchase(cost.purchase)
    return line + w(
        f" × {price} ({purchase}, {cost.region}) = **{total}** ({w.span(low, high)}); disk and traffic are "
        "extra. Several machines finish sooner for the same money.",
        f" × {price}（{purchase}，{cost.region}）= **{total}**（{w.span(low, high)}），不含云盘和流量。"
        "多台并行更快，总价相同。",
    )


def _work_rate(w: Words, report: OtherSpeedReport) -> str:
    if report.unit == "audio_second":
        return w(f"{w.num(report.per_s)} times real time", f"{w.num(report.per_s)} 倍实时")
    if report.unit in ("image", "clip") and report.kind != "vision":
        return w(f"{w.num(report.per_s * _HOUR)} an hour", f"每小时 {w.num(report.per_s * _HOUR)} 个")
    return w(f"{w.num(report.per_s)}/s", f"每秒 {w.num(report.per_s)} 个")


def _unit_price(w: Words, run: Ran) -> str:
    """What a unit costs by the list price of the machine; where no list has it by a quote, said to be one."""
    report, cost = run.speed, run.cost
    if cost is None:
        return ""
    units, english, chinese = _PRICED[report.unit]
    hourly, what = run.hourly, w(", ", "，").join((w.purchase(cost.purchase), cost.region))
    currency = cost.currency
    quotes = [item for item in cost.other_published if item.unit == "hour" and item.basis == "quote"]
    if hourly is None and quotes:
        hourly, currency = float(quotes[0].amount), quotes[0].currency
        what = w(
            f"a quote of {quotes[0].as_of}, {quotes[0].region}, no list price",
            f"{quotes[0].as_of} 的报价，{quotes[0].region}，无目录价",
        )
    if hourly is None:
        return w("No list price of this machine is published.", "这台机器没有公开目录价。")
    each = hourly / _HOUR / report.per_s * units
    amount = w.money(each, currency, 2 if each >= 0.1 else 4)
    return w(
        f"At {w.price(hourly, 'hour', currency)} ({what}) that is {amount} per {english}.",
        f"按 {w.price(hourly, 'hour', currency)}（{what}），每{chinese}约 {amount}。",
    )


def _table(w: Words, runs: list[Ran]) -> str:
    """Cards side by side, the cheapest per unit first."""
    _, english, chinese = _PRICED[runs[0].speed.unit]
    header = ("GPU", w("Instance type", "实例规格"), w("Rate", "速率"), w("Range", "区间"),
              w("Job", "任务时长"), w("Price per hour", "每小时价格"),
              w(f"Cost per {english}", f"每{chinese}成本"))  # fmt: skip
    rows = []
    for run in sorted(runs, key=lambda item: (item.each is None, item.each or 0.0)):
        report, none = run.speed, w("not published", "未公布")
        rows.append(
            (
                _cards(report),
                run.cost.instance_type if run.cost else "–",
                rate_text(w, report).strip(),
                _range(w, report),
                w.hours(report.hours) if report.hours is not None else "–",
                w.price(run.hourly, "hour", run.cost.currency) if run.hourly and run.cost else none,
                w.num(run.each) if run.each is not None else "–",
            )
        )
    keep = [place for place in range(len(header)) if place != 4 or runs[0].speed.hours is not None]
    return table([header[place] for place in keep], [[row[place] for place in keep] for row in rows])


def _arithmetic(w: Words, report: OtherSpeedReport) -> str:
    """How the figure comes about, in the parts that were added up."""
    parts = " + ".join(
        f"{w(*_PARTS[name])} {_seconds(w, value)}" for name, value in report.parts_s.items() if value > 0
    )
    total = f"{parts} = {_seconds(w, sum(report.parts_s.values()))}"
    if report.step_s is not None:
        return _sampling(w, report, total)
    if report.kind == "asr":
        return _recognition(w, report, total)
    if report.kind == "tts":
        return w(
            f"**Arithmetic.** For one second of each of {report.batch} streams, {report.engine}: {total}.",
            f"**计算**：{report.batch} 路各生成一秒音频，{report.engine}：{total}。",
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
    heard = f"{report.batch * _WINDOW_S}"
    return w(
        f"**Arithmetic.** {report.batch} windows of {_WINDOW_S} s together, beam {report.beam}, "
        f"{report.engine}: {total} for {heard} s of audio. The decoder reads weights and caches for every "
        "token of text, so larger batches pay more than a bigger card.",
        f"**计算**：{report.batch} 个 {_WINDOW_S} 秒窗口一批，beam {report.beam}，{report.engine}：{total}，"
        f"对应 {heard} 秒音频。解码每个字都要读一遍权重和缓存，所以加大批量比换大卡更有效。",
    )


def _items(w: Words, report: OtherSpeedReport, total: str) -> str:
    length = w(f" of {report.tokens} tokens", f"（{report.tokens} token）") if report.tokens else ""
    each, held = w.num(report.tflop_each * 1000), _sustained(w, report)
    return w(
        f"**Arithmetic.** {each} GFLOP for each item{length}, {report.batch} together, {report.engine}: "
        f"{total}; {held}.",
        f"**计算**：每条{length} {each} GFLOP，{report.batch} 条一批，{report.engine}：{total}；{held}。",
    )


def _evidence(w: Words, report: OtherSpeedReport) -> str:
    if report.evidence == "calibrated":
        return ""
    return w(
        f"**Estimate only.** No published measurement of this kind of work on the {report.gpu} stands behind "
        "it; measure one batch before you plan on it.",
        f"**仅为估算**：{report.gpu} 上没有公开的同类实测，请先跑一批再定规模。",
    )
