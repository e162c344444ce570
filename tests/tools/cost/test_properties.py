"""Totals add up, break-evens agree with the prices, and money is never a float."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from knowledge.calendar import HOURS_PER_MONTH
from knowledge.catalog import shipped_catalog
from tools.contracts.cost import CostReport, CostRequest
from tools.cost import estimate_cost
from tools.cost.schedule import hours_per_month

CATALOG = shipped_catalog()
requests = st.builds(
    CostRequest,
    instance_type=st.sampled_from([row.instance_type for row in CATALOG.instances]),
    region=st.sampled_from(["", *CATALOG.regions_by_id]),
    count=st.integers(1, 64),
    purchase=st.sampled_from(["", "payg", "spot", "包月", "包年", "savings plan", "reserved"]),
    hours=st.one_of(st.none(), st.floats(0.1, 10_000)),
    months=st.one_of(st.none(), st.floats(0.1, 48)),
    currency=st.sampled_from(["CNY", "USD"]),
    output_tokens_per_s=st.one_of(st.none(), st.floats(0.1, 1e6)),
    total_tokens_per_s=st.one_of(st.none(), st.floats(0.1, 1e7)),
    prefill_tokens_per_s=st.one_of(st.none(), st.floats(1, 1e7)),
    disk_gib=st.one_of(st.none(), st.floats(0, 1e5)),
    traffic_gb_per_month=st.one_of(st.none(), st.floats(0, 1e6)),
    interruptions_per_day=st.one_of(st.none(), st.floats(0, 1000)),
    checkpoint_minutes=st.one_of(st.none(), st.floats(0, 1e6, exclude_min=True)),
    hours_per_month=st.one_of(st.none(), st.floats(0, 744, exclude_min=True)),
    work_per_hour=st.one_of(st.none(), st.floats(1e-9, 1e18)),
    work_units=st.floats(0, 1e12, exclude_min=True),
    hours_high=st.one_of(st.none(), st.floats(0, 1e9, exclude_min=True)),
    allow_derived=st.booleans(),
    schedule=st.sampled_from(["", "24x7", "weekdays 9-18", "每天6小时"]),
)


@given(requests)
def test_any_request_gives_a_whole_report_with_decimal_money(request: CostRequest) -> None:
    report = estimate_cost(request, CATALOG)
    for amount in (report.hourly, report.monthly, report.job, report.per_million_output_tokens):
        assert amount is None or isinstance(amount, Decimal)
    assert (report.hourly is None) == (report.price is None)
    assert CostReport.model_validate_json(report.model_dump_json()).instance_type == report.instance_type


@given(requests)
def test_machines_times_price_times_hours_is_the_total(request: CostRequest) -> None:
    report = estimate_cost(request, CATALOG)
    if report.price is None or report.hourly is None or report.monthly is None:
        return
    if report.price.unit == "hour":
        assert report.hourly == report.price.amount * request.count
    if report.job is not None and request.hours is not None and report.price.unit == "hour":
        assert report.job == report.hourly * Decimal(str(request.hours))
    hours = Decimal(str(round(report.hours_per_month or 0, 4)))
    assert abs(report.monthly - report.hourly * hours) <= Decimal("0.001") * request.count


@given(requests)
def test_above_the_break_even_the_month_is_really_cheaper(request: CostRequest) -> None:
    report = estimate_cost(request, CATALOG)
    prices = {row.purchase: row.amount for row in (*report.derived, *report.options)}
    months = {"subscription_1m": 1, "subscription_1y": 12, "subscription_3y": 36}
    for even in report.break_evens:
        month, hour = prices[even.cheaper_above] / months[even.cheaper_above], prices["payg"]
        assert month < hour * Decimal(even.hours_per_month + 0.1)
        assert month > hour * Decimal(even.hours_per_month - 0.1)
    for term in report.term_break_evens:
        assert prices[term.cheaper_above] < prices["subscription_1m"] * Decimal(term.months + 0.1)
        assert prices[term.cheaper_above] > prices["subscription_1m"] * Decimal(term.months - 0.1)


@given(requests)
def test_input_and_output_tokens_together_pay_the_whole_price(request: CostRequest) -> None:
    report = estimate_cost(request, CATALOG)
    tokens = report.tokens
    if tokens is None or report.hourly is None:
        return
    million_a_second = 1 / 1e6
    second = million_a_second * (
        float(tokens.input_price) * tokens.input_tokens_per_s
        + float(tokens.output_price) * tokens.output_tokens_per_s
    )
    rounding = million_a_second * 1e-6 * (tokens.input_tokens_per_s + tokens.output_tokens_per_s)
    assert abs(second - float(report.hourly) / 3600) <= rounding + 1e-9
    assert tokens.output_price <= tokens.output_only_price


@given(requests)
def test_the_total_of_the_way_asked_for_is_the_cost_of_the_job(request: CostRequest) -> None:
    report = estimate_cost(request, CATALOG)
    jobs = [way.job for way in report.totals]
    assert jobs == sorted(jobs)
    for way in report.totals:
        if way.purchase == report.purchase and report.job is not None:
            assert abs(way.job - report.job) <= Decimal("0.001") * request.count


@given(requests)
def test_disk_and_traffic_are_added_once(request: CostRequest) -> None:
    report = estimate_cost(request, CATALOG)
    extra = sum((line.monthly for line in report.lines), Decimal(0))
    if report.all_in_monthly is not None:
        assert report.monthly is not None
        assert report.all_in_monthly == report.monthly + extra
        assert {line.currency for line in report.lines} == {report.currency}


@given(requests)
def test_interruptions_never_make_a_job_shorter(request: CostRequest) -> None:
    spot = estimate_cost(request, CATALOG).spot
    if spot is None or spot.total_hours is None or spot.lost_hours is None:
        return
    assert spot.lost_hours >= 0
    assert spot.lowest_hourly is None or spot.lowest_hourly <= (spot.highest_hourly or 0)
    assert 0 <= (spot.break_even_percent or 0) <= 100


@given(requests)
def test_a_region_called_cheaper_is_cheaper(request: CostRequest) -> None:
    report = estimate_cost(request, CATALOG)
    amounts = [row.amount for row in report.cheaper_regions]
    assert amounts == sorted(amounts)
    assert report.price is None or all(amount < report.price.amount for amount in amounts)


@given(st.integers(1, 24), st.integers(1, 7))
def test_a_schedule_never_exceeds_the_month(hours: int, days: int) -> None:
    assert 0 < hours_per_month(f"{hours}x{days}") <= HOURS_PER_MONTH
    assert hours_per_month(f"{hours} hours a day, {days} days a week") == hours_per_month(
        f"{hours}h x {days}d"
    )
