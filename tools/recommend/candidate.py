"""One way to do the work, as plain values for the search; and the choice among many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from knowledge.rows import Instance
from tools.contracts.base import Remark
from tools.contracts.sizing import Objective
from tools.recommend.offers import Silicon

# What one per cent more of price must bring in speed to be worth it for the balanced choice.
SPEED_PER_PRICE = 1.5
CLEARLY_BETTER = 1.15  # value over the cheapest's below which the ranges of the speeds decide nothing
TIGHT_VALUE = 0.8  # of its speed that an option with little memory to spare counts for
SAME_PRICE = 1.005  # list prices of equal GPUs in one or in several machines differ by rounding only
TIGHT_SIZE = 1.25  # of its memory that an unpriced option with little to spare counts for
FAST_ENOUGH = 0.9  # of the top speed; the fastest choice takes the cheapest above this


@dataclass(frozen=True, slots=True)
class Layout:
    """How the work lies over the GPUs of all machines."""

    tensor: int = 1
    pipeline: int = 1
    data: int = 1  # replicas, or data-parallel ranks
    zero: int | None = None
    expert: int = 1


@dataclass(frozen=True, slots=True)
class Candidate:
    """A computed way: machines, precision, layout, price of all machines, and speed in the task's unit."""

    silicon: Silicon
    instance: Instance
    machines: int
    region: str
    basis: str
    hourly: Decimal | None
    monthly: Decimal | None
    precision: str
    rung: int  # 0 is the best precision tried
    layout: Layout
    speed: float
    tight: bool = False
    within_gpus: bool = True
    within_budget: bool = True
    hours: float | None = None  # of the job
    measured: bool = True  # False: over budget before its latency or rate was looked at
    concurrency: int = 1  # requests in flight that the speed is for
    max_concurrency: int | None = None
    method: str = ""  # of training, where a rung changes it
    access: int = 0  # 0: open to everyone
    remarks: tuple[Remark, ...] = ()

    @property
    def gpus(self) -> int:
        return self.machines * self.silicon.count

    @property
    def memory_gib(self) -> float:
        """Nominal memory of all GPUs: what a machine without a price is likely to cost by."""
        return self.gpus * (self.silicon.gpu.memory_gib or 0.0)

    @property
    def priced(self) -> bool:
        return self.hourly is not None

    @property
    def within_limits(self) -> bool:
        return self.within_gpus and self.within_budget

    @property
    def cost(self) -> float:
        """What ranks by price: the month where it was worked out, else the hour."""
        amount = self.monthly if self.monthly is not None else self.hourly
        return float("inf") if amount is None else float(amount)


def dominates(a: Candidate, b: Candidate) -> bool:
    """Whether `a` is at least as good as `b` in price, speed and precision, and better in one of them."""
    not_worse = a.cost <= b.cost and a.speed >= b.speed and a.rung <= b.rung
    return not_worse and (a.cost < b.cost or a.speed > b.speed or a.rung < b.rung)


def pareto(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The priced candidates that no other dominates, cheapest first; equal ones are kept once."""
    front: list[Candidate] = []
    ordered = sorted(candidates, key=lambda c: (c.cost, c.rung, -c.speed, c.tight, c.access, c.gpus))
    for candidate in ordered:
        if not any(dominates(kept, candidate) or _equal(kept, candidate) for kept in front):
            front.append(candidate)
    return front


def _equal(a: Candidate, b: Candidate) -> bool:
    return (a.cost, a.speed, a.rung) == (b.cost, b.speed, b.rung)


def choose(
    candidates: Sequence[Candidate], objective: Objective, rungs_compete: bool = True
) -> list[tuple[Candidate, list[Objective]]]:
    """The best of each objective among priced candidates within the limits, the asked one first.

    The best precision that the limits allow is used: only a wish for the cheapest goes below it, and that
    only where `rungs_compete`. Balanced
    takes the most speed per price, where price counts 1.5 times, and the cheapest unless another is clearly
    better; fastest takes the cheapest near the top speed.
    """
    open_ = together([candidate for candidate in candidates if candidate.priced and candidate.within_limits])
    if not open_:
        return []
    best_rung = min(candidate.rung for candidate in open_)
    all_rungs = objective == "cheapest" and rungs_compete
    front = pareto(open_ if all_rungs else [c for c in open_ if c.rung == best_rung])
    top = max(candidate.speed for candidate in front)
    picks: dict[Objective, Candidate] = {
        "cheapest": front[0],
        "balanced": _balanced(front),
        "fastest": min((c for c in front if c.speed >= FAST_ENOUGH * top), key=lambda c: c.cost),
    }
    order: list[Objective] = [
        objective,
        *(each for each in ("balanced", "cheapest", "fastest") if each != objective),
    ]
    chosen: list[tuple[Candidate, list[Objective]]] = []
    for each in order:
        found = next((labels for kept, labels in chosen if kept is picks[each]), None)
        if found is None:
            chosen.append((picks[each], [each]))
        else:
            found.append(each)
    return chosen


def together(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Without those whose GPUs come in fewer machines at the same price: one machine links them better."""

    def split(c: Candidate) -> bool:
        return any(
            other.silicon.model == c.silicon.model
            and other.rung == c.rung
            and other.gpus == c.gpus
            and other.machines < c.machines
            and other.cost <= SAME_PRICE * c.cost
            and other.speed >= c.speed * 0.99
            for other in candidates
        )

    return [candidate for candidate in candidates if candidate.machines == 1 or not split(candidate)]


def _balanced(front: Sequence[Candidate]) -> Candidate:
    best = max(front, key=lambda c: (_value(c), -c.cost))
    return best if _value(best) >= CLEARLY_BETTER * _value(front[0]) else front[0]


def _value(candidate: Candidate) -> float:
    speed = candidate.speed * (TIGHT_VALUE if candidate.tight else 1.0)
    return speed / float(max(candidate.cost, 1e-9) ** SPEED_PER_PRICE)


def best_unpriced(candidates: Sequence[Candidate], count: int) -> list[Candidate]:
    """Unpriced candidates worth showing, one per GPU model: roomy ones with the least memory first."""
    ordered = sorted(
        (c for c in candidates if not c.priced and c.within_gpus),
        key=lambda c: (c.memory_gib * (TIGHT_SIZE if c.tight else 1), c.access, -c.speed, c.instance.vcpu),
    )
    found: list[Candidate] = []
    for candidate in ordered:
        if all(candidate.silicon.model != kept.silicon.model for kept in found):
            found.append(candidate)
    return found[:count]
