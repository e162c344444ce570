"""One question while it is answered: the request with its limits, prices, task and machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from knowledge.catalog import Catalog
from tools.contracts.base import Remark
from tools.contracts.sizing import Objective, Option, SizingRequest
from tools.recommend.build import option_of
from tools.recommend.candidate import Candidate, best_unpriced
from tools.recommend.limits import Limits
from tools.recommend.machines import Kinds
from tools.recommend.tariff import Tariff
from tools.recommend.task import Task

_UNPRICED_SHOWN = 2


@dataclass(frozen=True, slots=True)
class Case:
    """Everything that the steps of an answer share."""

    request: SizingRequest
    catalog: Catalog
    limits: Limits
    tariff: Tariff
    task: Task
    kinds: Kinds

    def option(
        self,
        candidate: Candidate,
        why: tuple[Remark, ...],
        labels: Sequence[Objective] = (),
        task: Task | None = None,
    ) -> Option:
        """The full option of a candidate, of this case's task or of another that stands in for it."""
        return option_of(candidate, task or self.task, self.request, self.catalog, tuple(labels), why)

    def unpriced(self, candidates: Sequence[Candidate], rung: int | None) -> list[Candidate]:
        """Types without a list price that are worth showing: of the best precision step; under a budget of
        the step that it allowed."""
        if not self.request.include_unpriced:
            return []
        found = [c for c in candidates if not c.priced and c.within_gpus]
        if rung is not None and not self.limits.has_budget:
            found = [c for c in found if c.rung <= rung]
            rung = None
        step = min((c.rung for c in found), default=0) if rung is None else rung
        # Where an exact rule gives a figure, the type would rank by it: it is left to those who ask for such.
        truly = [c for c in found if c.rung == step and not self.tariff.derivable(c.instance)]
        return best_unpriced(truly, _UNPRICED_SHOWN)
