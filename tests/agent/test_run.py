"""A run ends in a true answer whatever the language model does, and says so when it was the built-in one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from pydantic import ConfigDict, Field

from agent.events import Answer, Event, Failed, Notice, Token, ToolFinished, ToolStarted
from agent.run import Advisor
from knowledge.catalog import Catalog
from tests.agent.conftest import OneGuide

Turn = AIMessage | Exception | Callable[[Sequence[BaseMessage]], AIMessage]


class ScriptedModel(BaseChatModel):
    """A chat model that plays a list of turns and records what it was asked. Each call takes the next turn: a
    message, an exception to raise, or a function of the messages; the last one is repeated."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    turns: list[Any]
    asked: list[list[BaseMessage]] = Field(default_factory=list)
    model_name: str = "scripted"
    delay_s: float = 0.0

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Runnable[Any, AIMessage]:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self.asked.append(list(messages))
        time.sleep(self.delay_s)
        turn = self.turns[min(len(self.asked), len(self.turns)) - 1]
        if isinstance(turn, Exception):
            raise turn
        message = turn if isinstance(turn, AIMessage) else turn(messages)
        return ChatResult(generations=[ChatGeneration(message=message.model_copy())])


def says(text: str) -> AIMessage:
    return AIMessage(text)


def calls(name: str, **args: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": f"id_{name}", "type": "tool_call"}])


QUESTION = "How much does ecs.gn7i-c8g1.2xlarge cost per hour?"
PRICE = calls("estimate_cost", instance_type="ecs.gn7i-c8g1.2xlarge")
TRUE = "It costs 9.533 CNY per hour, pay-as-you-go, list of 2024-12."
FALSE = "It costs 4.44 CNY per hour and has an H200."


def ask(advisor: Advisor, *turns: object) -> list[Event]:
    async def gather() -> list[Event]:
        return [event async for event in advisor.ask(list(turns))]

    return asyncio.run(gather())


def answer_of(events: list[Event]) -> Answer:
    assert isinstance(events[-1], Answer), events[-1]
    return events[-1]


@pytest.fixture
def scripted(catalog: Catalog) -> Callable[..., tuple[Advisor, ScriptedModel]]:
    def make(*turns: Turn, deadline_s: float = 20.0, delay_s: float = 0.0) -> tuple[Advisor, ScriptedModel]:
        model = ScriptedModel(turns=list(turns), delay_s=delay_s)
        return Advisor(catalog, None, model, deadline_s=deadline_s), model

    return make


def test_a_true_answer_of_the_model_is_given_as_it_is(scripted) -> None:
    advisor, _ = scripted(PRICE, says(TRUE))
    answer = answer_of(ask(advisor, QUESTION))
    assert answer.text == TRUE
    assert answer.model == "scripted"
    assert answer.notices == ()
    assert [report.tool for report in answer.reports] == ["estimate_cost"]


def test_events_come_in_order_and_tokens_add_up_to_the_answer(scripted) -> None:
    advisor, _ = scripted(PRICE, says(TRUE))
    events = ask(advisor, QUESTION)
    kinds = [type(event) for event in events]
    assert kinds.index(ToolStarted) < kinds.index(ToolFinished) < kinds.index(Token)
    assert "".join(event.text for event in events if isinstance(event, Token)) == answer_of(events).text


def test_thoughts_of_a_reasoning_model_are_neither_judged_nor_shown(scripted) -> None:
    advisor, _ = scripted(PRICE, says(f"<think>Is it 4.44 CNY? An H200?</think>\n\n{TRUE}"))
    answer = answer_of(ask(advisor, QUESTION))
    assert (answer.text, answer.notices) == (TRUE, ())


def test_a_false_price_is_rewritten_once(scripted) -> None:
    advisor, model = scripted(PRICE, says(FALSE), says(TRUE))
    answer = answer_of(ask(advisor, QUESTION))
    assert answer.text == TRUE
    asked = model.asked[-1][-1]
    assert isinstance(asked, HumanMessage)
    assert "4.44 CNY" in asked.text
    assert "H200" in asked.text


def test_a_model_that_insists_is_replaced_by_the_built_in_answer(scripted) -> None:
    advisor, _ = scripted(PRICE, says(FALSE), says(FALSE))
    events = ask(advisor, QUESTION)
    answer = answer_of(events)
    assert "4.44" not in answer.text
    assert "H200" not in answer.text
    assert "9.533 CNY/h" in answer.text
    assert [notice.code for notice in answer.notices] == ["model_ungrounded"]
    assert all("4.44" not in event.text for event in events if isinstance(event, Token))


@pytest.mark.parametrize(
    ("turns", "code"),
    [
        ([ConnectionError("refused")], "model_failed"),
        ([says("")], "model_failed"),
        ([PRICE], "model_failed"),  # the same call again and again
        ([PRICE, RuntimeError("500")], "model_failed"),
    ],
)
def test_a_broken_service_ends_in_the_built_in_answer(scripted, turns: list[Turn], code: str) -> None:
    advisor, _ = scripted(*turns)
    answer = answer_of(ask(advisor, QUESTION))
    assert "9.533 CNY/h" in answer.text
    assert answer.model == "builtin"
    assert [notice.code for notice in answer.notices] == [code]


def test_a_slow_service_is_given_up_at_the_deadline(scripted) -> None:
    advisor, _ = scripted(says(TRUE), deadline_s=0.2, delay_s=1.0)
    answer = answer_of(ask(advisor, QUESTION))
    assert [notice.code for notice in answer.notices] == ["model_timeout"]
    assert "9.533 CNY/h" in answer.text


def test_a_dead_service_is_left_alone_after_some_failures(scripted) -> None:
    advisor, model = scripted(ConnectionError("refused"))
    codes = [answer_of(ask(advisor, QUESTION)).notices[0].code for _ in range(4)]
    assert codes == ["model_failed"] * 3 + ["model_paused"]
    assert len(model.asked) == 3


def test_unknown_tools_and_wrong_arguments_come_back_to_the_model(scripted) -> None:
    wrong = calls("estimate_cost", instance_type="ecs.gn7i-c8g1.2xlarge", colour="red")
    advisor, model = scripted(calls("buy_it"), wrong, PRICE, says(TRUE))
    assert answer_of(ask(advisor, QUESTION)).text == TRUE
    assert "buy_it" in model.asked[1][-1].text
    assert "colour" in model.asked[2][-1].text


def test_a_tool_that_raises_does_not_end_the_run(scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("tools.cost.estimate_cost", broken)
    advisor, model = scripted(PRICE, says("I could not calculate that."))
    events = ask(advisor, QUESTION)
    assert answer_of(events).text == "I could not calculate that."
    assert "a bug" not in model.asked[1][-1].text
    assert not next(event for event in events if isinstance(event, ToolFinished)).ok


def test_a_figure_of_an_earlier_answer_is_no_evidence(scripted) -> None:
    advisor, _ = scripted(says("As said, 4.44 CNY per hour."))
    talk = [
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": "4.44 CNY per hour"},
        {"role": "user", "content": "and again?"},
    ]
    answer = answer_of(ask(advisor, *talk))
    assert "4.44" not in answer.text
    assert answer.notices[0].code == "model_ungrounded"


def test_images_links_and_html_of_a_model_are_taken_out(scripted) -> None:
    text = f"{TRUE} ![x](https://evil.example/?q=1) [here](https://evil.example) <script>alert(1)</script>"
    advisor, _ = scripted(PRICE, says(text))
    shown = answer_of(ask(advisor, QUESTION)).text
    assert "evil.example" not in shown
    assert "<script" not in shown
    assert TRUE in shown


def test_a_bug_ends_in_one_sentence_with_a_reference(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_args: object) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr("agent.run.read", broken)
    events = ask(Advisor(catalog), QUESTION)
    assert isinstance(events[-1], Failed)
    assert events[-1].reference in events[-1].text
    assert "secret" not in events[-1].text


def test_the_same_talk_gives_the_same_answer(advisor: Advisor) -> None:
    first, second = (advisor.answer([QUESTION]) for _ in range(2))
    assert isinstance(first, Answer)
    assert isinstance(second, Answer)
    assert first.text == second.text


def test_a_notice_is_in_the_language_of_the_question(scripted) -> None:
    advisor, _ = scripted(ConnectionError("refused"))
    events = ask(advisor, "ecs.gn7i-c8g1.2xlarge 每小时多少钱")
    notice = next(event for event in events if isinstance(event, Notice))
    assert "内置回答" in notice.text


def test_usage_and_time_are_told_per_answer_and_per_model_call(scripted) -> None:
    counted = {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}
    first = PRICE.model_copy(update={"usage_metadata": counted})
    last = AIMessage(TRUE, usage_metadata=counted)  # type: ignore[arg-type]
    advisor, _ = scripted(first, last, delay_s=0.05)
    answer = answer_of(ask(advisor, QUESTION))
    assert answer.usage == {"model_calls": 2, "input_tokens": 200, "output_tokens": 20}
    assert [(call.input_tokens, call.output_tokens) for call in answer.model_calls] == [(100, 10)] * 2
    assert all(0.05 <= call.seconds < answer.seconds for call in answer.model_calls)


def test_calls_of_a_service_that_tells_no_usage_are_counted_too_and_those_of_a_replaced_answer(
    scripted,
) -> None:
    advisor, _ = scripted(PRICE, says(FALSE), says(FALSE))
    answer = answer_of(ask(advisor, QUESTION))
    assert answer.model == "builtin"
    assert answer.usage == {"model_calls": 3, "input_tokens": 0, "output_tokens": 0}


CHATTER = (
    "Buy a used graphics card in the shop around the corner, pray to the machine spirit, and throw the old "
    "monitor out of the window."
)


def test_invented_prose_after_a_search_alone_is_replaced_and_said_so(catalog: Catalog) -> None:
    model = ScriptedModel(turns=[calls("search_guides", query="nvidia-smi has failed"), says(CHATTER)])
    answer = answer_of(ask(Advisor(catalog, OneGuide(), model), "nvidia-smi has failed, what now?"))
    assert "machine spirit" not in answer.text
    assert "dkms" in answer.text.lower()
    assert answer.model == "builtin"
    assert [notice.code for notice in answer.notices] == ["model_unfit"]


def test_a_guide_retold_by_the_model_is_given_as_it_is(catalog: Catalog) -> None:
    retold = (
        "The NVIDIA driver module is not loaded, most often after a kernel update for which DKMS did not "
        "build the module. Check whether the module is loaded, rebuild it for the running kernel and reboot."
    )
    model = ScriptedModel(turns=[calls("search_guides", query="nvidia-smi has failed"), says(retold)])
    answer = answer_of(ask(Advisor(catalog, OneGuide(), model), "nvidia-smi has failed, what now?"))
    assert (answer.text, answer.notices) == (retold, ())


def test_a_command_that_no_guide_holds_is_not_shown(catalog: Catalog) -> None:
    harmful = "The driver module is not loaded: reinstall the driver.\n```sh\nrm -rf /lib/modules\n```"
    model = ScriptedModel(turns=[calls("search_guides", query="nvidia-smi has failed"), says(harmful)])
    answer = answer_of(ask(Advisor(catalog, OneGuide(), model), "nvidia-smi has failed, what now?"))
    assert "rm -rf" not in answer.text
    assert [notice.code for notice in answer.notices] == ["model_ungrounded"]


@pytest.mark.parametrize(
    ("question", "words"), [(QUESTION, "built-in answer"), ("A10 每小时多少钱", "内置回答")]
)
def test_chat_instead_of_an_answer_is_replaced_and_said_so(scripted, question: str, words: str) -> None:
    advisor, _ = scripted(says("I love talking with you, friend."))
    (notice,) = answer_of(ask(advisor, question)).notices
    assert notice.code == "model_unfit"
    assert words in notice.text


def test_a_figure_that_only_the_user_named_is_marked_as_theirs(scripted) -> None:
    question = "The A10 has 48 GB, how much does ecs.gn7i-c8g1.2xlarge cost?"
    wrong = says(f"{TRUE} The A10 has 48 GB.")
    advisor, _ = scripted(PRICE, wrong, wrong)
    assert [notice.code for notice in answer_of(ask(advisor, question)).notices] == ["model_ungrounded"]
    marked = f"{TRUE} The 48 GB that you named for the A10 were not checked."
    advisor, _ = scripted(PRICE, says(marked))
    assert answer_of(ask(advisor, question)).text == marked
