"""Look-ups in words: instance types, families, GPUs, models and precisions."""

from __future__ import annotations

from agent.writing.glossary import entries
from agent.writing.words import Words, bullets, table
from knowledge.rows import Family, Gpu, Instance
from tools.contracts.cost import PriceShown
from tools.contracts.lookup import (
    FamilyReport,
    GpuReport,
    InstanceReport,
    ModelReport,
    PrecisionReport,
)

_TYPES_SHOWN = 12
_GPU_TYPES_SHOWN = 5
_REGIONS_SHOWN = 8


def value_word(w: Words, value: str) -> str:
    """A fixed value of the tables (nvlink, contact-sales, workstation_licence_included …) in words."""
    entry = entries("values").get(value)
    return entry[w.language] if entry else value.replace("_", " ")


def price_of(w: Words, price: PriceShown | None) -> str:
    """A price with what it is, where and of when; said to be missing if it is."""
    if price is None:
        return w("no list price published", "没有公开的目录价")
    shown = w.price(price.amount, price.unit, price.currency)
    when, place = when_of(w, price), price.zone or price.region
    return w(
        f"{shown} ({w.purchase(price.purchase)}, {place}, {when})",
        f"{shown}（{w.purchase(price.purchase)}，{place}，{when}）",
    )


def when_of(w: Words, price: PriceShown) -> str:
    """The date of a price; of a live one that it is live, and the minute; of a derived one that it is."""
    if price.basis.startswith("derived"):
        return w(f"derived, {w.date(price.as_of)}", f"推算，{w.date(price.as_of)}")
    if price.basis != "live":
        return w.date(price.as_of)
    return w(f"live, {price.at or price.as_of}", f"实时，{price.at or price.as_of}")


def from_price(w: Words, price: PriceShown | None) -> str:
    """The lowest price of several types, or that none is listed."""
    return price_of(w, price) if price is None else w("from ", "最低 ") + price_of(w, price)


def cards_of(w: Words, row: Instance) -> str:
    """GPU count, model and memory of a type; a slice as a share."""
    size = f" {row.gpu_memory_gib:g} GB" if row.gpu_memory_gib and "GB" not in row.gpu_model else ""
    if row.gpu_count < 1:
        share = f"1/{round(1 / row.gpu_count)}"
        return w(
            f"{share} {row.gpu_model} (a vGPU slice of {row.gpu_memory_gib:g} GB)",
            f"{share} 张 {row.gpu_model}（vGPU 切片，{row.gpu_memory_gib:g} GB）",
        )
    return f"{row.whole_gpus} × {row.gpu_model}{size}"


def instance_sections(w: Words, report: InstanceReport) -> list[str]:
    """An instance type: one line, then its properties."""
    row = report.instance
    total = ""
    if row.whole_gpus > 1 and report.total_gpu_memory_gib:
        total = w(
            f", {report.total_gpu_memory_gib:g} GB in all", f"，共 {report.total_gpu_memory_gib:g} GB 显存"
        )
    head = w(
        f"**{row.instance_type}**: {cards_of(w, row)}{total}, {row.vcpu} vCPU, {row.memory_gib:g} GiB of "
        f"memory; {price_of(w, report.cost.price)}.",
        f"**{row.instance_type}**：{cards_of(w, row)}{total}，{row.vcpu} vCPU，内存 {row.memory_gib:g} GiB；"
        f"{price_of(w, report.cost.price)}。",
    )
    lines = [_usable_line(w, report.gpu, report.usable_gib_per_gpu, report.usable_measured)]
    lines.append(_network_line(w, row))
    lines += _family_lines(w, report.facts)
    if report.regions:
        lines.append(regions_line(w, report.regions, report.regions_as_of))
    if report.siblings:
        shown = w.listed(report.siblings[:6])
        lines.append(w(f"Others of {row.family}: {shown}", f"{row.family} 的其他规格：{shown}"))
    return [head, bullets(line for line in lines if line)]


