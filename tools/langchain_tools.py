"""The calculators as LangChain tools: strict schema in, few lines for the model, the whole report out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.tools import BaseTool, StructuredTool

from knowledge.catalog import Catalog
from knowledge.errors import AdvisorError, InputError, NotKnown
from knowledge.names import near
from tools.brief import brief
from tools.contracts.base import Report, Request
from tools.contracts.calls import (
    ClaimReport,
    ClaimRequest,
    Fault,
    LaunchRequest,
    LookUpRequest,
    NamesRequest,
    TypeNameRequest,
)
from tools.contracts.lookup import FindRequest, Kind
from tools.contracts.sizing import SizingRequest
from tools.doors import DOORS, Door
from tools.launch import launch_kit
from tools.lookup import (
    compare,
    decode_name,
    describe_family,
    describe_gpu,
    describe_instance,
    describe_model,
    describe_precision,
    find_instances,
)
from tools.recommend import recommend, sensitivity

Calculate = Callable[[Any, Catalog], Report]


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool of the agent: its name, what it takes, what it does and what the model is told of it."""

    name: str
    request: type[Request]
    calculate: Calculate
    prompt: str


def build_tools(catalog: Catalog) -> list[BaseTool]:
    """All calculator and look-up tools over one catalog. They are pure and may run in parallel threads."""
    return [_tool(offer, catalog) for offer in (*(_of_door(door) for door in DOORS if door.tool), *_OFFERS)]


def _of_door(door: Door) -> Offer:
    # Every report of a door is a Report; doors know them only when they run.
    return Offer(door.tool, door.request_type(), cast(Calculate, door.calculate), door.prompt)


def _tool(offer: Offer, catalog: Catalog) -> BaseTool:
    def run(**values: Any) -> tuple[str, Report]:
        try:
            report = offer.calculate(offer.request(**values), catalog)
        except AdvisorError as error:
            return str(error), Fault.model_validate(error.payload())
        return brief(report), report

    return StructuredTool.from_function(
        func=run,
        name=offer.name,
        description=offer.prompt,
        args_schema=offer.request,
        response_format="content_and_artifact",
    )


def _look_up(request: LookUpRequest, catalog: Catalog) -> Report:
    region = request.region
    describers: dict[Kind, Callable[[], Report]] = {
        "instance": lambda: describe_instance(request.name, catalog, region),
        "family": lambda: describe_family(request.name, catalog, region),
        "gpu": lambda: describe_gpu(request.name, catalog, region),
        "precision": lambda: describe_precision(request.name, catalog),
        "model": lambda: describe_model(request.name, catalog),
    }
    if request.kind is not None:
        return describers[request.kind]()
    for describe in describers.values():
        try:
            return describe()
        except InputError:
            continue
    near = [*catalog.near_instances(request.name, 3), *catalog.near_models(request.name, 3)]
    raise InputError(
        "name", request.name, "the name of an instance type, family, GPU, model or precision", near
    )


def _launch(request: LaunchRequest, catalog: Catalog) -> Report:
    """The kit of the chosen type's best plan for the workload; without a budget, which was held before."""
    values = request.model_dump(exclude={"instance_type", "budget"}, exclude_unset=True)
    if request.instance_type:
        values["instance_wanted"] = (request.instance_type,)
    wanted = SizingRequest(**values)
    found = recommend(wanted, catalog)
    if not found.options:
        raise NotKnown("instance_type", request.instance_type, "this type does not carry the workload")
    return launch_kit(found.options[0], wanted, catalog)


def _claims(request: ClaimRequest, catalog: Catalog) -> ClaimReport:
    by_id = {row.claim_id: row for row in catalog.claims}
    for key in request.claim_ids:
        if key not in by_id:
            raise InputError("claim_ids", key, "ids of known claims", near(key, list(by_id)))
    return ClaimReport(claims=tuple(by_id[key] for key in request.claim_ids))


_OFFERS = (
    Offer(
        "what_if",
        SizingRequest,
        sensitivity,
        "How the recommendation changes when context, load or budget doubles, and the next cheaper option.",
    ),
    Offer(
        "look_up",
        LookUpRequest,
        _look_up,
        "Facts of one instance type, family, GPU, model or precision.",
    ),
    Offer(
        "compare",
        NamesRequest,
        lambda request, catalog: compare(request.names, catalog, request.kind, request.region),
        "GPUs, instance types or families side by side.",
    ),
    Offer(
        "decode_name",
        TypeNameRequest,
        lambda request, catalog: decode_name(request.name, catalog),
        "Meaning of an instance-type name; does it exist.",
    ),
    Offer(
        "find_instances",
        FindRequest,
        find_instances,
        "Instance types by properties, not by workload.",
    ),
    Offer(
        "check_claims",
        ClaimRequest,
        _claims,
        "Verdict and right value of known circulating claims, by claim id.",
    ),
    Offer(
        "launch_commands",
        LaunchRequest,
        _launch,
        "Terraform, CLI and start files for a workload on an instance type.",
    ),
)
