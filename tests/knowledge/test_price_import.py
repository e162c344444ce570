"""Price files: what is right becomes comparable prices, what is wrong is named and changes nothing."""

from __future__ import annotations

import csv
import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from knowledge.__main__ import app
from knowledge.catalog import Catalog
from knowledge.errors import InputError
from knowledge.live.price_file import import_prices, read_price_file
from knowledge.live.reports import ImportReport
from knowledge.live.store import Store
from knowledge.rows import Price

A10 = "ecs.gn7i-c8g1.2xlarge"
KEY = f"cn-hangzhou::{A10}::vpc::linux::optimized"
HEADER = "instance_type,region_id,currency,price"


def vendor_file(**changes: object) -> str:
    """The shape of instancePrice.json: prices and periods are text, keys are region::type::net::os::io."""

    def terms(*pairs: tuple[str, str]) -> list[dict[str, str]]:
        return [{"price": price, "period": period} for price, period in pairs]

    entry = {
        "hours": terms(("10.25", "1")),
        "months": terms(("4920.00", "1")),
        "years": terms(("50184.00", "1"), ("100368.00", "2"), ("120000.00", "3")),
    }
    file: dict[str, object] = {
        "currency": "CNY",
        "version": "2.0.421",
        "publicationDate": "2026-09-28T08:15:52Z",
        "pricingInfo": {
            KEY: entry,
            f"cn-hangzhou::{A10}::vpc::windows::optimized": {"hours": terms(("99", "1"))},
            f"cn-hangzhou::{A10}::classic::linux::none": {"hours": terms(("1", "1"))},
            "cn-hangzhou::ecs.r5.6xlarge::vpc::linux::optimized": {"hours": terms(("no number", "1"))},
        },
    }
    return json.dumps(file | changes)


def put(folder: Path, text: str, name: str = "prices.csv", as_of: str = "") -> ImportReport:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    with Store(folder) as store:
        return import_prices(store, path, Catalog(), as_of)


def test_the_vendors_file_brings_list_prices_of_every_term(tmp_path: Path) -> None:
    report = put(tmp_path, vendor_file(), "instancePrice.json")
    assert (report.imported, report.comparable, report.left_out) == (4, 4, 3)
    catalog = Catalog(overlay=tmp_path)
    found = catalog.price(A10, "cn-hangzhou")
    assert found is not None
    assert (found.price, found.basis, found.as_of) == (Decimal("10.25"), "list", "2026-09-28")
    assert found.source == "instancePrice.json, the vendor's public price file, version 2.0.421"
    terms = {
        purchase: catalog.price(A10, "cn-hangzhou", purchase)
        for purchase in ("subscription_1m", "subscription_1y", "subscription_3y")
    }
    assert [(row.price, row.unit) for row in terms.values()] == [
        (4920, "month"), (50184, "year"), (120000, "3 years"),
    ]  # fmt: skip
    assert catalog.price(A10, "cn-shanghai") == Catalog().price(A10, "cn-shanghai")


def test_a_csv_takes_names_of_regions_and_a_date_for_all(tmp_path: Path) -> None:
    put(tmp_path, f"\ufeff{HEADER}\n gn7i-c8g1.2xlarge , 杭州 ,CNY, 9.9\n\n", as_of="2026-11")
    found = Catalog(overlay=tmp_path).price(A10, "cn-hangzhou")
    assert found is not None
    assert (found.price, found.unit, found.as_of) == (Decimal("9.9"), "hour", "2026-11")
    assert found.source == "imported from prices.csv"


def test_rows_of_the_shipped_table_can_be_imported_as_they_are(tmp_path: Path) -> None:
    catalog = Catalog()
    known = {row.instance_type for row in catalog.instances}
    rows = [row for row in catalog.prices if row.instance_type in known]
    with (tmp_path / "x.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, Price.model_fields)
        writer.writeheader()
        writer.writerows(row.model_dump() for row in rows)
    read = read_price_file(tmp_path / "x.csv", catalog).rows
    only_live = {"zone_id", "account_price", "checked_at"}
    assert [row.model_dump(exclude=only_live) for row in read] == [row.model_dump() for row in rows]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("includes_disk", "true"),
        ("basis", "derived"),
        ("basis", "quote"),
        ("basis", "bill"),
        ("basis", "console"),
        ("product", "pai-dsw"),
        ("confidence", "low"),
    ],
)
def test_an_imported_row_that_cannot_be_compared_never_wins(tmp_path: Path, column: str, value: str) -> None:
    report = put(tmp_path, f"{HEADER},as_of,{column}\n{A10},cn-hangzhou,CNY,1,2026-11-01,{value}\n")
    assert (report.imported, report.comparable) == (1, 0)
    found = Catalog(overlay=tmp_path).price(A10, "cn-hangzhou")
    assert found is not None
    assert found.as_of == "2024-12-31"


