"""From a request in people's words to shapes, plan and load, with every assumption noted."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from knowledge.catalog import Catalog
from knowledge.errors import InputError
from knowledge.names import normal, strip_quantization
from knowledge.rows import Gpu, Instance, Precision
from tools.contracts.base import Assumption, Remark, Scalar
from tools.contracts.throughput import ThroughputRequest
from tools.throughput.coefficients import Engine
from tools.throughput.engines import find_engine
from tools.throughput.gpu_shape import GpuShape, gpu_shape_of
from tools.throughput.links import GPUS_PER_NODE, link_between
from tools.throughput.model_shape import ModelShape, generic_shape, shape_of
from tools.throughput.precision import computes_in, scheme_for
from tools.throughput.steps import Plan, Stepper, stepper

DEFAULT_INPUT_TOKENS = 1024
DEFAULT_OUTPUT_TOKENS = 256
# A name that says nothing but a size: "7B model (not named)", "GPT-3 175B".
_SIZE_ONLY = re.compile(r"^(?:gpt(?:-?3)?\s*)?(\d+(?:\.\d+)?)\s*([bt])(?:\s*(?:model|class|dense|llm).*)?$")


@dataclass
class Notes:
    """Assumptions and warnings gathered on the way."""

    assumptions: list[Assumption] = field(default_factory=list)
    warnings: list[Remark] = field(default_factory=list)

    def assume(self, name: str, value: Scalar, reason: str) -> None:
        self.assumptions.append(Assumption(field=name, value=value, reason=reason))

    def warn(self, code: str, **params: Scalar) -> None:
        self.warnings.append(Remark(code=code, params=params))


@dataclass(frozen=True)
class Resolved:
    """A request with all names and numbers settled."""

    replica: Stepper
    precision: Precision
    kv_precision: str
    gpu: Gpu
    instance: Instance | None
    source_titles: tuple[tuple[str, str], ...]
    input_tokens: int
    output_tokens: int
    notes: Notes


def resolve(request: ThroughputRequest, catalog: Catalog) -> Resolved:
    """Settles every name and default of a request; raises `InputError` and `NotKnown`."""
    notes = Notes()
    model, model_source, native, tag = resolve_model(request.model, request.params_b, catalog, notes)
    gpu_row, instance, count = resolve_gpu(
        request.gpu, request.instance_type, request.gpu_count, catalog, notes
    )
    gpu = gpu_shape_of(gpu_row)
    if gpu.derived:
        notes.assume("gpu", gpu_row.gpu_model, "tensor_rate_derived")
    engine = resolve_engine(request.engine, request.weight_precision or tag, notes)
    precision = resolve_precision(request.weight_precision, tag, native, gpu, catalog, notes)
    kv_precision = resolve_kv(request.kv_precision, gpu, catalog, notes)
    plan = resolve_plan(request, model, engine, count, notes)
    scheme = scheme_for(gpu, precision)
    link = link_between(
        gpu,
        plan.stage_gpus * (1 if plan.micro_batched else plan.pipeline),
        resolve_link(request.interconnect, instance),
    )
    kv_bytes = (kv_precision.block_bits or 16.0) / 8
    for name, value, default in (
        ("input_tokens", request.input_tokens, DEFAULT_INPUT_TOKENS),
        ("output_tokens", request.output_tokens, DEFAULT_OUTPUT_TOKENS),
    ):
        if value is None:
            notes.assume(name, default, "default")
    sources = tuple({
        (source, as_of): None
        for source, as_of in (model_source, (gpu_row.source, gpu_row.as_of))
        if source
    })  # fmt: skip
    return Resolved(
        stepper(model, gpu, scheme, engine, plan, link, kv_bytes),
        precision,
        kv_precision.name.removeprefix("kv-"),
        gpu_row,
        instance,
        sources,
        DEFAULT_INPUT_TOKENS if request.input_tokens is None else request.input_tokens,
        DEFAULT_OUTPUT_TOKENS if request.output_tokens is None else request.output_tokens,
        notes,
    )


def resolve_model(
    name: str, params_b: float | None, catalog: Catalog, notes: Notes
) -> tuple[ModelShape, tuple[str, str], str, str]:
    """Shape, (source, as_of), native precision and the quantization tag in the name."""
    if not name:
        if params_b is None:
            raise InputError("model", name, "a model name, or params_b")
        notes.assume("model", f"{params_b:g}B", "generic_dense_shape")
        return generic_shape(params_b), ("", ""), "bf16", ""
    found = catalog.find_model(name)
    if found is not None:
        return shape_of(found), (found.source, found.as_of), found.native_dtype, strip_quantization(name)[1]
    sized = _SIZE_ONLY.match(name.strip().lower())
    if sized:
        size = float(sized[1]) * (1000 if sized[2] == "t" else 1)
        notes.assume("model", f"{size:g}B", "generic_dense_shape")
        return generic_shape(size), ("", ""), "bf16", ""
    row = catalog.model(name)  # raises with near names
    return shape_of(row), (row.source, row.as_of), row.native_dtype, strip_quantization(name)[1]


def resolve_gpu(
    gpu: str, instance_type: str, count: int | None, catalog: Catalog, notes: Notes
) -> tuple[Gpu, Instance | None, int]:
    """The card, the instance type where one was named, and the number of GPUs."""
    if instance_type:
        instance = catalog.instance(instance_type)
        row = catalog.gpu_of(instance)
        return row, instance, count or max(1, instance.whole_gpus)
    if not gpu:
        raise InputError("gpu", gpu, "a GPU model or an instance type")
    row, note = catalog.gpu_with_note(gpu)
    if note:
        notes.assume("gpu", row.gpu_model, note)
    if count is None:
        notes.assume("gpu_count", 1, "default")
    return row, None, count or 1


def resolve_engine(name: str, precision: str, notes: Notes) -> Engine:
    """The engine; without a name llama.cpp for GGUF files, else vLLM."""
    if not name and ("gguf" in precision.lower() or re.match(r"i?q\d", precision.lower())):
        notes.assume("engine", "llama.cpp", "gguf_file")
        return find_engine("llama.cpp")[0]
    engine, note = find_engine(name)
    if note:
        notes.assume("engine", engine.name, note)
    return engine


def resolve_precision(
    name: str, tag: str, native: str, gpu: GpuShape, catalog: Catalog, notes: Notes
) -> Precision:
    """The weight precision: as asked, else as the name's tag says, else the model's own, else bf16."""
    if name:
        found = catalog.precision(_plain_precision(name))
        if normal(name) in ("int4", "int8", "4bit", "8bit", "fp4"):
            notes.assume("weight_precision", found.name, "kernel_not_stated")
    elif tag:
        found = catalog.precision(_plain_precision(tag))
        notes.assume("weight_precision", found.name, "from_model_name")
    else:
        wanted = native.split(" ")[0].split(",")[0] if native else "bf16"
        try:
            found = catalog.precision(wanted)
        except InputError:
            found = catalog.precision("bf16")
        if found.name == "bf16" and not gpu.bf16_tflops:
            found = catalog.precision("fp16")
        notes.assume("weight_precision", found.name, "native_precision")
    support = computes_in(gpu, found)
    if support.reason and support.runs:
        notes.assume("compute_precision", support.computes_in, support.reason)
    return found


_PRECISION_WORDS = {
    "int8 (block)": "int8-w8a8", "int8 (channel)": "int8-w8a8", "int8 (eetq)": "gptq-int8",
    "int4 (gptq) base": "gptq-int4", "int4 (bnb nf4) base": "nf4", "int4 (bnb) base": "nf4",
    "bnb-4bit (nf4, bf16 compute)": "nf4", "fp8 at load time": "fp8",
}  # fmt: skip


def _plain_precision(name: str) -> str:
    """The catalog's word for a precision as measurement tables write it ("FP8 at load time")."""
    return _PRECISION_WORDS.get(name.strip().lower(), name)


