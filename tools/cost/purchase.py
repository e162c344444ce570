"""The words for purchase options, English and Chinese, to the codes of the price table."""

from __future__ import annotations

from knowledge.errors import InputError
from knowledge.names import near, normal

PAYG = "payg"
SPOT = "spot"
MONTH = "subscription_1m"
YEAR = "subscription_1y"
THREE_YEARS = "subscription_3y"
SAVINGS_PLAN = "savings_plan_universal"
RESERVED = "reserved_instance"  # a coupon without a published rate for any GPU type

_WORDS = {
    PAYG: "payg pay-as-you-go postpaid on-demand ondemand hourly 按量 按量付费 按小时 后付费 按需 economical"
    " economical-mode 节省停机 节省停机模式",
    SPOT: "spot preemptible preemptible-instance spot-instance 抢占式 抢占式实例 竞价 竞价实例",
    MONTH: "subscription_1m subscription prepaid monthly month 1-month 包月 包年包月 月付 预付费 按月",
    YEAR: "subscription_1y yearly annual year 1-year 包年 年付 一年",
    THREE_YEARS: "subscription_3y 3-year 3-years three-years 三年",
    SAVINGS_PLAN: "savings_plan_universal savings_plan savings-plan savings-plans 节省计划 通用型节省计划",
    RESERVED: "reserved_instance reserved reserved-instance reserved-instances ri 预留实例 预留实例券",
}
_CODES = {normal(word): code for code, words in _WORDS.items() for word in words.split()}


def purchase_of(words: str) -> str:
    """The code of a purchase option; `InputError` with near matches for words that nobody uses."""
    found = _CODES.get(normal(words))
    if found is None:
        raise InputError("purchase", words, f"one of {', '.join(_WORDS)}", near(words, _CODES))
    return found
