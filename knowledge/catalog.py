"""The catalog: the fact tables behind questions by name, family, GPU and region."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache, cached_property
from pathlib import Path

from knowledge.cards import nominal_gib, slice_of
from knowledge.errors import InputError
from knowledge.live.overlay import DEFAULT_FOLDER
from knowledge.names import near, normal
from knowledge.price_book import PriceBook, PricesByType, by_type
from knowledge.resolve_gpu import GpuNames
from knowledge.resolve_model import ModelNames
from knowledge.resolve_precision import PrecisionNames
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
            sold = [row for row in self.instances if row.status == "current"]  # no names long retired
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
    def _gpu_names(self) -> GpuNames:
        return GpuNames(self.gpus, self.gpu_aliases)

    def gpu(self, name: str) -> Gpu:
        """The GPU model of this name, by alias; a vGPU slice ("A10-4Q") is its share of the whole card."""
        return self._gpu_names.find(name)[0]

    def gpu_with_note(self, name: str) -> tuple[Gpu, str]:
        """As `gpu`, with the assumption made where the name is short of certain ("A100": which size?)."""
        return self._gpu_names.find(name)

    def gpu_sizes(self, name: str) -> tuple[str, ...]:
        """The GPU models that a name without its memory size may mean; empty where it means one at most."""
        return self._gpu_names.sizes(name)

    def gpu_of(self, instance: Instance) -> Gpu:
        """The GPU of an instance type as its user sees it: for a vGPU type the slice, not the card."""
        gpu = self._gpu_names.by_model[instance.gpu_model]
        if instance.gpu_count < 1:
            size = instance.gpu_memory_gib or nominal_gib(gpu) * instance.gpu_count
            return slice_of(gpu, size, f"{gpu.gpu_model} slice {size:g} GB")
        return gpu

    # Models

    @cached_property
    def _model_names(self) -> ModelNames:
        return ModelNames(self.models, self.model_aliases)

    def find_model(self, name: str) -> Model | None:
        """The model of this name by id, alias, mirror id or file name, or None."""
        return self._model_names.find(name)

    def model(self, name: str) -> Model:
        """The model of this name; `InputError` with near matches, `NotKnown` for one known to be missing."""
        return self._model_names.get(name)

    def missing_model(self, name: str) -> bool:
        """Whether a name is a real model's, of which no row is at hand."""
        return self._model_names.known_to_be_missing(name)

    def near_models(self, name: str, limit: int = 5) -> list[str]:
        """Ids of models whose names are close to this one, nearest first."""
        return self._model_names.near(name, limit)

    def with_models(self, models: Sequence[Model]) -> Catalog:
        """This catalog with further models, which win over rows of the same name; it shares all else."""
        names = {row.model_id for row in models}
        extended = copy.copy(self)
        extended.__dict__["models"] = (*models, *(row for row in self.models if row.model_id not in names))
        extended.__dict__.pop("_model_names", None)
        return extended

    # Precisions

    @cached_property
    def _precision_names(self) -> PrecisionNames:
        return PrecisionNames(self.precisions)

    def precision(self, name: str) -> Precision:
        """The weight precision of this name, by alias; "int4" alone is awq-int4."""
        return self._precision_names.of_weights(name)

    def kv_precision(self, name: str) -> Precision:
        """The KV-cache precision of this name: bf16, fp16, fp32, fp8, int8, int4 and their aliases."""
        return self._precision_names.of_cache(name)

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
    def _shipped_by_type(self) -> PricesByType:
        return by_type(self._shipped_prices)

    @property
    def _price_book(self) -> PriceBook:
        return PriceBook(self._shipped_by_type, self.live)

    def price_rows(self, instance_type: str) -> Sequence[Price]:
        """Every published, imported and live row of a type, comparable or not."""
        return self._price_book.rows(instance_type)

    def price(
        self, instance_type: str, region_id: str, purchase: Purchase = "payg", currency: str = "CNY"
    ) -> Price | None:
        """The freshest comparable row of exactly this type, region, purchase and currency, or None."""
        return self._price_book.price(instance_type, region_id, purchase, currency)

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
