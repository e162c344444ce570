"""The catalog: the fact tables behind questions by name, family, GPU and region."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache, cached_property
from pathlib import Path

from knowledge.cards import nominal_gib, slice_of
from knowledge.errors import InputError, NotKnown
from knowledge.live.overlay import DEFAULT_FOLDER
from knowledge.names import near, normal, normal_gpu, normal_model, strip_quantization
from knowledge.rows import (
    HOME_REGION,
    Availability,
    BillingRule,
    Family,
    Gpu,
    Instance,
    Model,
    Precision,
    Price,
    Purchase,
    Region,
)
from knowledge.tables import Tables

_AMBIGUOUS_GPU = {"a100": "A100-80GB", "v100": "V100-16GB", "a800": "A800-80GB", "h20": "H20-96GB"}
_CHAT_ENDINGS = ("", "instruct", "chat", "it", "chathf", "hf", "base")


class Catalog(Tables):
    """Read-only facts of one data folder, with the newer prices and stock of an overlay in `live`.

    Methods raise `InputError` for names nobody knows, with near matches, and `NotKnown` where a name is
    known but the fact is missing."""

    # Instance types

    @cached_property
    def _instances_by_name(self) -> dict[str, Instance]:
        return {row.instance_type: row for row in self.instances}

    def instance(self, name: str) -> Instance:
        """The instance type of this name: exact, without `ecs.`, in any case."""
        key = name.strip().lower().replace("_", "-")
        key = key if key.startswith("ecs.") else f"ecs.{key}"
        if key in self._instances_by_name:
            return self._instances_by_name[key]
        raise InputError("instance_type", name, "a known instance type", self.near_instances(name))

    def near_instances(self, name: str, limit: int = 5) -> list[str]:
        """Known types close to a phantom name: those of its family first, nearest name first."""
        key = name.strip().lower().removeprefix("ecs.")
        family = self.family_of(key)
        in_family = [row.instance_type for row in self.instances if family and row.family == family]
        found = near(key, [item.removeprefix("ecs.") for item in in_family], limit)
        if len(found) < limit:
            sold = [
                row for row in self.instances if row.status == "current"
            ]  # none of those retired long ago
            everything = [row.instance_type.removeprefix("ecs.") for row in sold]
            found += [item for item in near(key, everything, 2 * limit) if item not in found]
        return [f"ecs.{item}" for item in found[:limit]]

    @cached_property
    def families(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.family for row in self.instances))

    def family_of(self, name: str) -> str | None:
        """The family that an instance-type name starts with, known or not as a type; None without one."""
        key = name.strip().lower().removeprefix("ecs.")
        fitting = [family for family in self.families if re.match(rf"{re.escape(family)}(?![a-z0-9])", key)]
        return max(fitting, key=len, default=None)

    @cached_property
    def _facts_by_family(self) -> dict[str, Family]:
        return {row.family: row for row in self.family_facts}

    def facts_of_family(self, family: str) -> Family | None:
        """What the documents say of a family; None for one that only the API lists."""
        return self._facts_by_family.get(family)

    def in_family(self, family: str) -> tuple[Instance, ...]:
        """All types of a family; `InputError` with near families for an unknown one."""
        key = family.strip().lower().removeprefix("ecs.")
        rows = tuple(row for row in self.instances if row.family == key)
        if not rows:
            raise InputError("family", family, "a known GPU instance family", near(key, self.families))
        return rows

    def with_gpu(self, gpu_model: str, status: str | None = None) -> tuple[Instance, ...]:
        """All types that carry a GPU model (canonical name), optionally of one status."""
        return tuple(
            row
            for row in self.instances
            if row.gpu_model == gpu_model and (status is None or row.status == status)
        )

    # GPUs

    @cached_property
    def _gpus_by_name(self) -> dict[str, Gpu]:
        return {row.gpu_model: row for row in self.gpus}

    @cached_property
    def _gpu_names(self) -> dict[str, str]:
        """Normal form -> gpu_model; "" where the alias names no certain card."""
        table = {normal_gpu(row.alias): row.gpu_model for row in self.gpu_aliases}
        for row in self.gpus:
            for name in (row.known_as, row.gpu_model):
                if name:
                    table[normal_gpu(name)] = row.gpu_model
        table.update(_AMBIGUOUS_GPU)
        return table

    def gpu(self, name: str) -> Gpu:
        """The GPU model of this name, by alias; a vGPU slice ("A10-4Q") is its share of the whole card."""
        return self.gpu_with_note(name)[0]

    def gpu_with_note(self, name: str) -> tuple[Gpu, str]:
        """As `gpu`, with the assumption made where the name is short of certain ("A100": which size?)."""
        key = normal_gpu(name)
        found = self._gpu_names.get(key)
        if found is None:
            found = self._sized_gpu(name)
        if found == "":
            raise NotKnown("gpu", name, f"{name!r} names no certain card")
        if found is None:
            raise InputError("gpu", name, "a known GPU model", near(key, self._certain_gpus))
        gpu = self._gpus_by_name[found]
        slice_size = re.search(r"[-\s](\d+)q\s*$", name.lower())
        if slice_size and gpu.memory_gib and int(slice_size[1]) < gpu.memory_gib:
            return slice_of(gpu, int(slice_size[1]), name), f"a vGPU slice, {slice_size[1]} GB of {found}"
        if key in _AMBIGUOUS_GPU:
            return gpu, f"{name} taken as {found}: the name is sold in more than one memory size"
        return gpu, ""

    def _sized_gpu(self, name: str) -> str | None:
        """A card named with its memory ("A10 24G"), or None where the card has another size."""
        match = re.fullmatch(r"(.*\S?)[\s_\-(]+(\d+)\s*g(?:i?b)?\)?", name.strip().lower())
        if match is None:
            return None
        found = self._gpu_names.get(normal_gpu(f"{match[1]} {match[2]}gb"))
        if found is None:
            found = self._gpu_names.get(normal_gpu(match[1]))
            size = self._gpus_by_name[found].memory_gib if found else None
            found = found if size is not None and abs(size - int(match[2])) <= 1 else None
        return found

    @cached_property
    def _certain_gpus(self) -> dict[str, str]:
        """Every name that stands for one card, for near matches."""
        own = {normal(row.gpu_model): row.gpu_model for row in self.gpus}
        return {name: model for name, model in self._gpu_names.items() if model} | own

    def gpu_of(self, instance: Instance) -> Gpu:
        """The GPU of an instance type as its user sees it: for a vGPU type the slice, not the card."""
        gpu = self._gpus_by_name[instance.gpu_model]
        if instance.gpu_count < 1:
            size = instance.gpu_memory_gib or nominal_gib(gpu) * instance.gpu_count
            return slice_of(gpu, size, f"{gpu.gpu_model} slice {size:g} GB")
        return gpu

    # Models

    @cached_property
    def _models_by_id(self) -> dict[str, Model]:
        return {row.model_id: row for row in self.models}

    @cached_property
    def model_names(self) -> dict[str, str]:
        """Normal form of every name and alias -> model_id; "" where it is known to be unknown."""
        table: dict[str, str] = {}
        for alias in self.model_aliases:
            table.setdefault(normal(alias.alias), alias.model_id)
        for row in reversed(self.models):
            names = (row.model_id, row.model_id.rsplit("/", 1)[-1], row.display_name, *row.aliases)
            table.update({normal(name): row.model_id for name in names if name})
        return table

    def find_model(self, name: str) -> Model | None:
        """The model of this name by id, alias, mirror id or file name, or None."""
        for base in dict.fromkeys((name, strip_quantization(name)[0])):
            for tail in dict.fromkeys((base, base.rsplit("/", 1)[-1])):
                key = normal_model(tail)
                for start in dict.fromkeys((key, key.removeprefix("meta"))):
                    found = self._model_by_stem(start)
                    if found is not None:
                        return found
        return None

    def _model_by_stem(self, key: str) -> Model | None:
        """A model whose name equals `key` but for an ending such as -Instruct or -Chat."""
        bare = [key.removesuffix(ending) for ending in _CHAT_ENDINGS if ending and key.endswith(ending)]
        for candidate in (*(key + ending for ending in _CHAT_ENDINGS), *bare):
            found = self.model_names.get(candidate)
            if found:
                return self._models_by_id[found]
        return None

    def model(self, name: str) -> Model:
        """The model of this name; `InputError` with near matches, `NotKnown` for one known to be missing."""
        found = self.find_model(name)
        if found is not None:
            return found
        if self.model_names.get(normal(name)) == "":
            raise NotKnown("model", name, f"the architecture of {name!r} is not in the catalog")
        raise InputError("model", name, "a known model, or a config.json", self.near_models(name))

    def near_models(self, name: str, limit: int = 5) -> list[str]:
        known = {key: value for key, value in self.model_names.items() if value}
        return near(strip_quantization(name)[0].rsplit("/", 1)[-1], known, limit)

    # Precisions

    @cached_property
    def _precision_names(self) -> dict[str, str]:
        return self._precision_table(kv=False)

    @cached_property
    def _kv_precision_names(self) -> dict[str, str]:
        return self._precision_table(kv=True)

    def _precision_table(self, kv: bool) -> dict[str, str]:
        table: dict[str, str] = {}
        for row in self.precisions:
            if (row.category == "kv-cache") == kv:
                for name in (*row.aliases, row.display_name, row.name):
                    table[normal(name)] = row.name
        return table

    @cached_property
    def _precisions_by_name(self) -> dict[str, Precision]:
        return {row.name: row for row in self.precisions}

    def precision(self, name: str) -> Precision:
        """The weight precision of this name, by alias; "int4" alone is awq-int4."""
        found = self._precision_names.get(normal(name))
        if found is None:
            raise InputError(
                "weight_precision", name, "a known weight precision", near(name, self._precision_names)
            )
        return self._precisions_by_name[found]

    def kv_precision(self, name: str) -> Precision:
        """The KV-cache precision of this name: bf16, fp16, fp32, fp8, int8, int4 and their aliases."""
        key = normal(name)
        found = self._kv_precision_names.get(key) or self._kv_precision_names.get(f"kv{key}")
        if found is None and self._precision_names.get(key) in ("bf16", "fp16", "fp32"):
            found = self._precision_names[key]
        if found is None:
            raise InputError(
                "kv_precision",
                name,
                "bf16, fp16, fp32, fp8, int8 or int4",
                near(name, self._kv_precision_names),
            )
        return self._precisions_by_name[found]

    # Regions and prices

    @cached_property
    def _region_names(self) -> dict[str, str]:
        table: dict[str, str] = {}
        for row in self.regions:
            for name in (row.region_id, row.name_en, row.name_zh, *row.aliases):
                table[normal(name)] = row.region_id
        return table

    @cached_property
    def regions_by_id(self) -> dict[str, Region]:
        return {row.region_id: row for row in self.regions}

    def region(self, name: str) -> Region:
        """The region of this id or name, English or Chinese."""
        found = self._region_names.get(normal(name))
        if found is None:
            raise InputError("region", name, "an Alibaba Cloud region", near(name, self._region_names))
        return self.regions_by_id[found]

    def region_asked(self, name: str = "") -> Region:
        """The region of a name; without one that of this installation's questions."""
        return self.region(name or self.default_region)

    @cached_property
    def _prices_by_type(self) -> dict[str, list[Price]]:
        table: dict[str, list[Price]] = {}
        for row in self._shipped_prices:
            table.setdefault(row.instance_type, []).append(row)
        return table

    def price_rows(self, instance_type: str) -> Sequence[Price]:
        """Every published, imported and live row of a type, comparable or not."""
        return [*self._prices_by_type.get(instance_type, ()), *self.live.prices_of(instance_type)]

    def price(
        self, instance_type: str, region_id: str, purchase: Purchase = "payg", currency: str = "CNY"
    ) -> Price | None:
        """The freshest comparable row of exactly this type, region, purchase and currency, or None."""
        return freshest(
            row
            for row in self.price_rows(instance_type)
            if row.region_id == region_id
            and row.purchase == purchase
            and row.currency == currency
            and row.comparable
        )

    def cheapest_price(
        self, instance_type: str, purchase: Purchase = "payg", currency: str = "CNY"
    ) -> Price | None:
        """The lowest of the freshest comparable rows of a type over all regions, or None."""
        regions = {row.region_id for row in self.price_rows(instance_type)}
        rows = [self.price(instance_type, region, purchase, currency) for region in sorted(regions)]
        return min((row for row in rows if row), key=lambda row: row.price, default=None)

    def billing_rule(self, rule: str, scope: str = "", region_id: str = "") -> BillingRule | None:
        """The rule of exactly this scope and region, or None; a region takes the rule of its side too."""
        region = self.regions_by_id.get(region_id)
        fitting = {"", region_id, "mainland" if region is not None and region.mainland else region_id}
        rows = (row for row in self.billing_rules if row.rule == rule and row.scope == scope)
        return next((row for row in rows if row.region_id in fitting), None)

    def regions_of(self, instance: Instance) -> list[str]:
        """Regions in whose price lists the type or its family was seen; no promise of stock."""
        return sorted({row.region_id for row in self._seen_in(instance)})

    def regions_as_of(self, instance: Instance) -> str:
        """The newest date of the lists behind `regions_of`; "" where none has one."""
        return max((row.as_of for row in self._seen_in(instance)), default="")

    def _seen_in(self, instance: Instance) -> list[Availability | Price]:
        names = (instance.instance_type, instance.family)
        listed = [row for row in self.availability if row.family_or_type in names and row.region_id]
        return [*listed, *(row for row in self.price_rows(instance.instance_type) if row.region_id)]


