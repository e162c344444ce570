"""Costs computed by hand from the price rows: a user who budgets with these figures is not misled."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from knowledge.catalog import Catalog, shipped_catalog
from knowledge.errors import InputError
from knowledge.rows import BillingRule
from tools.contracts.cost import CostReport, CostRequest
from tools.cost import estimate_cost


def cost(**fields: object) -> CostReport:
    return estimate_cost(CostRequest.model_validate(fields), shipped_catalog())


@pytest.mark.parametrize(
    ("instance_type", "region", "hourly"),
    [
        ("ecs.gn7e-c16g1.4xlarge", "cn-hangzhou", "34.742"),
        ("ecs.gn7e-c16g1.8xlarge", "cn-hangzhou", "69.483"),
        ("ecs.gn7e-c16g1.16xlarge", "cn-hangzhou", "138.967"),
        ("ecs.gn7e-c16g1.32xlarge", "cn-wulanchabu", "250.14"),
        ("ecs.gn7i-c8g1.2xlarge", "杭州", "9.5326"),
        ("ecs.gn7i-c8g1.2xlarge", "乌兰察布", "8.5794"),
        ("ecs.gn7i-c8g1.2xlarge", "Singapore", "18.065"),
        ("ecs.gn6v-c8g1.2xlarge", "us-east-1", "18.26"),
        ("ecs.gn6i-c4g1.xlarge", "cn-hangzhou", "11.63"),
        ("ecs.sgn7i-vws-m2.xlarge", "cn-hangzhou", "1.893534"),
    ],
)
def test_the_hourly_price_is_that_of_the_list_row(instance_type: str, region: str, hourly: str) -> None:
    report = cost(instance_type=instance_type, region=region)
    assert report.hourly == Decimal(hourly)
    assert report.price is not None
    assert report.price.as_of == "2024-12-31"


def test_an_older_card_is_not_taken_for_the_cheaper_one() -> None:
    def hourly(name: str) -> Decimal:
        found = cost(instance_type=name, region="cn-hangzhou").hourly
        assert found is not None
        return found

    assert hourly("ecs.gn6i-c4g1.xlarge") > hourly("ecs.gn7i-c8g1.2xlarge")  # T4 dearer than A10
    assert hourly("ecs.gn6v-c8g1.2xlarge") > hourly("ecs.gn6e-c12g1.3xlarge")  # V100 16 GB than 32 GB


def test_an_a10_in_singapore_costs_nearly_twice_the_mainland_price() -> None:
    home = cost(instance_type="ecs.gn7i-c8g1.2xlarge", region="杭州").hourly
    there = cost(instance_type="ecs.gn7i-c8g1.2xlarge", region="新加坡").hourly
    assert home is not None
    assert there is not None
    assert round(there / home, 2) == Decimal("1.90")  # 18.065 / 9.5326


@pytest.mark.parametrize(
    ("names", "region"),
    [
        (("cn-hangzhou", "杭州", "Hangzhou", "华东1"), "cn-hangzhou"),
        (("cn-wulanchabu", "乌兰察布", "Ulanqab", "华北6"), "cn-wulanchabu"),
        (("ap-southeast-1", "新加坡", "Singapore"), "ap-southeast-1"),
        (("eu-central-1", "法兰克福", "Frankfurt"), "eu-central-1"),
        (("us-east-1", "弗吉尼亚", "Virginia"), "us-east-1"),
        (("cn-hongkong", "香港", "Hong Kong"), "cn-hongkong"),
    ],
)
def test_a_region_is_known_by_its_id_and_by_its_english_and_chinese_name(
    names: tuple[str, ...], region: str
) -> None:
    found = {cost(instance_type="ecs.gn7i-c8g1.2xlarge", region=name).region for name in names}
    assert found == {region}


@pytest.mark.parametrize("name", ["ecs.gn7i-c8g1.2xlarge", "ecs.gn7e-c16g1.4xlarge"])
def test_ulanqab_costs_ten_percent_less(name: str) -> None:
    home = cost(instance_type=name, region="cn-hangzhou").hourly
    there = cost(instance_type=name, region="cn-wulanchabu").hourly
    assert home is not None
    assert there is not None
    assert abs(there / home - Decimal("0.9")) < Decimal("0.001")


def test_a_week_of_eight_a100_costs_what_the_hours_say() -> None:
    report = cost(instance_type="ecs.gn7e-c16g1.32xlarge", region="cn-hangzhou", hours=168)
    assert report.job == Decimal("277.933") * 168  # 46692.744


def test_a_weekday_schedule_is_not_billed_as_a_whole_month() -> None:
    report = cost(instance_type="ecs.gn7i-c8g1.2xlarge", region="cn-hangzhou", schedule="weekdays 9-18")
    assert report.hours_per_month == pytest.approx(9 * 5 * 730 / 168)
    assert float(report.monthly or 0) == pytest.approx(9.5326 * 195.54, rel=1e-3)
    assert "stopping_needs_economical_mode" in [warning.code for warning in report.warnings]


def test_a_subscription_breaks_even_at_480_hours_for_a10_and_288_for_t4() -> None:
    a10 = cost(instance_type="ecs.gn7i-c8g1.2xlarge", region="cn-shanghai", purchase="包月")
    assert a10.monthly == Decimal("4575.66")
    assert a10.break_evens[0].hours_per_month == pytest.approx(480, abs=0.5)
    t4 = cost(instance_type="ecs.gn6i-c4g1.xlarge", region="cn-shanghai")
    assert t4.break_evens[0].hours_per_month == pytest.approx(288, abs=0.5)
    other = cost(instance_type="ecs.gn6i-c40g1.10xlarge", region="cn-shanghai")
    assert other.break_evens[0].hours_per_month == pytest.approx(480, abs=0.5)


def test_two_and_a_half_months_of_subscription_are_paid_as_three() -> None:
    report = cost(
        instance_type="ecs.gn7i-c8g1.2xlarge", region="cn-shanghai", purchase="subscription", months=2.5
    )
    assert report.job == 3 * Decimal("4575.66")


def test_a_type_without_a_price_gets_none_and_never_a_guess() -> None:
    report = cost(instance_type="ecs.gn8v.4xlarge", region="cn-hangzhou", hours=10)
    assert (report.price, report.hourly, report.monthly, report.job) == (None, None, None, None)
    assert report.warnings[0].code == "no_list_price"


def test_a_quote_without_a_region_is_shown_but_is_not_the_price() -> None:
    report = cost(instance_type="ecs.gn8is.2xlarge", region="cn-shanghai")
    assert report.price is None
    assert Decimal("14.63") in [row.amount for row in report.other_published]


def test_a_derived_price_stands_apart_and_is_used_only_when_allowed() -> None:
    plain = cost(instance_type="ecs.gn6e-c12g1.6xlarge", region="cn-hangzhou")
    assert plain.hourly is None
    assert plain.derived[0].amount == 2 * Decimal("19.739")
    assert plain.derived[0].basis == "derived-linear"
    allowed = cost(instance_type="ecs.gn6e-c12g1.6xlarge", region="cn-hangzhou", allow_derived=True)
    assert allowed.hourly == 2 * Decimal("19.739")
    assert "derived_price_used" in [warning.code for warning in allowed.warnings]


def test_dollars_are_a_conversion_with_its_rate_and_not_a_list_price() -> None:
    report = cost(instance_type="ecs.gn7i-c8g1.2xlarge", currency="USD", cny_per_usd="7.2")
    assert report.currency == "CNY"
    assert report.conversion is not None
    assert report.conversion.hourly == Decimal("1.323972")
    assert "no_usd_list_price" in [warning.code for warning in report.warnings]


def test_a_published_dollar_price_is_used_where_there_is_one() -> None:
    report = cost(instance_type="ecs.gn6i-c4g1.xlarge", region="us-west-1", currency="usd")
    assert (report.currency, report.hourly) == ("USD", Decimal("1.152"))


def test_a_bill_of_one_customer_is_named_as_such_and_is_no_list_price() -> None:
    report = cost(instance_type="ecs.gn8is-2x.8xlarge", region="ap-southeast-1", currency="usd")
    assert report.hourly is None
    billed = next(row for row in report.other_published if row.amount == Decimal("5.886"))
    assert (billed.basis, billed.left_out) == ("bill", "not_list")


def test_cost_per_million_tokens_follows_the_speed() -> None:
    report = cost(instance_type="ecs.gn7e-c16g1.4xlarge", output_tokens_per_s=1000)
    assert report.per_million_output_tokens == Decimal("9.650556")  # 34.742 / 3.6


def test_input_and_output_tokens_each_pay_for_their_own_time() -> None:
    report = cost(
        instance_type="ecs.gn7e-c16g1.4xlarge",
        output_tokens_per_s=1000,
        total_tokens_per_s=5000,
        prefill_tokens_per_s=10000,
    )
    tokens = report.tokens
    assert tokens is not None
    # Prefill of 4,000 tokens a second takes 40 % of the time at 10,000 a second.
    assert tokens.prefill_percent == pytest.approx(40)
    assert tokens.input_price == Decimal("0.965056")  # 34.742 x 0.4 / (4000 x 0.0036)
    assert tokens.output_price == Decimal("5.790333")  # 34.742 x 0.6 / (1000 x 0.0036)
    assert tokens.output_only_price == Decimal("9.650556")


def test_hours_a_month_count_as_a_schedule_does() -> None:
    by_hours = cost(instance_type="ecs.gn7i-c8g1.2xlarge", hours_per_month=195.3, months=3)
    assert by_hours.monthly == Decimal("9.5326") * Decimal("195.3")
    assert by_hours.job == 3 * by_hours.monthly
    assert "stopping_needs_economical_mode" in [warning.code for warning in by_hours.warnings]


def test_spot_without_any_figure_names_the_range_of_the_documents_and_states_what_it_assumes() -> None:
    report = cost(instance_type="ecs.gn7i-c8g1.2xlarge", purchase="spot", hours=100)
    spot = report.spot
    assert spot is not None
    assert (spot.lowest_hourly, spot.highest_hourly) == (Decimal("0.95326"), Decimal("9.5326"))
    # Once a day, 15 minutes of work and 10 of restart are lost.
    assert spot.total_hours == pytest.approx(100 / (1 - 25 / 60 / 24))
    assumed = {item.field: item.value for item in report.assumptions}
    assert (assumed["checkpoint_minutes"], assumed["interruptions_per_day"]) == (30, 1)
    assert report.job is None  # a range is no price


def test_spot_without_a_quote_says_so_and_does_the_interruption_arithmetic() -> None:
    report = cost(
        instance_type="ecs.gn7i-c8g1.2xlarge",
        purchase="抢占式",
        hours=100,
        interruptions_per_day=2.4,
        checkpoint_minutes=30,
        restart_minutes=15,
    )
    assert report.hourly is None
    assert report.warnings[0].code == "no_spot_price_known"
    assert report.spot is not None
    # 0.1 interruptions an hour, each losing 15 + 15 minutes: 5 % of the time is lost.
    assert report.spot.total_hours == pytest.approx(100 / 0.95)
    assert report.spot.break_even_percent == pytest.approx(95)


def test_a_base_by_the_month_with_a_peak_by_the_hour() -> None:
    report = cost(
        instance_type="ecs.gn7i-c8g1.2xlarge", region="cn-shanghai", count=3, base_count=1, schedule="8x5"
    )
    assert report.mixed is not None
    peak_hours = Decimal("173.8095")  # 8 x 5 x 730 / 168
    assert abs(report.mixed.monthly - (Decimal("4575.66") + 2 * Decimal("9.5326") * peak_hours)) < Decimal(
        "1e-5"
    )


def test_a_span_of_time_is_summed_in_every_way_to_pay_the_cheapest_first() -> None:
    report = cost(instance_type="ecs.gn7i-c8g1.2xlarge", region="cn-shanghai", months=2.5)
    assert [(way.purchase, way.job) for way in report.totals] == [
        ("subscription_1m", 3 * Decimal("4575.66")),
        ("payg", Decimal("9.5326") * 730 * Decimal("2.5")),
    ]
    few = cost(instance_type="ecs.gn7i-c8g1.2xlarge", region="cn-shanghai", hours=100)
    assert few.totals[0].purchase == "payg"
    assert cost(instance_type="ecs.gn7i-c8g1.2xlarge").totals == ()


def test_disk_and_traffic_are_lines_of_their_own() -> None:
    report = cost(
        instance_type="ecs.gn7i-c8g1.2xlarge", region="cn-hangzhou", disk_gib=200, traffic_gb_per_month=100
    )
    assert [(line.code, line.monthly) for line in report.lines] == [
        ("system_disk", Decimal(200)),
        ("public_traffic", Decimal(80)),
    ]
    assert report.hourly == Decimal("9.5326")
    assert report.all_in_monthly == Decimal("9.5326") * 730 + 280


def test_disk_and_traffic_have_no_price_where_none_is_known() -> None:
    home = cost(instance_type="ecs.gn7i-c8g1.2xlarge", region="cn-hangzhou")
    assert [(line.code, line.monthly) for line in home.rates] == [
        ("system_disk", Decimal(100)),
        ("public_traffic", Decimal(80)),
    ]
    assert cost(instance_type="ecs.gn7i-c8g1.2xlarge", region="us-east-1", disk_gib=100).lines == ()


def test_a_newer_figure_that_may_not_be_compared_says_why() -> None:
    report = cost(instance_type="ecs.gn7i-c8g1.2xlarge", region="cn-shanghai")
    assert report.price is not None
    assert (report.price.as_of, report.price.left_out) == ("2024-12-31", "")
    newer = [
        row for row in report.other_published if row.as_of > report.price.as_of and row.currency == "CNY"
    ]
    assert newer
    assert {row.left_out for row in newer} == {"disk_inside"}


def test_a_type_without_any_figure_shows_those_of_its_family() -> None:
    report = cost(instance_type="ecs.gn8v.4xlarge", region="cn-hangzhou")
    assert report.price is None
    assert Decimal("71.58") in [row.amount for row in report.other_published]
    assert all(row.left_out for row in report.other_published)


def test_the_age_is_that_of_the_day_of_asking() -> None:
    def age(day: int) -> int | None:
        asked = Catalog(clock=lambda: datetime(2026, 11, day, tzinfo=UTC))
        return estimate_cost(CostRequest(instance_type="ecs.gn7i-c8g1.2xlarge"), asked).stale_days

    assert age(30) == (date(2026, 11, 30) - date(2024, 12, 31)).days
    assert age(30) == (age(29) or 0) + 1


def test_the_exchange_rate_of_the_installation_is_shown_with_its_date() -> None:
    rate = BillingRule(
        rule="exchange_rate", scope="USD", value=Decimal("7.1"), source="the settings", as_of="2026-11-30"
    )
    report = estimate_cost(
        CostRequest(instance_type="ecs.gn7i-c8g1.2xlarge", currency="USD"), Catalog(cny_per_usd=rate)
    )
    assert report.conversion is not None
    assert (report.conversion.cny_per_usd, report.conversion.rate_as_of) == (Decimal("7.1"), "2026-11-30")


def test_an_old_price_says_how_old() -> None:
    report = cost(instance_type="ecs.gn7i-c8g1.2xlarge", today=date(2025, 1, 10))
    assert report.stale_days == 10
    assert "price_old" not in [warning.code for warning in report.warnings]
    assert cost(instance_type="ecs.gn7i-c8g1.2xlarge", today=date(2026, 1, 1)).stale_days == 366


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"instance_type": "ecs.gn7i-c24g1.24xlarge"}, "instance_type"),
        ({"instance_type": "gn7i-c8g1.2xlarge", "region": "atlantis"}, "region"),
        ({"instance_type": "gn7i-c8g1.2xlarge", "purchase": "lease"}, "purchase"),
        ({"instance_type": "gn7i-c8g1.2xlarge", "schedule": "sometimes"}, "schedule"),
        ({"instance_type": "gn7i-c8g1.2xlarge", "currency": "EUR"}, "currency"),
        ({"instance_type": "gn7i-c8g1.2xlarge", "count": 2, "base_count": 3}, "base_count"),
    ],
)
def test_what_cannot_be_used_is_named(fields: dict[str, object], field: str) -> None:
    with pytest.raises(InputError) as error:
        cost(**fields)
    assert error.value.field == field
