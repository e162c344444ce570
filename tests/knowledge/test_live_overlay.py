"""The overlay outlives kills, damage and running readers, and only comparable rows reach a ranking."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.catalog import Catalog
from knowledge.derived import per_catalog
from knowledge.errors import InputError
from knowledge.live.alternatives import in_stock_elsewhere
from knowledge.live.faults import Fault
from knowledge.live.overlay import Overlay, read_overlay
from knowledge.live.rows import LivePrice
from knowledge.live.store import Store
from tests.knowledge.conftest import NOON, PROXIES, Refresh
from tests.knowledge.ecs_server import A100, KEY_ID, KEY_SECRET, TWO_A100, EcsServer, stock

ROOT = Path(__file__).parents[2]


def row(**values: object) -> LivePrice:
    fixed: dict[str, object] = {
        "instance_type": A100, "region_id": "cn-hangzhou", "purchase": "payg", "currency": "CNY",
        "price": "30", "unit": "hour", "product": "ecs", "basis": "live", "includes_disk": False,
        "confidence": "high", "as_of": "2026-11-30", "source": "live: test",
    }  # fmt: skip
    return LivePrice.model_validate({**fixed, **values})


# The command, killed and started again


def command(
    server: EcsServer, overlay: Path, *words: str, key_id: str = KEY_ID, **environment: str
) -> list[str | dict[str, str]]:
    """The sync command and its environment, with the keys where the SDK's chain looks for them."""
    env = {name: value for name, value in os.environ.items() if name not in PROXIES}
    env |= {"ALIBABA_CLOUD_ACCESS_KEY_ID": key_id, "ALIBABA_CLOUD_ACCESS_KEY_SECRET": KEY_SECRET}
    endpoint = ["--endpoint", f"http://{server.host}", "--overlay", str(overlay)]
    return [
        sys.executable,
        "-m",
        "knowledge",
        "sync",
        "--family",
        "gn7e",
        *endpoint,
        *words,
    ], env | environment


