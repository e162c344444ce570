"""The calculators by name: what each takes and gives, imported only when it is used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, get_type_hints

from pydantic import BaseModel

from knowledge.catalog import Catalog
from tools.contracts.base import Request, parse_request
from tools.contracts.lookup import GpuReport, InstanceReport, ModelReport, NameRequest


@dataclass(frozen=True)
class Door:
    """A command: its request type and the calculator, imported only when the command runs."""

    name: str
    request: str  # "module:Class"
    calculator: str  # "module:function"
    help: str

    def request_type(self) -> type[Request]:
        kind: type[Request] = _load(self.request)
        return kind

    def report_type(self) -> type[BaseModel]:
        kind: type[BaseModel] = get_type_hints(_load(self.calculator))["return"]
        return kind

    def run(self, values: Mapping[str, object], catalog: Catalog) -> BaseModel:
        """The report of loose values; raises `InputError` and `NotKnown`."""
        return self.calculate(parse_request(self.request_type(), values), catalog)

    def calculate(self, request: Request, catalog: Catalog) -> BaseModel:
        report: BaseModel = _load(self.calculator)(request, catalog)
        return report


DOORS = (
    Door(
        "memory",
        "tools.contracts.memory:MemoryRequest",
        "tools.memory:estimate_memory",
        "GPU memory of serving a language model: weights, KV cache, activation, overhead, fit.",
    ),
    Door(
        "training-memory",
        "tools.contracts.training:TrainingMemoryRequest",
        "tools.training_memory:estimate_training_memory",
        "GPU memory of training and fine-tuning.",
    ),
    Door(
        "other-memory",
        "tools.contracts.other:OtherMemoryRequest",
        "tools.other_memory:estimate_other_memory",
        "GPU memory of diffusion, video, speech, embedding and vision models.",
    ),
    Door(
        "throughput",
        "tools.contracts.throughput:ThroughputRequest",
        "tools.throughput:estimate_throughput",
        "Serving speed: tokens per second, TTFT and TPOT with ranges.",
    ),
    Door(
        "other-speed",
        "tools.contracts.other_speed:OtherSpeedRequest",
        "tools.other_speed:estimate_other_speed",
        "Speed of diffusion, video, speech, embedding, reranking and vision models, and the hours of a job.",
    ),
    Door(
        "training",
        "tools.contracts.training:TrainingTimeRequest",
        "tools.training_time:estimate_training_time",
        "Training speed and the hours of a job.",
    ),
    Door(
        "cost",
        "tools.contracts.cost:CostRequest",
        "tools.cost:estimate_cost",
        "Cost of an instance type in every purchase option with a known price.",
    ),
    Door(
        "recommend",
        "tools.contracts.sizing:SizingRequest",
        "tools.recommend:recommend",
        "The right instance for a workload.",
    ),
    Door(
        "compare-log",
        "tools.contracts.compare:CompareLogRequest",
        "tools.compare_log:compare_log",
        "An engine's start-up log or an out-of-memory trace set beside the estimate.",
    ),
    Door(
        "instance",
        "tools.contracts.lookup:NameRequest",
        "tools.doors:look_up_instance",
        "Facts of an instance type.",
    ),
    Door("gpu", "tools.contracts.lookup:NameRequest", "tools.doors:look_up_gpu", "Facts of a GPU model."),
    Door("model", "tools.contracts.lookup:NameRequest", "tools.doors:look_up_model", "Facts of a model."),
)


def look_up_instance(request: NameRequest, catalog: Catalog) -> InstanceReport:
    from tools.lookup import describe_instance

    return describe_instance(request.name, catalog, request.region)


def look_up_gpu(request: NameRequest, catalog: Catalog) -> GpuReport:
    from tools.lookup import describe_gpu

    return describe_gpu(request.name, catalog, request.region)


def look_up_model(request: NameRequest, catalog: Catalog) -> ModelReport:
    from tools.lookup import describe_model

    return describe_model(request.name, catalog)


def _load(path: str) -> Any:
    module, name = path.split(":")
    return getattr(import_module(module), name)
