"""What stands below a price: tokens, which row counts, break-evens, regions, disk and traffic, stock."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agent.writing.cost_ways import basis_word
from agent.writing.facts import when_of
from agent.writing.glossary import entries
from agent.writing.spot import spot_lines
from agent.writing.words import Words, bullets
from knowledge.calendar import DAYS_PER_MONTH, HOURS_PER_MONTH
from tools.contracts.cost import CostLine, CostReport, MixedPlan, PriceShown, StockShown

_MONTH = 729.0  # hours
_TERMS = {"subscription_1y": 12, "subscription_3y": 36}
_ON_TOP = ("system_disk", "public_traffic")
_LEFT_OUT = {
    "disk_inside": ("has a disk inside", "含云盘"),
    "no_region": ("names no region", "没有写明地域"),
    "other_product": ("is of another product", "属于其他产品"),
    "low_confidence": ("is not well sourced", "来源不够可靠"),
    "family_floor": ("is the lowest of the family, not of this type", "是规格族最低价，不是这个规格的价"),
    "derived": ("is derived", "是推算值"),
    "not_list": ("is no list price", "不是目录价"),
    "other_unit": ("counts another unit", "计量单位不同"),
}
_UPFRONT = {
    "none": ("no upfront", "零预付"),
    "half": ("half upfront", "半预付"),
    "all": ("all upfront", "全预付"),
}
_PLANS = {"universal": ("general-purpose", "通用型"), "compute": ("ECS compute", "计算型")}
_SAVINGS_SHOWN = 4


def detail_lines(w: Words, report: CostReport, shelf: bool = True) -> list[str]:
    """The lines below the table of ways to pay, as one list; stock only where it is not told before."""
    lines = [
        *_token_lines(w, report),
        *_choice_lines(w, report),
        *_total_lines(w, report),
        *_break_even_lines(w, report),
        *_savings_lines(w, report),
        *_mixed_lines(w, report.mixed, report.currency),
        *_region_lines(w, report),
        *spot_lines(w, report),
        *_on_top_lines(w, report),
        *(stock_lines(w, report) if shelf else []),
    ]
    return [bullets(lines)] if lines else []


def _token_lines(w: Words, report: CostReport) -> Iterator[str]:
    whole = report.per_million_output_tokens
    if whole is None:
        return
    alone = w.money(whole, report.currency)
    if report.tokens is None:
        yield w(f"Per million output tokens: {alone} at this load", f"此负载下每百万输出 token：{alone}")
        return
    share = f"{report.tokens.prefill_percent:.0f}%"
    yield w(
        f"Input takes {share} of the GPU's time at this load and pays for it, output pays for the rest; "
        f"counted on output alone a million tokens cost {alone}",
        f"此负载下输入（prefill）占 GPU 时间 {share}，成本按时间分摊，其余由输出承担；"
        f"全部算到输出上，每百万输出 token 为 {alone}",
    )


def _choice_lines(w: Words, report: CostReport) -> Iterator[str]:
    """Which of several prices counts, and why the others of the same purchase do not."""
    used = report.price
    if used is None or used.left_out or used.basis.startswith("derived"):
        return
    others = [row for row in report.other_published if row.purchase == used.purchase and row.left_out]
    newer = [row for row in others if row.as_of > used.as_of and row.currency == used.currency]
    if not newer:
        return
    why = w.listed(dict.fromkeys(_why_left_out(w, row) for row in newer[:2]))
    kind = basis_word(w, used.basis)
    yield w(
        f"Counted with the {kind} of {when_of(w, used)}: it is of exactly this type and region, for the "
        f"instance alone. {why}, so it is shown and not compared",
        f"计算用的是 {when_of(w, used)} 的{kind}：规格和地域一致，且只含实例。{why}，所以只展示、不参与比较",
    )


def _why_left_out(w: Words, row: PriceShown) -> str:
    reason = w(*_LEFT_OUT.get(row.left_out, _LEFT_OUT["other_unit"]))
    return w(
        f"The newer {basis_word(w, row.basis)} of {w.date(row.as_of)} {reason}",
        f"较新的 {w.date(row.as_of)} {basis_word(w, row.basis)}{reason}",
    )


def _total_lines(w: Words, report: CostReport) -> Iterator[str]:
    """The whole time of use in every way to pay, where it lasts a month or more."""
    long = (report.months or 0) >= 1 or (report.hours or 0) >= _MONTH
    if not long or len(report.totals) < 2:
        return
    sums = [f"{w.purchase(way.purchase)} {w.money(way.job, report.currency, 0)}" for way in report.totals]
    first, *others = sums
    yield w(
        f"**For all of this time {first} is the cheapest**; {w.listed(others)}",
        f"**整个使用期最省：{first}**；{w.listed(others)}",
    )


def _break_even_lines(w: Words, report: CostReport) -> Iterator[str]:
    for item in report.break_evens:
        above, than = w.purchase(item.cheaper_above), w.purchase(item.than)
        if item.hours_per_month >= HOURS_PER_MONTH:
            yield w(
                f"{above} costs more than {than} even over a whole month",
                f"即使整月运行，{above}也比{than}贵",
            )
            continue
        hours, daily = w.num(item.hours_per_month), w.num(item.hours_per_month / DAYS_PER_MONTH, 2)
        yield w(
            f"{above} is cheaper than {than} above {hours} hours a month (about {daily} a day)",
            f"每月用满 {hours} 小时以上（约每天 {daily} 小时），{above}比{than}便宜",
        ) + _part_time(w, report, item.hours_per_month, item.cheaper_above)
    for term in report.term_break_evens:
        above, than = w.purchase(term.cheaper_above), w.purchase(term.than)
        months, whole = w.num(term.months), _TERMS[term.cheaper_above]
        yield w(
            f"{above} costs {months} months of {than}: it pays above that many of its {whole} months",
            f"{above}相当于 {months} 个月的{than}：{whole} 个月里用满 {months} 个月以上才划算",
        )


def _part_time(w: Words, report: CostReport, hours: float, option: str) -> str:
    """On which side of the break-even the hours of use lie, where they are not the whole month."""
    used = report.hours_per_month
    if used is None or used >= 729 or option != "subscription_1m":
        return ""
    better = w.purchase("payg") if used < hours else w.purchase(option)
    return w(
        f"; at {w.num(used)} hours {better} is the cheaper one", f"；每月 {w.num(used)} 小时选{better}更便宜"
    )


def _savings_lines(w: Words, report: CostReport) -> Iterator[str]:
    shown = _SAVINGS_SHOWN if report.purchase.startswith("savings_plan") else 1
    for rate in report.savings[:shown]:
        plan, upfront = w(*_PLANS[rate.plan]), w(*_UPFRONT[rate.upfront])
        hourly = w.price(rate.hourly, "hour", report.currency) if rate.hourly is not None else ""
        monthly = w.money(rate.monthly, report.currency, 0) if rate.monthly is not None else ""
        sums = w(f" = {hourly}, {monthly} a month", f" = {hourly}，每月 {monthly}") if hourly else ""
        hours = w.num(rate.break_even_hours)
        yield w(
            f"Savings plan, {plan}, {rate.years} year(s), {upfront}: {rate.payg_percent:g}% of "
            f"pay-as-you-go{sums}, due for every hour used or not, so cheaper above {hours} hours a month "
            f"(live, {rate.at})",
            f"节省计划（{plan}，{rate.years} 年，{upfront}）：按量价的 {rate.payg_percent:g}%{sums}，"
            f"用不用都付，每月用满 {hours} 小时以上才划算（实时，{rate.at}）",
        )


def _mixed_lines(w: Words, plan: MixedPlan | None, currency: str) -> Iterator[str]:
    if plan is None:
        return
    base, peak = w.money(plan.base_monthly, currency, 0), w.money(plan.peak_monthly, currency, 0)
    total, hours = w.money(plan.monthly, currency, 0), w.num(plan.peak_hours_per_month)
    all_hour, all_month = (
        w.money(plan.all_payg_monthly, currency, 0),
        w.money(plan.all_subscription_monthly, currency, 0),
    )
    yield w(
        f"**Mixed: {plan.base_count} by the month {base} + {plan.peak_count} by the hour for {hours} h "
        f"{peak} = {total} a month**; all by the hour {all_hour}, all by the month {all_month}",
        f"**混合方案：{plan.base_count} 台包月 {base} + {plan.peak_count} 台按量 {hours} 小时 {peak} = "
        f"每月 {total}**；全部按量 {all_hour}，全部包月 {all_month}",
    )


def _region_lines(w: Words, report: CostReport) -> Iterator[str]:
    if not report.cheaper_regions:
        return
    low = report.cheaper_regions[0]
    what = (
        w("Cheaper elsewhere", "更便宜的地域")
        if report.price
        else w("Published elsewhere", "其他地域有公开价")
    )
    yield (
        f"{what}{w(': ', '：')}{low.region} {w.price(low.amount, low.unit, low.currency)} ({when_of(w, low)})"
    )


def _on_top_lines(w: Words, report: CostReport) -> Iterator[str]:
    """Disk and traffic: the amounts asked for, else what they cost; then what no figure is known of."""
    told = {line.code for line in report.lines}
    for line in report.lines:
        yield _line_of(w, line)
    for line in report.rates:
        if line.code not in told:
            told.add(line.code)
            yield w("On top: ", "另计：") + _line_of(w, line)
    rest = [code for code in report.not_included if code not in told]
    if rest:
        names = w.listed(
            entries("values").get(code, {}).get(w.language, code.replace("_", " ")) for code in rest
        )
        yield w(f"Not included: {names}", f"不含：{names}")


def _line_of(w: Words, line: CostLine) -> str:
    amount = w.money(line.monthly, line.currency, 0)
    quantity = w.num(line.quantity, 6)
    if line.code == "system_disk":
        return w(
            f"cloud disk (ESSD PL1), {quantity} {line.unit}: {amount} a month ({w.date(line.as_of)})",
            f"云盘（ESSD PL1）{quantity} {line.unit}：每月 {amount}（{w.date(line.as_of)}）",
        )
    return w(
        f"public traffic out, {quantity} {line.unit}: {amount} ({w.date(line.as_of)})",
        f"公网流出流量 {quantity} {line.unit}：{amount}（{w.date(line.as_of)}）",
    )


def idle_sections(w: Words, report: CostReport) -> list[str]:
    """What goes on to be billed while the machine is stopped in economical mode."""
    if any(item.code == "no_economical_mode" for item in report.warnings):
        return []
    disk = next((line for line in (*report.lines, *report.rates) if line.code == "system_disk"), None)
    goes_on = _line_of(w, disk) if disk is not None else w("the disks", "云盘")
    return [
        w(
            f"**Stopped in economical mode the instance itself costs nothing; billed on:** {goes_on}, and a "
            "fixed public address. A later start needs stock.",
            f"**节省停机期间实例本身不收费，继续计费的是**：{goes_on}，以及固定公网 IP。再次启动要看库存。",
        )
    ]


def stock_sections(w: Words, reports: Sequence[CostReport]) -> list[str]:
    """The answer to "is it in stock": what was seen on the shelf, or that nobody looked."""
    asked = [report for report in reports if report.stock is None]
    known = [line for report in reports for line in stock_lines(w, report)]
    if known or not asked:
        return [bullets(known)] if known else []
    names = w.listed(dict.fromkeys(f"{report.instance_type} ({report.region})" for report in asked))
    return [
        w(
            f"**Whether {names} is in stock now is not known here.** Stock changes by the minute and by "
            "zone: look in the console, or run `python -m knowledge sync --only stock` with a key of your "
            "account.",
            f"**{names} 现在是否有货，这里无法得知。** 库存按可用区随时变化：请在控制台查看，"
            "或用账号密钥运行 `python -m knowledge sync --only stock`。",
        )
    ]


def stock_lines(w: Words, report: CostReport) -> list[str]:
    """What was on the shelf when last asked, with the time: never a promise. Nothing where not known."""
    stock = report.stock
    if stock is None:
        return []
    at = stock.checked_at
    if stock.zones:
        zones = w.listed(stock.zones)
        sold = w.listed(stock.sold_out_zones)
        out = w(f"; sold out in {sold}", f"；{sold} 已售罄") if sold else ""
        return [
            w(
                f"Stock at {at}: pay-as-you-go in {zones}{out}. A moment's answer and no promise; the vCPU "
                "quota of your account is asked apart",
                f"库存（{at} 查询）：按量可购可用区 {zones}{out}。只代表当时，不作保证；"
                "账号的 vCPU 配额要另外确认",
            )
        ]
    closed = w(", and no zone gets new ones", "，且不再补货") if stock.closing else ""
    line = w(
        f"**Out of stock** in {stock.region} at {at}{closed}", f"**{stock.region} 缺货**（{at} 查询{closed}）"
    )
    return [line, *_elsewhere_lines(w, report.instance_type, report.in_stock_elsewhere)]


def _elsewhere_lines(w: Words, wanted: str, places: Sequence[StockShown]) -> Iterator[str]:
    for place in places:
        same = (
            w("the same type", "同规格") if place.instance_type == wanted else w("the same GPU", "同款 GPU")
        )
        zones = w.listed(place.zones)
        yield w(
            f"In stock then, {same}: {place.instance_type} in {place.region} ({zones})",
            f"当时有货（{same}）：{place.instance_type}，{place.region}（{zones}）",
        )
