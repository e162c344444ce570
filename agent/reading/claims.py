"""Recognises the premise behind a question: claims of the catalog by id, and premises by stable code.

A premise is found from what it is about (a family with an architecture, a GPU with a precision, a price
with a type), never from the wording of one question. Whether it is right is for the catalog to say.

Codes beside the ids of `claims.csv`: phantom_type, phantom_family, g6_not_gpu, wrong_family_gpu,
wrong_family_architecture, price_stated, gpu_not_sold, fp8_on_ampere, fp8_on_volta_turing,
bf16_on_volta_turing, fp64_on_graphics_gpu, nvlink_on_gn7i, model_too_big_for_card, moe_active_memory,
vram_pools_across_gpus, host_memory_is_not_vram, utilisation_is_not_load, smi_cuda_is_driver_limit,
t4_cheaper_than_a10, spot_notice, spot_discontinued, spot_disk_discount, spot_converts, spot_for_production,
bid_is_price, reserved_guarantees_stock, reserved_covers_spot, stopped_is_free, suffix_is_gpu_name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from agent.reading.types import Mention
from knowledge.catalog import Catalog
from knowledge.errors import AdvisorError

_ARCHITECTURES = {
    "Hopper": "hopper|霍珀", "Ampere": "ampere|安培", "Turing": "turing|图灵", "Volta": "volta|伏特",
    "Pascal": "pascal|帕斯卡", "Ada Lovelace": r"(?<![a-z])ada(?![a-z])|lovelace", "Blackwell": "blackwell",
}  # fmt: skip
_ARCHITECTURE_PATTERNS = {name: re.compile(pattern) for name, pattern in _ARCHITECTURES.items()}
_CHOICE = re.compile(
    r"还是|(?<![a-z])or(?![a-z])|vs|versus|对比|比(?!较)|换成?|迁|than|instead|升级到|代替|直接上"
)
_LINK = re.compile(
    r"是|用的?|配|带|搭载|=|:|\(|的|有|都|到底|is|has|have|uses?|with|carr|runs? on|comes|based|为|属于|写|不是|for|family|series|系列|架构|arch|gpu|a(?:n)?\s"
)

# Premises that stand in the words alone: every pattern of a line must be found.
_WORDED: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("claim-001", (r"tensorflow\s*-?\s*(?:v|version\s*)?3(?:\.\d|\b|(?![\d.]))",)),
    ("claim-002", (r"gddr6x",)),
    ("claim-020", (r"抢占|竞价|spot", r"(?:最多|最高|顶多|at most|up to|max\w*)\D{0,12}(?:70\s*%|7成|70\s*percent)|最低3折")),
    ("claim-019", (r"预留|reserved|reservation|3\s*年|3[-\s]year", r"35\s*%|35 percent")),
    ("claim-022", (r"availability_zone|alicloud_zones", r"terraform|stock|库存|vswitch|zone")),
    ("claim-023", (r"apt(?:-get|-key)?(?![a-z])", r"centos|user_data|rhel|alinux")),
    ("claim-024", (r"nvidia-?docker", r"nvidia-driver|驱动|driver", r"源|repo|apt|yum|仓库|install|安装|provid")),
    ("claim-025", (r"modifyinstancevncpasswd",)),
    ("claim-026", (r"set_?vgpu_?count",)),
    ("claim-027", (r"dcgm", r"(?<!\d)10(?:09|10)(?!\d)")),
    ("claim-028", (r"dcgm:?\s?2\.3\.7",)),
    ("claim-029", (r"cg(?:create|roup)", r"gpu",)),
    ("claim-030", (r"gpu\.memory\.limit|memory\.limit_in_bytes",)),
    ("claim-031", (r"突发|burstable|t[56](?![a-z0-9])", r"cpuinfo|基线|baseline")),
    ("claim-032", (r"nvme|本地盘", r"rsync", r"可用区|zone|region|地域")),
    ("claim-033", (r"预留实例|预留券|reserved", r"跨(?:地域|区|region)|across regions|another region|other regions")),
    ("claim-038", (r"(?<![a-z])g(?![a-z0-9])\s*(?:就?是|代表|表示|指|means?|stands?|=)", r"gn\d|gpu")),
    ("claim-040", (r"c\d{1,3}g\d", r"代表|表示|意思|means?|stands?|就是|=|是不是|几个?vcpu|vcpus?|核")),
    ("claim-041", (r"\d+xlarge", r"档次|等级|没有?公式|无关|only a grade|no formula|只是|just a (?:size|grade|label)")),
    ("claim-052", (r"裸金属|bare[-\s]?metal|ebm", r"自定义镜像|custom image")),
    ("claim-055", (r"(?:带|有|后缀|suffix|字母|the|letter|with|结尾)\s*['\"]?e['\"]?(?![a-z0-9])\s*(?:的|suffix|后缀|means?|代表|表示|结尾|就?是|都)?", r"nvme|本地盘|本地存储|local (?:disk|ssd|storage|nvme)")),
    ("claim-056", (r"gn7e?(?![a-z0-9])", r"(?<![a-z])eri\s?2?(?![a-z])|erdma|弹性rdma")),
    ("claim-059", (r"gpssd",)),
    ("claim-060", (r"gn7i|a10", r"高效云盘|ultra disk|cloud_efficiency|cloud_ssd|(?<!e)ssd云盘|standard ssd")),
    ("claim-062", (r"24\s?576|24,576",)),
    ("claim-063", (r"550\.90", r"12\.2")),
    ("claim-069", (r"gn7i|a10", r"gn6i|t4", r"降配|降到|降级|downgrade|downsize|变配|换到|switch (?:down )?to|省钱|save")),
    ("claim-070", (r"预留实例|预留券|reserved", r"省|save|折|discount|1\s*(?:-|到|to)\s*3\s*年")),
    ("claim-072", (r"hbm2e", r"必须|需要|一定|needs?|must|require")),
    ("claim-083", (r"图形|渲染|graphics|render|3d|opengl", r"计算型|compute (?:gpu|instance)|gn7i|gn8is", r"不能|跑不了|cannot|can't|不适合|poor|bad|not")),
    ("claim-088", (r"gn7i", r"增强(?:型)?网络|enhanced[-\s]network|多机|multi-?node|rdma")),
    ("host_memory_is_not_vram", (r"显存|vram|gpu memory|(?<![a-z])oom", r"(?:加|升|增加|扩|add|more|increase|bigger|upgrade|buy)\D{0,8}(?:内存|ram(?![a-z])|system memory|host memory)|(?:内存|ram(?![a-z])).{0,8}(?:升|加|扩|increase|upgrade)")),
    ("utilisation_is_not_load", (r"gpu-?util|利用率|utili[sz]ation", r"100\s?%|满(?:载|了)|fully|打满|跑满", r"满|fully|full|right|对吧|对吗|说明|就是|mean|用足|充分|ok|正常")),
    ("smi_cuda_is_driver_limit", (r"nvidia-smi", r"cuda\s*(?:version)?\s*\d", r"装了|安装|installed|nvcc|toolkit|就是|mean|为啥|why|which one|哪个|不一样|differ")),
    ("spot_discontinued", (r"抢占|竞价|spot", r"下线|取消|停用|改(?:名|成)|没有了|discontinu|retired|replaced|removed|no longer|改为")),
    ("spot_notice", (r"抢占|竞价|spot|回收|reclaim|interrupt|preempt", r"通知|提醒|警告|notice|warning|提前|notif", r"分钟|min(?:ute)?s?|秒|sec|warning|提前|时间|小时|hour")),
    ("spot_disk_discount", (r"抢占|竞价|spot", r"云盘|磁盘|disks?|essd|带宽|存储|storage", r"折扣|优惠|便宜|discount|cheap|打折|(?:price|价)")),
    ("spot_converts", (r"抢占|竞价|spot", r"转(?:成|为|换)?|改成?|变(?:成|更)|convert|switch|change|upsize|升配|升级|resize", r"包月|包年|按量|subscription|on-?demand|pay|规格|升|upsize|resize|type|larger|monthly")),
    ("spot_for_production", (r"抢占|竞价|spot", r"线上|生产|production|sla|99\.\d|高可用|客户|正式|稳定|demo|guarantee")),
    ("bid_is_price", (r"抢占|竞价|spot", r"出价|bid|最高价|max(?:imum)? price|price limit")),
    ("reserved_guarantees_stock", (r"预留|reserved|reservation|(?<![a-z])ri(?![a-z])", r"库存|stock|有货|保证|guarantee|capacity|抢不到|买不到|一定")),
    ("reserved_covers_spot", (r"预留|reserved", r"抢占|竞价|spot")),
    ("stopped_is_free", (r"停机|关机|stop(?:ped|ping)?|shut ?down|power off", r"收费|计费|扣费|扣钱|免费|charge|bill|free|pay|cost")),
    ("moe_active_memory", (r"(?<![a-z])moe(?![a-z])|激活|active|a\d{1,2}b|8x7b|8x22b|experts?(?![a-z])|mixtral", r"只(?:要|需|用|算|有|激活)|only|just|按激活|就(?:行|够|可以)|should do|enough|so ")),
    ("vram_pools_across_gpus", (r"(?:\d\s*(?:x|\*|张|块|卡)|gpus).{0,40}?(?:=\s*\d{2,4}\s*g|共\s*\d{2,4}\s*g|加起来|合起来|total|combined|together|pool|叠加|相加)",)),
    ("suffix_is_gpu_name", (r"(?<![a-z0-9])[vite](?![a-z0-9])\s*['\"]?(?:就?是|代表|指|表示|means?|stands? for|=)|(?:字母|letter)\s*['\"]?[vite](?![a-z])", r"v100|t4|inference|推理|nvme|volta|tesla|意思|stand|mean")),
    ("ram_offload_runs_it", (r"offload|内存|ram(?![a-z])|cpu", r"\d+\s?gb?\s*(?:ram|内存)|system ram|主机内存")),
)  # fmt: skip
_WORDED_PATTERNS = tuple((code, tuple(re.compile(part) for part in parts)) for code, parts in _WORDED)
_CHEAPER = re.compile(r"便宜|省钱|cheap|save|划算|省|less|lower cost|cost|贵|price")
_FITS = re.compile(
    r"就?能(?:放|装|塞|跑)|放得下|装得下|跑得动|够(?:了|用|吧|的)|就够|直接跑|should do|fits?(?![a-z])|is enough|enough,? right|can (?:hold|run)|should be possible|单卡(?:就|能)"
)


@dataclass(frozen=True)
class Scene:
    """What the premises are looked for in: one turn's words and the names in it."""

    text: str  # plain
    mentions: tuple[Mention, ...]
    precisions: tuple[str, ...]
    params_b: float | None
    prices: int  # sums of money in the turn
    gpu_count: int | None
    vram_gb: float | None


