"""The page as a new user meets it, in a real browser: wide and on a phone, in English and Chinese."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

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


def test_an_assumption_is_changed_by_keyboard_and_the_answer_follows(open_page: Open, ask: Ask) -> None:
    page = open_page(locale="zh-CN", width=390, height=844)
    ask(page, "Qwen2.5-14B 推理，8k 上下文，4 并发")
    field = page.get_by_label("并发数")
    field.focus()
    field.press("Control+A")
    page.keyboard.type("20")
    page.keyboard.press("Enter")
    expect(page.locator("#chat .user").last).to_contain_text("并发数 → 20", timeout=30_000)
    expect(page.locator("#assumptions .slot", has=page.get_by_label("并发数"))).to_contain_text("你设定的")
    expect(page.locator("#chat .bot").last).to_contain_text("163,840 token", timeout=30_000)
    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 1


def test_a_bad_assumption_is_said_with_near_names_and_loses_nothing(open_page: Open, ask: Ask) -> None:
    page = open_page()
    before = ask(page, "Llama-3-8B inference, 8k context, 10 concurrent")
    page.locator("#slot-model").fill("quen2.5-72")
    page.get_by_role("button", name="Recompute").click()
    expect(page.get_by_role("alert")).to_contain_text("Qwen2.5-72B-Instruct", timeout=30_000)
    assert page.locator("#slot-model").input_value() == "quen2.5-72"
    assert page.locator("#chat").inner_text() == before
    page.locator("#slot-model").fill("Qwen2.5-72B")
    page.get_by_role("button", name="Recompute").click()
    expect(page.locator("#chat .user").last).to_contain_text("Qwen2.5-72B", timeout=30_000)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_markup_of_the_user_is_shown_as_text(open_page: Open, ask: Ask) -> None:
    page = open_page()
    ask(page, "<p>Which GPU for <b>Llama-3-8B</b>?</p>")
    bubble = page.locator("#chat .user").first
    expect(bubble).to_contain_text("<p>Which GPU for <b>Llama-3-8B</b>?</p>")
    assert bubble.locator("b").count() == 0
    expect(page.locator("#chat .bot").last).to_contain_text("ecs.")


def test_a_wide_table_scrolls_inside_its_bubble(open_page: Open, ask: Ask) -> None:
    page = open_page(width=390, height=844)
    ask(page, "Llama-3-8B inference, 8k context, 10 concurrent")
    table = page.locator("#chat table").first
    wide, seen, bubble = table.evaluate(
        "t => [t.scrollWidth, t.clientWidth, t.closest('.message').clientWidth]"
    )
    assert wide > seen
    assert seen <= bubble


def test_a_config_by_upload_is_named_and_sized(open_page: Open, tmp_path: Path) -> None:
    page = open_page()
    config = {
        "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 40, "num_attention_heads": 32,
        "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
        "_name_or_path": "acme/Zebra-10B",
    }  # fmt: skip
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    page.locator("#ask input[type=file]").first.set_input_files(path)
    expect(page.get_by_role("listitem", name="File thumbnail")).to_be_visible(timeout=30_000)
    box = page.get_by_role("textbox").first
    box.fill("what GPU does this need?")
    box.press("Enter")
    expect(page.locator("#chat .bot").last).to_contain_text("9.78B", timeout=30_000)
    expect(page.locator("#chat .user").last).to_contain_text("config.json")


def test_only_the_head_of_a_model_file_is_sent(open_page: Open, tmp_path: Path) -> None:
    page = open_page()
    path = tmp_path / "big.gguf"
    path.write_bytes(b"GGUF" + b"\0" * (20 * 2**20))
    with page.expect_response(lambda reply: "/gradio_api/upload" in reply.url and reply.status == 200):
        page.locator("#ask input[type=file]").first.set_input_files(path)
    box = page.get_by_role("textbox").first
    box.press("Enter")
    expect(page.locator("#chat .bot").last).to_contain_text("gguf", timeout=30_000)
