"""The page as a new user meets it, in a real browser: wide and on a phone, in English and Chinese."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

Open = Callable[..., Page]
Ask = Callable[[Page, str], str]


def test_the_promise_of_the_readme_in_english(open_page: Open, ask: Ask) -> None:
    page = open_page()
    text = ask(page, "Llama-3-70B inference, 50 CNY/hour, 8k context, 10 concurrent")
    for expected in (
        "ecs.gn7e-c16g1.4xlarge",
        "34.742",
        "cn-hangzhou",
        "320 KiB",
        "25.0 GiB",
        "ecs.gn7e-c16g1.16xlarge",
        "138.967",
        "69.483",
        "2024-12-31",
    ):
        assert expected in text, expected
    assert "4-bit" in text
    panel = page.locator("#panel")
    expect(panel.locator("table")).to_contain_text("ecs.gn7e-c16g1.4xlarge")
    expect(panel.locator(".bar").first).to_contain_text("weights")
    expect(panel).to_contain_text("Sources")


def test_the_promise_of_the_readme_in_chinese(open_page: Open, ask: Ask) -> None:
    page = open_page(locale="zh-CN")
    expect(page.locator("#title")).to_contain_text("GPU 选型助手")
    text = ask(page, "Llama-3-70B 推理，每小时 50 元以内，8k 上下文，10 并发")
    for expected in (
        "ecs.gn7e-c16g1.4xlarge",
        "34.742",
        "320 KiB",
        "25.0 GiB",
        "138.967",
        "69.483",
        "4 比特",
    ):
        assert expected in text, expected
    expect(page.locator("#panel")).to_contain_text("来源")
    expect(page.locator("#panel .bar").first).to_contain_text("权重")


def test_the_steps_are_shown_and_fold(open_page: Open, ask: Ask) -> None:
    page = open_page()
    ask(page, "Qwen2.5-7B inference on one A10, 4k context")
    step = page.locator("#chat").get_by_text("Comparing instances").first
    if step.count() == 0:
        step = page.locator("#chat").get_by_text("Calculating memory").first
    expect(step).to_be_visible()


def test_wrong_folklore_is_corrected_with_the_source(open_page: Open, ask: Ask) -> None:
    page = open_page()
    text = ask(page, "gn6v 是 Hopper 架构吗")
    assert "V100" in text
    assert "Volta" in text
    assert "不是" in text


def test_a_phantom_type_gets_near_names(open_page: Open, ask: Ask) -> None:
    page = open_page()
    text = ask(page, "How much is ecs.gn7i-c24g1.24xlarge per hour?")
    assert "does not exist" in text or "no such" in text.lower()
    assert "ecs.gn7i-c32g1" in text


def test_an_error_message_gets_ordered_steps(open_page: Open, ask: Ask) -> None:
    page = open_page()
    text = ask(page, "nvidia-smi has failed because it couldn't communicate with the NVIDIA driver")
    assert "nvidia" in text.lower()
    assert page.locator("#chat ol li").count() >= 3
    assert page.locator("#chat pre, #chat code").count() >= 1
    assert "Sources" in text


def test_a_follow_up_changes_one_thing(open_page: Open, ask: Ask) -> None:
    page = open_page()
    ask(page, "Qwen2.5-14B 推理，8k 上下文，4 并发")
    text = ask(page, "换成 int4 呢")
    assert "4 比特" in text
    assert "Qwen2.5" in text


@pytest.mark.parametrize(
    "message",
    ["😀🎉🚀", "<script>window.hit=1</script><img src=x onerror='window.hit=1'>", "a" * 100_000, "   . "],
    ids=["emoji", "html", "huge", "blank"],
)
def test_odd_input_gets_one_clear_sentence(open_page: Open, ask: Ask, message: str) -> None:
    page = open_page()
    text = ask(page, message)
    assert len(text) > 20
    assert page.evaluate("window.hit") is None
    assert "Traceback" not in text
    assert "error" not in page.locator("#panel").inner_text().lower()


def test_it_works_on_a_phone(open_page: Open, ask: Ask) -> None:
    page = open_page(width=390, height=844)
    ask(page, "7B LoRA fine-tuning, which instance is good value?")
    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 1, f"the page is {overflow} px wider than the phone"
    expect(page.locator("#panel table")).to_be_visible()


def test_an_example_can_be_clicked(open_page: Open) -> None:
    page = open_page()
    page.get_by_text("A10 vs L20 for serving an 8B model").first.click()
    expect(page.locator("#chat .bot").last).to_contain_text("L20", timeout=30_000)


def test_nothing_is_fetched_from_outside(open_page: Open, ask: Ask, server: str) -> None:
    page = open_page()
    outside: list[str] = []
    page.on(
        "request", lambda request: outside.append(request.url) if not request.url.startswith(server) else None
    )
    page.reload()
    page.get_by_role("textbox").first.wait_for()
    ask(page, "What is the A10?")
    assert [url for url in outside if not url.startswith(("data:", "blob:"))] == []