def find_claims(scene: Scene, catalog: Catalog) -> list[str]:
    """Claim ids and premise codes of a turn, most specific first."""
    found: list[str] = []
    found += _names(scene, catalog)
    found += _family_facts(scene, catalog)
    found += _gpu_facts(scene, catalog)
    found += [code for code, parts in _WORDED_PATTERNS if all(part.search(scene.text) for part in parts)]
    found += _fit(scene, catalog)
    return list(dict.fromkeys(found))


@lru_cache(maxsize=4)
def _claims_by_name(catalog: Catalog) -> dict[str, str]:
    """Instance types that the claims speak of as existing, by canonical name."""
    table: dict[str, str] = {}
    for row in catalog.claims:
        if row.verdict == "wrong" and "exist" in row.claim:
            for name in re.findall(r"(?:ecs\.)?[a-z]+\d[a-z]*(?:-[a-z0-9]+)?\.\d+xlarge", row.claim):
                table[f"ecs.{name.removeprefix('ecs.')}"] = row.claim_id
    return table


def _names(scene: Scene, catalog: Catalog) -> list[str]:
    found: list[str] = []
    known = _claims_by_name(catalog)
    for mention in scene.mentions:
        if mention.kind == "phantom_instance":
            found += [known[mention.name]] if mention.name in known else []
            found.append("phantom_type")
        elif mention.kind == "phantom_family":
            found += _PHANTOM_FAMILIES.get(mention.name, [])
            found.append(
                "g6_not_gpu" if re.fullmatch(r"[gcr]\d[a-z]{0,2}", mention.name) else "phantom_family"
            )
    return found


