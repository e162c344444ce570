"""What the recommender needs of a task: a search over machines, and full reports for a few candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from knowledge.rows import Instance
from tools.contracts.base import Scalar
from tools.contracts.memory import MemoryReport
from tools.contracts.other import OtherMemoryReport
from tools.contracts.sizing import Plan
from tools.contracts.throughput import ThroughputReport
from tools.contracts.training import TrainingMemoryReport, TrainingTimeReport
from tools.recommend.candidate import Candidate
from tools.recommend.found import Found
from tools.recommend.limits import Limits
from tools.recommend.offers import Silicon

AnyMemory = MemoryReport | TrainingMemoryReport | OtherMemoryReport | None
AnySpeed = ThroughputReport | TrainingTimeReport | None


class Task(Protocol):
    """One workload, ready to be tried on machines."""

    @property
    def rungs_compete(self) -> bool:
        """Whether a wish for the cheapest may go below the best rung."""

    def run(self, machines: Sequence[tuple[Silicon, list[Instance]]], limits: Limits) -> Found:
        """Candidates and misses on these machines."""

    def reports(self, candidate: Candidate) -> tuple[AnyMemory, AnySpeed]:
        """Full memory and speed reports of a candidate."""

    def plan(self, candidate: Candidate) -> Plan:
        """The parallel plan as reports carry it."""

    @property
    def load(self) -> Mapping[str, Scalar]:
        """What is done at once, in the fields of a request; what a smaller load is measured by."""

    def smaller(self) -> Sequence[Task]:
        """The same work under smaller loads, the largest first and the smallest useful one last, for what
        a budget buys; none where it is that already."""
