"""Spec pages made from the catalog: a line per instance type and GPU, a page per family and model."""

from __future__ import annotations

from collections.abc import Iterator

from knowledge.cards import usable_gib
from knowledge.catalog import Catalog
from knowledge.rows import Gpu, Instance, Model
from retrieval.chunk import OWN, Chunk

STATUS_ZH = {"current": "在售", "legacy": "已停售或不推荐", "unknown": "状态未知"}


def spec_chunks(catalog: Catalog) -> list[Chunk]:
    """Every spec page in both languages, in a stable order."""
    return [
        *(chunk for row in catalog.instances for chunk in _instance(row)),
        *(chunk for row in catalog.gpus for chunk in _gpu(row)),
        *(chunk for family in catalog.families for chunk in _family(family, catalog)),
        *(chunk for row in catalog.models for chunk in _model(row)),
    ]


def is_dense(chunk: Chunk) -> bool:
    """Whether a chunk gets a vector: guides, own documents, and one line per instance type and GPU."""
    return chunk.kind in ("guide", OWN, "instance", "gpu")


def _page(kind: str, name: str, title: str, english: str, chinese: str) -> Iterator[Chunk]:
    for language, text in (("en", english), ("zh", chinese)):
        yield Chunk(f"{kind}:{name}", language, kind, "spec", title, "", 0, text)


def _instance(row: Instance) -> Iterator[Chunk]:
    memory = f", {row.gpu_memory_gib:g} GiB GPU memory each" if row.gpu_memory_gib else ""
    memory_zh = f"，每卡显存 {row.gpu_memory_gib:g} GiB" if row.gpu_memory_gib else ""
    network = f", {row.network_gbps:g} Gbit/s network" if row.network_gbps else ""
    network_zh = f"，网络 {row.network_gbps:g} Gbit/s" if row.network_gbps else ""
    yield from _page(
        "instance",
        row.instance_type,
        row.instance_type,
        f"{row.instance_type}: {row.gpu_count:g} x {row.gpu_model}{memory}, {row.vcpu} vCPU, "
        f"{row.memory_gib:g} GiB memory{network}, interconnect {row.interconnect}, status {row.status}.",
        f"{row.instance_type}：{row.gpu_count:g} 张 {row.gpu_model}{memory_zh}，{row.vcpu} vCPU，"
        f"内存 {row.memory_gib:g} GiB{network_zh}，卡间互联 {row.interconnect}，{STATUS_ZH[row.status]}。",
    )


def _gpu(row: Gpu) -> Iterator[Chunk]:
    size = f"{row.memory_gib:g} GiB {row.memory_type}".strip() if row.memory_gib else ""
    usable = f"{usable_gib(row)[0]:.1f} GiB usable" if row.memory_gib else ""
    usable_zh = f"可用 {usable_gib(row)[0]:.1f} GiB" if row.memory_gib else ""
    bandwidth = f"{row.memory_bandwidth_gbs:g} GB/s" if row.memory_bandwidth_gbs else ""
    tensor = f"FP16 {row.fp16_tflops:g} TFLOPS" if row.fp16_tflops else ""
    capability = f"compute capability {row.compute_capability:g}" if row.compute_capability else ""
    names = " ".join(dict.fromkeys(name for name in (row.gpu_model, row.known_as) if name))
    english = [names, row.architecture, size, usable, bandwidth, tensor, capability]
    chinese = [names, f"{row.architecture} 架构" if row.architecture else "", size, usable_zh]
    chinese += [f"显存带宽 {bandwidth}" if bandwidth else "", tensor, capability]
    yield from _page(
        "gpu",
        row.gpu_model,
        row.gpu_model,
        ", ".join(part for part in english if part),
        "，".join(part for part in chinese if part),
    )


def _family(family: str, catalog: Catalog) -> Iterator[Chunk]:
    rows = catalog.in_family(family)
    gpus = ", ".join(dict.fromkeys(row.gpu_model for row in rows))
    types = ", ".join(row.instance_type for row in rows)
    counts = "/".join(f"{count:g}" for count in sorted({row.gpu_count for row in rows}))
    status = rows[0].status
    yield from _page(
        "family",
        family,
        family,
        f"{family}: GPU {gpus}; {counts} GPUs; status {status}; types {types}",
        f"{family} 规格族：GPU {gpus}；{counts} 卡；{STATUS_ZH[status]}；规格 {types}",
    )


def _model(row: Model) -> Iterator[Chunk]:
    size = f"{row.params_total_b:g}B parameters" if row.params_total_b else ""
    size_zh = f"{row.params_total_b:g}B 参数" if row.params_total_b else ""
    shape = f"{row.num_layers} layers, hidden {row.hidden_size}" if row.num_layers and row.hidden_size else ""
    shape_zh = f"{row.num_layers} 层，隐藏维度 {row.hidden_size}" if shape else ""
    names = " ".join(dict.fromkeys((row.model_id, row.display_name, *row.aliases)))
    yield from _page(
        "model",
        row.model_id,
        row.display_name,
        ", ".join(part for part in (names, row.kind, size, shape, row.attention) if part),
        "，".join(part for part in (names, row.kind, size_zh, shape_zh, row.attention) if part),
    )
