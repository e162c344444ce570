"""The questions asked of ECS and, on wish, of billing, with their parameters, pages and second tries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

from alibabacloud_ecs20140526 import models as requests
from pydantic import ValidationError

from knowledge.live.answers import (
    AdviceAnswer,
    Answer,
    DiscountAnswer,
    PriceAnswer,
    RegionPart,
    RegionsAnswer,
    SpotAnswer,
    StockAnswer,
    TypePart,
    TypesAnswer,
)
from knowledge.live.faults import Fault
from knowledge.live.service import BILLING, ECS, Api, Service

TYPES_PER_ADVICE = 10  # the most that DescribeSpotAdvice takes
_MOST_PAGES = 100
_SYSTEM_DISKS = (("cloud_essd", "PL0"), ("cloud_auto", None), ("cloud_efficiency", None))
_DISK_GIB = 40

AnswerT = TypeVar("AnswerT", bound=Answer)


class Term(NamedTuple):
    """A purchase option as DescribePrice words it, and the unit that its price counts."""

    price_unit: str
    period: int
    unit: str


TERMS = {
    "payg": Term("Hour", 1, "hour"),
    "subscription_1m": Term("Month", 1, "month"),
    "subscription_1y": Term("Year", 1, "year"),
    "subscription_3y": Term("Year", 3, "3 years"),
}


# Savings plans and their upfront shares, in our words and in those of the billing interface.
SAVINGS_PLANS = {"universal": "universal", "compute": "ecs"}
UPFRONT = {"none": "zero", "half": "half", "all": "total"}
PLAN_YEARS = (1, 3)


class Ecs:
    """The questions; each raises `Fault` without a usable answer, `InputError` for wrong credentials."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._disk_of: dict[str, int] = {}  # the first system disk that a type takes

    def regions(self, region: str) -> tuple[RegionPart, ...]:
        """Regions open to this account, asked through `region`."""
        request = requests.DescribeRegionsRequest(accept_language="en-US", resource_type="instance")
        return self._ask(RegionsAnswer, "DescribeRegions", region, request).regions

    def gpu_types(self, region: str) -> Iterator[TypePart]:
        """All GPU types that the API lists, asked through `region`; the list itself knows no regions."""
        token: str | None = None
        for _ in range(_MOST_PAGES):
            request = requests.DescribeInstanceTypesRequest(next_token=token)
            page = self._ask(TypesAnswer, "DescribeInstanceTypes", region, request)
            yield from (part for part in page.types if part.gpu_spec or part.gpu_count)
            if not page.next_token:
                return
            if page.next_token == token:
                break
            token = page.next_token
        raise Fault("unusable", "the pages of instance types do not end")

    def price(self, region: str, instance_type: str, purchase: str) -> PriceAnswer:
        """The price of one machine for one term of `purchase`. A system disk must be part of the question, so
        its price is part of the answer too: only the detail row of the instance may be used."""
        term = TERMS[purchase]
        for index in range(self._disk_of.get(instance_type, 0), len(_SYSTEM_DISKS)):
            category, level = _SYSTEM_DISKS[index]
            disk = requests.DescribePriceRequestSystemDisk(
                category=category, size=_DISK_GIB, performance_level=level
            )
            request = requests.DescribePriceRequest(
                region_id=region,
                resource_type="instance",
                instance_type=instance_type,
                instance_network_type="vpc",
                price_unit=term.price_unit,
                period=term.period,
                amount=1,
                system_disk=disk,
            )
            try:
                answer = self._ask(PriceAnswer, "DescribePrice", region, request)
            except Fault as fault:
                if fault.kind != "disk":
                    raise
            else:
                self._disk_of[instance_type] = index
                return answer
        raise Fault("not_sold", "no known system disk fits")

    def spot_prices(self, region: str, instance_type: str) -> Iterator[SpotAnswer]:
        """Market prices of the last three hours in all zones, Linux, with one protected hour."""
        offset = 0
        for _ in range(_MOST_PAGES):
            request = requests.DescribeSpotPriceHistoryRequest(
                region_id=region,
                instance_type=instance_type,
                network_type="vpc",
                io_optimized="optimized",
                ostype="linux",
                spot_duration=1,
                offset=offset,
            )
            page = self._ask(SpotAnswer, "DescribeSpotPriceHistory", region, request)
            yield page
            if not page.next_offset or page.next_offset <= offset or not page.prices:
                return
            offset = page.next_offset
        raise Fault("unusable", "the pages of spot prices do not end")

    def spot_advice(self, region: str, instance_types: Sequence[str]) -> AdviceAnswer:
        """Average spot level and release rate of the last 30 days, of at most ten types."""
        request = requests.DescribeSpotAdviceRequest(region_id=region, instance_types=list(instance_types))
        return self._ask(AdviceAnswer, "DescribeSpotAdvice", region, request)

    def stock(self, region: str, instance_type: str) -> StockAnswer:
        """Zones that carry a type for pay-as-you-go, and whether they have it now."""
        request = requests.DescribeAvailableResourceRequest(
            region_id=region,
            destination_resource="InstanceType",
            instance_type=instance_type,
            instance_charge_type="PostPaid",
            io_optimized="optimized",
            network_category="vpc",
        )
        return self._ask(StockAnswer, "DescribeAvailableResource", region, request)

    def savings_discount(
        self, region: str, family: str, plan: str, years: int, upfront: str
    ) -> DiscountAnswer:
        """The share of the pay-as-you-go price that one savings plan leaves to pay for a family."""
        request = {
            "CommodityCode": "ecs",
            "SpnType": SAVINGS_PLANS[plan],
            "PayMode": UPFRONT[upfront],
            "Cycle": f"{years}:Year",
            "Spec": f"ecs.{family}",
            "Region": region,
            "ModuleCode": "instance_type",
            "PageNum": 1,
            "PageSize": 20,
        }
        return self._ask(DiscountAnswer, "QuerySavingsPlansDiscount", region, request, BILLING)

    def _ask(
        self, answer_type: type[AnswerT], action: str, region: str, request: object, api: Api = ECS
    ) -> AnswerT:
        body = self._service.call(action, region, request, api)
        try:
            return answer_type.model_validate(body)
        except ValidationError as error:
            where = ".".join(str(part) for part in error.errors()[0]["loc"])
            raise Fault("unusable", f"{action}: the field {where} is missing or of another kind") from None
