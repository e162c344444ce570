"""Names taken apart, names that do not exist, and types found by their properties, in words."""

from __future__ import annotations

import re

from agent.writing.facts import cards_of, value_word
from agent.writing.glossary import remark_text
from agent.writing.words import Words, bullets, table
from knowledge.rows import Instance
from tools.contracts.base import Remark
from tools.contracts.lookup import FindReport, NameReport

_TYPES_SHOWN = 12


def name_sections(w: Words, report: NameReport) -> list[str]:
    """A name taken apart; a phantom is said not to exist, with the near names."""
    if not report.exists and report.size:
        return phantom_sections(w, report)
    if not report.size:
        return [_family_name(w, report)]
    lines = [remark_text(w, _worded(w, remark)) for remark in report.remarks]
    name = report.instance_type if report.exists else report.given
    facts = []
    if report.family:
        facts.append(w(f"family {report.family}", f"规格族 {report.family}"))
    if report.vcpu is not None:
        facts.append(f"{report.vcpu} vCPU")
    if report.gpus is not None:
        facts.append(w(f"{report.gpus:g} GPUs", f"{report.gpus:g} 张 GPU"))
    head = f"**{name}**" + (w(": ", "：") + w.listed(facts) if facts else "")
    return [head, bullets(lines)]


_PREFIXES = {
    "ebm": ("elastic bare metal, the whole machine", "弹性裸金属（整机）"),
    "scc": ("super computing cluster", "超级计算集群"),
}
_LINES = {
    "gn": ("whole NVIDIA GPUs", "NVIDIA 整卡 GPU"),
    "vgn": ("vGPU slices of NVIDIA GPUs", "NVIDIA vGPU 切片"),
    "sgn": ("vGPU slices of NVIDIA GPUs, shared", "NVIDIA vGPU 切片（共享型）"),
}


def _family_name(w: Words, report: NameReport) -> str:
    """The parts of a family's name in one line, in their order."""
    remarks = {remark.code: remark_text(w, _worded(w, remark)) for remark in report.remarks}
    built = remarks.get("generation", "")
    parts = [f"{report.prefix} = {w(*_PREFIXES[report.prefix])}"] if report.prefix in _PREFIXES else []
    parts += [f"{report.line} = {w(*_LINES[report.line])}"] if report.line in _LINES else []
    if report.generation:
        parts.append(
            w(f"{report.generation} = the generation", f"{report.generation} = 第 {report.generation} 代")
        )
    parts += [text for code, text in remarks.items() if code not in ("generation", "product_code_missing")]
    said = w("; ", "；").join(parts)
    return (
        f"**{report.given}**"
        + w(f": {said}. ", f"：{said}。")
        + (f"{built[0].upper()}{built[1:]}" + w(".", "。") if built else "")
    )


def convention_section(w: Words, named: bool) -> str:
    """How names are built; where a name was taken apart already, only what letters do not promise."""
    letters = w(
        "The suffix letters after the generation are no public contract (x, for example, is the variant with "
        "the faster eRDMA network: ebmgn7ix against ebmgn7i): go by GPUSpec and GPUAmount of the API "
        "`DescribeInstanceTypes`, do not guess",
        "代际后面的字母没有公开约定（例如 x 是 eRDMA 高网络变体，如 ebmgn7ix 之于 ebmgn7i）：以官方 API "
        "`DescribeInstanceTypes` 的 GPUSpec、GPUAmount 为准，不要猜",
    )
    if named:
        return bullets([letters])
    lines = [
        w(
            "`-vws`: a vGPU type for graphics and virtual workstations, licence included; `-tee` and `-tdx`: "
            "confidential computing (such as gn8v-tee). Ordinary training and inference take types without "
            "these suffixes",
            "`-vws`：图形、虚拟工作站用的 vGPU 规格，含授权；`-tee`、`-tdx`：机密计算（如 gn8v-tee）。"
            "普通训练和推理选不带这些后缀的规格",
        ),
        w(
            "gn: whole NVIDIA GPUs; vgn and sgn: vGPU slices; ebm: bare metal; scc: super computing cluster",
            "gn：整卡 NVIDIA GPU；vgn、sgn：vGPU 切片；ebm：弹性裸金属；scc：超级计算集群",
        ),
        w(
            "`cNg1`: N vCPU for each GPU, a ratio; `-4x`: 4 GPUs; `-m8`: a slice of 8 GB; `Nxlarge`: 4 × N "
            "vCPU",
            "`cNg1`：每张 GPU 配 N 个 vCPU（是比例）；`-4x`：4 张 GPU；`-m8`：8 GB 切片；"
            "`Nxlarge`：4 × N vCPU",
        ),
        letters,
    ]
    return w("**Parts of a name**\n", "**规格名怎么读**\n") + bullets(lines)


