"""The talk as the browser keeps it: shown as plain text, carried whole, nothing lost on the way."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from agent.history import slots_set, turns_of, user_texts
from ui.page import Page
from ui.talk import last_words, messages_for, plain_text, said, up_to_last_question, user_message


class NoAdvisor:
    def ask(self, messages: object) -> Any:
        raise AssertionError("nothing is asked here")


def test_what_is_said_comes_back_as_it_was_typed() -> None:
    text = "<b>7B</b> *LoRA*\n```x```"
    message = user_message(text, {"concurrency": "20"})
    assert said(message) == (text, {"concurrency": "20"})
    assert "<b>" not in message["content"]


def test_a_bubble_shows_markup_as_text_and_a_long_text_in_part() -> None:
    assert plain_text("<img src=x onerror=1> & *b*") == "&lt;img src=x onerror=1&gt; &amp; \\*b\\*".replace(
        "-", "\\-"
    )
    assert plain_text("\n".join(f"line {number}" for number in range(50))).endswith("…")
    assert len(plain_text("a" * 100_000)) < 3_000


def test_a_message_without_carried_words_is_read_by_its_text() -> None:
    assert said({"role": "user", "content": [{"type": "text", "text": "hi"}], "metadata": None}) == ("hi", {})
    assert said({"role": "user", "content": "hi", "metadata": {"log": "{broken"}}) == ("hi", {})
    assert said({"role": "user", "content": "hi", "metadata": {"log": "[1]"}}) == ("hi", {})


def test_an_advisor_reads_words_and_slots_but_no_steps() -> None:
    talk = [
        user_message("7B on A10?"),
        {"role": "assistant", "content": "x", "metadata": {"title": "Calculating"}},
        {"role": "assistant", "content": "It fits."},
        user_message("", {"concurrency": "20"}, "Recompute"),
    ]
    turns = turns_of(messages_for(talk))
    assert user_texts(turns) == ["7B on A10?"]
    assert slots_set(turns) == [{"concurrency": "20"}]
    assert last_words(talk) == "7B on A10?"
    assert len(up_to_last_question(talk)) == 4


def _taken(message: dict[str, Any]) -> list[dict[str, Any]]:
    return asyncio.run(Page(NoAdvisor()).take(message, []))[1]


def test_a_file_is_carried_as_text_and_then_deleted(tmp_path: Path) -> None:
    path = tmp_path / "start.log"
    path.write_text("INFO vllm Available KV cache memory: 5 GiB", encoding="utf-8")
    (bubble,) = _taken({"text": "ok?", "files": [str(path)]})
    assert "Available KV cache" in said(bubble)[0]
    assert "start.log" in bubble["content"]
    assert "Available" not in bubble["content"]
    assert not path.exists()


def test_a_file_that_cannot_be_used_is_said_and_the_question_kept(tmp_path: Path) -> None:
    path = tmp_path / "photo.png"
    path.write_bytes(b"\x89PNG\x00")
    bubble, reply = _taken({"text": "which GPU?", "files": [str(path)]})
    assert said(bubble)[0] == "which GPU?"
    assert "photo.png" in reply["content"]
    assert not path.exists()
