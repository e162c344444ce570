"""What a question asks for first: the fewest cards, the most users, a parallel size, a verdict."""

from __future__ import annotations

from typing import Literal

from agent.reading.phrases import tags
from agent.reading.types import Reading
from agent.reading.words import Words

Asked = Literal["least_cards", "most_users", "tensor_parallel", "worth", "meaning"]


def asks(reading: Reading, asked: Asked) -> bool:
    """Whether the last question wants this figure or verdict; its answer then opens with it."""
    return bool(tags("asks")[asked].search(Words.of(reading.question).plain))
