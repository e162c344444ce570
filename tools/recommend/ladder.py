"""The precision ladder: what each precision needs on the GPU of the first option."""

from __future__ import annotations

from collections.abc import Sequence

from tools.contracts.sizing import LadderStep
from tools.recommend.candidate import Candidate, together
from tools.recommend.found import Found


def ladder(found: Found, chosen: Sequence[Candidate]) -> tuple[LadderStep, ...]:
    """Per precision, best first: the cheapest that carries the load, and before it the largest cheaper
    machine that holds the model and a part of the load. Limits are not applied but said."""
    if not chosen:
        return ()
    first = chosen[0]
    steps = []
    for rung in sorted({c.rung for c in (*found.candidates, *found.partial)}):
        carrying = _cheapest(found.candidates, first, rung)
        part = _part(found.partial, first, rung, carrying)
        steps += [_step(c, first, c is carrying) for c in (part, carrying) if c is not None]
    return tuple(steps)


def _cheapest(candidates: Sequence[Candidate], first: Candidate, rung: int) -> Candidate | None:
    same = [c for c in candidates if c.silicon.model == first.silicon.model and c.rung == rung and c.measured]
    if first in same:
        return first
    return min(together(same), key=lambda c: (c.cost, c.gpus, -c.speed), default=None)


def _part(
    partial: Sequence[Candidate], first: Candidate, rung: int, carrying: Candidate | None
) -> Candidate | None:
    smaller = [
        c
        for c in partial
        if c.silicon.model == first.silicon.model
        and c.rung == rung
        and (carrying is None or (c.gpus < carrying.gpus and c.cost <= carrying.cost))
    ]
    return max(smaller, key=lambda c: (c.max_concurrency or 0, -c.cost), default=None)


def _step(candidate: Candidate, first: Candidate, carries: bool) -> LadderStep:
    return LadderStep(
        precision=candidate.precision,
        rung=candidate.rung,
        gpu_model=candidate.silicon.model,
        instance_type=candidate.instance.instance_type,
        count=candidate.machines,
        gpus=candidate.gpus,
        region=candidate.region,
        hourly_cny=candidate.hourly,
        carries_load=carries,
        max_concurrency=candidate.max_concurrency,
        within_limits=candidate.within_limits,
        chosen=candidate is first,
    )
