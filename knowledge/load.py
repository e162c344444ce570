"""CSV files to typed rows; a wrong row stops the load and the error names file, line and field."""

from __future__ import annotations

import csv
import types
import typing
from functools import cache
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from knowledge.errors import InputError

DATA_DIR = Path(__file__).parent / "data"


RowT = TypeVar("RowT", bound=BaseModel)


def load_rows(row_type: type[RowT], path: Path) -> tuple[RowT, ...]:
    """All rows of one table. The header must hold exactly the row type's fields, in any order.

    An empty cell takes the field's default (the field is unknown); a tuple cell is split at `;`.
    """
    fields = row_type.model_fields
    tuples = _tuple_fields(row_type)
    rows: list[RowT] = []
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        header = set(reader.fieldnames or ())
        if header != set(fields):
            missing, unknown = sorted(set(fields) - header), sorted(header - set(fields))
            raise InputError(
                f"{path.name}: header", unknown, f"columns missing: {missing}, unknown: {unknown}"
            )
        for cells in reader:
            values: dict[str, object] = {}
            for name, cell in cells.items():
                if name is None or cell is None:
                    raise InputError(
                        f"{path.name}, line {reader.line_num}", cell, f"a row has {len(fields)} cells"
                    )
                if cell == "":
                    continue
                values[name] = tuple(part.strip() for part in cell.split(";")) if name in tuples else cell
            try:
                rows.append(row_type.model_validate(values))
            except ValidationError as error:
                first = error.errors()[0]
                field = ".".join(str(part) for part in first["loc"])
                raise InputError(
                    f"{path.name}, line {reader.line_num}, {field}", first.get("input"), first["msg"]
                ) from None
    return tuple(rows)


@cache
def _tuple_fields(row_type: type[BaseModel]) -> frozenset[str]:
    return frozenset(
        name
        for name, field in row_type.model_fields.items()
        if typing.get_origin(field.annotation) is tuple
        or (
            isinstance(field.annotation, types.UnionType)
            and any(typing.get_origin(part) is tuple for part in field.annotation.__args__)
        )
    )
