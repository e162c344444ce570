"""Costs in words: the price asked for first, every purchase option, cheaper regions, what comes on top."""

from __future__ import annotations

from collections.abc import Sequence

from agent.planner.requests import counts_said
from agent.reading.types import Reading
from agent.steps import Case
from agent.writing.cost_details import detail_lines, idle_sections
from agent.writing.cost_headline import headline
from agent.writing.cost_ways import nearest_price, options_table
from agent.writing.facts import price_of, when_of
from agent.writing.words import Words, bullets, table
from tools.contracts.cost import CostReport

_SAME = 0.02  # a difference of the price per card below this is none


def money_sections(w: Words, reading: Reading, reports: Sequence[CostReport]) -> list[str]:
    """Prices, a year of part-time use, and what a stopped machine goes on to cost where that was asked."""
    year = year_line(w, reports[0], reading.request.hours_per_month)
    idle = idle_sections(w, reports[0]) if "economical_mode" in reading.topics else []
    return [*cost_sections(w, reports), *([year] if year else []), *idle]


def cost_sections(w: Words, reports: Sequence[CostReport], shelf: bool = True) -> list[str]:
    """One report in full, or several side by side with the first in full below; `shelf`: with its stock."""
    first, *others = reports
    details = detail_lines(w, first, shelf)
    if others:
        priced = [report for report in reports if report.price is not None]
        unpriced_spot = not priced and first.spot is not None
        # One price alone is no comparison: it is told in full.
        lead = headline(w, (priced or [first])[0]) if len(priced) == 1 or unpriced_spot else ""
        return [lead or _comparison_line(w, reports), _side_by_side(w, reports), *details]
    return [headline(w, first), options_table(w, first), *details]


def quote_lines(w: Words, reports: Sequence[CostReport]) -> list[str]:
    """Of types without a list price the nearest figure, or that one has to ask."""
    lines = []
    for report in reports:
        if report.price is None:
            near = nearest_price(w, report) or _elsewhere(w, report) or w("ask for a quote", "需询价")
            lines.append(
                w(
                    f"No list price of {report.instance_type} in {report.region}: {near}",
                    f"{report.instance_type} 在 {report.region} 没有目录价：{near}",
                )
            )
        else:
            lines.append(f"{report.instance_type}: {price_of(w, report.price)}")
    return [bullets(lines)] if lines else []


def _elsewhere(w: Words, report: CostReport) -> str:
    """The lowest list price of another region."""
    low = next(iter(report.cheaper_regions), None)
    return f"{low.region} {w.price(low.amount, low.unit, low.currency)} ({when_of(w, low)})" if low else ""


def year_line(w: Words, report: CostReport, hours_per_month: float | None) -> str:
    """A year of part-time use: by the hour against twelve months, and the price at which they are equal."""
    prices = [*report.options, *report.derived]
    hourly = next((item for item in prices if item.purchase == "payg" and item.unit == "hour"), None)
    month = next((item for item in prices if item.purchase == "subscription_1m"), None)
    if (
        not report.purchase.startswith("subscription")
        or not hours_per_month
        or hourly is None
        or month is None
    ):
        return ""
    per_month = float(hourly.amount) * hours_per_month * report.count
    by_hour, by_month = per_month * 12, float(month.amount) * 12 * report.count
    hours = w.num(hours_per_month, 4)
    total, twelve = w.money(by_hour, decimals=0), w.money(by_month, decimals=0)
    less = w("cheaper", "更便宜")
    verdict = (
        w(
            f"by the hour is {less}; a yearly price has to be below {total}, {w.percent(by_hour / by_month)} "
            "of the monthly price, to pay",
            f"按量{less}；一年总价低于 {total}（包月价的 {w.percent(by_hour / by_month)}）才值得买断",
        )
        if by_hour < by_month
        else w(f"the subscription is {less}", f"包年包月{less}")
    )
    return w(
        f"**A year at {hours} h a month:** {hourly.amount:.4f} × {hours} × 12 = {total} pay-as-you-go "
        f"against 12 months = {twelve}: {verdict}.",
        f"**按每月 {hours} 小时算一年**：{hourly.amount:.4f} × {hours} × 12 = {total}（按量），包月 12 个月 "
        f"= {twelve}：{verdict}。",
    )