def _usable_line(w: Words, gpu: Gpu, usable: float | None, measured: bool) -> str:
    parts = [value_word(w, gpu.architecture)]
    if usable is not None and gpu.memory_gib is not None:
        how = w("that CUDA sees", "CUDA 可见") if measured else w("derived", "推算")
        parts.append(
            w(
                f"{gpu.memory_gib:g} GB {gpu.memory_type} nominal, {w.gib(usable)} usable ({how})",
                f"标称 {gpu.memory_gib:g} GB {gpu.memory_type}，可用 {w.gib(usable)}（{how}）",
            )
        )
    if gpu.memory_bandwidth_gbs:
        parts.append(f"{w.num(gpu.memory_bandwidth_gbs, 4)} GB/s")
    if gpu.compute_capability:
        parts.append(
            w(f"compute capability {gpu.compute_capability:g}", f"计算能力 {gpu.compute_capability:.1f}")
        )
    return f"GPU: {w.listed(part for part in parts if part)}"


def _network_line(w: Words, row: Instance) -> str:
    parts = []
    if row.network_gbps:
        parts.append(f"{row.network_gbps:g} Gbit/s")
    parts.append(
        value_word(w, row.interconnect) + w(" between GPUs", "（卡间）") if row.whole_gpus > 1 else ""
    )
    if row.rdma_gbps:
        parts.append(w(f"RDMA {row.rdma_gbps:g} Gbit/s", f"RDMA {row.rdma_gbps:g} Gbit/s"))
    disk = f"{row.local_nvme_gib:g} GiB" if row.local_nvme_gib else w("none", "无")
    parts.append(w(f"local NVMe disk: {disk}", f"本地 NVMe 盘：{disk}"))
    return w("Network and links: ", "网络与互联：") + w.listed(part for part in parts if part)


def _family_lines(w: Words, facts: Family | None) -> list[str]:
    if facts is None:
        return []
    lines = []
    if facts.access != "open":
        lines.append(w("How to get it: ", "购买方式：") + value_word(w, facts.access))
    if facts.uses:
        lines.append(w("Meant for: ", "用途：") + w.listed(value_word(w, use) for use in facts.uses))
    if facts.graphics_driver:
        lines.append(value_word(w, facts.graphics_driver))
    if facts.video_encode and facts.video_encode != "none":
        lines.append(w("Video encoding: ", "视频编码：") + facts.video_encode.replace("+", ", ").upper())
    return lines


def regions_line(w: Words, regions: tuple[str, ...], as_of: str) -> str:
    """Regions in whose price lists something was seen, with the date of the lists."""
    shown = w.listed(regions[:_REGIONS_SHOWN])
    more = len(regions) - _REGIONS_SHOWN
    tail = w(f" and {more} more", f" 等共 {len(regions)} 个") if more > 0 else ""
    return w(
        f"In the price lists of {shown}{tail} ({w.date(as_of)}); a price is no promise of stock, check the "
        "zone in the console or with `DescribeAvailableResource`",
        f"价目表（{w.date(as_of)}）中有报价的地域：{shown}{tail}；有价不等于有货，"
        "请在控制台或用 `DescribeAvailableResource` 查可用区库存",
    )


def sold_line(w: Words, report: FamilyReport) -> str:
    """A family with its cards and the regions whose price lists have it."""
    cards = w.listed(report.gpu_models)
    if not report.regions:
        return w(
            f"**{report.family}** ({cards}): no price list names a region; see the console or ask sales.",
            f"**{report.family}**（{cards}）：价目表没有写明地域，请在控制台或向销售确认。",
        )
    places, count, date = w.listed(report.regions), len(report.regions), w.date(report.regions_as_of)
    return w(
        f"**{report.family}** ({cards}): in the price lists of {count} regions ({date}): {places}.",
        f"**{report.family}**（{cards}）：{count} 个地域的价目表里有（{date}）：{places}。",
    )


