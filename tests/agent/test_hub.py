"""Models named by an id that the catalog lacks: from a hub where one is set, said where it is silent."""

from __future__ import annotations

import pytest

from agent.events import Answer
from agent.hub import ids_in
from agent.run import Advisor
from knowledge.catalog import Catalog
from knowledge.errors import InputError, NotKnown
from knowledge.model_import import ImportedModel, model_from_config

CONFIG: dict[str, object] = {
    "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 40, "num_attention_heads": 32,
    "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
}  # fmt: skip


class Shelf:
    """A hub with one model; others it does not have, or it is away."""

    def __init__(self, away: bool = False) -> None:
        self.away = away
        self.asked: list[str] = []

    def model(self, model_id: str) -> ImportedModel:
        self.asked.append(model_id)
        if self.away:
            raise NotKnown("model", model_id, "away")
        if model_id != "acme/Zebra-10B":
            raise InputError("model", model_id, "a model that is there")
        return model_from_config(CONFIG, model_id)


def answered(catalog: Catalog, hub: Shelf | None, *turns: str) -> Answer:
    answer = Advisor(catalog, hub=hub).answer(turns)
    assert isinstance(answer, Answer)
    return answer


@pytest.mark.parametrize(
    "question",
    [
        "Which GPU for acme/Zebra-10B with 8k context?",
        "https://huggingface.co/acme/Zebra-10B 用什么卡？",
        "acme/Zebra-10B 推理，8k 上下文",
    ],
)
def test_a_model_of_the_hub_is_sized_by_its_own_layout(catalog: Catalog, question: str) -> None:
    answer = answered(catalog, Shelf(), question)
    assert answer.reading.request.model == "acme/Zebra-10B"
    assert "160 KiB" in answer.text
    assert not answer.notices


def test_a_follow_up_still_knows_the_model(catalog: Catalog) -> None:
    answer = answered(catalog, Shelf(), "Which GPU for acme/Zebra-10B?", "and with 32k context?")
    assert answer.reading.request.model == "acme/Zebra-10B"
    assert answer.reading.request.context_tokens == 32768


@pytest.mark.parametrize(
    ("hub", "question", "code"),
    [
        (Shelf(away=True), "Which GPU for acme/Zebra-10B?", "hub_unreachable"),
        (Shelf(), "Which GPU for acme/Lion-7B?", "hub_without_model"),
    ],
)
def test_a_silent_hub_is_said_and_the_answer_goes_on(
    catalog: Catalog, hub: Shelf, question: str, code: str
) -> None:
    answer = answered(catalog, hub, question)
    assert [notice.code for notice in answer.notices] == [code]
    assert "config.json" in answer.notices[0].text or "file" in answer.notices[0].text
    assert answer.text


def test_without_a_hub_nothing_is_asked_and_known_models_need_none(catalog: Catalog) -> None:
    shelf = Shelf()
    answered(catalog, shelf, "Which GPU for Qwen/Qwen2.5-7B-Instruct?")
    assert shelf.asked == []
    assert not answered(catalog, None, "Which GPU for acme/Zebra-10B?").notices


def test_units_paths_and_pairs_are_no_ids(catalog: Catalog) -> None:
    for text in (
        "40 tokens/s on A10/L20", "pay-as-you-go/spot", "see /opt/models/run-7b.sh", "python a-1/b-2.py",
        "CUDA 12.4/cuDNN-9", "http://example.com/acme/Zebra-10B",
    ):  # fmt: skip
        assert ids_in([text], catalog) == [], text
