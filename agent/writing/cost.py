"""Costs in words: the price asked for first, every purchase option, cheaper regions, what comes on top."""

from __future__ import annotations

from collections.abc import Sequence

from agent.writing.cost_details import detail_lines
from agent.writing.facts import price_of, when_of
from agent.writing.words import Words, bullets, table
from tools.contracts.cost import CostReport, PriceShown

_BASES = {
    "list": ("list", "目录价"),
    "quote": ("quote", "报价"),
    "bill": ("bill", "账单"),
    "derived": ("derived", "推算"),
    "family-floor": ("lowest of the family", "规格族最低价"),
    "third-party": ("third-party report", "第三方"),
    "live": ("live", "实时"),
    "derived-linear": ("derived from other sizes", "按同族规格推算"),
    "derived-linear-analogy": ("derived by analogy, about", "按同类规格推算，约数"),
    "derived-month": ("derived from the hourly price", "按小时价推算"),
}


def cost_sections(w: Words, reports: Sequence[CostReport]) -> list[str]:
    """One report in full, or several side by side with the first in full below."""
    if len(reports) > 1:
        return [_comparison_line(w, reports), _side_by_side(w, reports), *detail_lines(w, reports[0])]
    report = reports[0]
    return [_headline(w, report), _options_table(w, report), *detail_lines(w, report)]


def _headline(w: Words, report: CostReport) -> str:
    name = f"{report.count} × {report.instance_type}" if report.count > 1 else report.instance_type
    if report.price is None:
        text = w(
            f"**No {w.purchase(report.purchase)} list price of {name} is published for {report.region}.**",
            f"**{name} 在 {report.region} 没有公开的{w.purchase(report.purchase)}目录价。**",
        )
        nearest = _whole_term(w, report) or nearest_price(w, report)
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
    return w(f"**{name}** costs {w.listed(parts)}.", f"**{name}**：{'，'.join(parts)}。")


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


def _sum_of(w: Words, report: CostReport) -> list[str]:
    """The cost of the job, the months or one month, whichever was asked about."""
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
    months = report.months
    if months is None or report.job is None or months == 1:
        return [month] if month else []
    job, span = w.money(report.job, report.currency, 0), w.num(months)
    return [part for part in (month, w(f"{job} for {span} months", f"{span} 个月共 {job}")) if part]


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


def _whole_term(w: Words, report: CostReport) -> str:
    """A year or three without a published price: that many months at the monthly price, no discount."""
    months = {"subscription_1y": 12, "subscription_3y": 36}.get(report.purchase)
    month = next(
        (item for item in (*report.options, *report.derived) if item.purchase == "subscription_1m"), None
    )
    if months is None or month is None:
        return ""
    total = w.money(month.amount * months * report.count, month.currency, 0)
    each = w.money(month.amount * report.count, month.currency, 0)
    return w(
        f"{months} months × {each} = {total} at the monthly price ({w(*_BASES.get(month.basis, ('', '')))}, "
        f"{w.date(month.as_of)}); the discount for the longer term is not published, see the order page",
        f"{months} 个月 × {each} = {total}（按月价，{w(*_BASES.get(month.basis, ('', '')))}，"
        f"{w.date(month.as_of)}）；长周期折扣没有公开，以下单页为准",
    )


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


def nearest_price(w: Words, report: CostReport) -> str:
    """Of a type without a list price: a quote or a derived price of the same purchase, said to be one."""
    for price in (*report.other_published, *report.derived):
        if price.purchase == report.purchase and price.basis in (
            "quote",
            "live",
            "derived-linear",
            "derived-month",
        ):
            amount, kind, date = _price_row(w, price, report)[1:]
            return f"{amount} ({kind}, {date})"
    return ""


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


def _side_by_side(w: Words, reports: Sequence[CostReport]) -> str:
    rows = [
        (
            f"{report.count} × {report.instance_type}" if report.count > 1 else report.instance_type,
            report.region,
            price_of(w, report.price) if report.price else w("not published", "未公布"),
            w.money(report.monthly, report.currency, 0) if report.monthly is not None else "–",
            w.money(report.job, report.currency, 0) if report.job is not None else "",
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


def _options_table(w: Words, report: CostReport) -> str:
    prices = [*report.options, *report.derived, *report.other_published[:2]]
    if not prices:
        return ""
    return table(
        (
            w("Way to pay", "付费方式"),
            w("Price, one machine", "单台价格"),
            w("Kind", "性质"),
            w("Date", "日期"),
        ),
        [_price_row(w, price, report) for price in prices],
    )


def _price_row(w: Words, price: PriceShown, report: CostReport) -> tuple[str, ...]:
    amount = w.price(price.amount, price.unit, price.currency)
    elsewhere = price.region if price.region != report.region else ""
    if not price.region and price.basis != "family-floor":
        elsewhere = w("region not stated", "地域未写明")
    other = price.instance_type if price.instance_type != report.instance_type else ""
    if elsewhere or other:
        amount += f" ({w.listed(part for part in (other, elsewhere) if part)})"
    if price.left_out == "disk_inside" and price.basis in ("quote", "bill"):
        amount += w(", with a disk", "，含云盘")
    if price.zone:
        amount += f" ({price.zone})"
    if price.full_price is not None:
        full = w.price(price.full_price, price.unit, price.currency)
        amount += w(f", {full} before discounts", f"，折前 {full}")
    return (
        w.purchase(price.purchase),
        amount,
        w(*_BASES.get(price.basis, (price.basis, price.basis))),
        price.at or w.date(price.as_of),
    )