def family_sections(w: Words, report: FamilyReport) -> list[str]:
    """A family: its GPU, how it is sold, and its types side by side."""
    names = w.listed(_with_memory(name, report.instances) for name in report.gpu_models)
    # The API code of a hidden name and the commonly known name are both said where they differ.
    head = w(
        f"**{report.family}** carries {names} ({w.listed(value_word(w, item) for item in report.statuses)}); "
        f"{from_price(w, report.from_price)}.",
        f"**{report.family}** 用的是 {names}（{w.listed(value_word(w, item) for item in report.statuses)}）；"
        f"{from_price(w, report.from_price)}。",
    )
    lines = _family_lines(w, report.facts)
    if any(row.local_nvme_gib for row in report.instances):
        lines.append(
            w(
                "It has local NVMe disks; their data is lost with the instance",
                "带本地 NVMe 盘，数据随实例释放而丢失",
            )
        )
    else:
        lines.append(w("No local disk", "没有本地盘"))
    if report.regions:
        lines.append(regions_line(w, report.regions, report.regions_as_of))
    return [head, _types_table(w, report.instances), bullets(lines)]


def _with_memory(gpu_model: str, rows: tuple[Instance, ...]) -> str:
    """A GPU with its nominal memory where the name does not tell it."""
    size = next((row.gpu_memory_gib for row in rows if row.gpu_model == gpu_model and row.whole_gpus), None)
    return f"{gpu_model} {size:g} GB" if size and "GB" not in gpu_model else gpu_model


def _types_table(w: Words, rows: tuple[Instance, ...]) -> str:
    header = (
        w("Instance type", "实例规格"), "GPU", "vCPU", w("Memory", "内存"),
        w("Network", "网络"), w("Links", "互联"),
    )  # fmt: skip
    cells = [
        (
            row.instance_type,
            cards_of(w, row),
            str(row.vcpu),
            f"{row.memory_gib:g} GiB",
            f"{row.network_gbps:g} Gbit/s" if row.network_gbps else "–",
            value_word(w, row.interconnect),
        )
        for row in rows[:_TYPES_SHOWN]
    ]
    return table(header, cells)


def gpu_sections(w: Words, report: GpuReport) -> list[str]:
    """A GPU: what it is, what it computes, which families carry it or stand in for it."""
    gpu = report.gpu
    current = dict.fromkeys(row.family for row in report.instances if row.status == "current")
    others = dict.fromkeys(row.family for row in report.instances if row.status != "current")
    lines = [_usable_line(w, gpu, report.usable_gib, report.usable_measured), _rates_line(w, gpu)]
    lines += _support_lines(w, report)
    if gpu.nvlink_gbs:
        lines.append(f"NVLink {gpu.nvlink_gbs:g} GB/s")
    if others:
        lines.append(
            w(
                f"Also in the API or price lists, but retired or not confirmed for sale: {w.listed(others)}",
                f"只在 API 或价目表里出现、已停售或未确认在售：{w.listed(others)}",
            )
        )
    if gpu.name_in_docs and gpu.gpu_model not in gpu.name_in_docs:
        lines.append(
            w(
                f"The documents say {gpu.name_in_docs}; generally known as {gpu.known_as}",
                f"官方文档写作 {gpu.name_in_docs}；通常认为是 {gpu.known_as}",
            )
        )
    sold = tuple(row for row in report.instances if row.status == "current" and row.whole_gpus)
    shown = sorted(sold, key=lambda row: (row.whole_gpus, row.vcpu, row.memory_gib))[:_GPU_TYPES_SHOWN]
    if shown:
        least = shown[0]
        lines.append(
            w(
                f"Smallest type: {least.instance_type} ({least.vcpu} vCPU, {least.memory_gib:g} GiB), on "
                "sale by the documents; stock to be checked for the zone in the console or with "
                "`DescribeAvailableResource`",
                f"最小规格：{least.instance_type}（{least.vcpu} vCPU，{least.memory_gib:g} GiB）；文档上在售"
                "，库存请在控制台或用 `DescribeAvailableResource` 查可用区",
            )
        )
    return [
        _gpu_head(w, report, list(current)),
        bullets(line for line in lines if line),
        *([_types_table(w, tuple(shown))] if shown else []),
    ]


