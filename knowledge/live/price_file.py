"""Price files from outside, put into the overlay: the vendor's public instancePrice.json, and plain CSV."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import get_args

from pydantic import ValidationError

from knowledge.catalog import Catalog
from knowledge.errors import InputError
from knowledge.live.reports import ImportReport
from knowledge.live.rows import LivePrice
from knowledge.live.store import Store
from knowledge.names import near
from knowledge.rows import Currency, Price, Purchase

_REQUIRED = ("instance_type", "region_id", "currency", "price")
_COLUMNS = tuple(Price.model_fields)
_BASES = ("list", "quote", "bill", "console", "third-party", "derived")  # "live" is what the API answered
_USUAL = {
    "purchase": "payg",
    "product": "ecs",
    "basis": "list",
    "includes_disk": "false",
    "confidence": "medium",
}
_UNIT_OF = {"subscription_1m": "month", "subscription_1y": "year", "subscription_3y": "3 years"}
_TERM_UNITS = {"hour", *_UNIT_OF.values()}
# Terms of the vendor's file, by its list and period, and the purchase option that each is.
_TERMS = {
    ("hours", "1"): "payg",
    ("months", "1"): "subscription_1m",
    ("years", "1"): "subscription_1y",
    ("years", "3"): "subscription_3y",
}
_KEY = re.compile(r"(?P<region>[^:]+)::(?P<type>[^:]+)::vpc::linux::optimized")
# A price row is replaced by a newer one that says the same thing.
_IDENTITY = (
    "instance_type", "region_id", "purchase", "currency", "unit", "product", "basis", "includes_disk",
    "confidence",
)  # fmt: skip


@dataclass(frozen=True)
class PriceFile:
    """Rows of a price file, and how many entries of it concern no GPU type or region of the catalog."""

    rows: tuple[LivePrice, ...]
    left_out: int = 0


def read_price_file(path: Path, catalog: Catalog, as_of: str = "") -> PriceFile:
    """The rows of a price file, dated `as_of` where the file itself gives no date.

    Raises `InputError` that names the line or entry and the field; then nothing of the file is used.
    """
    if as_of:
        _check_date("as_of", as_of)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("file", str(path), f"a readable file in UTF-8 ({error})") from None
    if text.lstrip().startswith("{"):
        return _vendor_rows(path.name, text, catalog, as_of)
    return PriceFile(tuple(_csv_rows(path.name, text, catalog, as_of)))


def import_prices(store: Store, path: Path, catalog: Catalog, as_of: str = "") -> ImportReport:
    """Puts the rows of a price file into the overlay, all or none; rows older than imported ones stay out.

    Raises `InputError` as `read_price_file`.
    """
    file = read_price_file(path, catalog, as_of)
    newest: dict[str, str] = {}
    for known in store.snapshot().prices:
        newest[_step_of(known)] = max(known.as_of, newest.get(_step_of(known), ""))
    steps: dict[str, list[LivePrice]] = {}
    for row in file.rows:
        if row.as_of >= newest.get(_step_of(row), ""):
            steps.setdefault(_step_of(row), []).append(row)
    store.record_all(steps, datetime.now(UTC))
    kept = [row for rows in steps.values() for row in rows]
    return ImportReport(
        imported=len(kept),
        comparable=sum(row.comparable for row in kept),
        older=len(file.rows) - len(kept),
        left_out=file.left_out,
        currencies=tuple(sorted({row.currency for row in kept})),
    )


def _step_of(row: LivePrice) -> str:
    """The name under which an imported row is kept; a live row never has one like it."""
    return "|".join(("import", *(str(getattr(row, field)) for field in _IDENTITY)))


def _csv_rows(name: str, text: str, catalog: Catalog, as_of: str) -> Iterator[LivePrice]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    said: dict[tuple[str, str], tuple[int, LivePrice]] = {}
    try:
        header = [column.strip() for column in next(reader, ())]
        _check_header(name, header)
        # A column that is not there has its usual value; an empty cell says that the value is not known.
        fallback = {field: value for field, value in _USUAL.items() if field not in header}
        fallback |= {"source": f"imported from {name}"} | ({"as_of": as_of} if as_of else {})
        for cells in reader:
            where = f"{name}, line {reader.line_num}"
            values = {
                column: cell.strip() for column, cell in zip(header, cells, strict=False) if cell.strip()
            }
            if not values:
                continue
            if len(cells) != len(header):
                raise InputError(where, ",".join(cells), f"a row has {len(header)} cells")
            row = _csv_row(where, fallback | values, catalog)
            line, known = said.setdefault((_step_of(row), row.as_of), (reader.line_num, row))
            if known.price != row.price:
                raise InputError(f"{where}, price", str(row.price), f"line {line} says {known.price}")
            yield row
    except csv.Error as error:
        raise InputError(f"{name}, line {reader.line_num}", None, f"a CSV row ({error})") from None


def _check_header(name: str, header: list[str]) -> None:
    for column in header:
        if column not in _COLUMNS or header.count(column) > 1:
            allowed = f"each of {', '.join(_COLUMNS)} at most once"
            raise InputError(f"{name}, line 1", column, allowed, near(column, _COLUMNS))
    missing = [column for column in _REQUIRED if column not in header]
    if missing:
        raise InputError(f"{name}, line 1", ",".join(header), f"columns missing: {', '.join(missing)}")


def _csv_row(where: str, values: dict[str, str], catalog: Catalog) -> LivePrice:
    usual = _UNIT_OF.get(values.get("purchase", ""), "hour")
    if values.setdefault("unit", usual) in _TERM_UNITS and values["unit"] != usual:
        raise InputError(f"{where}, unit", values["unit"], f"{usual}: {values.get('purchase')} counts that")
    for field, allowed in (("purchase", get_args(Purchase)), ("basis", _BASES)):
        word = values.get(field, "")
        if word not in allowed:
            raise InputError(f"{where}, {field}", word, f"one of {', '.join(allowed)}", near(word, allowed))
    if "as_of" in values:
        _check_date(f"{where}, as_of", values["as_of"])
    try:
        values["instance_type"] = catalog.instance(values.get("instance_type", "")).instance_type
        if "region_id" in values:
            values["region_id"] = catalog.region(values["region_id"]).region_id
    except InputError as error:
        raise InputError(f"{where}, {error.field}", error.given, error.allowed, error.suggestions) from None
    return _row(where, values)


def _vendor_rows(name: str, text: str, catalog: Catalog, as_of: str) -> PriceFile:
    """Linux prices in a VPC of the vendor's file: hour, month, one and three years."""
    try:
        file = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else 1
        raise InputError(f"{name}, line {line}", None, f"JSON ({str(error)[:100]})") from None
    currency = file.get("currency")
    if currency not in get_args(Currency):
        raise InputError(f"{name}, currency", currency, "CNY or USD")
    entries = file.get("pricingInfo")
    if not isinstance(entries, dict):
        raise InputError(f"{name}, pricingInfo", entries, "an object of prices by region::type::…")
    published = str(file.get("publicationDate") or "")[:10]
    if published:
        _check_date(f"{name}, publicationDate", published)
    common = {
        "currency": currency,
        "product": "ecs",
        "basis": "list",
        "includes_disk": "false",
        "confidence": "high",
        "source": f"{name}, the vendor's public price file, version {file.get('version') or 'unknown'}",
        "as_of": published or as_of,
        "note": "list price, Linux, VPC, instance type only (no disk, traffic, image fee)",
    }
    known = {row.instance_type for row in catalog.instances}
    rows: list[LivePrice] = []
    left_out = 0
    for key, entry in entries.items():
        match = _KEY.fullmatch(key)
        if match is None or match["type"] not in known or match["region"] not in catalog.regions_by_id:
            left_out += 1
            continue
        place = {"instance_type": match["type"], "region_id": match["region"]}
        for where, purchase, price in _terms(f"{name}, {key}", entry):
            unit = _UNIT_OF.get(purchase, "hour")
            rows.append(_row(where, {**common, **place, "purchase": purchase, "unit": unit, "price": price}))
    return PriceFile(tuple(rows), left_out)