def run(server: EcsServer, overlay: Path, *words: str, **options: str) -> subprocess.CompletedProcess[str]:
    args, env = command(server, overlay, *words, **options)
    return subprocess.run(args, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_a_refresh_that_is_killed_half_way_goes_on_where_it_was(
    server: EcsServer, tmp_path: Path, catalog: Catalog, end: signal.Signals
) -> None:
    server.delay_s = 0.03
    args, env = command(server, tmp_path, "--only", "prices", "--only", "types")
    process = subprocess.Popen(
        args, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 30
    while len(server.calls) < 6 and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(end)
    _, told = process.communicate(timeout=30)
    if end == signal.SIGINT:
        assert process.returncode == 130
        assert "every answer so far is kept" in told
    with sqlite3.connect(tmp_path / "live.sqlite") as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()
    kept = read_overlay(tmp_path)
    assert 2 <= len(kept.steps) < 2 + 4 * len(catalog.in_family("gn7e"))
    assert len(kept.prices) == sum(step.startswith("DescribePrice") for step in kept.steps)
    server.calls.clear()
    server.delay_s = 0
    second = run(server, tmp_path, "--only", "prices", "--only", "types", "--json")
    assert second.returncode == 0, second.stderr
    report = json.loads(second.stdout)
    assert report["still_fresh"] == len(kept.steps)
    assert len(server.calls) == report["steps"] - len(kept.steps)
    assert len(read_overlay(tmp_path).prices) == 4 * len(catalog.in_family("gn7e"))


def test_the_command_says_in_part_by_its_exit_code_and_prints_no_key(
    server: EcsServer, tmp_path: Path
) -> None:
    server.answers["DescribePrice"] = lambda query: {"nothing": 1}
    done = run(server, tmp_path, "--only", "prices", DEBUG="sdk")
    assert done.returncode == 1
    assert "PriceInfo is missing" in done.stdout
    for word in (KEY_ID, KEY_SECRET, "ACS3-HMAC"):
        assert word not in done.stdout + done.stderr


def test_a_wrong_or_missing_key_is_one_clear_line(server: EcsServer, tmp_path: Path) -> None:
    wrong = run(server, tmp_path, key_id="LTAI5tSomebodyElse")
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("`credentials`: '(not shown)' cannot be used; the service refused them")
    assert "Traceback" not in wrong.stderr
    none = run(
        server, tmp_path, key_id="", ALIBABA_CLOUD_ACCESS_KEY_SECRET="", HOME=str(tmp_path),
        ALIBABA_CLOUD_ECS_METADATA_DISABLED="true",
    )  # fmt: skip
    assert none.returncode == 2
    assert none.stderr.startswith(
        "`credentials`: 'none found' cannot be used; set ALIBABA_CLOUD_ACCESS_KEY_ID"
    )
    assert len(none.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://ecs.cn-hangzhou.aliyuncs.com",
        "ftp://127.0.0.1",
        "https://",
        "http://127.0.0.1:x",
        "[::1",
        "a/b",
    ],
)
def test_a_request_is_never_sent_in_the_clear_to_another_machine(endpoint: str) -> None:
    from knowledge.live.service import endpoint_of

    with pytest.raises(InputError) as error:
        endpoint_of(endpoint)
    assert error.value.field == "endpoint"
    assert endpoint_of("ecs-vpc.cn-hangzhou.aliyuncs.com").protocol == "https"
    assert endpoint_of("http://[::1]:80").host == "[::1]:80"


def test_without_another_endpoint_the_official_one_of_the_region_is_asked_in_secret() -> None:
    from alibabacloud_credentials.models import Config

    from knowledge.live.service import BILLING, ECS, Credentials, Service

    keys = Credentials(Config(type="access_key", access_key_id=KEY_ID, access_key_secret=KEY_SECRET))
    service = Service(credentials=keys)
    for region, api, host in (
        ("cn-hangzhou", ECS, "ecs-cn-hangzhou.aliyuncs.com"),
        ("ap-southeast-1", ECS, "ecs.ap-southeast-1.aliyuncs.com"),
        ("cn-hangzhou", BILLING, "business.aliyuncs.com"),
        ("ap-southeast-1", BILLING, "business.ap-southeast-1.aliyuncs.com"),
    ):
        sdk = service._client(region, api)
        assert (sdk._endpoint, sdk._protocol, sdk._region_id) == (host, "https", region)


def test_the_facts_start_without_the_sdk() -> None:
    heavy = {"alibabacloud_ecs20140526", "alibabacloud_credentials", "sqlite3", "tenacity", "Tea"}
    code = f"import sys, knowledge.__main__, tools.cost; print(sorted(set(sys.modules) & {heavy}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


def test_the_policy_in_the_docs_allows_what_is_asked_and_nothing_more() -> None:
    from knowledge.live.plan import GOOD_FOR

    text = (ROOT / "docs" / "live-refresh.md").read_text(encoding="utf-8")
    policies = [json.loads(found) for found in re.findall(r"```json\n(.*?)```", text, re.DOTALL)]
    usual, wish = (policy["Statement"] for policy in policies)
    assert [part["Effect"] for part in (*usual, *wish)] == ["Allow", "Allow"]
    assert sorted(usual[0]["Action"]) == sorted(
        f"ecs:{action}" for action in GOOD_FOR if action != "QuerySavingsPlansDiscount"
    )
    assert wish[0]["Action"] == ["bssapi:QuerySavingsPlansDiscount"]


# Readers


def test_a_running_reader_sees_a_refresh_without_a_restart(tmp_path: Path, live: Catalog) -> None:
    shipped = live.price(A100, "cn-hangzhou")
    for amount in ("30", "31", "32"):
        with Store(tmp_path) as store:
            store.record("a", NOON, [row(price=amount)])
        found = live.price(A100, "cn-hangzhou")
        assert found is not None
        assert found.price == Decimal(amount)
    (tmp_path / "live.sqlite").unlink()
    assert live.price(A100, "cn-hangzhou") == shipped


@pytest.mark.parametrize("damage", ["garbage", "truncated", "other", "row"])
def test_a_damaged_overlay_costs_live_data_but_no_answer(
    tmp_path: Path, live: Catalog, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    path = tmp_path / "live.sqlite"
    with Store(tmp_path) as store:
        store.record("a", NOON, [row()] * 200)
    if damage == "garbage":
        path.write_bytes(b"nothing of ours" * 100)
    elif damage == "truncated":
        path.write_bytes(path.read_bytes()[:5000])
    else:
        with sqlite3.connect(path) as db:
            db.execute("PRAGMA user_version = 9" if damage == "other" else "UPDATE rows SET row = '{}'")
        db.close()
    assert live.price(A100, "cn-hangzhou") == Catalog().price(A100, "cn-hangzhou")
    assert "the overlay is left out" in caplog.text
    with pytest.raises(InputError, match="delete it and sync again"):
        Store(tmp_path)


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError) as error:
        Store(tmp_path / "file" / "overlay")
    assert error.value.field == "overlay"


def test_a_failed_step_keeps_what_was_known(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.record("a", NOON, [row()])
        store.record_failure("a", NOON + timedelta(days=2), "Throttling")
        assert len(store.snapshot().prices) == 1
        assert not store.is_fresh("a", NOON + timedelta(days=2), timedelta(days=1))


def test_a_transaction_that_breaks_leaves_nothing_behind(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.record("a", NOON, [row()])
        with pytest.raises(KeyError):
            store.record_all({"a": [], "b": ["no row"]}, NOON)  # type: ignore[list-item]
        assert len(store.snapshot().prices) == 1


# What may enter a ranking

_CATALOG = Catalog()


@given(
    rows=st.lists(
        st.builds(
            dict,
            price=st.integers(1, 50).map(str),
            region_id=st.sampled_from(["", "cn-hangzhou"]),
            includes_disk=st.booleans(),
            basis=st.sampled_from(["live", "list", "quote", "derived"]),
            product=st.sampled_from(["ecs", "pai-dsw", ""]),
            confidence=st.sampled_from(["high", "medium", "low"]),
            unit=st.sampled_from(["hour", "month", "hour_equivalent_730", "percent_of_payg"]),
            as_of=st.sampled_from(["", "2023-01", "2026-11-29", "2026-11-30"]),
        ),
        max_size=8,
    )
)
@settings(max_examples=60, deadline=None)
def test_rows_that_cannot_be_compared_never_win(
    rows: list[dict[str, object]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("overlay")
    with Store(folder) as store:
        store.record("a", NOON, [row(**values) for values in rows])
    _CATALOG.live = Overlay(folder)
    found = _CATALOG.price(A100, "cn-hangzhou")
    assert found is not None
    fair = [
        value for value in rows
        if value["region_id"] and not value["includes_disk"] and value["basis"] in ("live", "list")
        and value["product"] == "ecs" and value["confidence"] != "low" and value["unit"] in ("hour", "month")
    ]  # fmt: skip
    assert found.as_of == max(["2024-12-31", *(str(value["as_of"]) for value in fair)])
    assert found.comparable


def test_of_equally_new_prices_the_live_one_counts(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.record(
            "a", NOON, [row(price="40"), row(price="20", basis="list", source="imported from x.csv")]
        )
    found = Catalog(overlay=tmp_path).price(A100, "cn-hangzhou")
    assert found is not None
    assert found.price == 40


def test_the_cost_of_a_machine_is_that_of_the_live_quote(tmp_path: Path) -> None:
    from tools.contracts.cost import CostRequest
    from tools.cost import estimate_cost

    with Store(tmp_path) as store:
        store.record(
            "a", NOON, [row(price="30"), row(price="300000", unit="3 years", purchase="subscription_3y")]
        )
    catalog = Catalog(overlay=tmp_path)
    report = estimate_cost(CostRequest(instance_type=A100, hours=10), catalog)
    assert report.job == 300
    assert report.price is not None
    assert (report.price.basis, report.price.as_of) == ("live", "2026-11-30")
    three = estimate_cost(CostRequest(instance_type=A100, purchase="subscription_3y"), catalog)
    assert three.monthly == pytest.approx(Decimal(300000) / 36)


# Out of stock


def test_out_of_stock_the_same_type_elsewhere_comes_before_other_types(
    refresh: Refresh, live: Catalog, server: EcsServer
) -> None:
    def shelf(query: dict[str, str]) -> dict[str, object]:
        name, region = query["InstanceType"], query["RegionId"]
        sold_out = (name, region) == (A100, "cn-hangzhou") or (region == "cn-hangzhou" and name != TWO_A100)
        return stock(name, {f"{region}-i": "WithoutStock" if sold_out else "WithStock"})

    server.answers["DescribeAvailableResource"] = shelf
    refresh("stock", region=("cn-hangzhou", "ap-southeast-1"))
    found = in_stock_elsewhere(live, A100, "cn-hangzhou", NOON)
    places = [(item.instance_type, item.region_id) for item in found]
    assert places[:3] == [(A100, "ap-southeast-1"), (TWO_A100, "cn-hangzhou"), (TWO_A100, "ap-southeast-1")]
    assert all(item.zones for item in found)
    assert in_stock_elsewhere(live, A100, "cn-hangzhou", NOON + timedelta(hours=2)) == ()


# Any answer at all

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_no_answer_whatever_breaks_a_refresh(data: st.DataObject) -> None:
    """Real answers with some values exchanged for anything: rows or a fault, nothing else."""
    from knowledge.live.ecs import Ecs
    from knowledge.live.plan import Step
    from knowledge.live.sync import _answer

    class Anything:
        def call(self, action: str, region: str, request: object, api: object) -> object:
            true = EcsServer.truths()[action]({"InstanceType": A100, "RegionId": region, "Offset": "0"})
            return _changed(true, data.draw)

    action = data.draw(st.sampled_from(sorted(EcsServer.truths())))
    step = Step(action, "cn-hangzhou", (A100,), "payg")
    if action == "QuerySavingsPlansDiscount":
        step = Step(action, "cn-hangzhou", family="gn7e", plan=("universal", 1, "none"))
    try:
        rows = _answer(Ecs(Anything()), step, lambda: NOON, account_prices=True)
    except Fault:
        return
    assert all(item.source.startswith(("live: ECS ", "live: billing ")) for item in rows)


def _changed(value: object, draw: Callable[..., object]) -> object:
    if draw(st.integers(0, 9)) == 0:
        return draw(_JSON)
    if isinstance(value, dict):
        return {name: _changed(item, draw) for name, item in value.items()}
    if isinstance(value, list):
        return [_changed(item, draw) for item in value]
    return value


def test_a_refresh_discards_what_was_worked_out_from_older_rows(tmp_path: Path) -> None:
    catalog = Catalog()
    catalog.live = Overlay(tmp_path, check_every_s=0)

    @per_catalog
    def prices(catalog: Catalog) -> list[Decimal]:
        return [row.price for row in catalog.price_rows(A100) if row.source == "live: test"]

    assert prices(catalog) == []
    with Store(tmp_path) as store:
        store.record("a", NOON, [row(price="12")])
    assert prices(catalog) == [Decimal(12)]
