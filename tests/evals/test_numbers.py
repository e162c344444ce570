"""Numbers of an answer: what a scorer would miss or invent if it read them wrongly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.numbers import close, read_numbers, unit_named


def readings(text: str) -> list[float]:
    return [value for number in read_numbers(text).numbers for value in number.readings]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("约 **144.6 GB**", 144.6),
        ("46,693 元", 46693),
        ("1,234,567 tokens", 1234567),
        ("4.67 万元", 46700),
        ("4.67 万元", 4.67),
        ("30w 条", 300000),
        ("128k context", 128000),
        ("5 百万", 5e6),
        ("2 亿", 2e8),
        ("3 billion", 3e9),
        ("1.6e20 FLOP", 1.6e20),
        ("1.6 x 10^20 FLOP", 1.6e20),
        ("1.6×10²⁰ FLOP", 1.6e20),
        ("240 ZFLOP", 2.4e23),
        ("35-40 GB", 35),
        ("35-40 GB", 40),
        ("2～3 万元", 20000),
        ("`9.5326` 元", 9.5326),
    ],
)
def test_a_figure_is_read_as_people_write_it(text: str, value: float) -> None:
    assert any(close([reading], [value], 1e-9) for reading in readings(text))


@pytest.mark.parametrize(
    "text",
    ["A100", "H20", "c16", "p95", "ecs.gn7i-c8g1.2xlarge", "gn6v-c8g1.16xlarge", "2024-12-31", "2024年12月"],
)
def test_names_and_dates_are_no_figures(text: str) -> None:
    assert readings(f"see {text} here") == []


def test_an_address_is_no_figure() -> None:
    assert readings("https://example.org/2048/issue?x=77 and 10.0.0.12") == []


def test_a_parameter_count_is_not_scaled() -> None:
    assert readings("a 70B model") == [70.0]


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("9.53 元/小时", "CNY/h"),
        ("每小时 9.53 元", "CNY/h"),
        ("¥9.53", "CNY"),
        ("9.53 CNY per hour", "CNY/h"),
        ("16 vCPU", "vCPU"),
        ("40 tokens/s", "tok/s"),
        ("1736 GPU 小时", "h"),
        ("25 天", "d"),
        ("1.56 倍", "x"),
        ("35-40 GB", "GB"),
    ],
)
def test_the_unit_of_a_figure_is_seen(text: str, unit: str) -> None:
    found = read_numbers(text)
    assert found.unit_follows(found.numbers[0], unit)


def test_a_unit_that_only_begins_alike_is_not_taken() -> None:
    found = read_numbers("9 gigantic")
    assert not found.unit_follows(found.numbers[0], "GB")
    assert not unit_named("9 gigantic", "GB")


@given(st.floats(min_value=0.01, max_value=1e9), st.text(max_size=20))
def test_any_text_around_a_figure_is_survived(value: float, noise: str) -> None:
    text = f"{noise} {value:.2f} GB {noise}"
    assert any(close([reading], [round(value, 2)], 1e-9) for reading in readings(f"x {value:.2f} GB"))
    read_numbers(text)
