"""What a refresh brings, asked of a service that speaks the real wire format through the real SDK."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from knowledge.catalog import Catalog
from knowledge.errors import InputError
from knowledge.live.overlay import read_overlay
from knowledge.live.plan import wish_of
from knowledge.live.rows import LivePrice
from tests.knowledge.conftest import NOON, Refresh
from tests.knowledge.ecs_server import (
    A100,
    TWO_A100,
    ZONE,
    EcsServer,
    Query,
    Reply,
    gpu_types,
    price,
    refusal,
    spot,
    stock,
)

# What a refresh brings


def test_a_quote_replaces_the_old_list_price_and_says_its_date(refresh: Refresh, live: Catalog) -> None:
    before = live.price(A100, "cn-hangzhou")
    assert before is not None
    assert before.as_of == "2024-12-31"
    assert refresh("prices").complete
    now = live.price(A100, "cn-hangzhou")
    assert now is not None
    assert (now.price, now.unit, now.currency, now.basis, now.as_of) == (
        Decimal("35.1"), "hour", "CNY", "live", "2026-11-30",
    )  # fmt: skip
    assert now.source == "live: ECS DescribePrice, 2026-11-30 12:00 UTC"
    assert live.price(A100, "cn-shanghai") == Catalog().price(A100, "cn-shanghai")  # not asked, not touched


def test_the_disk_in_the_total_never_gets_into_the_price(
    refresh: Refresh, live: Catalog, server: EcsServer
) -> None:
    server.answers["DescribePrice"] = lambda query: price(query, "34.742600")
    refresh("prices")
    found = live.price(A100, "cn-hangzhou")
    assert found is not None
    assert found.price == Decimal("34.7426")
    assert not found.includes_disk


def test_an_answer_without_the_instance_part_brings_no_price(
    refresh: Refresh, live: Catalog, server: EcsServer
) -> None:
    def total_only(query: Query) -> dict[str, object]:
        answer = price(query, "35.1")
        answer["PriceInfo"]["Price"]["DetailInfos"] = {}
        return answer

    server.answers["DescribePrice"] = total_only
    report = refresh("prices")
    assert "disk inside" in report.failures[0].why
    found = live.price(A100, "cn-hangzhou")
    assert found is not None
    assert found.as_of == "2024-12-31"


def test_the_discount_of_the_account_that_asks_reaches_nobody(
    refresh: Refresh, live: Catalog, server: EcsServer
) -> None:
    server.answers["DescribePrice"] = lambda query: price(query, "35.1", discount=3.51)
    refresh("prices")
    found = live.price(A100, "cn-hangzhou")
    assert found is not None
    assert found.price == Decimal("35.1")
    assert "31.59" not in found.model_dump_json()


def test_an_answer_without_a_list_price_brings_none(
    refresh: Refresh, live: Catalog, server: EcsServer
) -> None:
    def only_trade(query: Query) -> dict[str, Any]:
        answer = price(query, "35.1", discount=3.51)
        del answer["PriceInfo"]["Price"]["DetailInfos"]["DetailInfo"][1]["OriginalPrice"]
        return answer

    server.answers["DescribePrice"] = only_trade
    assert "no list price" in refresh("prices").failures[0].why
    found = live.price(A100, "cn-hangzhou")
    assert found is not None
    assert found.basis == "list"


def test_what_the_account_pays_is_kept_on_wish_and_ranks_nothing(
    refresh: Refresh, live: Catalog, server: EcsServer
) -> None:
    server.answers["DescribePrice"] = lambda query: price(query, "35.1", discount=3.51)
    refresh("prices", account_prices=True)
    found = live.price(A100, "cn-hangzhou")
    assert isinstance(found, LivePrice)
    assert (found.price, found.account_price) == (Decimal("35.1"), Decimal("31.59"))


def test_every_term_is_asked_in_the_words_of_the_api(refresh: Refresh, server: EcsServer) -> None:
    report = refresh("prices", purchase=("payg", "subscription_1m", "subscription_1y", "subscription_3y"))
    assert report.complete
    asked = {
        (query["PriceUnit"], query["Period"])
        for query in server.asked("DescribePrice")
        if query["InstanceType"] == A100
    }
    assert asked == {("Hour", "1"), ("Month", "1"), ("Year", "1"), ("Year", "3")}
    query = server.asked("DescribePrice")[0]
    assert query["RegionId"] == "cn-hangzhou"
    assert query["SystemDisk.Category"] == "cloud_essd"


def test_terms_of_years_are_kept_apart_from_months(refresh: Refresh, live: Catalog) -> None:
    refresh("prices", purchase=("subscription_1y", "subscription_3y"))
    year, three = (live.price(A100, "cn-hangzhou", term) for term in ("subscription_1y", "subscription_3y"))
    assert year is not None
    assert three is not None
    assert (year.unit, three.unit) == ("year", "3 years")
    assert year.comparable


def test_a_type_that_takes_no_essd_disk_is_quoted_with_another(refresh: Refresh, server: EcsServer) -> None:
    def picky(query: Query) -> dict[str, object] | Reply:
        if query["SystemDisk.Category"] != "cloud_efficiency":
            return refusal(400, "InvalidSystemDiskCategory.ValueNotSupported")
        return price(query, "35.1")

    server.answers["DescribePrice"] = picky
    assert refresh("prices", purchase=("payg", "subscription_1m")).complete
    disks = [
        query["SystemDisk.Category"]
        for query in server.asked("DescribePrice")
        if query["InstanceType"] == A100
    ]
    assert disks == ["cloud_essd", "cloud_auto", "cloud_efficiency", "cloud_efficiency"]  # remembered


def test_the_types_come_in_pages_and_only_gpu_types_are_kept(
    refresh: Refresh, server: EcsServer, tmp_path: Path
) -> None:
    pages = {
        "": gpu_types(A100, token="two"),
        "two": gpu_types("ecs.g7.large", token="three", GPUAmount=0, GPUSpec=""),
        "three": gpu_types(TWO_A100),
    }
    server.answers["DescribeInstanceTypes"] = lambda query: pages[query.get("NextToken", "")]
    assert refresh("types").complete
    assert [row.instance_type for row in read_overlay(tmp_path).types] == [A100, TWO_A100]


def test_pages_that_never_end_are_given_up(refresh: Refresh, server: EcsServer) -> None:
    server.answers["DescribeInstanceTypes"] = lambda query: gpu_types(A100, token="again")
    report = refresh("types")
    assert "do not end" in report.failures[0].why
    assert len(server.asked("DescribeInstanceTypes")) == 2


def test_of_spot_prices_the_newest_of_the_cheapest_zone_is_shown(
    refresh: Refresh, live: Catalog, server: EcsServer
) -> None:
    pages = {
        "0": [("cn-hangzhou-i", "2026-11-30T08:00:00Z", 1.2), ("cn-hangzhou-j", "2026-11-30T08:00:00Z", 2.5)],
        "2": [("cn-hangzhou-i", "2026-11-30T10:00:00Z", 3.1), ("cn-hangzhou-j", "2026-11-30T07:00:00Z", 0.4)],
    }
    server.answers["DescribeSpotPriceHistory"] = lambda query: spot(
        query, pages[query["Offset"]], next_offset=2 if query["Offset"] == "0" else 0
    )
    assert refresh("spot").complete
    found = live.price(A100, "cn-hangzhou", "spot")
    assert found is not None
    assert found.price == Decimal("2.5")
    assert "cn-hangzhou-j at 2026-11-30 08:00 UTC" in found.note
    assert {row.price for row in live.price_rows(A100) if row.purchase == "spot" and row.basis == "live"} == {
        Decimal("2.5"),
        Decimal("3.1"),
    }


def test_spot_advice_given_as_text_numbers_is_read(
    refresh: Refresh, live: Catalog, server: EcsServer
) -> None:
    resource = {
        "InstanceType": A100,
        "AverageSpotDiscount": "20",
        "InterruptionRate": "1.5",
        "InterruptRateDesc": "0-3%",
    }
    zone = {"ZoneId": ZONE, "AvailableSpotResources": {"AvailableSpotResource": [resource]}}
    server.answers["DescribeSpotAdvice"] = lambda query: {"AvailableSpotZones": {"AvailableSpotZone": [zone]}}
    assert refresh("spot").complete
    (advice,) = {row.percent_of_payg: row for row in live.live.spot_advice(A100, "cn-hangzhou")}.values()
    assert (advice.percent_of_payg, advice.release_rate) == (20, "0-3%")
    assert (
        max(
            len([name for name in query if name.startswith("InstanceTypes.")])
            for query in server.asked("DescribeSpotAdvice")
        )
        <= 10
    )


def test_stock_names_every_zone_that_has_the_type_not_only_the_first(
    refresh: Refresh, live: Catalog, server: EcsServer
) -> None:
    zones = {
        "cn-hangzhou-h": "WithoutStock",
        "cn-hangzhou-i": "ClosedWithStock",
        "cn-hangzhou-j": "WithStock",
    }
    server.answers["DescribeAvailableResource"] = lambda query: stock(query["InstanceType"], zones)
    assert refresh("stock").complete
    found = live.live.stock(A100, "cn-hangzhou")
    assert found is not None
    assert found.zones == ("cn-hangzhou-i", "cn-hangzhou-j")
    assert found.sold_out_zones == ("cn-hangzhou-h",)


def test_stock_is_unknown_where_nobody_asked_or_too_long_ago(
    refresh: Refresh, live: Catalog, server: EcsServer
) -> None:
    server.answers["DescribeAvailableResource"] = lambda query: {"AvailableZones": None}
    refresh("stock")
    asked = live.live.stock(A100, "cn-hangzhou", NOON + timedelta(minutes=10))
    assert asked is not None
    assert not asked.offered
    assert live.live.stock(A100, "cn-hangzhou", NOON + timedelta(hours=1)) is None
    assert live.live.stock(A100, "cn-shanghai", NOON) is None


def test_new_types_of_a_named_family_are_quoted_too(
    refresh: Refresh, live: Catalog, server: EcsServer
) -> None:
    server.answers["DescribeInstanceTypes"] = lambda query: gpu_types("ecs.gn99x.large")
    assert refresh("types", "prices", family="gn99x").complete
    assert live.price("ecs.gn99x.large", "cn-hangzhou") is not None


def test_fields_that_nobody_knew_do_not_stop_a_refresh(refresh: Refresh, server: EcsServer) -> None:
    def newer(query: Query) -> dict[str, object]:
        answer = price(query, "35.1")
        answer["PriceInfo"]["Price"]["CarbonPrice"] = {"Grams": [1, 2]}
        answer["Quantum"] = None
        return answer

    server.answers["DescribePrice"] = newer
    assert refresh("prices").complete


def test_a_field_that_is_gone_is_named(refresh: Refresh, server: EcsServer) -> None:
    server.answers["DescribePrice"] = lambda query: {"PriceInfo": {"Price": {"TradePrice": 35.1}}}
    why = refresh("prices").failures[0].why
    assert "PriceInfo.Price.Currency" in why


# Another currency


def test_dollars_never_answer_a_question_in_yuan(refresh: Refresh, live: Catalog, server: EcsServer) -> None:
    server.answers["DescribePrice"] = lambda query: price(query, "4.9", currency="USD")
    report = refresh("prices")
    assert report.currencies == ("USD",)
    yuan, dollars = live.price(A100, "cn-hangzhou"), live.price(A100, "cn-hangzhou", currency="USD")
    assert yuan is not None
    assert dollars is not None
    assert (yuan.as_of, yuan.price) == ("2024-12-31", Decimal("34.742"))
    assert dollars.price == Decimal("4.9")


def test_a_third_currency_is_refused(refresh: Refresh, live: Catalog, server: EcsServer) -> None:
    server.answers["DescribePrice"] = lambda query: price(query, "4.9", currency="JPY")
    report = refresh("prices")
    assert report.answered == 1  # the regions
    assert "neither CNY nor USD" in report.failures[0].why


@pytest.mark.parametrize("amount", ["0", "-3", "nan"])
def test_an_amount_that_is_no_price_is_refused(
    refresh: Refresh, live: Catalog, server: EcsServer, amount: str
) -> None:
    server.answers["DescribePrice"] = lambda query: price(query, amount)
    assert refresh("prices").failures
    found = live.price(A100, "cn-hangzhou")
    assert found is not None
    assert found.basis == "list"


# Asking no more than needed


def test_what_is_fresh_is_not_asked_again_and_what_is_old_is(refresh: Refresh, server: EcsServer) -> None:
    first = refresh(purchase=("payg",))
    assert first.complete
    server.calls.clear()
    second = refresh(purchase=("payg",), at=NOON + timedelta(minutes=31))
    assert {name for name, _ in server.calls} == {"DescribeSpotPriceHistory", "DescribeAvailableResource"}
    assert second.still_fresh + second.answered == first.answered
    server.calls.clear()
    refresh("prices", at=NOON + timedelta(minutes=32), force=True)
    assert {name for name, _ in server.calls} == {"DescribeRegions", "DescribePrice"}


def test_without_a_family_every_current_type_is_asked(
    refresh: Refresh, server: EcsServer, catalog: Catalog
) -> None:
    assert refresh("stock", family="").complete
    asked = {query["InstanceType"] for query in server.asked("DescribeAvailableResource")}
    assert asked == {row.instance_type for row in catalog.instances if row.status == "current"}


# Words


def test_an_unknown_word_is_an_error_with_near_ones(catalog: Catalog, refresh: Refresh) -> None:
    for field, words in {
        "region": (["hangzou city"], (), (), ()),
        "only": (["cn-hangzhou"], (), ["price"], ()),
        "purchase": (["cn-hangzhou"], (), (), ["subscription"]),
    }.items():
        with pytest.raises(InputError) as error:
            wish_of(catalog, *words)
        assert error.value.field == field
        assert error.value.suggestions
    with pytest.raises(InputError) as error:
        refresh("prices", family="gn7x")
    assert "gn7e" in error.value.suggestions
