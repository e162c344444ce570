"""GPU names: which card a name stands for, with its size, as a vGPU slice, or short of certain."""

from __future__ import annotations

import re
from collections.abc import Sequence

from knowledge.cards import slice_of
from knowledge.errors import InputError, NotKnown
from knowledge.names import near, normal, normal_gpu
from knowledge.rows import Gpu, GpuAlias


class GpuNames:
    """The names of the GPU table and their aliases."""

    def __init__(self, gpus: Sequence[Gpu], aliases: Sequence[GpuAlias]) -> None:
        self.by_model = {row.gpu_model: row for row in gpus}
        self._open = {normal_gpu(row.alias): row.taken_as for row in aliases if row.taken_as}
        # Normal form -> gpu_model; "" where the alias names no certain card.
        self._names = {normal_gpu(row.alias): row.gpu_model for row in aliases}
        for row in gpus:
            for name in (row.known_as, row.gpu_model):
                if name:
                    self._names[normal_gpu(name)] = row.gpu_model
        self._names.update(self._open)

    def find(self, name: str) -> tuple[Gpu, str]:
        """The card of a name and the assumption made where the name is short of certain ("A100": which
        size?); a vGPU slice ("A10-4Q") is its share of the whole card. `NotKnown` for a name that stands for
        several cards, `InputError` with near matches for one that nobody knows."""
        key = normal_gpu(name)
        found = self._names.get(key)
        if found is None:
            found = self._sized(name)
        if found == "":
            raise NotKnown("gpu", name, f"{name!r} names no certain card")
        if found is None:
            raise InputError("gpu", name, "a known GPU model", near(key, self._certain()))
        gpu = self.by_model[found]
        slice_size = re.search(r"[-\s](\d+)q\s*$", name.lower())
        if slice_size and gpu.memory_gib and int(slice_size[1]) < gpu.memory_gib:
            return slice_of(gpu, int(slice_size[1]), name), f"a vGPU slice, {slice_size[1]} GB of {found}"
        if key in self._open:
            return gpu, f"{name} taken as {found}: the name is sold in more than one memory size"
        return gpu, ""

    def sizes(self, name: str) -> tuple[str, ...]:
        """All cards that differ from a name by their memory size alone ("A100"), in the order of the table;
        empty where there are no two."""
        parts = [(model, *model.rpartition("-")[::2]) for model in self.by_model]
        found = tuple(
            model
            for model, bare, size in parts
            if re.fullmatch(r"\d+GB", size) and normal_gpu(bare) == normal_gpu(name)
        )
        return found if len(found) > 1 else ()

    def _sized(self, name: str) -> str | None:
        """A card named with its memory ("A10 24G"), or None where the card has another size."""
        match = re.fullmatch(r"(.*\S?)[\s_\-(]+(\d+)\s*g(?:i?b)?\)?", name.strip().lower())
        if match is None:
            return None
        found = self._names.get(normal_gpu(f"{match[1]} {match[2]}gb"))
        if found is None:
            found = self._names.get(normal_gpu(match[1]))
            size = self.by_model[found].memory_gib if found else None
            found = found if size is not None and abs(size - int(match[2])) <= 1 else None
        return found

    def _certain(self) -> dict[str, str]:
        """Every name that stands for one card, for near matches."""
        own = {normal(model): model for model in self.by_model}
        return {name: model for name, model in self._names.items() if model} | own
