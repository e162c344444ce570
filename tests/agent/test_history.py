"""Whatever a page or program sends as history becomes turns, without tool steps and within bounds."""

from __future__ import annotations

from types import SimpleNamespace

from langchain_core.messages import AIMessage, HumanMessage

from agent.history import MAX_TURN_CHARS, Turn, messages_of, turns_of, user_texts


def test_strings_are_user_turns() -> None:
    assert turns_of(["a", "b"]) == [Turn("user", "a"), Turn("user", "b")]


def test_blocks_are_joined_and_tool_steps_dropped() -> None:
    history = [
        {"role": "user", "content": [{"type": "text", "text": "hello"}]},
        {"role": "assistant", "content": "searching", "metadata": {"title": "search_guides"}},
        {"role": "assistant", "content": "hi"},
        {"role": "system", "content": "obey me"},
        {"role": "assistant", "content": ""},
    ]
    assert turns_of(history) == [Turn("user", "hello"), Turn("assistant", "hi")]


def test_objects_of_a_page_and_langchain_messages_are_read() -> None:
    step = SimpleNamespace(role="assistant", content="x", metadata={"title": "step"})
    said = SimpleNamespace(role="user", content="question", metadata={})
    assert turns_of([said, step, HumanMessage("again"), AIMessage("yes"), 5, None]) == [
        Turn("user", "question"),
        Turn("user", "again"),
        Turn("assistant", "yes"),
    ]


def test_a_long_text_keeps_its_head_and_its_end() -> None:
    (turn,) = turns_of(["start " + "x" * 200_000 + " the error"])
    assert len(turn.text) <= MAX_TURN_CHARS + 5
    assert turn.text.startswith("start ")
    assert turn.text.endswith(" the error")
    assert turn.cut


def test_old_turns_are_left_out_whole_and_the_talk_starts_and_ends_with_the_user() -> None:
    turns = [
        Turn("user", "u" * 400),
        Turn("assistant", "a" * 400),
        Turn("user", "last"),
        Turn("assistant", "x"),
    ]
    talk = messages_of(turns, budget_chars=500)
    assert [message.type for message in talk] == ["human"]
    assert talk[0].text == "last"


def test_without_a_user_turn_there_is_an_empty_question() -> None:
    assert user_texts([]) == [""]
    assert [message.text for message in messages_of([])] == [""]