def phantom_sections(w: Words, report: NameReport) -> list[str]:
    """A type or family that does not exist, the names near it, and why the name is wrong."""
    name = report.instance_type if report.size else report.given
    kind = w("instance type", "实例规格") if report.size else w("instance family", "规格族")
    head = w(
        f"**{name} does not exist**: no Alibaba Cloud {kind} has this name.",
        f"**{name} 不存在**：阿里云没有这个{kind}。",
    )
    if any(remark.code == "cpu_family" for remark in report.remarks):
        return [w(f"**{name} has no GPU**: it is a CPU family.", f"**{name} 没有 GPU**：它是 CPU 规格族。")]
    lines = [
        remark_text(w, _worded(w, remark))
        for remark in report.remarks
        if remark.code
        not in ("no_such_type", "no_such_family", "product_code_missing", "generation", "suffix_meaning")
    ]
    if size := re.fullmatch(r"(\d+)xlarge", report.size or ""):
        vcpu = 4 * int(size[1])
        lines.append(
            w(f"{size[0]} says {vcpu} vCPU (4 × {size[1]})", f"{size[0]} 表示 {vcpu} vCPU（4 × {size[1]}）")
        )
    if report.suggestions:
        lines.insert(0, w("Near names: ", "相近的规格：") + w.listed(report.suggestions))
    return [head, bullets(lines)]


def _worded(w: Words, remark: Remark) -> Remark:
    """A remark whose fixed values are worded too."""
    params = {
        key: value_word(w, value) if isinstance(value, str) and key in ("meaning", "architecture") else value
        for key, value in remark.params.items()
    }
    return Remark(code=remark.code, params=params)


def most_memory_line(w: Words, report: FindReport) -> str:
    """The first type of a list that is ordered by memory."""
    row = report.found[0].instance
    return w(
        f"**{row.instance_type}** has the most memory of them: {row.vcpu} vCPU, {row.memory_gib:g} GiB, "
        f"{cards_of(w, row)}.",
        f"内存最大的是 **{row.instance_type}**：{row.vcpu} vCPU，{row.memory_gib:g} GiB，"
        f"{cards_of(w, row)}。",
    )


def find_sections(w: Words, report: FindReport) -> list[str]:
    """Types that were found by their properties."""
    if not report.found:
        return [
            w("No instance type in the catalog has all of these.", "目录里没有同时满足这些条件的实例规格。")
        ]
    rows = [
        (
            item.instance.instance_type,
            cards_of(w, item.instance),
            str(item.instance.vcpu),
            f"{item.instance.memory_gib:g} GiB",
            w.price(item.price.amount) if item.price else "–",
        )
        for item in report.found[:_TYPES_SHOWN]
    ]
    header = (
        w("Instance type", "实例规格"), "GPU", "vCPU", w("Memory", "内存"),
        w(f"Per hour, {report.region}", f"每小时（{report.region}）"),
    )  # fmt: skip
    head = w(f"{report.total} instance types have this.", f"共有 {report.total} 款实例规格符合。")
    return [head, table(header, rows)]


def cheapest_line(w: Words, report: FindReport) -> list[str]:
    """The cheapest of the types found; none where no price is published."""
    first = next((item for item in report.found if item.price is not None), None)
    if first is None or first.price is None:
        return []
    cards, price = cards_of(w, first.instance), w.price(first.price.amount)
    return [
        w(
            f"The cheapest with a published price in {report.region}: **{first.instance.instance_type}** "
            f"({cards}), **{price}**.",
            f"{report.region} 有公开价格的最便宜规格：**{first.instance.instance_type}**"
            f"（{cards}），**{price}**。",
        )
    ]


def link_sections(w: Words, report: FindReport, unlinked: FindReport | None) -> list[str]:
    """Families found by their links, one line each: GPU and NVLink bandwidth; then those with PCIe only."""
    by_family: dict[str, Instance] = {}
    for item in report.found:
        by_family.setdefault(item.instance.family, item.instance)
    rows = [
        (
            family,
            row.gpu_model,
            f"{row.nvlink_gbs_per_gpu:g} GB/s" if row.nvlink_gbs_per_gpu else value_word(w, row.interconnect),
            f"{row.rdma_gbps:g} Gbit/s" if row.rdma_gbps else "–",
        )
        for family, row in by_family.items()
    ]
    header = (w("Family", "规格族"), "GPU", w("Between GPUs", "卡间互联"), "RDMA")
    linked = w.listed(family for family, row in by_family.items() if row.interconnect == "nvlink")
    remote = w.listed(family for family, row in by_family.items() if row.rdma_gbps)
    head = (
        w(f"**With NVLink between the GPUs: {linked}.**", f"**卡间有 NVLink 的规格族：{linked}。**")
        if linked
        else ""
    )
    if remote:
        head += w(f" With RDMA between machines: {remote}.", f"机器间有 RDMA 的：{remote}。")
    others = [item.instance for item in unlinked.found] if unlinked is not None else []
    pcie = dict.fromkeys(row.family for row in others if row.whole_gpus > 1 and row.interconnect == "pcie")
    if pcie:
        head += w(f" PCIe only: {w.listed(pcie)}.", f" 只有 PCIe 的：{w.listed(pcie)}。")
    check = w("Confirm on the machine with `nvidia-smi topo -m`.", "到机器上用 `nvidia-smi topo -m` 确认。")
    return [head, table(header, rows), check]
