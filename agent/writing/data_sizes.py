"""Arithmetic of bytes: moving data, checkpoints, host memory of offloading, load of a network."""

from __future__ import annotations

import re

from agent.reading.types import Reading
from agent.steps import Case
from agent.writing.words import Words
from knowledge.catalog import Catalog
from knowledge.errors import AdvisorError

_MOVED = frozenset({"network", "storage", "download", "migration"})
_USUAL_LINKS_MBPS = (100.0, 800.0, 1000.0)  # a public address, 100 MB/s, 1 Gbit/s
# Bytes per parameter of a full training state: bf16 weights 2, fp32 master copy 4, two Adam moments 8.
_STATE_BYTES = 14
_WEIGHT_BYTES = 2
_SYSTEM_GB = 100.0  # system, driver, CUDA and container images: 100 GiB is a usual system disk
_LOADS = re.compile(r"加载|载入|读(?:取|入|完)|load|read", re.IGNORECASE)
_DISK_SIZE = re.compile(
    r"盘.{0,10}(?:多大|多少|大小|几百)|多大的?.{0,4}盘|(?:disk|storage).{0,24}(?:size|big|large|much|gb)"
    r"|(?:size|big|large|much).{0,24}(?:disk|storage)",
    re.IGNORECASE,
)
# Host memory of an offloaded AdamW: fp32 master copy and moments 12, gradients in fp32 another 4.
_OFFLOAD_BYTES = (12, 16)
_DISKS_MBS = (350.0, 1000.0)  # ESSD PL1 at most; a shared file system of 1 GB/s
_ITEM_MB = {"image": 2.0, "page": 1.0, "clip": 20.0, "document": 0.1}  # assumed, and said so
_ADAPTERS = ("lora", "qlora")


def byte_sections(w: Words, case: Case) -> list[str]:
    """The calculations that the question gives figures for."""
    reading, catalog = case.reading, case.catalog
    return [
        text
        for text in (
            _transfer(w, reading),
            _loading(w, reading, catalog) or _checkpoint(w, reading, catalog),
            _disk(w, reading, catalog),
            _offload(w, reading, catalog),
            _incoming(w, case),
        )
        if text
    ]


def _transfer(w: Words, reading: Reading) -> str:
    """Data divided by the rate of the line, or of usual lines where none was named."""
    if not reading.data_gb or not _MOVED & set(reading.topics) or "spot" in reading.topics:
        return ""
    links = (reading.link_mbps,) if reading.link_mbps else _USUAL_LINKS_MBPS
    size = _size(w, reading.data_gb)
    times = w("; ", "；").join(
        f"{size} ÷ {_link(link)} = {_duration(w, reading.data_gb * 8e3 / link)}" for link in links
    )
    return w(
        f"**Time to move it.** {times}, with the line full all the time; a real transfer takes longer.",
        f"**传输时间**：{times}（按线路一直跑满计，实际会更久）。",
    )


def _checkpoint(w: Words, reading: Reading, catalog: Catalog) -> str:
    """Size of one full save and the time to write it."""
    params_b = _params_b(reading, catalog)
    if "checkpoint" not in reading.topics or not params_b or reading.request.method in _ADAPTERS:
        return ""
    state_gb, weights_gb = params_b * _STATE_BYTES, params_b * _WEIGHT_BYTES
    writes = w("; ", "；").join(
        f"{_rate(speed)}: {_duration(w, state_gb * 1e3 / speed)}" for speed in _DISKS_MBS
    )
    return w(
        f"**Size of a checkpoint.** {params_b:g}B × {_STATE_BYTES} bytes (bf16 weights, fp32 master "
        f"copy, Adam moments) = {_size(w, state_gb)}; weights alone {_size(w, weights_gb)}. One full save "
        f"takes at {writes}.",
        f"**检查点大小**：{params_b:g}B × {_STATE_BYTES} 字节（bf16 权重、fp32 主权重、Adam 动量）= "
        f"{_size(w, state_gb)}；仅权重 {_size(w, weights_gb)}。完整写一次：{writes}。",
    )


def _loading(w: Words, reading: Reading, catalog: Catalog) -> str:
    """Reading the weights once, at the rate of the disk named."""
    params_b = _params_b(reading, catalog)
    if not params_b or not reading.link_mbps or not _LOADS.search(reading.question):
        return ""
    weights_gb, rate = _weights_gb(reading, catalog, params_b), reading.link_mbps / 8
    time = f"{_size(w, weights_gb)} ÷ {_rate(rate)} = {_duration(w, weights_gb * 1e3 / rate)}"
    return w(
        f"**Loading time.** {time}, read once from the disk at its full rate; the type's own disk limit may "
        "be lower, and a disk made from a snapshot reads slower the first time.",
        f"**加载时间**：{time}（按云盘满速顺序读一次；还受规格的云盘带宽限制，快照建的盘首次读更慢）。",
    )