def resolve_kv(name: str, gpu: GpuShape, catalog: Catalog, notes: Notes) -> Precision:
    """The KV-cache precision; 16 bit without a wish, as the engines do."""
    if name:
        return catalog.kv_precision(name)
    default = "bf16" if gpu.bf16_tflops else "fp16"
    notes.assume("kv_precision", default, "default")
    return catalog.kv_precision(default)


def resolve_link(word: str, instance: Instance | None) -> str:
    """nvlink, pcie or "" (as the card has it)."""
    key = normal(word)
    if key in ("", "unknown", "none", "auto"):
        return "pcie" if instance is not None and instance.interconnect == "pcie" else ""
    if key in ("nvlink", "nvswitch", "sxm", "hgx"):
        return "nvlink"
    if key.startswith("pcie") or key in ("p2p", "pci"):
        return "pcie"
    raise InputError("interconnect", word, "nvlink or pcie")


def resolve_plan(
    request: ThroughputRequest, model: ModelShape, engine: Engine, count: int, notes: Notes
) -> Plan:
    """The parallel plan: degrees as asked; what is left open becomes tensor parallel up to one node, or a
    layer split for engines that do not split tensors; GPUs left over become replicas."""
    pipeline = request.pipeline_parallel or 1
    attention_data = request.attention_data_parallel or 1
    asked = request.tensor_parallel
    replicas = request.data_parallel
    if asked is None:
        share = max(1, count // (pipeline * attention_data * (replicas or 1)))
        if not engine.splits_tensors:
            notes.assume("pipeline_parallel", share * pipeline, "layer_split")
            return Plan(1, share * pipeline, replicas or 1, micro_batched=False)
        asked = _divisor_for(model, min(share, GPUS_PER_NODE))
        notes.assume("tensor_parallel", asked, "default")
    group = asked * pipeline * attention_data
    if replicas is None:
        replicas = max(1, count // group)
        if replicas > 1:
            notes.assume("data_parallel", replicas, "gpus_left_over")
    if request.gpu_count is not None and group * replicas > count:
        raise InputError(
            "gpu_count",
            count,
            f"tensor x pipeline x data parallel is {group * replicas}, which needs as many GPUs",
        )
    if group * replicas < count:
        notes.warn("gpus_unused", unused=count - group * replicas)
    expert = min(request.expert_parallel or 1, asked * attention_data)
    return Plan(asked, pipeline, replicas, expert, attention_data)


def _divisor_for(model: ModelShape, limit: int) -> int:
    """The largest tensor-parallel degree up to `limit` that divides the query heads."""
    return next(degree for degree in range(limit, 0, -1) if model.heads % degree == 0)
