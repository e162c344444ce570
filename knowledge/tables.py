"""The fact tables of one data folder, read when first asked for, with what the installation added."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import cached_property
from pathlib import Path

from knowledge.live.overlay import Overlay
from knowledge.load import DATA_DIR, load_rows
from knowledge.own_models import MODELS_FOLDER, own_models
from knowledge.rows import (
    HOME_REGION,
    Advice,
    Availability,
    BillingRule,
    Claim,
    Compatibility,
    Family,
    Gpu,
    GpuAlias,
    Instance,
    Model,
    ModelAlias,
    Pipeline,
    Precision,
    Price,
    Region,
    SpeechModel,
    VisionBackbone,
)


class Tables:
    """Validated rows, table by table; newer prices and stock of an overlay are in `live`.

    `clock` tells the moment of asking, by which the age of prices and stock is counted. Without one the
    tables stand still: no stock is current, and prices age to the newest of them. `cny_per_usd` is the
    exchange rate of this installation in place of the shipped planning value, `default_region` the region of
    questions that name none.
    """

    def __init__(
        self,
        folder: Path = DATA_DIR,
        overlay: Path | None = None,
        clock: Callable[[], datetime] | None = None,
        cny_per_usd: BillingRule | None = None,
        default_region: str = HOME_REGION,
    ) -> None:
        self.default_region = default_region
        self._folder = folder
        self._own_models = overlay / MODELS_FOLDER if overlay else None
        self._clock = clock
        self._cny_per_usd = cny_per_usd
        self.live = Overlay(overlay)

    @property
    def now(self) -> datetime | None:
        """The moment of asking, or None where no clock was given."""
        return None if self._clock is None else self._clock()

    @cached_property
    def instances(self) -> tuple[Instance, ...]:
        return load_rows(Instance, self._folder / "instances.csv")

    @cached_property
    def gpus(self) -> tuple[Gpu, ...]:
        return load_rows(Gpu, self._folder / "gpus.csv")

    @cached_property
    def models(self) -> tuple[Model, ...]:
        """Shipped models, after those that the user added; an added one wins over a shipped of its name."""
        own = own_models(self._own_models)
        names = {row.model_id for row in own}
        shipped = load_rows(Model, self._folder / "models.csv")
        return (*own, *(row for row in shipped if row.model_id not in names))

    @cached_property
    def precisions(self) -> tuple[Precision, ...]:
        return load_rows(Precision, self._folder / "precisions.csv")

    @cached_property
    def _shipped_prices(self) -> tuple[Price, ...]:
        return load_rows(Price, self._folder / "prices.csv")

    @property
    def prices(self) -> tuple[Price, ...]:
        return self._shipped_prices + self.live.snapshot.prices

    @cached_property
    def regions(self) -> tuple[Region, ...]:
        return load_rows(Region, self._folder / "regions.csv")

    @cached_property
    def availability(self) -> tuple[Availability, ...]:
        return load_rows(Availability, self._folder / "availability.csv")

    @cached_property
    def family_facts(self) -> tuple[Family, ...]:
        return load_rows(Family, self._folder / "families.csv")

    @cached_property
    def billing_rules(self) -> tuple[BillingRule, ...]:
        shipped = load_rows(BillingRule, self._folder / "billing_rules.csv")
        return (self._cny_per_usd, *shipped) if self._cny_per_usd else shipped

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        return load_rows(Claim, self._folder / "claims.csv")

    @cached_property
    def advice(self) -> tuple[Advice, ...]:
        return load_rows(Advice, self._folder / "advice.csv")

    @cached_property
    def compatibility(self) -> tuple[Compatibility, ...]:
        return load_rows(Compatibility, self._folder / "compatibility.csv")

    @cached_property
    def gpu_aliases(self) -> tuple[GpuAlias, ...]:
        return load_rows(GpuAlias, self._folder / "gpu_aliases.csv")

    @cached_property
    def model_aliases(self) -> tuple[ModelAlias, ...]:
        return load_rows(ModelAlias, self._folder / "model_aliases.csv")

    @cached_property
    def pipelines(self) -> tuple[Pipeline, ...]:
        return load_rows(Pipeline, self._folder / "pipelines.csv")

    @cached_property
    def vision_backbones(self) -> tuple[VisionBackbone, ...]:
        return load_rows(VisionBackbone, self._folder / "vision.csv")

    @cached_property
    def speech_models(self) -> tuple[SpeechModel, ...]:
        return load_rows(SpeechModel, self._folder / "speech.csv")
