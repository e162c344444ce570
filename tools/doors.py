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
    """A calculator: its request type and function, imported only when it runs, and its name at each entrance.

    Language models of this project know the figures by the words of the contracts; other people's agents,
    which see no contract, by the words that people use ("VRAM", "price").
    """

    name: str  # as command and in the address of the API
    request: str  # "module:Class"
    calculator: str  # "module:function"
    help: str
    mcp: str  # as MCP tool
    tool: str = ""  # as tool of the agent; "" where a look-up of any kind stands for it
    prompt: str = ""  # what the agent's model is told of it

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
        "recommend",
        "tools.contracts.sizing:SizingRequest",
        "tools.recommend:recommend",
        "The right instance for a workload.",
        mcp="recommend_instance",
        tool="recommend_instance",
        prompt="Instances for a workload with memory, speed and price. First call for sizing or budget "
        "questions; pass only what the user said.",
    ),
    Door(
        "memory",
        "tools.contracts.memory:MemoryRequest",
        "tools.memory:estimate_memory",
        "GPU memory of serving a language model: weights, KV cache, activation, overhead, fit.",
        mcp="estimate_vram",
        tool="estimate_memory",
        prompt="Memory of serving a language model; does it fit on a GPU or instance type.",
    ),
    Door(
        "training-memory",
        "tools.contracts.training:TrainingMemoryRequest",
        "tools.training_memory:estimate_training_memory",
        "GPU memory of training and fine-tuning.",
        mcp="estimate_training_vram",
        tool="estimate_training_memory",
        prompt="Memory of training; method: full, lora, qlora, pretrain.",
    ),
    Door(
        "other-memory",
        "tools.contracts.other:OtherMemoryRequest",
        "tools.other_memory:estimate_other_memory",
        "GPU memory of diffusion, video, speech, embedding and vision models.",
        mcp="estimate_other_vram",
        tool="estimate_other_memory",
        prompt="Memory of diffusion, video, speech, embedding, reranker and vision models.",
    ),
    Door(
        "throughput",
        "tools.contracts.throughput:ThroughputRequest",
        "tools.throughput:estimate_throughput",
        "Serving speed: tokens per second, TTFT and TPOT with ranges.",
        mcp="estimate_throughput",
        tool="estimate_throughput",
        prompt="Serving speed of a language model on a GPU.",
    ),
    Door(
        "other-speed",
        "tools.contracts.other_speed:OtherSpeedRequest",
        "tools.other_speed:estimate_other_speed",
        "Speed of diffusion, video, speech, embedding, reranking and vision models, and the hours of a job.",
        mcp="estimate_other_speed",
        tool="estimate_other_speed",
        prompt="Speed of those models on a GPU; hours of a job.",
    ),
    Door(
        "training",
        "tools.contracts.training:TrainingTimeRequest",
        "tools.training_time:estimate_training_time",
        "Training speed and the hours of a job.",
        mcp="estimate_training_time",
        tool="estimate_training_time",
        prompt="Training speed and, given tokens, hours of a job on a GPU.",
    ),
    Door(
        "cost",
        "tools.contracts.cost:CostRequest",
        "tools.cost:estimate_cost",
        "Cost of an instance type in every purchase option with a known price.",
        mcp="get_price",
        tool="estimate_cost",
        prompt="Price of an instance type by purchase option and region.",
    ),
    Door(
        "compare-log",
        "tools.contracts.compare:CompareLogRequest",
        "tools.compare_log:compare_log",
        "An engine's start-up log or an out-of-memory trace set beside the estimate.",
        mcp="compare_log",
        tool="compare_log",
        prompt="A start-up log of vLLM, SGLang or llama.cpp, an out-of-memory trace or nvidia-smi output "
        "beside the estimate. What the user pasted is taken as it is: pass its first line as text.",
    ),
    Door(
        "instance",
        "tools.contracts.lookup:NameRequest",
        "tools.doors:look_up_instance",
        "Facts of an instance type.",
        mcp="look_up_instance",
    ),
    Door(
        "gpu",
        "tools.contracts.lookup:NameRequest",
        "tools.doors:look_up_gpu",
        "Facts of a GPU model.",
        mcp="look_up_gpu",
    ),
    Door(
        "model",
        "tools.contracts.lookup:NameRequest",
        "tools.doors:look_up_model",
        "Facts of a model.",
        mcp="look_up_model",
    ),
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
