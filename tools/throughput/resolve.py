"""From a request in people's words to shapes, plan and load, with every assumption noted."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from knowledge.catalog import Catalog
from knowledge.errors import InputError
from knowledge.names import normal
from knowledge.rows import Gpu, Instance, Model, Precision
from tools.contracts.throughput import ThroughputRequest
from tools.memory.formats import native_format
from tools.memory.limits import HIGHEST_UTILIZATION
from tools.memory.request import resolve_model
from tools.notes import Notes
from tools.throughput.coefficients import Engine
from tools.throughput.core import Arrival
from tools.throughput.engines import find_engine
from tools.throughput.gpu_shape import GpuShape, gpu_shape_of
from tools.throughput.links import GPUS_PER_NODE, link_between, network_link
from tools.throughput.model_shape import ModelShape, shape_of
from tools.throughput.precision import computes_in, scheme_for
from tools.throughput.room import MemoryRoom
from tools.throughput.steps import Plan, Stepper, stepper

DEFAULT_INPUT_TOKENS = 1024
DEFAULT_OUTPUT_TOKENS = 256
# A name that says nothing but a size: "7B model (not named)", "GPT-3 175B".
_SIZE_ONLY = re.compile(r"^(?:gpt(?:-?3)?\s*)?(\d+(?:\.\d+)?)\s*([bt])(?:\s*(?:model|class|dense|llm).*)?$")


@dataclass(frozen=True)
class Resolved:
    """A request with all names and numbers settled."""

    replica: Stepper
    held: int  # whole sequences of the stated length that memory holds at once, all replicas
    running_limit: int  # sequences that run at once; in a paged cache they are half grown on average
    precision: Precision
    kv_precision: str
    gpu: Gpu
    instance: Instance | None
    source_titles: tuple[tuple[str, str], ...]
    input_tokens: int
    output_tokens: int
    arrival: Arrival
    notes: Notes


def resolve(request: ThroughputRequest, catalog: Catalog) -> Resolved:
    """Settles every name and default of a request; raises `InputError` and `NotKnown`."""
    notes = Notes()
    row, tag = resolve_text_model(request.model, request.params_b, catalog, notes)
    model = shape_of(row)
    gpu_row, instance, count = resolve_gpu(
        request.gpu, request.instance_type, request.gpu_count, catalog, notes
    )
    whole = whole_card(gpu_row, instance, catalog)
    gpu = gpu_shape_of(gpu_row, whole)
    if gpu.derived:
        notes.assume("gpu", gpu_row.gpu_model, "tensor_rate_derived")
    engine = resolve_engine(request.engine, request.weight_precision or tag, notes)
    precision = resolve_precision(
        request.weight_precision, tag, native_format(catalog, row)[0].name, gpu, engine, catalog, notes
    )
    kv_precision = resolve_kv(request.kv_precision, precision, engine, gpu, catalog, notes)
    plan = resolve_plan(request, model, engine, count, notes)
    scheme = scheme_for(gpu, precision)
    network_gbps = (instance.rdma_gbps or instance.network_gbps or 0.0) if instance else 0.0
    link = link_between(
        gpu,
        plan.stage_gpus * (1 if plan.micro_batched else plan.pipeline),
        resolve_link(request.interconnect, instance),
        network_gbps,
    )
    kv_bytes = (kv_precision.block_bits or 16.0) / 8
    inputs = _tokens("input_tokens", request.input_tokens, DEFAULT_INPUT_TOKENS, notes)
    outputs = _tokens("output_tokens", request.output_tokens, DEFAULT_OUTPUT_TOKENS, notes)
    room = MemoryRoom(row, gpu_row, plan, precision, kv_precision, engine.name, request.engine_version)
    room = _raised_until_it_fits(room, inputs + outputs, outputs, notes)
    room = _joined_until_it_fits(request, room, inputs + outputs, outputs, notes)
    plan, held = room.plan, room.sequences(inputs + outputs, outputs)
    if isinstance(request.concurrency, int) and held < request.concurrency:
        smaller = narrow_kv(request, room, gpu, catalog)
        fit = smaller.sequences(inputs + outputs, outputs) if smaller else 0
        if smaller and fit >= request.concurrency:
            room, held, kv_precision = smaller, fit, smaller.kv
            kv_bytes = (kv_precision.block_bits or 16.0) / 8
            notes.assume("kv_precision", "fp8", "concurrency_needs_it")
    grown = outputs if engine.reserves_output else outputs // 2
    sources = {(item.source, item.as_of): None for item in (row, gpu_row) if item.source}
    return Resolved(
        replica=stepper(model, gpu, scheme, engine, plan, link, kv_bytes, network=network_link(network_gbps)),
        held=held,
        running_limit=held if not outputs else room.sequences(inputs + grown, grown),
        precision=precision,
        kv_precision=kv_precision.name.removeprefix("kv-"),
        gpu=gpu_row,
        instance=instance,
        source_titles=tuple(sources),
        input_tokens=inputs,
        output_tokens=outputs,
        arrival=resolve_arrival(request.arrival, notes),
        notes=notes,
    )


def _tokens(name: str, value: int | None, default: int, notes: Notes) -> int:
    if value is None:
        notes.assume(name, default, "default")
        return default
    return value


def resolve_text_model(
    name: str, params_b: float | None, catalog: Catalog, notes: Notes
) -> tuple[Model, str]:
    """The model row and the precision tag in its name; a name that states only a size is a dense model of
    that size, and says so."""
    if name and catalog.find_model(name) is None:
        sized = _SIZE_ONLY.match(name.strip().lower())
        if sized:
            return resolve_model("", float(sized[1]) * (1000 if sized[2] == "t" else 1), catalog, notes)
    return resolve_model(name, params_b, catalog, notes)


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


def whole_card(gpu: Gpu, instance: Instance | None, catalog: Catalog) -> Gpu | None:
    """The card that a vGPU slice is cut from; None for a whole card."""
    if instance is not None and instance.gpu_count < 1:
        return next(row for row in catalog.gpus if row.gpu_model == instance.gpu_model)
    if any(row.gpu_model == gpu.gpu_model for row in catalog.gpus):
        return None
    by_alias = {alias.alias: alias.gpu_model for alias in catalog.gpu_aliases}
    return catalog.gpu(by_alias.get(gpu.gpu_model) or gpu.gpu_model.rsplit("-", 1)[0])


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
    name: str, tag: str, native: str, gpu: GpuShape, engine: Engine, catalog: Catalog, notes: Notes
) -> Precision:
    """The weight precision: as asked, else as the name's tag says, else the model's own, else bf16."""
    if name:
        found = _named_precision(_LOADED_AS.get((engine.name, normal(name)), name), catalog)
        if normal(name) in ("int4", "int8", "4bit", "8bit", "fp4"):
            notes.assume("weight_precision", found.name, "kernel_not_stated")
    elif tag:
        found = _named_precision(tag, catalog)
        notes.assume("weight_precision", found.name, "from_model_name")
    else:
        found = catalog.precision(native)
        if found.name == "bf16" and not gpu.bf16_tflops:
            found = catalog.precision("fp16")
        notes.assume("weight_precision", found.name, "native_precision")
    support = computes_in(gpu, found)
    if support.reason and support.runs:
        notes.assume("compute_precision", support.computes_in, support.reason)
    return found


# What engines with one kind of kernel make of a bare width.
_LOADED_AS = {
    ("transformers", "int4"): "nf4", ("transformers", "4bit"): "nf4",
    ("transformers", "int8"): "int8-bnb", ("transformers", "8bit"): "int8-bnb",
    ("llama.cpp", "int4"): "gguf-q4_k_m", ("llama.cpp", "4bit"): "gguf-q4_k_m",
    ("llama.cpp", "int8"): "gguf-q8_0", ("llama.cpp", "8bit"): "gguf-q8_0",
}  # fmt: skip
_PRECISION_WORDS = {
    "int8 (block)": "int8-w8a8", "int8 (channel)": "int8-w8a8", "int8 (eetq)": "gptq-int8",
    "int4 (gptq) base": "gptq-int4", "int4 (bnb nf4) base": "nf4", "int4 (bnb) base": "nf4",
    "bnb-4bit (nf4, bf16 compute)": "nf4", "fp8 at load time": "fp8",
}  # fmt: skip


def _named_precision(name: str, catalog: Catalog) -> Precision:
    """The precision of a name as measurement tables write it: "FP8 at load time", "BF16 decoder; ..."."""
    written = _PRECISION_WORDS.get(name.strip().lower(), name)
    try:
        return catalog.precision(written)
    except InputError:
        for word in re.split(r"[\s;,/]+", written):
            if re.search(r"\d", word):
                try:
                    return catalog.precision(word)
                except InputError:
                    continue
        raise


def resolve_kv(
    name: str, weights: Precision, engine: Engine, gpu: GpuShape, catalog: Catalog, notes: Notes
) -> Precision:
    """The KV-cache precision. Without a wish it is 8 bit where the released files carry 8-bit KV scales
    (NVFP4 files, and FP8 files made for TensorRT-LLM), else 16 bit, as the engines do."""
    if name:
        return catalog.kv_precision(name)
    scaled = weights.name == "nvfp4" or (engine.name == "tensorrt-llm" and weights.name == "fp8")
    default = "fp8" if scaled and gpu.fp8_tflops else "bf16" if gpu.bf16_tflops else "fp16"
    notes.assume("kv_precision", default, "default")
    return catalog.kv_precision(default)


def _raised_until_it_fits(room: MemoryRoom, tokens: int, outputs: int, notes: Notes) -> MemoryRoom:
    """Where the engine's default share of the card holds no sequence: the highest share that people start it
    with, if that one does (DeepSeek-R1 in FP8 on 8 H20)."""
    if room.sequences(tokens, outputs):
        return room
    raised = replace(room, utilization=HIGHEST_UTILIZATION)
    if not raised.sequences(tokens, outputs):
        return room
    notes.assume("gpu_memory_utilization", HIGHEST_UTILIZATION, "raised_to_hold")
    return raised


def _joined_until_it_fits(
    request: ThroughputRequest, room: MemoryRoom, tokens: int, outputs: int, notes: Notes
) -> MemoryRoom:
    """Where no degree was stated and one replica holds no sequence: pairs of replicas become stages of one,
    until it does or no pairs are left (a 671B model on 32 cards of 80 GB)."""
    stated = request.tensor_parallel or request.pipeline_parallel or request.data_parallel
    wider = room
    while not stated and wider.plan.replicas % 2 == 0 and not wider.sequences(tokens, outputs):
        plan = wider.plan
        wider = replace(wider, plan=replace(plan, pipeline=2 * plan.pipeline, replicas=plan.replicas // 2))
    if wider is room or not wider.sequences(tokens, outputs):
        return room
    notes.assume("pipeline_parallel", wider.plan.pipeline, "default")
    return wider


def narrow_kv(
    request: ThroughputRequest, room: MemoryRoom, gpu: GpuShape, catalog: Catalog
) -> MemoryRoom | None:
    """The same room with an 8-bit cache, where nothing is said about the cache and the weights are 8 bit or
    less: who asks for more requests than a 16-bit cache holds then runs it so."""
    bits = room.weights.block_bits or room.weights.effective_bits or 16.0
    if request.kv_precision or not gpu.fp8_tflops or bits > 9 or room.kv.name.endswith("fp8"):
        return None
    return replace(room, kv=catalog.kv_precision("fp8"))


def resolve_arrival(word: str, notes: Notes) -> Arrival:
    """How requests arrive; without a word the first token is estimated between closed and paced loads."""
    key = normal(word)
    if not key:
        notes.assume("arrival", "mixed", "not_stated")
    if key in ("", "mixed", "unknown"):
        return "mixed"
    if key in ("closed", "closedloop", "burst"):
        return "closed"
    if key in ("paced", "open", "openloop", "constant", "poisson"):
        return "paced"
    raise InputError("arrival", word, "closed, paced or mixed")


def resolve_link(word: str, instance: Instance | None) -> str:
    """nvlink, pcie-p2p (with peer access), pcie (through host memory) or "" (as the card has it)."""
    key = normal(word)
    if key in ("", "unknown", "none", "auto"):
        return "pcie" if instance is not None and instance.interconnect == "pcie" else ""
    if key in ("nvlink", "nvswitch", "sxm", "hgx"):
        return "nvlink"
    if "p2p" in key and not re.search(r"no|without|disabled", key):
        return "pcie-p2p"
    if key.startswith("pci") or "p2p" in key:
        return "pcie"
    raise InputError("interconnect", word, "nvlink, pcie-p2p or pcie")


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
        # An engine started with stated degrees uses that many GPUs; only a plan of our own fills the machine.
        replicas = 1 if request.tensor_parallel else max(1, count // group)
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
