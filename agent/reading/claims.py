"""Recognises the premise behind a question: claims of the catalog by id, and premises by stable code.

A premise is found from what it is about (a family with an architecture, a GPU with a precision, a price
with a type), never from the wording of one question. Whether it is right is for the catalog to say.

Codes beside the ids of `claims.csv`: phantom_type, phantom_family, g6_not_gpu, wrong_family_gpu,
wrong_family_architecture, price_stated, gpu_not_sold, fp8_on_ampere, fp8_on_volta_turing,
bf16_on_volta_turing, fp64_on_graphics_gpu, no_nvlink, model_too_big_for_card, t4_cheaper_than_a10, and
those of `vocabulary/premises.toml`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from agent.reading.phrases import any_of, vocabulary
from agent.reading.types import Mention
from knowledge.catalog import Catalog
from knowledge.derived import per_catalog
from knowledge.errors import AdvisorError
from knowledge.rows import Gpu, Instance

_ARCHITECTURES = {
    "Hopper": any_of(["hopper"]), "Ampere": any_of(["ampere", "安培"]), "Turing": any_of(["turing", "图灵"]),
    "Volta": any_of(["volta", "伏特"]), "Pascal": any_of(["pascal", "帕斯卡"]),
    "Ada Lovelace": any_of(["ada", "lovelace"]), "Blackwell": any_of(["blackwell"]),
}  # fmt: skip
# Between two names: words that set one beside the other, and words that say one of the other. "or" sets
# beside, unless a word that says stands before it: "gn7i uses A10 or T4" says both of gn7i.
_BESIDE = re.compile(r"vs|versus|对比|比(?!较)|换成?|迁|than|over|instead|代替|直接上|和|与|跟|compared")
_OR = re.compile(r"还是|(?<![a-z])or(?![a-z])")
_LINK = re.compile(
    r"是|用|配|带|搭载|=|:|\(|的|有|都|到底|属于|写|为|系列|架构"
    r"|(?<![a-z])(?:is|has|have|uses?|with|carr\w+|runs? on|comes?|based|for|a|an|family|series"
    r"|arch\w*|gpu|are|still)(?![a-z])"
)
_NEW_CLAUSE = re.compile(r"[,;.?!]\s*(?!\s*(?:配|带|是|用|都是|with|has|have|carr|equipped))")
_ONLY = re.compile(r"只有|只能|only|just|choices|options|就(?:是|只)")
_CHEAPER = re.compile(r"便宜|省|cheap|save|划算|less|lower cost|cost|贵|price")
_NVLINK = re.compile(r"nv-?(?:link|switch)")
_LOCAL_DISK = re.compile(r"本地盘|本地\s*nvme|nvme|local (?:disk|ssd|nvme|storage)")
_FITS = re.compile(
    r"就?能(?:放|装|塞|跑)|放得下|装得下|跑得动|够(?:了|用|吧|的)|就够|直接跑|should do|fits?(?![a-z])"
    r"|is enough"
    r"|enough,? right|can (?:hold|run)|should be possible|1\s?卡(?:就|能)"
)
_SEVERAL = re.compile(r"多卡|多张|几张\s*80|(?:several|multiple|many)\s(?:\d+\s?gb?\s)?(?:cards|gpus)|x\s?多")
_TUNES = re.compile(r"微调|tun|全参|训练|train")
_QUANTIZED = re.compile(r"int|awq|gptq|nf4|fp4|gguf|fp8|bit")


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

    def named(self, *kinds: str) -> list[Mention]:
        return [mention for mention in self.mentions if mention.kind in kinds and not mention.negated]


def find_claims(scene: Scene, catalog: Catalog) -> list[str]:
    """Claim ids and premise codes of a turn, most specific first."""
    found = [*_names(scene, catalog), *_families(scene, catalog), *_gpus(scene, catalog)]
    found += [code for code, parts in _worded() if all(part.search(scene.text) for part in parts)]
    return list(dict.fromkeys([*found, *_fit(scene, catalog)]))


def named_architectures(text: str) -> list[str]:
    """GPU architectures that a turn names."""
    return [name for name, pattern in _ARCHITECTURES.items() if pattern.search(text)]


@cache
def _worded() -> tuple[tuple[str, tuple[re.Pattern[str], ...]], ...]:
    table = vocabulary("premises")
    return tuple((code, tuple(any_of(phrases) for phrases in parts)) for code, parts in table.items())


# Names that do not exist


@per_catalog
def _claims_by_name(catalog: Catalog) -> dict[str, str]:
    """Instance types that the claims speak of as existing, by canonical name."""
    table: dict[str, str] = {}
    for row in catalog.claims:
        if row.verdict == "wrong" and "exist" in row.claim:
            for name in re.findall(r"(?:ecs\.)?[a-z]+\d[a-z]*(?:-[a-z0-9]+)?\.\d+xlarge", row.claim):
                table[f"ecs.{name.removeprefix('ecs.')}"] = row.claim_id
    return table


@per_catalog
def _claims_of(catalog: Catalog) -> dict[tuple[str, str], list[str]]:
    """(family, what is said of it) -> claims that speak of the pair; "" for a family that there is not. All
    other pairs are judged by the catalog alone."""
    table: dict[tuple[str, str], list[str]] = {}
    for row in catalog.claims:
        for family in row.families:
            for stated in row.stated or ("",):
                table.setdefault((family, stated), []).append(row.claim_id)
    return table


def _names(scene: Scene, catalog: Catalog) -> list[str]:
    found: list[str] = []
    known = _claims_by_name(catalog)
    for mention in scene.named("phantom_instance"):
        found += [known[mention.name]] if mention.name in known else []
        found.append("phantom_type")
    for mention in scene.named("phantom_family"):
        found += _claims_of(catalog).get((mention.name, ""), [])
        found.append("phantom_family" if re.search(r"g[na]\d|^ve\d", mention.name) else "g6_not_gpu")
    return found


# Families with an architecture, a GPU, a figure

# Which claim speaks of a family in these words.
_FAMILY_WORDS = (
    ("gn7i", _LOCAL_DISK, "claim-043"),
    ("gn7e", _LOCAL_DISK, "claim-055"),
    ("gn6e", _LOCAL_DISK, "claim-055"),
    (
        "gn6v",
        re.compile(r"大模型|large[-\s](?:language )?model|分布式训练|distributed training"),
        "claim-011",
    ),
    ("gn5", re.compile(r"推理|部署|inference|serv"), "claim-014"),
    ("gn6v", re.compile(r"推理优化|推理型|inference[-\s]optimi"), "claim-078"),
    ("gn7e", re.compile(r"fp64|双精度|double"), "claim-045"),
)


def _families(scene: Scene, catalog: Catalog) -> list[str]:
    found: list[str] = []
    subjects = [(mention.name, mention.text) for mention in scene.named("family")]
    subjects += [
        (catalog.family_of(mention.name) or "", mention.text)
        for mention in scene.named("instance", "phantom_instance")
    ]
    for family, said in subjects:
        row = next((row for row in catalog.instances if row.family == family), None)
        if row is not None:
            found += _family(scene, row, catalog, said)
    if scene.prices and subjects:
        found.append("price_stated")
    return found


def _family(scene: Scene, row: Instance, catalog: Catalog, said: str) -> list[str]:
    family, text, claims = row.family, scene.text, _claims_of(catalog)
    architecture = catalog.gpu_of(row).architecture
    found = [
        claim
        for (name, stated), ids in claims.items()
        if name == family and stated[:1].isdigit() and _figure(stated).search(text)
        for claim in ids
    ]
    for name, pattern in _ARCHITECTURES.items():
        if _said_of(text, said, pattern):
            found += claims.get((family, name), [])
            if architecture and not architecture.startswith(name):
                found.append("wrong_family_architecture")
    for mention in scene.named("gpu"):
        short = mention.name.split("-")[0]
        if _said_of(text, said, re.compile(re.escape(short.lower()))):
            found += claims.get((family, short), [])
            if short != row.gpu_model.split("-")[0]:
                found.append("wrong_family_gpu")
    found += [claim for name, pattern, claim in _FAMILY_WORDS if name == family and pattern.search(text)]
    if row.interconnect == "pcie" and _NVLINK.search(text):
        found.append("no_nvlink")
    return found


def _figure(stated: str) -> re.Pattern[str]:
    """A figure of a claim as a number by itself: 1200 also as 1,200."""
    digits = re.sub(r"(?<=\d)(?=\d{3}$)", ",?", stated)
    return re.compile(rf"(?<![\d.])(?:{digits.replace('.', chr(92) + '.')})(?![\d.])")


def _said_of(text: str, said: str, other: re.Pattern[str]) -> bool:
    """Whether the first name is said to be or to have the second: in one clause, not set beside it."""
    start = text.find(said.lower())
    if start < 0:
        return False
    for match in other.finditer(text):
        low, high = sorted(((start, start + len(said)), match.span()))
        between = text[low[1] : high[0]]
        choice, link = _OR.search(between), _LINK.search(between)
        if choice and not (link and link.start() < choice.start()):
            continue
        if len(between) > 50 or _BESIDE.search(between) or _NEW_CLAUSE.search(between):
            continue
        if not between.strip(" /、") or link or match.start() < start:
            return True
    return False


# GPUs with a precision, a link, a price


def _gpus(scene: Scene, catalog: Catalog) -> list[str]:
    found: list[str] = []
    carried = _carried(scene, catalog)
    names = list(dict.fromkeys([mention.name for mention in scene.named("gpu")] + carried))
    for name in names:
        try:
            found += _gpu(scene, catalog.gpu(name))
        except AdvisorError:
            continue
    shorts = {name.split("-")[0] for name in names}
    if {"T4", "A10"} <= shorts and _CHEAPER.search(scene.text):
        found.append("t4_cheaper_than_a10")
    if {"V100", "A100"} <= shorts and _NVLINK.search(scene.text) and _ONLY.search(scene.text):
        found.append("claim-071")
    return found


def _carried(scene: Scene, catalog: Catalog) -> list[str]:
    """GPUs of the families and types that a turn names."""
    families = {mention.name for mention in scene.named("family")}
    families |= {catalog.family_of(mention.name) or "" for mention in scene.named("instance")}
    return [row.gpu_model for row in catalog.instances if row.family in families] if families else []


def _gpu(scene: Scene, gpu: Gpu) -> list[str]:
    """What the card cannot do of what the turn speaks of. Capabilities as in NVIDIA's table of them:
    BF16 from 8.0, FP8 on tensor cores from 8.9."""
    found: list[str] = []
    capability = gpu.compute_capability or 99.0
    if "fp8" in scene.precisions and capability < 8.9:
        found.append("fp8_on_ampere" if capability >= 8.0 else "fp8_on_volta_turing")
    if "bf16" in scene.precisions and capability < 8.0:
        found.append("bf16_on_volta_turing")
    if "fp64" in scene.precisions and gpu.fp64_tflops is not None and gpu.fp64_tflops < 2:
        found.append("fp64_on_graphics_gpu")
    if _NVLINK.search(scene.text) and not gpu.nvlink_gbs and gpu.sold_on_alibaba_ecs == "current":
        found.append("no_nvlink")
    consumer = gpu.gpu_model.startswith(("RTX", "TITAN", "Quadro"))
    if gpu.sold_on_alibaba_ecs == "no" and not consumer:
        found.append("gpu_not_sold")
        found += {"L4": ["claim-081"], "H800": ["claim-074"], "L40S": ["claim-074"]}.get(gpu.gpu_model, [])
    return found


def _fit(scene: Scene, catalog: Catalog) -> list[str]:
    """A 16-bit model said to fit a memory that is smaller than its weights alone; the claims about sizes."""
    if not scene.params_b:
        return []
    found: list[str] = []
    names = [mention.name for mention in scene.named("gpu")]
    if 60 <= scene.params_b <= 80 and _SEVERAL.search(scene.text):
        found.append("claim-085")
    if 6 <= scene.params_b <= 9 and "A10" in names and _FITS.search(scene.text) and _TUNES.search(scene.text):
        found.append("claim-057")
    memory = _memory(names, scene.vram_gb, catalog)
    quantized = any(_QUANTIZED.search(name) for name in scene.precisions)
    too_big = memory and scene.params_b * 2 > memory * (scene.gpu_count or 1)
    if too_big and not quantized and _FITS.search(scene.text):
        found.append("model_too_big_for_card")
    return found


def _memory(names: list[str], vram_gb: float | None, catalog: Catalog) -> float | None:
    if not names:
        return vram_gb
    try:
        return catalog.gpu(names[0]).memory_gib
    except AdvisorError:
        return None
