"""Which search a request needs, by its task and by the kind of its model."""

from __future__ import annotations

from knowledge.catalog import Catalog
from tools.contracts.sizing import SizingRequest
from tools.notes import Notes
from tools.recommend.hardware_task import hardware_task
from tools.recommend.other_task import is_other, other_task
from tools.recommend.serving_task import serving_task
from tools.recommend.tariff import Tariff
from tools.recommend.task import Task
from tools.recommend.training_task import training_task

HARDWARE_TASKS = ("graphics", "transcoding", "hpc", "development")


def names_model(request: SizingRequest) -> bool:
    """Whether a model, or at least its size, is known: without one only the hardware can be chosen."""
    known = bool(request.model) or request.params_b is not None
    return known and request.task not in HARDWARE_TASKS


def task_of(request: SizingRequest, catalog: Catalog, tariff: Tariff, notes: Notes) -> Task:
    """The task of a request. Raises `InputError` and `NotKnown` for what it names."""
    if not names_model(request):
        if request.task not in HARDWARE_TASKS:
            notes.warn("no_model_named")
        return hardware_task(request, catalog, tariff, notes)
    if is_other(request, catalog):
        return other_task(request, catalog, tariff, notes)
    if request.task in ("finetune", "pretrain"):
        return training_task(request, catalog, tariff, notes)
    return serving_task(request, catalog, tariff, notes)
