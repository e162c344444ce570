"""The refresh: asks step by step, keeps every answer at once, goes on where the last run stopped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from knowledge.catalog import Catalog
from knowledge.live.ecs import Ecs
from knowledge.live.facts import (
    advice_rows,
    price_row,
    region_rows,
    savings_rows,
    spot_rows,
    stock_row,
    type_rows,
)
from knowledge.live.faults import Fault
from knowledge.live.plan import GOOD_FOR, Step, Wish, closed_regions, first_steps, next_steps
from knowledge.live.reports import Failure, SyncReport
from knowledge.live.rows import LivePrice
from knowledge.live.store import Store
from knowledge.rows import Row

# So many unanswered questions in a row mean that the service, the network or a limit is at fault.
_GIVE_UP_AFTER = 3

Progress = Callable[[int, int, str], None]


def utc_now() -> datetime:
    return datetime.now(UTC)


def sync(
    ecs: Ecs,
    store: Store,
    catalog: Catalog,
    wish: Wish,
    *,
    force: bool = False,
    account_prices: bool = False,
    now: Callable[[], datetime] = utc_now,
    progress: Progress | None = None,
) -> SyncReport:
    """Refreshes what `wish` names; answers that are still fresh are not asked for again unless `force`.
    With `account_prices` what this account pays is kept beside each list price.

    Raises `InputError` for wrong credentials and unknown families. All other trouble ends in the report.
    """
    run = _Run(ecs, store, force, account_prices, now, progress)
    run.take(first_steps(wish, catalog))
    live = store.snapshot()
    for region in closed_regions(wish, live):
        run.failures.append(Failure(step=region, why="not a region that this account may use"))
    run.take(list(next_steps(wish, catalog, live)))
    return run.report()


class _Run:
    """One refresh under way: what it has counted and what it no longer asks."""

    def __init__(
        self,
        ecs: Ecs,
        store: Store,
        force: bool,
        account_prices: bool,
        now: Callable[[], datetime],
        progress: Progress | None,
    ) -> None:
        self._ecs = ecs
        self._store = store
        self._force = force
        self._account_prices = account_prices
        self._now = now
        self._progress = progress
        self._total = 0
        self._done = 0
        self._counts: Counter[str] = Counter()
        self._currencies: set[str] = set()
        self._refused: set[str] = set()  # actions and regions
        self._unanswered = 0  # in a row
        self._stopped = ""
        self.failures: list[Failure] = []

    def take(self, steps: Sequence[Step]) -> None:
        """Asks the steps one after the other."""
        self._total += len(steps)
        for step in steps:
            self._show(step.key)
            self._counts[self._outcome_of(step)] += 1
            self._done += 1
        self._show("")

    def _show(self, label: str) -> None:
        if self._progress is not None:
            self._progress(self._done, self._total, label)

    def _outcome_of(self, step: Step) -> str:
        if self._stopped or self._refused & {step.action, step.region}:
            return "not_asked"
        asked_at = self._now()
        if not self._force and self._store.is_fresh(step.key, asked_at, GOOD_FOR[step.action]):
            return "still_fresh"
        try:
            rows = _answer(self._ecs, step, self._now, self._account_prices)
        except Fault as fault:
            return self._after(fault, step)
        self._unanswered = 0
        self._store.record(step.key, self._now(), rows)
        self._counts["rows"] += len(rows)
        self._currencies |= {row.currency for row in rows if isinstance(row, LivePrice)}
        return "answered"

    def _after(self, fault: Fault, step: Step) -> str:
        """Draws the conclusion from a fault, for this step and for those to come."""
        passing = fault.kind in ("throttled", "unreachable")
        self._unanswered = self._unanswered + 1 if passing else 0
        if fault.kind == "not_sold":
            self._store.record(step.key, self._now(), (), outcome="not_sold")
            return "not_sold"
        if self._unanswered >= _GIVE_UP_AFTER:
            self._stopped = f"{self._unanswered} questions in a row without an answer ({fault.what})"
        if fault.kind == "forbidden":
            self._refused.add(step.action)
        if fault.kind == "region":
            self._refused.add(step.region)
        why = f"{fault.what}: the key may not ask {step.action}" if fault.kind == "forbidden" else fault.what
        self._store.record_failure(step.key, self._now(), why)
        self.failures.append(Failure(step=step.key, why=why))
        return "failed"

    def report(self) -> SyncReport:
        return SyncReport(
            steps=self._total,
            answered=self._counts["answered"],
            not_sold=self._counts["not_sold"],
            still_fresh=self._counts["still_fresh"],
            failures=tuple(self.failures),
            not_asked=self._counts["not_asked"],
            rows=self._counts["rows"],
            currencies=tuple(sorted(self._currencies)),
            stopped=self._stopped,
        )


def _answer(ecs: Ecs, step: Step, now: Callable[[], datetime], account_prices: bool) -> Sequence[Row]:
    """The rows that answer a step, dated with the moment of the answer."""
    region = step.region
    if step.action == "DescribeRegions":
        return region_rows(ecs.regions(region), now())
    if step.action == "DescribeInstanceTypes":
        return type_rows(ecs.gpu_types(region), now())
    if step.action == "DescribeSpotAdvice":
        return advice_rows(ecs.spot_advice(region, step.instance_types), region, now())
    if step.plan is not None:
        plan, years, upfront = step.plan
        found = ecs.savings_discount(region, step.family, plan, years, upfront)
        return savings_rows(found, step.family, region, plan, years, upfront, now())
    (name,) = step.instance_types
    if step.action == "DescribePrice":
        answer = ecs.price(region, name, step.purchase)
        return [price_row(answer, name, region, step.purchase, now(), account_prices)]
    if step.action == "DescribeSpotPriceHistory":
        return spot_rows(ecs.spot_prices(region, name), name, region, now())
    return [stock_row(ecs.stock(region, name), name, region, now())]
