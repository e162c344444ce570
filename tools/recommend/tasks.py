"""Which search a request needs, by its task and by the kind of its model."""

from __future__ import annotations

from knowledge.catalog import Catalog
from tools.contracts.sizing import SizingRequest
from tools.recommend.notes import Notes
from tools.recommend.serving_task import serving_task
from tools.recommend.tariff import Tariff
from tools.recommend.task import Task


def task_of(request: SizingRequest, catalog: Catalog, tariff: Tariff, notes: Notes) -> Task:
    """The task of a request. Raises `InputError` and `NotKnown` for what it names."""
    return serving_task(request, catalog, tariff, notes)
