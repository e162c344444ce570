"""The ways to pay in words: the table of prices, and the figure nearest to a price that is not known."""

from __future__ import annotations

from agent.writing.facts import when_of
from agent.writing.words import Words, table
from tools.contracts.cost import CostReport, PriceShown

_OTHERS_SHOWN = 3
_BASES = {
    "list": ("list price", "目录价"),
    "live": ("live price", "实时价"),
    "quote": ("quote", "报价"),
    "bill": ("billed price", "账单价"),
    "console": ("console price", "控制台价格"),
    "third-party": ("third-party report", "第三方报告价"),
    "family-floor": ("lowest of the family", "规格族最低价"),
    "derived": ("derived price", "推算价"),
    "derived-linear": ("price derived from other sizes", "按同族规格推算价"),
    "derived-linear-analogy": ("price derived by analogy, about", "按同类规格推算的约数"),
    "derived-month": ("price derived from the hourly one", "按小时价推算"),
}


def basis_word(w: Words, basis: str) -> str:
    """What kind of price a basis is, as a noun."""
    return w(*_BASES[basis])


def options_table(w: Words, report: CostReport) -> str:
    others = sorted(report.other_published, key=lambda price: price.purchase != report.purchase)
    prices = [*report.options, *report.derived, *others[:_OTHERS_SHOWN]]
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
    if price.account_price is not None:
        paid = w.price(price.account_price, price.unit, price.currency)
        amount += w(f", this account pays {paid}", f"，本账号实付 {paid}")
    return (
        w.purchase(price.purchase),
        amount,
        basis_word(w, price.basis) + _rule(w, price),
        price.at or w.date(price.as_of),
    )


def other_way(w: Words, report: CostReport) -> str:
    """The price of all machines in the way to pay that was asked for beside the hour; "" for the hour."""
    if report.purchase == "payg":
        return ""
    name = w.purchase(report.purchase)
    prices = (*report.options, *report.derived)
    price = next((item for item in prices if item.purchase == report.purchase), None)
    if price is None:
        return w(f"; no {name} price is known", f"；没有已知的{name}价格")
    amount = w.price(price.amount * report.count, price.unit, price.currency)
    return w(f"; {name} **{amount}** ({when_of(w, price)})", f"；{name} **{amount}**（{when_of(w, price)}）")


def _rule(w: Words, price: PriceShown) -> str:
    """What a derived price was derived from."""
    if price.derived_hours is not None:
        return w(f": {price.derived_hours:g} list hours", f"：{price.derived_hours:g} 个目录价小时")
    if price.derived_from:
        return w(f": the GPUs of {price.derived_from}", f"：{price.derived_from} 的每卡价格")
    return ""


def nearest_price(w: Words, report: CostReport) -> str:
    """Of a type without a list price: a quote or a derived price of the same purchase, said to be one."""
    for price in (*report.other_published, *report.derived):
        if price.purchase == report.purchase and price.basis in (
            "quote",
            "bill",
            "live",
            "derived-linear",
            "derived-month",
        ):
            amount, kind, date = _price_row(w, price, report)[1:]
            return f"{amount} ({kind}, {date})"
    return ""


def whole_term(w: Words, report: CostReport) -> str:
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
        f"{months} months × {each} = {total} at the monthly price ({basis_word(w, month.basis)}, "
        f"{w.date(month.as_of)}); the discount for the longer term is not published, see the order page",
        f"{months} 个月 × {each} = {total}（按月价，{basis_word(w, month.basis)}，"
        f"{w.date(month.as_of)}）；长周期折扣没有公开，以下单页为准",
    )