_PHANTOM_FAMILIES = {
    "g6": ["claim-082", "claim-094"], "g6e": ["claim-082", "claim-094"], "ve4": ["claim-084"], "ve5": ["claim-084"],
    "gn8i": ["claim-080"], "gn8": ["claim-073"], "gn9": ["claim-073"], "gn6": ["claim-077"],
}  # fmt: skip
# Which claim speaks of a family with an architecture or a GPU; all other pairs go by the catalog alone.
_FAMILY_ARCHITECTURE = {
    ("gn6v", "Hopper"): "claim-008",
    ("gn5", "Turing"): "claim-012",
    ("gn7i", "Ampere"): "claim-005",
}
_FAMILY_GPU = {
    ("gn7e", "V100"): "claim-044", ("ebmgn7e", "V100"): "claim-050", ("gn7i", "T4"): "claim-042",
    ("gn6v", "T4"): "claim-078", ("gn6v", "A10"): "claim-078", ("gn6v", "L4"): "claim-078", ("gn6i", "T4"): "claim-048",
    ("gn6v", "V100"): "claim-049", ("gn7", "A100"): "claim-046", ("gn7e", "A100"): "claim-044",
}  # fmt: skip
_FIGURES = {  # family -> (number and unit as claimed, claim)
    "gn7i": ((r"39\.7", "claim-006"), (r"936", "claim-007")),
    "gn6v": ((r"58\.2", "claim-009"), (r"1200|1,200", "claim-010"), (r"\$?3\.5(?!\d)", "claim-018")),
    "gn5": ((r"16\.4|672", "claim-013"),),
}  # fmt: skip


