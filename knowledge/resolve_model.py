"""Model names: ids, aliases, mirror ids and file names, to the row that they stand for."""

from __future__ import annotations

from collections.abc import Sequence

from knowledge.errors import InputError, NotKnown
from knowledge.names import near, normal, normal_model, strip_quantization
from knowledge.rows import Model, ModelAlias

_CHAT_ENDINGS = ("", "instruct", "chat", "it", "chathf", "hf", "base")


class ModelNames:
    """The names of the model table and their aliases; of two equal ones the earlier row wins."""

    def __init__(self, models: Sequence[Model], aliases: Sequence[ModelAlias]) -> None:
        self.by_id = {row.model_id: row for row in models}
        # Normal form -> model_id; "" where a name is known to be unknown.
        self._names: dict[str, str] = {}
        for alias in aliases:
            self._names.setdefault(normal(alias.alias), alias.model_id)
        for row in reversed(models):
            names = (row.model_id, row.model_id.rsplit("/", 1)[-1], row.display_name, *row.aliases)
            self._names.update({normal(name): row.model_id for name in names if name})

    def find(self, name: str) -> Model | None:
        """The model of this name by id, alias, mirror id or file name, or None."""
        for base in dict.fromkeys((name, strip_quantization(name)[0])):
            for tail in dict.fromkeys((base, base.rsplit("/", 1)[-1])):
                key = normal_model(tail)
                for start in dict.fromkeys((key, key.removeprefix("meta"))):
                    found = self._by_stem(start)
                    if found is not None:
                        return found
        return None

    def _by_stem(self, key: str) -> Model | None:
        """A model whose name equals `key` but for an ending such as -Instruct or -Chat."""
        bare = [key.removesuffix(ending) for ending in _CHAT_ENDINGS if ending and key.endswith(ending)]
        for candidate in (*(key + ending for ending in _CHAT_ENDINGS), *bare):
            found = self._names.get(candidate)
            if found:
                return self.by_id[found]
        return None

    def get(self, name: str) -> Model:
        """The model of this name; `InputError` with near matches, `NotKnown` for one known to be missing."""
        found = self.find(name)
        if found is not None:
            return found
        if self.known_to_be_missing(name):
            raise NotKnown("model", name, f"the architecture of {name!r} is not in the catalog")
        raise InputError("model", name, "a known model, or a config.json", self.near(name))

    def known_to_be_missing(self, name: str) -> bool:
        """Whether a name is a real model's, of which no row is at hand."""
        return self._names.get(normal(name)) == ""

    def near(self, name: str, limit: int = 5) -> list[str]:
        """Ids of models whose names are close to this one, nearest first."""
        known = {key: value for key, value in self._names.items() if value}
        return near(strip_quantization(name)[0].rsplit("/", 1)[-1], known, limit)
