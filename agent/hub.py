"""Models that a question names by an id which the catalog lacks, fetched from a hub where one is set."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from agent.events import NoticeCode
from agent.reading.types import OwnModel
from knowledge.catalog import Catalog
from knowledge.errors import InputError, NotKnown
from knowledge.model_import import ImportedModel

MOST_MODELS = 2  # asked for in one talk
_READ_CHARS = 4_000  # of a turn
# An id in the text or in the address of its page. Its name has a digit and a hyphen or a size, so that
# "tokens/s" and "pay-as-you-go/spot" are none.
_ID = re.compile(
    r"(?:(?:huggingface\.co|hf\.co|modelscope\.cn/models)/|(?<![\w./:@-]))"
    r"((?=[\d.]*[A-Za-z-])[A-Za-z0-9][\w.-]{1,60}/(?=[\w.-]*\d)(?=[\w.-]*-)[A-Za-z][\w.-]{2,80}[A-Za-z0-9])(?![\w/])",
    re.ASCII,
)


class ModelSource(Protocol):
    """What the agent needs of a model hub."""

    def model(self, model_id: str) -> ImportedModel: ...


def ids_in(texts: Sequence[str], catalog: Catalog) -> list[str]:
    """Ids of models that the catalog does not know, the latest first."""
    found: dict[str, None] = {}
    for text in reversed(texts):
        for match in _ID.finditer(text[:_READ_CHARS]):
            if catalog.find_model(match[1]) is None and not match[1].lower().endswith(
                (".json", ".py", ".sh")
            ):
                found.setdefault(match[1])
    return list(found)[:MOST_MODELS]


def fetched(ids: Sequence[str], hub: ModelSource) -> tuple[list[OwnModel], NoticeCode | None]:
    """The models of some ids, and the notice code of the first that could not be had; None without one."""
    models: list[OwnModel] = []
    code: NoticeCode | None = None
    for model_id in ids:
        try:
            found = hub.model(model_id)
        except (InputError, NotKnown) as error:
            code = code or ("hub_unreachable" if isinstance(error, NotKnown) else "hub_without_model")
        else:
            models.append(OwnModel(model=found.model, unknown=found.unknown))
    return models, code