def _family_facts(scene: Scene, catalog: Catalog) -> list[str]:
    found: list[str] = []
    families = [mention for mention in scene.mentions if mention.kind == "family"]
    typed = [mention for mention in scene.mentions if mention.kind in ("instance", "phantom_instance")]
    subjects = [(mention.name, mention.text) for mention in families]
    subjects += [(catalog.family_of(mention.name) or "", mention.text) for mention in typed]
    for family, said in subjects:
        rows = [row for row in catalog.instances if row.family == family]
        if not rows:
            continue
        gpu = catalog.gpu_of(rows[0])
        found += [
            claim
            for pattern, claim in _FIGURES.get(family, ())
            if re.search(rf"(?<![\d.]){pattern}(?![\d.])", scene.text)
        ]
        for name, pattern in _ARCHITECTURE_PATTERNS.items():
            if pattern.search(scene.text) and _linked(scene.text, said, pattern):
                found += (
                    [_FAMILY_ARCHITECTURE[family, name]] if (family, name) in _FAMILY_ARCHITECTURE else []
                )
                if gpu.architecture and not gpu.architecture.startswith(name):
                    found.append("wrong_family_architecture")
        for mention in scene.mentions:
            if mention.kind == "gpu" and mention.name and not mention.negated:
                found += _family_gpu(scene.text, family, said, mention, rows[0].gpu_model)
        found += _family_words(scene, family, rows[0].interconnect)
    if scene.prices and subjects:
        found.append("price_stated")
    return found


def _family_gpu(text: str, family: str, said: str, mention: Mention, carried: str) -> list[str]:
    if not _linked(text, said, re.compile(re.escape(mention.text.lower().split()[0]))):
        return []
    short = mention.name.split("-")[0]
    found = [_FAMILY_GPU[family, short]] if (family, short) in _FAMILY_GPU else []
    if short != carried.split("-")[0]:
        found.append("wrong_family_gpu")
    return found


def _linked(text: str, said: str, other: re.Pattern[str]) -> bool:
    """Whether two names stand in one statement, not as alternatives."""
    start = text.find(said.lower())
    match = next((item for item in other.finditer(text) if abs(item.start() - start) < 60), None)
    if start < 0 or match is None:
        return False
    low, high = min(start + len(said), match.end()), max(start, match.start())
    between = text[low:high]
    return not _CHOICE.search(between) and (
        not between.strip() or bool(_LINK.search(between)) or len(between) < 6
    )