@pytest.mark.parametrize(
    ("text", "field", "given"),
    [
        ("", "prices.csv, line 1", ""),
        ("instance_type,price\nx,1\n", "prices.csv, line 1", "instance_type,price"),
        (f"{HEADER},prise\n", "prices.csv, line 1", "prise"),
        (f"{HEADER},price\n", "prices.csv, line 1", "price"),
        (f"{HEADER}\n{A10},cn-hangzhou,CNY\n", "prices.csv, line 2", f"{A10},cn-hangzhou,CNY"),
        (f"{HEADER}\n{A10},cn-hangzhou,CNY,1,2\n", "prices.csv, line 2", f"{A10},cn-hangzhou,CNY,1,2"),
        (f"{HEADER}\n{A10},cn-hangzhou,CNY,9\n{A10},cn-shanghai,CNY,\n", "prices.csv, line 3, price", None),
        (f"{HEADER}\n{A10},cn-hangzhou,CNY,about 9\n", "prices.csv, line 2, price", "about 9"),
        (f"{HEADER}\n{A10},cn-hangzhou,CNY,-9\n", "prices.csv, line 2, price", "-9"),
        (f"{HEADER}\n{A10},cn-hangzhou,CNY,inf\n", "prices.csv, line 2, price", "inf"),
        (f"{HEADER}\n{A10},cn-hangzhou,EUR,9\n", "prices.csv, line 2, currency", "EUR"),
        (f"{HEADER}\n{A10},hangzu,CNY,9\n", "prices.csv, line 2, region", "hangzu"),
        (f"{HEADER}\nA10,cn-hangzhou,CNY,9\n", "prices.csv, line 2, instance_type", "A10"),
        (f"{HEADER},purchase\n{A10},cn-hangzhou,CNY,9,pay\n", "prices.csv, line 2, purchase", "pay"),
        (f"{HEADER},unit\n{A10},,CNY,9,month\n", "prices.csv, line 2, unit", "month"),
        (f"{HEADER},product,confidence\n{A10},cn-hangzhou,CNY,9,,\n", "prices.csv, line 2, confidence", None),
        (f"{HEADER},basis\n{A10},cn-hangzhou,CNY,9,live\n", "prices.csv, line 2, basis", "live"),
        (f"{HEADER},as_of\n{A10},cn-hangzhou,CNY,9,2026-13-01\n", "prices.csv, line 2, as_of", "2026-13-01"),
        (f"{HEADER},as_of\n{A10},cn-hangzhou,CNY,9,2226-01-01\n", "prices.csv, line 2, as_of", "2226-01-01"),
        (f"{HEADER}\n{A10},cn-hangzhou,CNY,9\n{A10},杭州,CNY,8\n", "prices.csv, line 3, price", "8"),
        ('{"currency": ', "prices.csv, line 1", None),
        (vendor_file(currency="EUR"), "prices.csv, currency", "EUR"),
        (vendor_file(pricingInfo=[]), "prices.csv, pricingInfo", []),
        (vendor_file(publicationDate="soon"), "prices.csv, publicationDate", "soon"),
        (
            vendor_file(pricingInfo={KEY: {"months": [{"price": "x"}]}}),
            f"prices.csv, {KEY}, months[0], price",
            "x",
        ),
    ],
)  # fmt: skip
def test_a_wrong_file_is_told_by_line_and_field_and_changes_nothing(
    tmp_path: Path, text: str, field: str, given: object
) -> None:
    with pytest.raises(InputError) as error:
        put(tmp_path, text)
    assert (error.value.field, error.value.given) == (field, given)
    assert Catalog(overlay=tmp_path).price_rows(A10) == Catalog().price_rows(A10)


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "x.csv", tmp_path, tmp_path / "missing.csv"):
        with pytest.raises(InputError) as error:
            read_price_file(path, Catalog())
        assert error.value.field == "file"


def test_an_older_file_does_not_undo_a_newer_one(tmp_path: Path) -> None:
    put(tmp_path, vendor_file(), "instancePrice.json")
    older = put(tmp_path, vendor_file(publicationDate="2025-01-01", pricingInfo={
        KEY: {"hours": [{"price": "1", "period": "1"}]},
    }), "instancePrice.json")  # fmt: skip
    assert (older.imported, older.older) == (0, 1)
    found = Catalog(overlay=tmp_path).price(A10, "cn-hangzhou")
    assert found is not None
    assert found.price == Decimal("10.25")


@given(text=st.text(max_size=80) | st.text(max_size=40).map(lambda tail: f"{HEADER}\n{A10},{tail}"))
@settings(max_examples=150, deadline=None)
def test_no_file_whatever_breaks_the_import(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("file") / "x.csv"
    path.write_text(text, encoding="utf-8", newline="")
    try:
        read_price_file(path, Catalog())
    except InputError as error:
        assert str(error)


def test_the_command_reports_and_refuses_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text(f"{HEADER}\n{A10},cn-hangzhou,CNY,9.9\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["import-prices", str(path), "--overlay", str(tmp_path)])
    assert done.exit_code == 0
    assert done.stdout.strip() == "1 prices imported in CNY, 1 of them comparable"
    as_json = CliRunner().invoke(app, ["import-prices", str(path), "--overlay", str(tmp_path), "--json"])
    assert json.loads(as_json.stdout)["imported"] == 1
