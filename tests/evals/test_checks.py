"""The machine check: each key decides exactly what the set's rules say."""

from __future__ import annotations

import pytest

from evals.cases import Check, NumberEntry
from evals.checks import run_check
from evals.passages import mentions


def holds(check: Check, result) -> bool:
    return all(finding.ok for finding in run_check(check, result))


def number(value: float, unit: str, tol: float = 0.05, accept: tuple[float, ...] = ()) -> Check:
    entry = NumberEntry(label="n", value=value, unit=unit, tol=tol, accept=accept)
    return Check(numbers=(entry,))


def test_a_number_within_tolerance_passes_and_one_outside_does_not(outcome) -> None:
    assert holds(number(144, "GB", 0.1), outcome("weights are 134.1 GiB"))
    assert not holds(number(144, "GB", 0.05), outcome("weights are 134.1 GiB"))


def test_another_accepted_value_passes(outcome) -> None:
    assert holds(number(20876, "CNY", 0.03, (18789,)), outcome("一年约 18,800 元"))


def test_an_echo_of_the_question_is_no_answer(outcome) -> None:
    question = "fp8 是不是 671 就够"
    assert not holds(number(671, "GB"), outcome("你说的 671 没错", question))
    assert holds(number(671, "GB"), outcome("权重约 671 GB", question))


def test_a_figure_that_the_user_gave_with_its_unit_stays_an_echo(outcome) -> None:
    assert not holds(number(671, "GB"), outcome("权重约 671 GB", "权重 671 GB 对吗"))


def test_a_count_may_repeat_the_question(outcome) -> None:
    assert holds(number(8, "count", 0.001), outcome("有 8 张", "是 8 张吗"))


def test_any_one_of_several_figures_suffices(outcome) -> None:
    check = Check(numbers_any=(*number(9.53, "CNY/h").numbers, *number(8.58, "CNY/h").numbers))
    assert holds(check, outcome("8.579 元/小时"))
    assert not holds(check, outcome("11.63 元/小时"))


@pytest.mark.parametrize(
    ("text", "wanted", "found"),
    [
        ("GPU is A100", "A10", False),
        ("gn7i-c8g1 has A10.", "a10", True),
        ("装 GRID驱动", "GRID", True),
        ("需要五分钟", "五分钟", True),
        ("A10-24G", "A10", True),
        ("gn7iX", "gn7i", False),
    ],
)
def test_a_mention_is_whole_for_ascii_and_anywhere_for_chinese(text: str, wanted: str, found: bool) -> None:
    assert mentions(text, wanted) is found


def test_every_wanted_mention_counts(outcome) -> None:
    check = Check(mentions_all=("A10", "gn6i"))
    assert holds(check, outcome("gn7i 是 A10，T4 在 gn6i"))
    assert not holds(check, outcome("gn7i 是 A10"))


def test_the_first_option_decides_the_gpu(outcome, option) -> None:
    a10, a100 = option(), option("ecs.gn7e-c16g1.4xlarge")
    check = Check(rec_gpu_any=("A10",))
    assert holds(check, outcome("", options=[a10, a100]))
    assert not holds(check, outcome("", options=[a100, a10]))
    assert not holds(check, outcome("no recommendation"))


def test_a_bare_name_covers_both_memory_sizes(outcome, option) -> None:
    check = Check(rec_gpu_any=("A100",))
    for name in ("ecs.gn7e-c16g1.4xlarge", "ecs.gn7-c12g1.3xlarge"):
        assert holds(check, outcome("", options=[option(name)]))
    assert not holds(
        Check(rec_gpu_any=("A100 80GB",)), outcome("", options=[option("ecs.gn7-c12g1.3xlarge")])
    )


def test_a_forbidden_gpu_is_found_in_any_option(outcome, option) -> None:
    check = Check(rec_not_gpu=("T4",))
    assert not holds(check, outcome("", options=[option(), option("ecs.gn6i-c4g1.xlarge")]))
    assert holds(check, outcome("", options=[option()]))
    assert holds(check, outcome("nothing"))


def test_memory_counts_all_gpus_of_all_machines(outcome, option) -> None:
    two = option("ecs.gn7i-2x.8xlarge", count=2)
    assert holds(Check(rec_min_vram_gib=96), outcome("", options=[two]))
    assert not holds(Check(rec_min_vram_gib=97), outcome("", options=[two]))
    assert not holds(Check(rec_min_vram_per_gpu_gib=25), outcome("", options=[two]))


def test_a_price_bound_fails_on_an_unknown_price(outcome, option) -> None:
    check = Check(rec_max_hourly_cny=10)
    assert holds(check, outcome("", options=[option()]))
    assert not holds(check, outcome("", options=[option(hourly_cny=None)]))
    assert not holds(Check(rec_max_monthly_cny=5000), outcome("", options=[option()]))
    assert holds(check, outcome("no option at all"))