def _family_words(scene: Scene, family: str, interconnect: str) -> list[str]:
    found: list[str] = []
    text = scene.text
    local = re.search(r"本地盘|本地\s*nvme|nvme|local (?:disk|ssd|nvme|storage)", text)
    if local and family == "gn7i":
        found.append("claim-043")
    if local and family in ("gn7e", "gn6e", "ebmgn7e"):
        found.append("claim-055")
    if re.search(r"nv-?(?:link|switch)", text) and interconnect == "pcie":
        found.append("nvlink_on_gn7i")
    if family == "gn6v" and re.search(
        r"大模型|large[-\s](?:language )?model|分布式训练|distributed training", text
    ):
        found.append("claim-011")
    if family == "gn5" and re.search(r"推理|部署|inference|serv", text):
        found.append("claim-014")
    if family == "gn6v" and re.search(r"推理优化|推理型|inference[-\s]optimi", text):
        found.append("claim-078")
    if family == "gn7e" and re.search(r"fp64|双精度|double", text):
        found.append("claim-045")
    return found


def _gpu_facts(scene: Scene, catalog: Catalog) -> list[str]:
    found: list[str] = []
    names = [
        mention.name
        for mention in scene.mentions
        if mention.kind == "gpu" and mention.name and not mention.negated
    ]
    names += _carried(scene, catalog)
    shorts = {name.split("-")[0] for name in names}
    for name in dict.fromkeys(names):
        try:
            gpu = catalog.gpu(name)
        except AdvisorError:
            continue
        capability = gpu.compute_capability or 99.0
        if "fp8" in scene.precisions and capability < 8.9:
            found.append("fp8_on_ampere" if capability >= 8.0 else "fp8_on_volta_turing")
        if "bf16" in scene.precisions and capability < 8.0:
            found.append("bf16_on_volta_turing")
        if "fp64" in scene.precisions and gpu.fp64_tflops is not None and gpu.fp64_tflops < 2:
            found.append("fp64_on_graphics_gpu")
        if (
            re.search(r"nv-?(?:link|switch)", scene.text)
            and not gpu.nvlink_gbs
            and gpu.sold_on_alibaba_ecs == "current"
        ):
            found.append("nvlink_on_gn7i")
        if gpu.sold_on_alibaba_ecs == "no" and not name.startswith(("RTX", "TITAN", "Quadro")):
            found.append("gpu_not_sold")
            found += {"L4": ["claim-081"], "H800": ["claim-074"], "L40S": ["claim-074"]}.get(name, [])
    if {"T4", "A10"} <= shorts and _CHEAPER.search(scene.text):
        found.append("t4_cheaper_than_a10")
    if (
        {"V100", "A100"} <= shorts
        and re.search(r"nv-?link", scene.text)
        and re.search(r"只有|only|just", scene.text)
    ):
        found.append("claim-071")
    return found


def _carried(scene: Scene, catalog: Catalog) -> list[str]:
    """GPUs of the families and types that a turn names."""
    families = [mention.name for mention in scene.mentions if mention.kind == "family"]
    families += [
        catalog.family_of(mention.name) or "" for mention in scene.mentions if mention.kind == "instance"
    ]
    by_family: Iterable[str] = (row.gpu_model for row in catalog.instances if row.family in families)
    return list(dict.fromkeys(by_family))


def _fit(scene: Scene, catalog: Catalog) -> list[str]:
    """A 16-bit model said to fit a memory that is smaller than its weights alone."""
    if not scene.params_b or not _FITS.search(scene.text):
        return []
    names = [mention.name for mention in scene.mentions if mention.kind == "gpu" and mention.name]
    memory = scene.vram_gb
    if names:
        try:
            memory = catalog.gpu(names[0]).memory_gib
        except AdvisorError:
            memory = None
    quantized = [name for name in scene.precisions if name not in ("bf16", "fp16", "fp32", "fp64", "mixed")]
    found: list[str] = []
    if memory and not quantized and scene.params_b * 2 > memory * (scene.gpu_count or 1):
        found.append("model_too_big_for_card")
    if 60 <= scene.params_b <= 80 and re.search(r"多卡|几张卡|several|multiple|x\s?多|多张", scene.text):
        found.append("claim-085")
    if 6 <= scene.params_b <= 9 and "A10" in names and re.search(r"微调|tun|全参", scene.text):
        found.append("claim-057")
    return found
