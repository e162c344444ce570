"""The calculators as LangChain tools: strict schema in, few lines for the model, the whole report out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Literal

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, Field

from knowledge.catalog import Catalog
from knowledge.errors import AdvisorError, InputError, NotKnown
from knowledge.rows import Claim
from tools.compare_log import compare_log
from tools.contracts.base import Report, Request
from tools.contracts.compare import CompareLogRequest
from tools.contracts.cost import CostRequest
from tools.contracts.lookup import FindRequest, Kind
from tools.contracts.memory import MemoryRequest
from tools.contracts.other import OtherMemoryRequest
from tools.contracts.other_speed import OtherSpeedRequest
from tools.contracts.sizing import Recommendation, SizingRequest
from tools.contracts.throughput import ThroughputRequest
from tools.contracts.training import TrainingMemoryRequest, TrainingTimeRequest
from tools.cost import estimate_cost
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
from tools.memory import estimate_memory
from tools.other_memory import estimate_other_memory
from tools.other_speed import estimate_other_speed
from tools.recommend import recommend, sensitivity
from tools.throughput import estimate_throughput
from tools.training_memory import estimate_training_memory
from tools.training_time import estimate_training_time

Calculate = Callable[[Any], Report]


class Fault(Report):
    """Why a tool has no report: an input it cannot use, or a fact that is not known."""

    kind: Literal["input", "not_known"]
    field: str
    given: str | int | float | bool | None
    allowed: str
    suggestions: tuple[str, ...] = ()


class LookUpRequest(Request):
    """A name, and what kind of thing it is where the caller knows."""

    name: str = Field(min_length=1)
    kind: Kind | None = None
    region: str = ""


class NamesRequest(Request):
    """Two or more names of one kind."""

    names: tuple[str, ...] = Field(min_length=1)
    kind: Kind | None = None
    region: str = ""


class NameRequest(Request):
    """An instance-type name as written."""

    name: str = Field(min_length=1, max_length=200)


class LaunchRequest(SizingRequest):
    """The workload as for `recommend_instance`, and the type to launch (empty: the first option)."""

    instance_type: str = ""


class ClaimRequest(Request):
    """Claims to check, by id."""

    claim_ids: tuple[str, ...] = Field(min_length=1)


class ClaimReport(Report):
    """Circulating claims with their verdicts and the right values."""

    claims: tuple[Claim, ...]


def build_tools(catalog: Catalog) -> list[BaseTool]:
    """All calculator and look-up tools over one catalog. They are pure and may run in parallel threads."""

    def tool(name: str, request: type[Request], calculate: Calculate, prompt: str) -> BaseTool:
        return _tool(name, request, calculate, prompt)

    return [
        tool(
            "recommend_instance",
            SizingRequest,
            lambda request: recommend(request, catalog),
            "Instances for a workload with memory, speed and price. First call for sizing or budget "
            "questions; pass only what the user said.",
        ),
        tool(
            "what_if",
            SizingRequest,
            lambda request: sensitivity(request, catalog),
            "How the recommendation changes when context, load or budget doubles, and the next cheaper "
            "option.",
        ),
        tool(
            "estimate_memory",
            MemoryRequest,
            lambda request: estimate_memory(request, catalog),
            "Memory of serving a language model; does it fit on a GPU or instance type.",
        ),
        tool(
            "estimate_training_memory",
            TrainingMemoryRequest,
            lambda request: estimate_training_memory(request, catalog),
            "Memory of training; method: full, lora, qlora, pretrain.",
        ),
        tool(
            "estimate_other_memory",
            OtherMemoryRequest,
            lambda request: estimate_other_memory(request, catalog),
            "Memory of diffusion, video, speech, embedding, reranker and vision models.",
        ),
        tool(
            "estimate_throughput",
            ThroughputRequest,
            lambda request: estimate_throughput(request, catalog),
            "Serving speed of a language model on a GPU.",
        ),
        tool(
            "estimate_other_speed",
            OtherSpeedRequest,
            lambda request: estimate_other_speed(request, catalog),
            "Speed of those models on a GPU; hours of a job.",
        ),
        tool(
            "estimate_training_time",
            TrainingTimeRequest,
            lambda request: estimate_training_time(request, catalog),
            "Training speed and, given tokens, hours of a job on a GPU.",
        ),
        tool(
            "estimate_cost",
            CostRequest,
            lambda request: estimate_cost(request, catalog),
            "Price of an instance type by purchase option and region.",
        ),
        tool(
            "look_up",
            LookUpRequest,
            lambda request: _look_up(request, catalog),
            "Facts of one instance type, family, GPU, model or precision.",
        ),
        tool(
            "compare",
            NamesRequest,
            lambda request: compare(request.names, catalog, request.kind, request.region),
            "GPUs, instance types or families side by side.",
        ),
        tool(
            "decode_name",
            NameRequest,
            lambda request: decode_name(request.name, catalog),
            "Meaning of an instance-type name; does it exist.",
        ),
        tool(
            "find_instances",
            FindRequest,
            lambda request: find_instances(request, catalog),
            "Instance types by properties, not by workload.",
        ),
        tool(
            "check_claims",
            ClaimRequest,
            lambda request: _claims(request, catalog),
            "Verdict and right value of known circulating claims, by claim id.",
        ),
        tool(
            "compare_log",
            CompareLogRequest,
            lambda request: compare_log(request, catalog),
            "A start-up log of vLLM, SGLang or llama.cpp, an out-of-memory trace or nvidia-smi output beside "
            "the estimate. What the user pasted is taken as it is: pass its first line as text.",
        ),
        tool(
            "launch_commands",
            LaunchRequest,
            lambda request: _launch(request, catalog),
            "Terraform, CLI and start files for a workload on an instance type.",
        ),
    ]


def _tool(name: str, request_type: type[Request], calculate: Calculate, prompt: str) -> BaseTool:
    def run(**values: Any) -> tuple[str, Report]:
        try:
            report = calculate(request_type(**values))
        except AdvisorError as error:
            return str(error), Fault.model_validate(error.payload())
        return brief(report), report

    return StructuredTool.from_function(
        func=run,
        name=name,
        description=prompt,
        args_schema=request_type,
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
    return ClaimReport(claims=tuple(by_id[key] for key in request.claim_ids if key in by_id))


# What the model reads of a report

_MODEL_KEYS_LEFT_OUT = {"request", "considered", "sources", "fallback"}
_OPTION_KEYS = (
    "instance_type", "count", "gpu_model", "gpu_count", "precision", "plan", "region", "hourly_cny",
    "monthly_cny", "labels", "why",
)  # fmt: skip
_MEMORY_KEYS = (
    "weights_gib", "kv_cache_gib_per_gpu", "peak_gib_per_gpu", "total_gib_per_gpu", "usable_gib_per_gpu",
    "fits", "verdict",
)  # fmt: skip
_SPEED_KEYS = (
    "output_tokens_per_s", "output_tokens_per_s_low", "output_tokens_per_s_high", "ttft_ms", "tpot_ms",
    "hours", "hours_low", "hours_high",
)  # fmt: skip
_NOT_BRIEF = frozenset({"source", "note", "rung", "chosen", "within_limits"})
_BRIEF_CHARS = 1_600  # about 500 tokens; a model that sizes reads two reports in three calls


def brief(report: Report) -> str:
    """A report as compact JSON for a language model: set fields only, four significant digits, no sources
    or notes, the longest lists cut to their first entries until it is short."""
    values = report.model_dump(mode="json", exclude=_MODEL_KEYS_LEFT_OUT)
    if isinstance(report, Recommendation):
        values["options"] = [_brief_option(option) for option in values["options"]]
        shown = [] if report.options else report.fallback
        values["best_that_breaks_a_limit"] = [_brief_option(item.model_dump(mode="json")) for item in shown]
    short = _compact(values)
    while len(text := _json(short)) > _BRIEF_CHARS:
        lists = {key: item for key, item in short.items() if isinstance(item, list) and len(item) > 1}
        if not lists:
            return text[:_BRIEF_CHARS]
        longest = max(lists, key=lambda key: len(_json(lists[key])))
        short[longest] = lists[longest][: len(lists[longest]) // 2]
    return text


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _brief_option(option: dict[str, Any]) -> dict[str, Any]:
    short = {key: option[key] for key in _OPTION_KEYS}
    short["plan"] = {key: item for key, item in option["plan"].items() if item != 1}
    for part, keys in (("memory", _MEMORY_KEYS), ("speed", _SPEED_KEYS)):
        if option[part]:
            short[part] = {key: option[part][key] for key in keys if key in option[part]}
    if option["cost"] and option["cost"]["price"]:
        price = option["cost"]["price"]
        short["price"] = {key: price[key] for key in ("purchase", "amount", "currency", "unit", "as_of")}
    return short


def _compact(value: Any) -> Any:
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    if isinstance(value, dict):
        kept = {key: _compact(item) for key, item in value.items() if key not in _NOT_BRIEF}
        return {key: item for key, item in kept.items() if item not in (None, "", [], {})}
    if isinstance(value, list | tuple):
        return [_compact(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.4g}")
    return value
