"""Spot instances in words: the market price or the range of the documents, and what interruptions cost."""

from __future__ import annotations

from collections.abc import Iterator

from agent.writing.words import Words
from tools.contracts.cost import CostReport, SpotOutlook

_ZONES_SHOWN = 3


def spot_lines(w: Words, report: CostReport) -> list[str]:
    """Price, averages, notice and arithmetic; empty where spot was not asked about."""
    spot = report.spot
    if spot is None:
        return []
    # Where spot is what was asked for, the first line of the answer has the price or the range.
    lines = [] if report.purchase == "spot" else [spot_range(w, spot)]
    lines += _average_lines(w, report, spot)
    lines += _arithmetic_lines(w, report, spot)
    lines.append(
        w(
            f"An interruption is announced about {w.num(spot.notice_minutes)} minutes ahead; keep "
            "checkpoints off the machine",
            f"回收前约 {w.num(spot.notice_minutes)} 分钟通知，检查点要存到实例以外",
        )
    )
    return lines


def spot_range(w: Words, spot: SpotOutlook) -> str:
    """Where the market price lies by the official documents, and how to ask for it."""
    share = w.num(spot.floor_percent)
    ask = w(
        "`python -m knowledge sync --only spot` asks for the market price",
        "运行 `python -m knowledge sync --only spot` 可查市场价",
    )
    if spot.lowest_hourly is None or spot.highest_hourly is None:
        return w(
            f"By the official documents the spot price goes down to about {share}% of pay-as-you-go and is "
            f"capped at pay-as-you-go; {ask}",
            f"按官方文档，抢占式市场价最低约为按量价的 {share}%，上限为按量价；{ask}",
        )
    low, high = w.price(spot.lowest_hourly), w.price(spot.highest_hourly)
    return w(
        f"By the official documents the spot price floats between {low} ({share}% of pay-as-you-go, the "
        f"lowest they name) and {high} (pay-as-you-go, the cap); {ask}",
        f"按官方文档，抢占式市场价在 {low}（文档写明的下限，按量价的 {share}%）到 {high}（按量价，上限）"
        f"之间浮动；{ask}",
    )


def _average_lines(w: Words, report: CostReport, spot: SpotOutlook) -> Iterator[str]:
    for row in spot.averages[:_ZONES_SHOWN]:
        hourly = w.price(row.hourly, "hour", report.currency) if row.hourly is not None else ""
        amount = f" = {hourly}" if hourly else ""
        rate = row.release_rate or (
            f"{row.release_rate_percent:g}%" if row.release_rate_percent is not None else ""
        )
        released = w(f", release rate {rate}", f"，释放率 {rate}") if rate else ""
        yield w(
            f"30 days' average in {row.zone}: {row.payg_percent:g}% of pay-as-you-go{amount}{released} "
            f"(live, {row.as_of})",
            f"{row.zone} 近 30 天平均：按量价的 {row.payg_percent:g}%{amount}{released}（实时，{row.as_of}）",
        )


def _arithmetic_lines(w: Words, report: CostReport, spot: SpotOutlook) -> Iterator[str]:
    """Expected work lost: half a checkpoint interval and the restart for each interruption."""
    if spot.checkpoint_minutes is None or spot.restart_minutes is None or spot.loss_minutes is None:
        return
    each = w.num(spot.loss_minutes)
    half = w.num(spot.rework_minutes or 0)
    restart = w.num(spot.restart_minutes)
    daily = w.num(spot.interruptions_per_day or 0)
    share = w.num(spot.break_even_percent or 0)
    text = w(
        f"Each interruption loses {half} min (half of the {w.num(spot.checkpoint_minutes)} min between "
        f"checkpoints) + {restart} min restart = {each} min; at {daily} a day spot pays below {share}% of "
        "pay-as-you-go",
        f"每次中断损失 {half} 分钟（检查点间隔 {w.num(spot.checkpoint_minutes)} 分钟的一半）+ 重启 "
        f"{restart} 分钟 = {each} 分钟；每天 {daily} 次时，市场价低于按量价的 {share}% 就划算",
    )
    if spot.total_hours is not None and spot.lost_hours is not None:
        work = w.num(spot.total_hours - spot.lost_hours, 4)
        text += w(
            f"; {work} h of work run {w.num(spot.total_hours, 4)} h ({w.num(spot.lost_hours)} h lost in "
            f"{w.num(spot.expected_interruptions or 0)} interruptions)",
            f"；{work} 小时的工作要跑 {w.num(spot.total_hours, 4)} 小时（预计 "
            f"{w.num(spot.expected_interruptions or 0)} 次中断，损失 {w.num(spot.lost_hours)} 小时）",
        )
    if spot.expected_job is not None:
        job = w.money(spot.expected_job, report.currency, 0)
        text += w(f", {job} with the losses", f"，含损失共 {job}")
    yield text