def times_line(w: Words, case: Case, reports: Sequence[CostReport]) -> str:
    """Several numbers of one card: what each costs, and whether many cost less per card than one."""
    if len(counts_said(case.reading)) < 2:
        return ""
    rows = [(report, case.catalog.instance(report.instance_type)) for report in reports if report.hourly]
    same = [(report, row) for report, row in rows if row.gpu_model == rows[0][1].gpu_model]
    by_count = {report.count * row.whole_gpus: report for report, row in reversed(same) if row.whole_gpus}
    if len(by_count) < 2:
        return ""
    few, many = min(by_count), max(by_count)
    low, high = float(by_count[few].hourly or 0), float(by_count[many].hourly or 0)
    told = w("; ", "；").join(
        f"{count} × {rows[0][1].gpu_model} **{_for_time(w, by_count[count])}**" for count in sorted(by_count)
    )
    ratio, each = high / low, high / low * few / many
    verdict = (
        w("in proportion, no discount for more cards", "按卡数成正比，没有批量折扣")
        if abs(each - 1) < _SAME
        else w(
            f"{w.percent(abs(each - 1))} {'less' if each < 1 else 'more'} per card",
            f"每卡{'便宜' if each < 1 else '贵'} {w.percent(abs(each - 1))}",
        )
    )
    return w(
        f"{told}: {w.num(ratio, 3)} times, {verdict}.",
        f"{told}：是 {w.num(ratio, 3)} 倍，{verdict}。",
    )


def _for_time(w: Words, report: CostReport) -> str:
    """The cost of the time asked about, or of an hour."""
    if report.job is not None and report.hours is not None:
        hours = w(f" for {w.num(report.hours, 4)} h", f"（{w.num(report.hours, 4)} 小时）")
        return w.money(report.job, report.currency, 0) + hours
    return w.price(report.hourly or 0, "hour", report.currency)


def _comparison_line(w: Words, reports: Sequence[CostReport]) -> str:
    priced = [report for report in reports if report.hourly is not None]
    if not priced:
        return w("**No price of these is published.**", "**这些规格都没有公开价格。**")
    low = min(priced, key=lambda report: report.hourly or 0)
    where = low.region if len({report.instance_type for report in reports}) == 1 else low.instance_type
    text = w(
        f"**{where}** is the cheapest at {w.price(low.hourly or 0, 'hour', low.currency)}",
        f"**{where}** 最便宜，{w.price(low.hourly or 0, 'hour', low.currency)}",
    )
    high = max(priced, key=lambda report: report.hourly or 0)
    if high is not low and low.hourly and high.hourly:
        ratio = w.num(high.hourly / low.hourly, 3)
        less = w.percent(1 - low.hourly / high.hourly)
        text += w(
            f", {less} less than {w.price(high.hourly, 'hour', high.currency)}, which is {ratio} times that",
            f"，比最高的 {w.price(high.hourly, 'hour', high.currency)}（{ratio} 倍）便宜 {less}",
        )
    return text + w(".", "。")


def _job(w: Words, report: CostReport) -> str:
    """What the job costs; where the type has no list price here, at the lowest one elsewhere."""
    if report.job is not None:
        return w.money(report.job, report.currency, 0)
    low = next(iter(report.cheaper_regions), None)
    if low is None or low.unit != "hour" or report.hours is None:
        return ""
    total = float(low.amount) * report.hours * report.count
    return f"{w.money(total, low.currency, 0)} ({low.region})"


def _side_by_side(w: Words, reports: Sequence[CostReport]) -> str:
    rows = [
        (
            f"{report.count} × {report.instance_type}" if report.count > 1 else report.instance_type,
            report.region,
            price_of(w, report.price)
            if report.price
            else w("; ", "；").join(filter(None, (w("not published here", "未公布"), _elsewhere(w, report)))),
            w.money(report.monthly, report.currency, 0) if report.monthly is not None else "–",
            _job(w, report),
            w.money(report.per_million_output_tokens, report.currency)
            if report.per_million_output_tokens
            else "",
        )
        for report in reports
    ]
    header = [
        w("Instance type", "实例规格"), w("Region", "地域"), w("Price", "价格"),
        w("Month", "每月"), w("Job", "任务"),
        w("Million output tokens", "百万输出 token"),
    ]  # fmt: skip
    kept = [column for column in range(len(header)) if any(row[column] for row in rows)]
    return table([header[column] for column in kept], [[row[column] for column in kept] for row in rows])
