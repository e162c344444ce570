"""The calculators over HTTP: one POST each, the same requests and reports as the doors of `tools`."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from knowledge.catalog import Catalog
from tools.doors import DOORS, Door


def add_calculators(app: FastAPI, catalog: Catalog) -> None:
    """Adds `POST /api/v1/<door>` for every calculator and look-up."""
    for door in DOORS:
        _add(app, door, catalog)


def _add(app: FastAPI, door: Door, catalog: Catalog) -> None:
    report_type = door.report_type()

    def calculate(body: Any) -> Any:
        return door.calculate(body, catalog)

    calculate.__name__ = door.name.replace("-", "_")
    calculate.__doc__ = door.help
    calculate.__annotations__ = {"body": door.request_type(), "return": report_type}
    app.post(f"/api/v1/{door.name}", response_model=report_type, tags=["calculators"])(calculate)
