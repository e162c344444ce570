"""The first line of a cost answer: the price asked for, its sum, and the same in another currency."""

from __future__ import annotations

from agent.steps import Findings
from agent.writing.cost_ways import nearest_price, whole_term
from agent.writing.facts import price_of
from agent.writing.glossary import remark_text
from agent.writing.spot import spot_range
from agent.writing.words import Words
from tools.contracts.cost import CostReport
from tools.contracts.training import TrainingTimeReport

# Warnings that the first line of a cost answer words itself.
RULES_TOLD = frozenset(
    {"no_published_reserved_rate", "no_published_savings_plan_rate", "no_spot_price_known"}
)
_WHOLE_MONTH = 729.0  # hours
_RATE_SOURCES = {
    "given with the request": "你给出的汇率",
    "the settings of this installation": "本系统设置",
}


def headline(w: Words, report: CostReport) -> str:
    name = f"{report.count} × {report.instance_type}" if report.count > 1 else report.instance_type
    if report.price is None and report.purchase.startswith("savings_plan") and report.savings:
        best = report.savings[0]
        sums = w.price(best.hourly, "hour", report.currency) if best.hourly is not None else ""
        return w(
            f"**{name} under a savings plan: from {best.payg_percent:g}% of pay-as-you-go** {sums} "
            f"({report.region}, live, {best.at}).",
            f"**{name} 用节省计划：最低为按量价的 {best.payg_percent:g}%** {sums}"
            f"（{report.region}，实时，{best.at}）。",
        )
    if report.price is None and report.purchase == "spot" and report.spot is not None:
        return w(
            f"**No spot price of {name} in {report.region} is known.** {spot_range(w, report.spot)}.",
            f"**没有 {name} 在 {report.region} 的抢占式价格。** {spot_range(w, report.spot)}。",
        )
    if report.price is None:
        text = w(
            f"**No {w.purchase(report.purchase)} list price of {name} is published for {report.region}.**",
            f"**{name} 在 {report.region} 没有公开的{w.purchase(report.purchase)}目录价。**",
        )
        rule = next((item for item in report.warnings if item.code in RULES_TOLD), None)
        if rule is not None:
            return w.sentences((text, f"{remark_text(w, rule)}{w('.', '。')}"))
        nearest = whole_term(w, report) or nearest_price(w, report)
        return text + (w(f" Nearest figure: {nearest}.", f" 最接近的数字：{nearest}。") if nearest else "")
    if report.mixed is not None:
        return _mixed_headline(w, report)
    parts = [price_of(w, report.price)]
    if report.count > 1 and report.hourly is not None:
        parts.append(
            w(
                f"{w.price(report.hourly, 'hour', report.currency)} in all",
                f"合计 {w.price(report.hourly, 'hour', report.currency)}",
            )
        )
    parts += _sum_of(w, report)
    if report.all_in_monthly is not None:
        whole = w.money(report.all_in_monthly, report.currency, 0)
        what = _with_words(w, report)
        parts.append(w(f"**with {what} {whole} a month**", f"**加上{what}每月 {whole}**"))
    if report.tokens is not None:
        each_in = w.money(report.tokens.input_price, report.currency)
        each_out = w.money(report.tokens.output_price, report.currency)
        parts.append(
            w(
                f"**{each_in} per million input tokens and {each_out} per million output tokens** at the "
                "load below",
                f"下述负载下**每百万输入 token {each_in}、输出 token {each_out}**",
            )
        )
    text = w(f"**{name}** costs {w.listed(parts)}.", f"**{name}**：{'，'.join(parts)}。")
    return w.sentences((text, _converted(w, report)))


def _with_words(w: Words, report: CostReport) -> str:
    """What the sum holds beside the instance."""
    names = {"system_disk": w("disk", "云盘"), "public_traffic": w("traffic", "流量")}
    return w(" and ", "和").join(names[line.code] for line in report.lines)


