"""Trouble on the way to the service: limits, silence, nonsense, refusals, wrong keys."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from knowledge.catalog import Catalog
from knowledge.errors import InputError
from tests.knowledge.conftest import NOON, Refresh, client
from tests.knowledge.ecs_server import (
    A100,
    KEY_ID,
    KEY_SECRET,
    TWO_A100,
    EcsServer,
    Query,
    Reply,
    price,
    refusal,
    regions,
)

# Trouble on the way


def test_throttling_is_waited_out_with_growing_pauses(
    refresh: Refresh, server: EcsServer, pauses: list[float]
) -> None:
    server.faults["DescribePrice"] += [
        refusal(400, "Throttling.User"),
        refusal(429, "SomethingNew"),
        refusal(400, "Throttling.Api"),
        refusal(400, "Throttling", x_acs_retry_after="7000"),
    ]
    assert refresh("prices").complete
    assert len(pauses) == 4
    assert pauses[0] < pauses[1] < pauses[2]
    assert pauses[3] == 7  # what the service asked for


def test_a_limit_that_stays_ends_the_run_and_the_next_one_goes_on(
    refresh: Refresh, server: EcsServer, catalog: Catalog, pauses: list[float]
) -> None:
    server.answers["DescribePrice"] = lambda query: refusal(400, "Throttling.User")
    report = refresh("prices")
    assert "Throttling.User" in report.stopped
    assert (len(report.failures), report.not_asked) == (3, len(catalog.in_family("gn7e")) - 3)
    assert sum(pauses[:6]) > 60  # a limit opens again within a minute
    server.answers["DescribePrice"] = lambda query: price(query, "35.1")
    again = refresh("prices")
    assert again.complete
    assert again.still_fresh == 1  # the regions


def test_a_service_that_hangs_is_left_after_the_timeout(refresh: Refresh, server: EcsServer) -> None:
    server.faults["DescribePrice"].append(Reply(200, price({}, "35.1"), delay_s=1.2))
    report = refresh("prices", api=client(server, [], timeout_s=0.4))
    assert report.complete  # the second try answered
    prices = report.answered - 1  # the regions are an answer too
    assert len(server.asked("DescribePrice")) > prices


@pytest.mark.parametrize(
    "reply",
    [
        Reply(502, b"<html>Bad gateway</html>"),
        Reply(200, b'{"PriceInfo": '),
        Reply(200, b"[1, 2]"),
        Reply(200, b"\xff\xfe"),
        Reply(500, {"Code": "InternalError", "Message": "m"}),
        Reply(503, b"null"),
    ],
)
def test_an_answer_that_nobody_can_read_is_asked_again(
    refresh: Refresh, server: EcsServer, reply: Reply
) -> None:
    server.faults["DescribePrice"].append(reply)
    assert refresh("prices").complete


def test_without_a_service_the_shipped_prices_stay(
    refresh: Refresh, live: Catalog, server: EcsServer
) -> None:
    server.close()
    report = refresh("prices")
    assert report.stopped
    assert report.answered == 0
    assert live.price(A100, "cn-hangzhou") == Catalog().price(A100, "cn-hangzhou")


def test_one_bad_answer_costs_one_price_and_only_it_is_asked_again(
    refresh: Refresh, live: Catalog, server: EcsServer
) -> None:
    def one_bad(query: Query) -> dict[str, object] | Reply:
        return refusal(400, "InternalTrouble") if query["InstanceType"] == A100 else price(query, "35.1")

    server.answers["DescribePrice"] = one_bad
    report = refresh("prices")
    assert [failure.step for failure in report.failures] == [f"DescribePrice|cn-hangzhou|{A100}|payg"]
    assert live.price(TWO_A100, "cn-hangzhou").basis == "live"
    server.calls.clear()
    server.answers["DescribePrice"] = lambda query: price(query, "35.1")
    assert refresh("prices").complete
    assert [query["InstanceType"] for query in server.asked("DescribePrice")] == [A100]


def test_an_action_that_the_key_may_not_use_is_left_out_once_refused(
    refresh: Refresh, live: Catalog, server: EcsServer
) -> None:
    server.answers["DescribeAvailableResource"] = lambda query: refusal(403, "Forbidden.RAM")
    report = refresh("stock", "prices")
    assert "may not ask DescribeAvailableResource" in report.failures[0].why
    assert len(server.asked("DescribeAvailableResource")) == 1
    assert live.price(A100, "cn-hangzhou").basis == "live"


def test_a_region_that_is_not_open_is_said_and_the_others_are_asked(
    refresh: Refresh, live: Catalog, server: EcsServer
) -> None:
    report = refresh("prices", region=("cn-hangzou", "cn-shanghai", "新加坡"))
    assert [failure.step for failure in report.failures] == ["cn-hangzou", "cn-shanghai"]
    assert {query["RegionId"] for query in server.asked("DescribePrice")} == {"ap-southeast-1"}
    assert live.price(A100, "ap-southeast-1").basis == "live"


def test_all_regions_are_those_that_the_api_lists(refresh: Refresh, server: EcsServer) -> None:
    server.answers["DescribeRegions"] = lambda query: regions("cn-hangzhou", "xx-new-1")
    assert refresh("stock", region=("all",)).complete
    assert {query["RegionId"] for query in server.asked("DescribeAvailableResource")} == {
        "cn-hangzhou",
        "xx-new-1",
    }


@pytest.mark.parametrize(
    "code", ["InvalidInstanceType.ValueNotSupported", "PriceNotFound", "InstanceType.Offline"]
)
def test_a_quote_does_not_outlive_the_news_that_the_type_is_not_sold(
    refresh: Refresh, live: Catalog, server: EcsServer, code: str
) -> None:
    refresh("prices")
    server.answers["DescribePrice"] = lambda query: refusal(403 if "Offline" in code else 400, code)
    report = refresh("prices", at=NOON + timedelta(days=2))
    assert report.complete
    assert report.not_sold > 0
    assert not [row for row in live.price_rows(A100) if row.basis == "live"]


# Keys


@pytest.mark.parametrize(
    ("key_id", "secret"), [("LTAI5tSomebodyElse", KEY_SECRET), (KEY_ID, "wrongSecret000")]
)
def test_wrong_credentials_end_the_run_and_are_shown_nowhere(
    server: EcsServer, refresh: Refresh, key_id: str, secret: str, tmp_path: Path, capfd, caplog, monkeypatch
) -> None:
    monkeypatch.setenv("DEBUG", "sdk")  # makes the SDK print whole requests
    caplog.set_level("DEBUG")
    with pytest.raises(InputError) as error:
        refresh("prices", api=client(server, [], key_id, secret))
    assert error.value.field == "credentials"
    assert "SignatureDoesNotMatch" in str(error.value)
    assert len(server.calls) == 1  # wrong is wrong: no second try
    printed = capfd.readouterr()
    everything = printed.out + printed.err + caplog.text + str(error.value) + repr(error.value.payload())
    everything += (tmp_path / "live.sqlite").read_bytes().decode("latin-1")
    for word in (key_id, secret, KEY_ID, "ACS3-HMAC", "Signature="):
        assert word not in everything


@pytest.mark.parametrize(
    "code", ["InvalidAccessKeyId.NotFound", "InvalidSecurityToken.Expired", "InvalidTimeStamp.Expired"]
)
def test_a_refused_key_is_explained(server: EcsServer, refresh: Refresh, code: str) -> None:
    server.faults["DescribeRegions"].append(refusal(404, code))
    with pytest.raises(InputError, match=code.replace(".", r"\.")) as error:
        refresh("prices")
    assert ("clock" in str(error.value)) == (code == "InvalidTimeStamp.Expired")


def test_the_key_is_nowhere_in_the_live_data_nor_in_what_is_printed(
    refresh: Refresh, server: EcsServer, tmp_path: Path, capfd, caplog, monkeypatch
) -> None:
    monkeypatch.setenv("DEBUG", "sdk")
    caplog.set_level("DEBUG")
    server.faults["DescribePrice"] += [refusal(400, f"Odd.{KEY_ID}" + "x" * 80), refusal(400, "Throttling")]
    report = refresh()
    assert report.failures
    printed = capfd.readouterr()
    everything = printed.out + printed.err + caplog.text + report.model_dump_json()
    everything += "".join(path.read_bytes().decode("latin-1") for path in tmp_path.iterdir())
    for word in (KEY_ID, KEY_SECRET, "ACS3-HMAC", "Signature="):
        assert word not in everything