def freshest(rows: Iterable[Price]) -> Price | None:
    """The row with the newest date; of two equally new a live one, the more trusted, then the lower price."""
    trust = {"high": 2, "medium": 1, "low": 0}

    def key(row: Price) -> tuple[str, bool, int, Decimal]:
        return row.as_of, row.basis == "live", trust[row.confidence], -row.price

    return max(rows, key=key, default=None)


@cache
def shipped_catalog() -> Catalog:
    """The catalog of the data folder that ships with the project; one per process."""
    return Catalog()


@cache
def installed_catalog(
    overlay: Path = DEFAULT_FOLDER,
    cny_per_usd: Decimal | None = None,
    rate_of: str = "",
    default_region: str = HOME_REGION,
) -> Catalog:
    """The shipped facts with what this installation added: live prices, stock, the user's own models, an
    exchange rate of the date `rate_of`, the region of questions that name none; and a clock, so that prices
    age with every day. Raises `InputError` for a region that there is not."""
    rate = None
    if cny_per_usd is not None:
        rate = BillingRule(
            rule="exchange_rate",
            scope="USD",
            value=cny_per_usd,
            unit="CNY per USD",
            source="the settings of this installation",
            as_of=rate_of,
        )
    catalog = Catalog(
        overlay=overlay,
        clock=lambda: datetime.now(UTC),
        cny_per_usd=rate,
        default_region=default_region,
    )
    catalog.region_asked()
    return catalog