def _gpu_head(w: Words, report: GpuReport, families: list[str]) -> str:
    """Which families on sale carry a GPU, or what stands in for it."""
    gpu = report.gpu
    if families:
        return w(
            f"**{gpu.gpu_model}** ({value_word(w, gpu.architecture)}) is in {w.listed(families)}; "
            f"{from_price(w, report.from_price)}.",
            f"**{gpu.gpu_model}**（{value_word(w, gpu.architecture)}）对应 {w.listed(families)}；"
            f"{from_price(w, report.from_price)}。",
        )
    pairs = zip(report.stand_ins, report.stand_in_families, strict=True)
    near = [w(f"{name} ({family})", f"{name}（{family}）") for name, family in pairs]
    stand_ins = w.listed(near) or w("none near", "无相近型号")
    return w(
        f"**{gpu.gpu_model}** ({gpu.architecture}) is in no instance family that Alibaba Cloud sells "
        f"now; nearest sold cards: {stand_ins}.",
        f"阿里云在售的实例里没有 **{gpu.gpu_model}**（{gpu.architecture}）；最接近的在售型号：{stand_ins}。",
    )


def _rates_line(w: Words, gpu: Gpu) -> str:
    rates = (
        ("FP64", gpu.fp64_tflops), ("FP32", gpu.fp32_tflops), ("TF32", gpu.tf32_tflops),
        ("FP16", gpu.fp16_tflops),
        ("BF16", gpu.bf16_tflops), ("FP8", gpu.fp8_tflops),
    )  # fmt: skip
    shown = w.listed(f"{name} {w.num(value)} TFLOPS" for name, value in rates if value)
    return w(f"Dense rates: {shown}", f"稠密算力：{shown}") if shown else ""


def _support_lines(w: Words, report: GpuReport) -> list[str]:
    by_level: dict[str, list[str]] = {}
    for item in report.supports:
        by_level.setdefault(item.level, []).append(w.precision(item.precision))
    lines = []
    if "weight-only" in by_level:
        names = w.listed(by_level["weight-only"])
        lines.append(
            w(f"Weight-only (computes in 16 bit): {names}", f"仅权重量化（计算仍是 16 位）：{names}")
        )
    if "no" in by_level:
        names = w.listed(by_level["no"])
        lines.append(w(f"Cannot run: {names}", f"不支持：{names}"))
    return lines


def model_sections(w: Words, report: ModelReport) -> list[str]:
    """A model: its size, the weights by precision and the KV cache per token."""
    model = report.model
    params = f"{model.params_total_b:g}B" if model.params_total_b else w("unknown size", "参数量未知")
    active = ""
    if model.params_active_b and model.params_active_b != model.params_total_b:
        active = w(f" ({model.params_active_b:g}B active)", f"（激活 {model.params_active_b:g}B）")
    parts = [f"{w.precision(name)} {w.gib(value)}" for name, value in report.weights_gib.items()]
    head = w(
        f"**{model.display_name}**: {params} parameters{active}; weights {w.listed(parts)}.",
        f"**{model.display_name}**：{params} 参数{active}；权重 {w.listed(parts)}。",
    )
    lines = []
    if report.kv_kib_per_token and report.kv_gib_per_8k:
        per_token = f"{w.num(report.kv_kib_per_token, 4)} KiB"
        lines.append(
            w(
                f"KV cache: {per_token} per token in 16 bit, {w.gib(report.kv_gib_per_8k)} for 8,192 tokens",
                f"KV 缓存：16 位时每 token {per_token}，8,192 token 占 {w.gib(report.kv_gib_per_8k)}",
            )
        )
    if model.max_position_embeddings:
        limit = w.count(model.max_position_embeddings)
        lines.append(w(f"Context up to {limit} tokens", f"最长上下文 {limit} token"))
    if model.license:
        lines.append(w(f"Licence: {model.license}", f"许可证：{model.license}"))
    return [head, bullets(lines)]


def precision_sections(w: Words, report: PrecisionReport) -> list[str]:
    """A format: bits per weight and where it runs."""
    row = report.precision
    bits = row.effective_bits or row.block_bits
    size = w(f": {bits:g} bits per weight", f"：每个权重 {bits:g} 位") if bits else ""
    lines = []
    for english, chinese, names in (
        ("Native on", "原生支持", report.native_on),
        ("Weight-only on", "仅权重量化", report.weight_only_on),
        ("Not on", "不支持", report.not_on),
    ):
        if names:
            lines.append(w(f"{english}: ", f"{chinese}：") + w.listed(names))
    return [f"**{w.precision(row.name)}**{size}", bullets(lines)]
