"""Cost answers as a buyer reads them: the sum asked for first, what counts and why, nothing promised."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from agent.events import Answer
from agent.evidence import Evidence
from agent.run import Advisor
from knowledge.catalog import Catalog
from knowledge.live.overlay import Overlay
from knowledge.live.rows import LivePrice, SavingsPlanRate, SpotAdvice, Stock
from knowledge.live.store import Store
from tests.agent.conftest import OneGuide

NOW = datetime(2026, 11, 30, 12, 20, tzinfo=UTC)
ASKED = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
A10 = "ecs.gn7i-c8g1.2xlarge"
HOME = {"instance_type": A10, "region_id": "cn-hangzhou", "source": "live: test", "as_of": "2026-11-30"}
LIVE = {
    **HOME, "currency": "CNY", "product": "ecs", "basis": "live", "includes_disk": False,
    "confidence": "high", "checked_at": ASKED,
}  # fmt: skip


def said(advisor: Advisor, question: str) -> str:
    result = advisor.answer([question])
    assert isinstance(result, Answer)
    return result.text


def first_line(text: str) -> str:
    return text.splitlines()[0]


@pytest.fixture
def live_advisor(tmp_path: Path) -> Iterator[Advisor]:
    """An advisor twenty minutes after a refresh of one A10 type."""
    rows = {
        "a": [
            LivePrice(**LIVE, purchase="payg", price=Decimal("9.9"), unit="hour"),
            LivePrice(**LIVE, purchase="subscription_1y", price=Decimal("42000"), unit="year"),
            LivePrice(**LIVE, purchase="subscription_3y", price=Decimal("100800"), unit="3 years"),
            LivePrice(**LIVE, purchase="spot", price=Decimal("2.1"), unit="hour", zone_id="cn-hangzhou-i"),
        ],
        "b": [
            Stock(**HOME, checked_at=ASKED, sold_out_zones=("cn-hangzhou-i",)),
            Stock(**HOME | {"region_id": "cn-shanghai"}, checked_at=ASKED, zones=("cn-shanghai-b",)),
            SpotAdvice(**HOME, zone_id="cn-hangzhou-i", percent_of_payg=20, release_rate="0-3%"),
            SavingsPlanRate(
                family="gn7i",
                region_id="cn-hangzhou",
                plan="compute",
                years=1,
                upfront="none",
                percent_of_payg=Decimal(62),
                checked_at=ASKED,
                source="live: test",
                as_of="2026-11-30",
            ),
        ],
    }
    with Store(tmp_path) as store:
        store.record_all(rows, ASKED)
    catalog = Catalog(clock=lambda: NOW)
    catalog.live = Overlay(tmp_path)
    yield Advisor(catalog, OneGuide())


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("ecs.gn7i-c8g1.2xlarge price", "live, 2026-11-30 12:00 UTC"),
        ("ecs.gn7i-c8g1.2xlarge 多少钱", "实时，2026-11-30 12:00 UTC"),
    ],
)
def test_a_live_price_is_called_live_with_its_minute(
    live_advisor: Advisor, question: str, words: str
) -> None:
    text = said(live_advisor, question)
    assert words in first_line(text)
    assert "9.90" in first_line(text)


def test_three_years_are_priced_and_worded_in_both_languages(live_advisor: Advisor) -> None:
    assert "100,800 CNY/3 years" in said(live_advisor, "3-year subscription price of ecs.gn7i-c8g1.2xlarge")
    chinese = said(live_advisor, "ecs.gn7i-c8g1.2xlarge 买三年多少钱")
    assert "100,800 元/3 年" in chinese
    assert "3 years" not in chinese


@pytest.mark.parametrize(
    ("question", "out", "elsewhere"),
    [
        ("Is ecs.gn7i-c8g1.2xlarge in stock in Hangzhou?", "Out of stock", "cn-shanghai-b"),
        ("杭州 ecs.gn7i-c8g1.2xlarge 有货吗", "缺货", "cn-shanghai-b"),
    ],
)
def test_stock_is_told_with_its_time_and_where_else(
    live_advisor: Advisor, question: str, out: str, elsewhere: str
) -> None:
    text = said(live_advisor, question)
    assert out in text.split("|")[0]  # before any table
    assert "2026-11-30 12:00 UTC" in text.split("|")[0]
    assert elsewhere in text
    assert text.count(out) == 1


@pytest.mark.parametrize("question", ["Is gn7i in stock in Hangzhou?", "杭州 gn7i 有货吗"])
def test_unknown_stock_is_said_to_be_unknown(advisor: Advisor, question: str) -> None:
    assert any(words in first_line(said(advisor, question)) for words in ("not known here", "无法得知"))


def test_a_savings_plan_is_priced_by_its_live_rate(live_advisor: Advisor) -> None:
    text = said(live_advisor, "ecs.gn7i-c8g1.2xlarge 用节省计划多少钱")
    assert "62%" in first_line(text)
    assert "6.138" in first_line(text)
    assert "453" in text  # hours of use a month above which it pays: 0.62 x 730


@pytest.mark.parametrize(
    ("question", "price", "arithmetic"),
    [
        (
            "spot price of ecs.gn7i-c8g1.2xlarge for 100 hours, checkpoint every 20 minutes",
            "0.953 CNY/h",
            "10 min (half of the 20 min",
        ),
        (
            "ecs.gn7i-c8g1.2xlarge 抢占式跑 100 小时多少钱，每 20 分钟存一次检查点",
            "0.953 元/小时",
            "损失 10 分钟",
        ),
    ],
)
def test_spot_without_a_price_gives_the_range_and_the_work_lost(
    advisor: Advisor, question: str, price: str, arithmetic: str
) -> None:
    text = said(advisor, question)
    assert price in first_line(text)
    assert "9.533" in first_line(text)
    assert arithmetic in text
    assert "101.4" in text  # hours for 100 hours of work at one interruption a day of 20 minutes


@pytest.mark.parametrize(
    ("question", "sums"),
    [
        ("Qwen2.5-7B on an A10: cost per million input and output tokens", ("input", "output")),
        ("一台 A10 每百万 token 成本多少，Qwen2.5-7B", ("输入", "输出")),
    ],
)
def test_a_token_price_stands_first_for_input_and_output(
    advisor: Advisor, question: str, sums: tuple[str, str]
) -> None:
    result = advisor.answer([question])
    assert isinstance(result, Answer)
    assert all(word in first_line(result.text) for word in sums)
    assert "1,000,000" not in result.text  # the unit of the price is no prompt length


@pytest.mark.parametrize(
    "question",
    [
        "How long and how much: full fine-tune of a 13B model with ZeRO-3 on 8 GPUs, 100M tokens?",
        "13B 全参数微调 ZeRO-3 8 卡，1 亿 token，要多久多少钱",
        "8 张 A100 80G 全参微调 13B，ZeRO-3，1 亿 token，多久多少钱",
    ],
)
def test_how_long_and_how_much_is_answered_in_the_first_line_for_the_eight_gpu_machine(
    advisor: Advisor, question: str
) -> None:
    text = said(advisor, question)
    line = first_line(text)
    assert "ecs.gn7e-c16g1.32xlarge" in line
    assert ("小时" in line and "元" in line) or ("CNY" in line and " h" in line)
    assert "9.533" not in text  # the price of one A10 has no place here
    assert "34.742" not in text


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("2 台 A10 包月常开，高峰再加 3 台按量工作日 9-18，每月多少钱", "2 台包月加 3 台按量"),
        (
            "keep 2 A10 machines always on by subscription and 3 more on weekdays 9-18, monthly cost?",
            "by the month and 3 by the hour",
        ),
    ],
)
def test_a_base_and_a_peak_are_paid_in_two_ways(advisor: Advisor, question: str, first: str) -> None:
    text = said(advisor, question)
    assert first in first_line(text)
    assert "14,74" in first_line(text)  # 2 x 4,575.6 and 3 x 9.5326 x 195.5


@pytest.mark.parametrize(
    ("question", "month"),
    [
        ("ecs.gn7i-c8g1.2xlarge 工作日 9 点到 18 点用，一个月多少钱", "1,864 元"),
        ("How much per month for an A10 running weekdays 9-18 in Hangzhou?", "1,864 CNY"),
    ],
)
def test_a_schedule_is_in_the_sum(advisor: Advisor, question: str, month: str) -> None:
    assert month in first_line(said(advisor, question))


@pytest.mark.parametrize(
    ("question", "rate"),
    [
        ("ecs.gn7i-c8g1.2xlarge cost in US dollars a month", "7 CNY per USD (2026-11"),
        ("ecs.gn7i-c8g1.2xlarge 多少美元一个月", "1 美元 = 7 元（2026-11"),
    ],
)
def test_dollars_come_with_the_rate_and_its_date(advisor: Advisor, question: str, rate: str) -> None:
    text = said(advisor, question)
    assert rate in first_line(text)
    assert "994" in first_line(text)


def test_disk_and_traffic_are_lines_with_a_sum(advisor: Advisor) -> None:
    text = said(advisor, "ecs.gn7i-c8g1.2xlarge 一个月，带 500GB 云盘和每月 1TB 公网流量，总共多少钱")
    assert "每月 500 元" in text
    assert "800 元" in text
    assert "8,259 元" in text  # 6,959 + 500 + 800


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("ecs.gn7i-c8g1.2xlarge price in Shanghai", "has a disk inside"),
        ("上海 ecs.gn7i-c8g1.2xlarge 多少钱", "含云盘，所以"),
    ],
)
def test_of_prices_that_differ_the_one_that_counts_is_named(
    advisor: Advisor, question: str, why: str
) -> None:
    text = said(advisor, question)
    assert why in text
    assert "9.533" in first_line(text)


@pytest.mark.parametrize(
    ("question", "load"),
    [
        ("Qwen2.5-7B, 32k context, 200 concurrent, at most 10 CNY an hour", "in place of 200"),
        ("Qwen2.5-7B 推理，32k 上下文，200 并发，每小时最多 10 元", "原要求 200"),
    ],
)
def test_a_small_budget_says_how_far_the_load_shrinks(advisor: Advisor, question: str, load: str) -> None:
    assert load in said(advisor, question)


QUESTIONS = (
    "spot price of ecs.gn7i-c8g1.2xlarge for 100 hours",
    "ecs.gn7i-c8g1.2xlarge 用节省计划多少钱",
    "一台 A10 每百万 token 成本多少，Qwen2.5-7B",
    "2 台 A10 包月常开，高峰再加 3 台按量工作日 9-18，每月多少钱",
    "ecs.gn7i-c8g1.2xlarge cost in US dollars a month",
)


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_figure_of_a_cost_answer_is_in_its_reports(live_advisor: Advisor, question: str) -> None:
    result = live_advisor.answer([question])
    assert isinstance(result, Answer)
    evidence = Evidence([item.report for item in result.reports], [question])
    strange = [claim.text for claim in evidence.ungrounded(result.text) if claim.kind in ("money", "percent")]
    assert strange == []


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("ecs.gn6e-c12g1.6xlarge price, derived prices are fine", "derived, 2024-12-31"),
        ("ecs.gn6e-c12g1.6xlarge 多少钱，用推算价", "推算，2024-12-31"),
    ],
)
def test_a_derived_price_counts_only_where_the_user_allows_it_and_says_its_rule(
    advisor: Advisor, question: str, words: str
) -> None:
    text = said(advisor, question)
    assert "39.478" in first_line(text)
    assert words in first_line(text)
    assert "ecs.gn6e-c12g1.3xlarge" in text  # the size that it is derived from
    plain = said(advisor, "ecs.gn6e-c12g1.6xlarge price")
    assert first_line(plain).startswith("**No pay-as-you-go list price")


@pytest.mark.parametrize(
    "question", ["Can I use a reserved instance for gn7i, and what does it cost?", "gn7i 预留实例券多少钱"]
)
def test_reserved_instances_come_with_their_limits_and_no_invented_price(
    advisor: Advisor, question: str
) -> None:
    line = first_line(said(advisor, question))
    assert ("zonal" in line and "2021" in line) or ("可用区级" in line and "2021" in line)


def test_what_a_stopped_machine_goes_on_to_cost(advisor: Advisor) -> None:
    text = said(
        advisor, "节省停机模式下 ecs.gn7i-c8g1.2xlarge 关机还收费吗，带 200GB 云盘，每天用 8 小时一个月多少钱"
    )
    assert "云盘（ESSD PL1）200 GiB：每月 200 元" in text
    assert "243.3 小时" in text


def test_a_span_of_years_names_the_cheapest_way(live_advisor: Advisor) -> None:
    text = said(live_advisor, "ecs.gn7i-c8g1.2xlarge 用三年多少钱")
    assert "整个使用期最省：包年（3 年） 100,800 元" in text


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Is the A10 price the same on the international site and the China site?", "separate price lists"),
        ("国际站和中国站的 GPU 价格一样吗？A10", "两套独立的价目表"),
    ],
)
def test_the_two_sites_are_not_taken_for_one_price_list(advisor: Advisor, question: str, words: str) -> None:
    assert words in said(advisor, question).split("|")[0]


@pytest.mark.parametrize(
    ("question", "verdict"),
    [
        ("8×A100 每天跑 10 小时，按量还是包月", "低于包月的 133,408 元"),
        ("A10 每天 20 小时 按量还是包月", "高于包月的 4,576 元"),
    ],
)
def test_by_the_hour_or_by_the_month_is_decided_for_the_hours_said(
    advisor: Advisor, question: str, verdict: str
) -> None:
    assert verdict in first_line(said(advisor, question))


def test_a_recommendation_names_the_way_to_pay_behind_each_price(
    advisor: Advisor, live_advisor: Advisor
) -> None:
    line = first_line(said(advisor, "Qwen2.5-7B 推理 包月"))
    assert "9.533 元/小时**（按量付费" in line
    assert "包月 **4,576 元/月**（推算" in line
    spot = said(live_advisor, "Qwen2.5-7B inference on one A10, spot")
    assert "9.90 CNY/h** (pay-as-you-go" in spot
    assert "spot **2.10 CNY/h** (live, 2026-11-30 12:00 UTC)" in spot


def test_work_lost_on_spot_is_reckoned_where_the_terms_are_said(advisor: Advisor) -> None:
    text = said(
        advisor,
        "QLoRA 7B on A10 spot, 40 hours of work, interrupted 3 times a day, checkpoint every 15 minutes: "
        "what do I lose?",
    )
    assert "7.5 min (half of the 15 min" in text
    assert "41.51 h" in text  # 40 / (1 - 3 / 24 x 17.5 / 60)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (
            f"{A10} monthly subscription or pay-as-you-go",
            "costs more than pay-as-you-go even over a whole month",
        ),
        (f"{A10} 包月还是按量划算", "即使整月运行，包月也比按量付费贵"),
    ],
)
def test_a_subscription_that_never_pays_names_no_hours_beyond_the_month(
    tmp_path: Path, question: str, words: str
) -> None:
    rows = {
        "a": [
            LivePrice(**LIVE, purchase="payg", price=Decimal("9.9"), unit="hour"),
            LivePrice(**LIVE, purchase="subscription_1m", price=Decimal("8000"), unit="month"),
        ]
    }
    with Store(tmp_path) as store:
        store.record_all(rows, ASKED)
    catalog = Catalog(clock=lambda: NOW)
    catalog.live = Overlay(tmp_path)
    text = said(Advisor(catalog, OneGuide()), question)
    assert words in text
    assert "808" not in text
