"""What live data changes in a cost: the quote with its minute, savings plans, spot averages, stock, age."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from knowledge.catalog import Catalog
from knowledge.live.overlay import Overlay
from tests.knowledge.conftest import NOON, Refresh
from tests.knowledge.ecs_server import A100, TWO_A100, EcsServer, discount, price, refusal, stock
from tools.contracts.cost import CostReport, CostRequest
from tools.cost import estimate_cost


@pytest.fixture
def cost(tmp_path: Path):
    """The cost of one A100 machine as asked some minutes after noon."""

    def ask(minutes: float = 5, **fields: object) -> CostReport:
        catalog = Catalog(clock=lambda: NOON + timedelta(minutes=minutes))
        catalog.live = Overlay(tmp_path, check_every_s=0)
        return estimate_cost(CostRequest.model_validate({"instance_type": A100, **fields}), catalog)

    return ask


@pytest.mark.parametrize("wished", [False, True])
def test_a_live_price_is_the_list_price_with_its_minute_and_the_account_price_only_on_wish(
    refresh: Refresh, server: EcsServer, cost, wished: bool
) -> None:
    server.answers["DescribePrice"] = lambda query: price(query, "35.1", discount=5.07)
    refresh("prices", account_prices=wished)
    shown = cost().price
    assert (shown.basis, shown.at, shown.amount) == ("live", "2026-11-30 12:00 UTC", Decimal("35.1"))
    assert shown.account_price == (Decimal("30.03") if wished else None)
    assert ("30.03" in cost(hours=1).model_dump_json()) is wished


def test_savings_plans_are_asked_of_billing_and_priced_for_every_hour(
    refresh: Refresh, server: EcsServer, cost
) -> None:
    rates = {"zero": "0.7", "half": "0.66", "total": "0.62"}
    server.answers["QuerySavingsPlansDiscount"] = lambda query: discount(rates[query["PayMode"]])
    report = refresh("plans")
    assert report.complete
    asked = server.asked("QuerySavingsPlansDiscount")
    assert len(asked) == 2 * 2 * 3
    assert {query["Cycle"] for query in asked} == {"1:Year", "3:Year"}
    assert {(query["Spec"], query["Region"]) for query in asked} == {("ecs.gn7e", "cn-hangzhou")}
    found = cost(count=2, purchase="savings plan")
    best = found.savings[0]
    assert (best.payg_percent, best.upfront, best.at) == (62.0, "all", "2026-11-30 12:00 UTC")
    assert best.hourly == Decimal("34.742") * 2 * Decimal("0.62")
    assert best.monthly == best.hourly * 730  # due used or not
    assert best.break_even_hours == pytest.approx(0.62 * 730)
    assert "no_published_savings_plan_rate" not in [remark.code for remark in found.warnings]


def test_a_key_that_may_not_ask_billing_still_refreshes_the_rest(
    refresh: Refresh, server: EcsServer, cost
) -> None:
    server.answers["QuerySavingsPlansDiscount"] = lambda query: {"Success": False, "Code": "NotAuthorized"}
    report = refresh("prices", "plans")
    assert len(server.asked("QuerySavingsPlansDiscount")) == 1
    assert report.failures[0].why.startswith("NotAuthorized")
    assert cost().price.basis == "live"
    assert cost().savings == ()


def test_billing_is_asked_only_on_wish(refresh: Refresh, server: EcsServer) -> None:
    refresh()
    assert not server.asked("QuerySavingsPlansDiscount")


@pytest.mark.parametrize("rate", ["0", "1.4", "-0.2", "cheap"])
def test_a_rate_that_is_no_share_brings_none(refresh: Refresh, server: EcsServer, cost, rate: str) -> None:
    server.answers["QuerySavingsPlansDiscount"] = lambda query: discount(rate)
    assert len(refresh("plans").failures) == 12
    assert cost().savings == ()


def test_stock_is_that_of_the_last_half_hour_and_then_unknown(refresh: Refresh, cost) -> None:
    refresh("stock")
    found = cost(29).stock
    assert (found.zones, found.checked_at) == (("cn-hangzhou-i",), "2026-11-30 12:00 UTC")
    assert cost(31).stock is None
    assert estimate_cost(CostRequest(instance_type=A100), Catalog()).stock is None


def test_sold_out_names_where_the_same_gpu_is_in_stock(refresh: Refresh, server: EcsServer, cost) -> None:
    def shelf(query: dict[str, str]) -> dict[str, object]:
        here = query["RegionId"] == "cn-hangzhou" and query["InstanceType"] == A100
        return stock(
            query["InstanceType"], {f"{query['RegionId']}-i": "WithoutStock" if here else "WithStock"}
        )

    server.answers["DescribeAvailableResource"] = shelf
    refresh("stock", region=("cn-hangzhou", "ap-southeast-1"))
    report = cost()
    assert report.stock.zones == ()
    places = [(row.instance_type, row.region) for row in report.in_stock_elsewhere[:2]]
    assert places == [(A100, "ap-southeast-1"), (TWO_A100, "cn-hangzhou")]


def test_spot_is_reckoned_with_the_live_averages(refresh: Refresh, server: EcsServer, cost) -> None:
    advice = {
        "InstanceType": A100,
        "AverageSpotDiscount": "20",
        "InterruptionRate": "3",
        "InterruptRateDesc": "0-3%",
    }
    zone = {"ZoneId": "cn-hangzhou-i", "AvailableSpotResources": {"AvailableSpotResource": [advice]}}
    server.answers["DescribeSpotAdvice"] = lambda query: {"AvailableSpotZones": {"AvailableSpotZone": [zone]}}
    refresh("spot")
    report = cost(purchase="spot", hours=100, checkpoint_minutes=20)
    assert (report.hourly, report.price.zone) == (Decimal("7.1"), "cn-hangzhou-i")
    spot = report.spot
    assert spot.averages[0].hourly == Decimal("34.742") * 20 / 100
    assert spot.averages[0].release_rate == "0-3%"
    # 0.03 a day, each losing 10 + 10 minutes: 0.0417 % of the time.
    assert spot.total_hours == pytest.approx(100 / (1 - 0.03 / 24 * 20 / 60))
    assert float(spot.expected_job) == pytest.approx(7.1 * spot.total_hours)
    reasons = {item.field: item.reason for item in report.assumptions}
    assert reasons["interruptions_per_day"] == "release_rate_as_daily"


def test_a_price_ages_with_the_day_of_asking() -> None:
    catalog = Catalog(clock=lambda: NOON)
    report = estimate_cost(CostRequest(instance_type="ecs.gn7i-c8g1.2xlarge"), catalog)
    assert report.stale_days == (NOON.date() - date(2024, 12, 31)).days


def test_a_refresh_counts_in_the_ranking_of_a_running_service(
    refresh: Refresh, server, tmp_path: Path
) -> None:
    from tools.contracts.sizing import SizingRequest
    from tools.recommend import recommend

    catalog = Catalog(clock=lambda: NOON)
    catalog.live = Overlay(tmp_path, check_every_s=0)
    wish = SizingRequest(task="development", instance_wanted=(A100,))
    before = recommend(wish, catalog).options[0]
    refresh("prices")
    after = recommend(wish, catalog).options[0]
    assert (before.hourly_cny, after.hourly_cny) == (Decimal("34.742"), Decimal("35.1"))


def test_a_throttled_billing_is_waited_out(refresh: Refresh, server: EcsServer, pauses: list[float]) -> None:
    server.faults["QuerySavingsPlansDiscount"].append(refusal(400, "Throttling.User"))
    assert refresh("plans").complete
    assert len(pauses) == 1