def _disk(w: Words, reading: Reading, catalog: Catalog) -> str:
    """Room for a model on disk: its weights twice (download and file) and the system with its images."""
    params_b = _params_b(reading, catalog)
    if not params_b or "storage" not in reading.topics or not _DISK_SIZE.search(reading.question):
        return ""
    weights_gb = _weights_gb(reading, catalog, params_b)
    low, high = weights_gb + _SYSTEM_GB, 2 * weights_gb + _SYSTEM_GB
    return w(
        f"**Disk.** Weights {_size(w, weights_gb)} + {_SYSTEM_GB:g} GB for system, driver and images "
        f"= {_size(w, low)}; twice the weights while the download cache is kept = {_size(w, high)}. Rather a "
        "data disk for the model (ESSD PL1) and 100 GiB for the system.",
        f"**磁盘大小**：权重 {_size(w, weights_gb)} + 系统、驱动和容器镜像 {_SYSTEM_GB:g} GB = "
        f"{_size(w, low)}；下载缓存不删则权重算两份，共 {_size(w, high)}。"
        "更建议模型单独放数据盘（ESSD PL1），系统盘 100 GiB。",
    )


def _weights_gb(reading: Reading, catalog: Catalog, params_b: float) -> float:
    """File size of the weights in the precision said, 16 bit without one."""
    name = reading.request.precision
    try:
        row = catalog.precision(name) if name else None
        bits = (row.effective_bits or row.block_bits) if row is not None else None
    except AdvisorError:
        bits = None
    return params_b * (bits / 8 if bits else _WEIGHT_BYTES)


def _offload(w: Words, reading: Reading, catalog: Catalog) -> str:
    """Host memory that an offloaded optimizer needs."""
    params_b = _params_b(reading, catalog)
    if "offload" not in reading.topics or not params_b or not {"parallel", "oom"} & set(reading.topics):
        return ""
    if reading.request.method in _ADAPTERS or not {"parallel", "zero"} & set(reading.topics):
        return ""
    low, high = (params_b * each for each in _OFFLOAD_BYTES)
    return w(
        f"**Host memory.** Full fine-tuning of {params_b:g}B with offloaded AdamW: {params_b:g}B × "
        f"{_OFFLOAD_BYTES[0]} to {_OFFLOAD_BYTES[1]} bytes (fp32 master copy, moments, gradients) = "
        f"{low:.0f} to {high:.0f} GB of RAM, and {params_b * _WEIGHT_BYTES:.0f} GB for each process that "
        "loads the bf16 weights, plus pinned buffers: several copies exceed it quickly.",
        f"**主机内存**：{params_b:g}B 全参、AdamW 卸载：{params_b:g}B × {_OFFLOAD_BYTES[0]} 到 "
        f"{_OFFLOAD_BYTES[1]} 字节（fp32 主权重、动量、梯度）= {low:.0f} 到 {high:.0f} GB 内存；"
        f"每个加载 bf16 权重的进程另占 {params_b * _WEIGHT_BYTES:.0f} GB，还有锁页缓冲，多几份副本就会超。",
    )


def _incoming(w: Words, case: Case) -> str:
    """The network load of files that come in each second, against the machine's network."""
    reading = case.reading
    each_mb = _ITEM_MB.get(reading.item)
    if not reading.items_per_second or each_mb is None or "network" not in reading.topics:
        return ""
    load_mbps = reading.items_per_second * each_mb * 8
    sum_en = f"{reading.items_per_second:g} a second × {each_mb:g} MB (assumed) × 8 = {load_mbps:g} Mbit/s"
    sum_zh = f"每秒 {reading.items_per_second:g} 个 × {each_mb:g} MB（假设）× 8 = {load_mbps:g} Mbit/s"
    networks = [
        (item.name, row.network_gbps)
        for item in reading.mentions
        if item.kind == "instance" and (row := case.catalog.instance(item.name)).network_gbps
    ]
    if not networks:
        return w(f"**Network load.** {sum_en}.", f"**网络负载**：{sum_zh}。")
    name, gbps = networks[0]
    enough = load_mbps < 1000 * (gbps or 0)
    verdict = (
        w("far below" if load_mbps < 100 * (gbps or 0) else "below", "远低于")
        if enough
        else w("above", "超过")
    )
    return w(
        f"**Network load.** {sum_en}, {verdict} the {gbps:g} Gbit/s of {name}.",
        f"**网络负载**：{sum_zh}，{verdict} {name} 的 {gbps:g} Gbit/s。",
    )


def _params_b(reading: Reading, catalog: Catalog) -> float | None:
    model = catalog.find_model(reading.request.model) if reading.request.model else None
    return model.params_total_b if model is not None else reading.request.params_b


def _size(w: Words, gigabytes: float) -> str:
    return f"{w.num(gigabytes / 1e3, 3)} TB" if gigabytes >= 1e3 else f"{w.num(gigabytes, 3)} GB"


def _rate(mbs: float) -> str:
    return f"{mbs / 1e3:g} GB/s" if mbs >= 1e3 else f"{mbs:g} MB/s"


def _link(mbps: float) -> str:
    if mbps == 800:
        return "100 MB/s"
    return f"{mbps / 1e3:g} Gbit/s" if mbps >= 1e3 else f"{mbps:g} Mbit/s"


def _duration(w: Words, seconds: float) -> str:
    """Minutes, hours or days, whichever reads best."""
    for limit, size, english, chinese in (
        (5400, 60, "min", "分钟"),
        (172_800, 3600, "h", "小时"),
    ):
        if seconds < limit:
            return f"{w.num(seconds / size, 3)} {w(english, chinese)}"
    return f"{w.num(seconds / 86_400, 2)} {w('days', '天')}"