def _terms(where: str, entry: object) -> Iterator[tuple[str, str, object]]:
    """Where it stands, purchase option and price of each term of one entry that we know."""
    if not isinstance(entry, dict):
        raise InputError(where, entry, "an object with hours, months, years")
    for unit in ("hours", "months", "years"):
        for index, term in enumerate(_items(f"{where}, {unit}", entry.get(unit))):
            if not isinstance(term, dict):
                raise InputError(f"{where}, {unit}[{index}]", term, "an object with price and period")
            purchase = _TERMS.get((unit, str(term.get("period", "1"))))
            if purchase is not None:
                yield f"{where}, {unit}[{index}]", purchase, term.get("price")


def _items(where: str, value: object) -> Iterable[object]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise InputError(where, value, "a list")
    return value


def _row(where: str, values: Mapping[str, object]) -> LivePrice:
    try:
        return LivePrice.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        given = None if first["type"] == "missing" else first["input"]
        raise InputError(f"{where}, {field}", given, first["msg"]) from None


def _check_date(field: str, text: str) -> None:
    """A price dated in the future would outlast every later one."""
    try:
        day = date.fromisoformat((text + "-01-01")[:10] if len(text) == 4 else (text + "-01")[:10])
    except ValueError:
        day = None
    if day is None or not re.fullmatch(r"\d{4}(-\d{2}(-\d{2})?)?", text):
        raise InputError(field, text, "a date: YYYY, YYYY-MM or YYYY-MM-DD")
    if day > datetime.now(UTC).date() + timedelta(days=1):  # it may be tomorrow where the file was made
        raise InputError(field, text, "a date that is not in the future")
