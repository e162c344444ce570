"""The choice among candidates: who wins for which objective, and who is beaten."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from knowledge.catalog import shipped_catalog
from tools.recommend.candidate import Candidate, Layout, choose, dominates, pareto, together
from tools.recommend.offers import silicons

CATALOG = shipped_catalog()
A10 = next(kind for kind in silicons(CATALOG) if kind.model == "A10" and kind.count == 1 and not kind.vgpu)


def candidate(
    price: float | None, speed: float, rung: int = 0, *, tight: bool = False, machines: int = 1
) -> Candidate:
    hourly = None if price is None else Decimal(str(price))
    return Candidate(
        silicon=A10,
        instance=A10.instances[0],
        machines=machines,
        region="cn-hangzhou",
        basis="list",
        hourly=hourly,
        monthly=None if hourly is None else hourly * 730,
        precision="bf16",
        rung=rung,
        layout=Layout(),
        speed=speed,
        tight=tight,
    )


candidates = st.lists(
    st.builds(
        candidate,
        st.floats(1, 500).map(lambda price: round(price, 3)),
        st.floats(1, 5_000),
        st.integers(0, 2),
        tight=st.booleans(),
        machines=st.integers(1, 4),
    ),
    min_size=1,
    max_size=25,
)


@given(candidates)
def test_the_front_holds_nothing_that_another_beats(found: list[Candidate]) -> None:
    front = pareto(found)
    assert front
    for kept in front:
        assert not any(dominates(other, kept) for other in found)


@given(candidates, st.sampled_from(["cheapest", "balanced", "fastest"]))
def test_the_asked_objective_comes_first_and_each_pick_stands(found: list[Candidate], objective: str) -> None:
    chosen = choose(found, objective)  # type: ignore[arg-type]
    assert objective in chosen[0][1]
    labels = [label for _, each in chosen for label in each]
    assert sorted(labels) == ["balanced", "cheapest", "fastest"]
    for pick, _ in chosen:
        rivals = [c for c in together(found) if c.rung <= pick.rung]
        assert not any(dominates(other, pick) for other in rivals)


def test_only_a_wish_for_the_cheapest_goes_below_the_best_precision() -> None:
    wide, narrow = candidate(70, 100, 0), candidate(35, 100, 2)
    assert choose([wide, narrow], "balanced")[0][0] is wide
    assert choose([wide, narrow], "cheapest")[0][0] is narrow
    assert choose([wide, narrow], "cheapest", rungs_compete=False)[0][0] is wide


def test_four_times_the_price_for_three_times_the_speed_is_not_balanced() -> None:
    small, large = candidate(10, 100), candidate(40, 300)
    assert choose([small, large], "balanced")[0][0] is small
    assert choose([small, large], "fastest")[0][0] is large


def test_the_fastest_does_not_pay_double_for_a_few_per_cent() -> None:
    enough, more = candidate(100, 950), candidate(200, 1_000)
    assert choose([enough, more], "fastest")[0][0] is enough


def test_one_machine_is_taken_before_several_at_the_same_price() -> None:
    kind = next(k for k in silicons(CATALOG) if k.model == "A10" and k.count == 2)
    one = Candidate(
        silicon=kind, instance=kind.instances[0], machines=1, region="cn-hangzhou", basis="list",
        hourly=Decimal("20.01"), monthly=None, precision="bf16", rung=0, layout=Layout(), speed=100.0,
    )  # fmt: skip
    two = candidate(20, 100, machines=2)
    assert together([one, two]) == [one]


def test_what_has_no_price_is_never_chosen_by_price() -> None:
    assert choose([candidate(None, 1_000)], "cheapest") == []
