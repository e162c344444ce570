"""The answers of the API as far as we use them; fields we do not know are passed over, ours are checked."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


def _unwrapped(value: object) -> object:
    """The list inside the API's wrapper object, {"Zone": [...]}; null and {} are the empty list."""
    if value is None or value == {}:
        return ()
    if isinstance(value, dict):
        lists = [item for item in value.values() if isinstance(item, list)]
        return lists[0] if lists else value
    return value


_List = BeforeValidator(_unwrapped)


class Answer(BaseModel):
    """Base of the answers and of their parts."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class RegionPart(Answer):
    region_id: str = Field(alias="RegionId")
    name: str = Field(default="", alias="LocalName")


class RegionsAnswer(Answer):
    """DescribeRegions."""

    regions: Annotated[tuple[RegionPart, ...], _List] = Field(alias="Regions")


class TypePart(Answer):
    instance_type: str = Field(alias="InstanceTypeId")
    family: str = Field(alias="InstanceTypeFamily")
    vcpu: int = Field(alias="CpuCoreCount")
    memory_gib: float = Field(alias="MemorySize")
    gpu_spec: str | None = Field(default=None, alias="GPUSpec")
    gpu_count: float | None = Field(default=None, alias="GPUAmount")


class TypesAnswer(Answer):
    """DescribeInstanceTypes, one page."""

    types: Annotated[tuple[TypePart, ...], _List] = Field(alias="InstanceTypes")
    next_token: str | None = Field(default=None, alias="NextToken")


class PriceDetail(Answer):
    """One part of a price: the instance, a disk, an image. Trade price = original price - discounts."""

    resource: str = Field(default="", alias="Resource")
    original_price: Decimal | None = Field(default=None, alias="OriginalPrice")
    trade_price: Decimal | None = Field(default=None, alias="TradePrice")


class PricePart(Answer):
    currency: str = Field(alias="Currency")
    details: Annotated[tuple[PriceDetail, ...], _List] = Field(default=(), alias="DetailInfos")


class PriceInfo(Answer):
    price: PricePart = Field(alias="Price")


class PriceAnswer(Answer):
    """DescribePrice."""

    price_info: PriceInfo = Field(alias="PriceInfo")


class SpotPart(Answer):
    zone_id: str = Field(alias="ZoneId")
    instance_type: str = Field(alias="InstanceType")
    spot_price: Decimal = Field(alias="SpotPrice")
    timestamp: datetime = Field(alias="Timestamp")
    network_type: str = Field(default="vpc", alias="NetworkType")


class SpotAnswer(Answer):
    """DescribeSpotPriceHistory, one page."""

    currency: str = Field(alias="Currency")
    prices: Annotated[tuple[SpotPart, ...], _List] = Field(default=(), alias="SpotPrices")
    next_offset: int | None = Field(default=None, alias="NextOffset")


class AdvicePart(Answer):
    instance_type: str = Field(alias="InstanceType")
    average_spot_discount: float = Field(alias="AverageSpotDiscount")  # percent that is paid
    interruption_rate: float | None = Field(default=None, alias="InterruptionRate")
    interruption_text: str = Field(default="", alias="InterruptRateDesc")


class AdviceZone(Answer):
    zone_id: str = Field(alias="ZoneId")
    resources: Annotated[tuple[AdvicePart, ...], _List] = Field(default=(), alias="AvailableSpotResources")


class AdviceAnswer(Answer):
    """DescribeSpotAdvice."""

    zones: Annotated[tuple[AdviceZone, ...], _List] = Field(default=(), alias="AvailableSpotZones")


class SupportedPart(Answer):
    value: str = Field(alias="Value")
    status: str = Field(default="", alias="Status")  # Available, SoldOut
    category: str = Field(default="", alias="StatusCategory")  # WithStock, ClosedWithStock, WithoutStock …


class ResourcePart(Answer):
    supported: Annotated[tuple[SupportedPart, ...], _List] = Field(default=(), alias="SupportedResources")


class StockZone(Answer):
    zone_id: str = Field(alias="ZoneId")
    resources: Annotated[tuple[ResourcePart, ...], _List] = Field(default=(), alias="AvailableResources")


class StockAnswer(Answer):
    """DescribeAvailableResource."""

    zones: Annotated[tuple[StockZone, ...], _List] = Field(default=(), alias="AvailableZones")


class DiscountPart(Answer):
    rate: Decimal = Field(alias="DiscountRate")  # the share that is paid: 0.85 is 15 % off


class DiscountData(Answer):
    items: Annotated[tuple[DiscountPart, ...], _List] = Field(default=(), alias="Items")


class DiscountAnswer(Answer):
    """QuerySavingsPlansDiscount."""

    data: DiscountData = Field(alias="Data")
