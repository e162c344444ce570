"""A model of the user's own in a turn: a pasted config.json read as data, named, or said to be unusable."""

from __future__ import annotations

import json
import re
from functools import lru_cache

from agent.reading.pasted import split_pasted
from agent.reading.types import OwnModel, Unreadable
from knowledge.errors import InputError
from knowledge.model_import import model_from_config

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9._-]{1,60}")
_NAME_KEYS = ("model_name", "_name_or_path", "general.name")
_TELLING = frozenset({"config", "model", "checkpoint", "output", "main", "snapshots"})


@lru_cache(maxsize=64)
def own_model(text: str) -> OwnModel | Unreadable | None:
    """The model of the config.json in a turn, why it cannot be used, or None where there is none."""
    pasted = split_pasted(text)
    if pasted.kind != "config":
        return None
    try:
        found = model_from_config(pasted.text, "config.json")
    except InputError as error:
        payload = error.payload()
        return Unreadable.model_validate({key: payload[key] for key in ("field", "given", "allowed")})
    name = _name(pasted.text, f"{_kind(pasted.text)}-{found.model.params_total_b or 0:.3g}B")
    model = found.model.model_copy(
        update={"model_id": name, "display_name": name, "source": f"model file given by the user ({name})"}
    )
    return OwnModel(model=model, unknown=found.unknown, weight_bytes=found.weight_bytes)


def _name(text: str, otherwise: str) -> str:
    """What the model is called: the last part of the name that the config carries, marked as the user's own,
    so that it is never taken for the model of the catalog that it may be derived from."""
    config = json.loads(text)
    for key in _NAME_KEYS:
        written = str(config.get(key) or "").rstrip("/").replace("\\", "/").rsplit("/", 1)[-1]
        if _NAME.fullmatch(written) and written.lower() not in _TELLING:
            return f"{written} (own)"
    return f"{otherwise} (own)"


def _kind(text: str) -> str:
    kind = str(json.loads(text).get("model_type") or "model")
    return kind if _NAME.fullmatch(kind) else "model"