def training_cost_line(w: Words, findings: Findings) -> list[str]:
    """How long a training takes and what it costs: the first line where both were asked."""
    time, cost = findings.first(TrainingTimeReport), findings.first(CostReport)
    if time is None or cost is None or time.hours is None:
        return []
    name = f"{cost.count} × {cost.instance_type}" if cost.count > 1 else cost.instance_type
    hours = w.hours(time.hours)
    span = w.span(time.hours_low or time.hours, time.hours_high or time.hours)
    if cost.job is None:
        near = nearest_price(w, cost) or w("ask for a quote", "需询价")
        return [
            w(
                f"**About {hours} ({span} h)** on {name} ({time.gpu_count} × {time.gpu}); **no list price is "
                f"published, so no sum**: {near}.",
                f"**约 {hours}（{span} 小时）**：{name}（{time.gpu_count} × {time.gpu}）；"
                f"**没有公开目录价，无法算总价**：{near}。",
            )
        ]
    job = w.money(cost.job, cost.currency, 0)
    return [
        w(
            f"**About {hours} ({span} h) and {job}** on {name} ({time.gpu_count} × {time.gpu}), "
            f"{price_of(w, cost.price)}.",
            f"**约 {hours}（{span} 小时），{job}**：{name}（{time.gpu_count} × {time.gpu}），"
            f"{price_of(w, cost.price)}。",
        )
    ]


def _sum_of(w: Words, report: CostReport) -> list[str]:
    """The cost of the job, the months or one month, whichever was asked about."""
    if report.price is not None and report.job == report.price.amount:  # one term: told as the price
        return []
    if report.job is not None and report.hours is not None:
        job = w.money(report.job, report.currency, 0)
        hours = w.num(report.hours, 4)
        return [w(f"{job} for {hours} h", f"{hours} 小时共 {job}")]
    if report.price is None or report.monthly is None:
        return []
    each = w.money(report.monthly, report.currency, 0)
    hours = w.num(report.hours_per_month or 730, 4)
    month = w(f"{each} a month of {hours} h", f"每月 {hours} 小时共 {each}")
    if report.price.unit != "hour":
        month = (
            w(f"{each} a month", f"每月 {each}") if report.price.unit != "month" or report.count > 1 else ""
        )
    month += _against_month(w, report)
    months = report.months
    if months is None or report.job is None or months == 1:
        return [month] if month else []
    job, span = w.money(report.job, report.currency, 0), w.num(months)
    return [part for part in (month, w(f"{job} for {span} months", f"{span} 个月共 {job}")) if part]


def _against_month(w: Words, report: CostReport) -> str:
    """For part of a month by the hour: what the whole month by subscription costs."""
    used = report.hours_per_month or _WHOLE_MONTH
    prices = (*report.options, *report.derived)
    month = next((item for item in prices if item.purchase == "subscription_1m"), None)
    if month is None or report.monthly is None or report.purchase != "payg" or used >= _WHOLE_MONTH:
        return ""
    amount = month.amount * report.count
    shown = w.money(amount, month.currency, 0)
    if report.monthly < amount:
        return w(f" against {shown} by the month", f"，低于包月的 {shown}")
    return w(f", more than {shown} by the month", f"，高于包月的 {shown}")


def _mixed_headline(w: Words, report: CostReport) -> str:
    """The month of machines paid in two ways."""
    plan = report.mixed
    if plan is None:
        return ""
    total = w.money(plan.monthly, report.currency, 0)
    return w(
        f"**{plan.base_count} × {report.instance_type} by the month and {plan.peak_count} by the hour: "
        f"{total} a month** ({report.region}).",
        f"**{report.instance_type}，{plan.base_count} 台包月加 {plan.peak_count} 台按量：每月 {total}**"
        f"（{report.region}）。",
    )


def _converted(w: Words, report: CostReport) -> str:
    """The sums in the currency that was asked for, with the rate and its date."""
    found = report.conversion
    if found is None or found.hourly is None:
        return ""
    rate = w.num(found.cny_per_usd, 4)
    parts = [w.price(found.hourly, "hour", found.currency)]
    if found.job is not None:
        parts.append(
            w(
                f"{w.money(found.job, found.currency, 0)} in all",
                f"共 {w.money(found.job, found.currency, 0)}",
            )
        )
    elif found.monthly is not None:
        month = w.money(found.monthly, found.currency, 0)
        parts.append(w(f"{month} a month", f"每月 {month}"))
    return w(
        f"In {found.currency} about **{w.listed(parts)}**, at {rate} CNY per USD "
        f"({w.date(found.rate_as_of)}, {found.rate_source.split(',')[0]}): a conversion, no list price.",
        f"折合美元约 **{w.listed(parts)}**，按 1 美元 = {rate} 元（{w.date(found.rate_as_of)}，"
        f"{_RATE_SOURCES.get(found.rate_source, '估算用汇率')}）换算，不是目录价。",
    )
