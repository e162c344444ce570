"""Finds GPU names with their count and memory, and maps cards that the cloud does not rent to the nearest."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache

from agent.reading.types import Mention
from agent.reading.words import Words
from knowledge.catalog import Catalog
from knowledge.errors import AdvisorError
from knowledge.names import near
from knowledge.rows import Gpu

_FORM = re.compile(r"[-_ ]?(sxm\d?|pcie|nvl|hgx|显卡|卡(?!x)|gpu)")
_MEMORY_AFTER = re.compile(r"\s*[-_(（]?\s*(?:显存|每[张卡块])?\s*(\d{1,3})\s*g(?:i?b)?(?![a-z0-9])\)?")
_MEMORY_BEFORE = re.compile(r"(?<![\d.])(\d{1,3})\s*g(?:i?b)?\s*(?:显存)?的?\s*$")
_COUNT_BEFORE = re.compile(
    r"(?<![\d.a-z¦$¥])(\d{1,5})\s*(?:(?P<unit>x|\*|张|块|卡|片|颗|个|枚|台|机|-?gpu)\s*)?(?:的|nvidia|tesla"
    r"|rtx|geforce|gtx|英伟达"
    r"|gpus?\s+of|单卡|卡机)?\s*(?:(?:[a-z]{3,10}\s)?)$"
)
_COUNT_AFTER = re.compile(
    r"s?\s*(?:-?class)?\s*(?:[x*]\s?(\d{1,4})(?![\d.]|\s*(?:元|块钱|gb?\b))|(?:显卡"
    r"|gpu)?\s*(\d{1,4})\s*(?:张|卡|块(?!钱)|片)(?!\w{0,2}[a-z]\d))"
)
_NODES = re.compile(
    r"(?<![\d.])(\d{1,4})\s*(?:台|机(?!房|器学习)|个?节点|nodes?|servers?|machines?|boxes)"
    r"|(?<![\d.])(\d{1,4})\s+(?:\d{1,2}\s*x\s*[a-z]+\d+[^,.;]{0,12}|\d+-gpu\s+)(?:nodes?|servers?|machines?)"
)
_NOT = (
    r"(?:不要|不想要?|不用|别用|别给我|别|不考虑|不选|不能用|没有|除了|除|排除|避开|避免|without|not|no"
    r"|except(?:\sfor)?"
    r"|exclud(?:e|ing)|avoid(?:ing)?|other\sthan|instead\sof|anything\sbut|rather\sthan"
    r"|don't\s(?:want|use)|do\snot\swant"
    r"|non-?|非)"
)
_NOT_BEFORE = re.compile(
    rf"(?<!why )(?<!为什么)(?<!为啥)(?<![要能是]){_NOT}\s*(?:an?|the|any|use|using|使用|用|选|推荐|给我"
    rf"|nvidia|tesla)?\s*$"
)
_NOT_AFTER = re.compile(r"\s*(?:卡|显卡)?\s*(?:不要|除外|就算了|不考虑|excluded|are out|is out)")
_LIST_GAP = re.compile(r"\s*(?:,|、|/|和|或者?|与|及|跟|or|and|nor)\s*(?:an?|the)?\s*")
_DIGITS_NAME = re.compile(r"\s*(?:tokens?|元|块钱|次|条|个|人|ms|mb|qps|req|请求|步|并发|steps|字|%|cny|usd)")
# Names of the field that the catalog does not have: read, and said to be unknown.
_STRANGER = re.compile(
    r"(?:(?<=\dx)|(?<![a-z0-9.]))(?:(?:gtx|rtx)[-\s]?\d{3,4}(?:[-\s]?(?:ti|super))?|(?:1060|1070"
    r"|1080|1660|2060|2070|2080|4060|4070)"
    r"(?:[-\s]?(?:ti|super))|l40|a2|gh200|mi2\d0x?|mi325x|mi355x|昇腾\s?\d{3}\w?|ascend\s?\d{3}\w?"
    r"|910b|rtx\s?4500|k80|gb300|a5500)(?![a-z0-9])"
)


@dataclass(frozen=True)
class GpuFound:
    """A GPU of a turn: `count` GPUs over all machines, `nodes` machines where said."""

    start: int
    mention: Mention
    count: int | None
    memory_gb: int | None


@lru_cache(maxsize=4)
def _pattern(catalog: Catalog) -> re.Pattern[str]:
    """All GPU names, longest first, with free separators and without the memory size."""
    cores: set[str] = set()
    for name in _names(catalog):
        core = re.sub(r"[\s-]\d{1,3}\s?gi?b\b.*$|\(.*$", "", name.lower())
        core = re.sub(
            r"^(?:nvidia|amd|intel)\s|\b(?:geforce|tesla|generation|radeon|instinct|firepro)\s?|class.*$",
            "",
            core,
        )
        core = re.sub(r"[\s-](?:sxm\d?|pcie?|nvl|class|edition)\b.*$", "", core).strip(" -")
        if re.fullmatch(r"[a-z0-9][a-z0-9 \-]{1,28}", core) and re.search(r"\d", core):
            cores |= {core, re.sub(r"^rtx[\s-]", "", core)}
    cores = {
        core
        for core in cores
        if not re.fullmatch(r"\d{1,3}|6000|5000|4000|[a-z]\d", core) or core in ("t4", "p4", "l4")
    }
    parts = sorted((re.sub(r"[\s-]+", r"[-\\s]?", core) for core in cores), key=len, reverse=True)
    return re.compile(
        rf"(?:(?<=\dx)|(?<![a-z0-9.]))(?:(?:nvidia|tesla|geforce|rtx|quadro"
        rf"|英伟达)[-\s]?)*({'|'.join(parts)})"
        r"(?=s?(?![a-z0-9]|\.\d)|x\s?\d(?!\d{3}))"
    )


def _names(catalog: Catalog) -> list[str]:
    names = [alias.alias for alias in catalog.gpu_aliases if alias.gpu_model]
    for row in catalog.gpus:
        names += [row.gpu_model, row.known_as]
    return [name for name in names if name and "|" not in name and "/" not in name and "+" not in name]


def find_gpus(words: Words, catalog: Catalog) -> list[GpuFound]:
    """GPU names of a turn in order; takes the words of each with its count and memory."""
    found: list[GpuFound] = []
    spans: list[tuple[int, int]] = []
    text = words.free
    for match in _pattern(catalog).finditer(text):
        if match[1][0].isdigit() and (
            _DIGITS_NAME.match(text, match.end()) or text[: match.start()].endswith(("$", "¥"))
        ):
            continue
        gpu, start, end = _read_one(words, match, catalog)
        negated = gpu.mention.negated or _in_negated_list(text, spans, found, match.start())
        found.append(
            GpuFound(gpu.start, gpu.mention.model_copy(update={"negated": negated}), gpu.count, gpu.memory_gb)
        )
        spans.append((match.start(), end))
        words.take(start, end)
    for match in _STRANGER.finditer(words.free):
        nearest = tuple(near(match[0], [row.gpu_model for row in catalog.gpus], 3))
        said = words.said(*match.span())
        mention = Mention(kind="unknown_gpu", text=said, name=said, near=nearest)
        found.append(GpuFound(match.start(), mention, None, None))
        words.take(*match.span())
    return sorted(found, key=lambda item: item.start)


def _read_one(words: Words, match: re.Match[str], catalog: Catalog) -> tuple[GpuFound, int, int]:
    text, start, end = words.free, match.start(), match.end()
    form = ""
    if form_match := _FORM.match(text, end):
        form, end = form_match[1], form_match.end()
    memory: int | None = None
    count: int | None = None
    for _ in range(2):  # "A100 80G *8" and "A10 一张 24G"
        if memory is None and (after := _MEMORY_AFTER.match(text, end)):
            memory, end = int(after[1]), after.end()
        if count is None and (after := _COUNT_AFTER.match(text, end)):
            count, end = int(after[1] or after[2]), after.end()
    if text[end : end + 1] == "s" and not text[end + 1 : end + 2].isalnum():
        end += 1
    if memory is None and (before := _MEMORY_BEFORE.search(text, max(0, start - 14), start)):
        memory, start = int(before[1]), before.start()
    head = text[max(0, start - 26) : start]
    per_machine = count
    if before := _COUNT_BEFORE.search(head):
        unit = before["unit"] or ""
        machines = unit in ("台", "机")
        if before["unit"] or not re.search(r"[一-鿿]\s*$", head[: before.start()]) or not count:
            value = int(before[1])
            if count is None:
                count = value
            elif machines:
                count *= value
            start -= len(head) - before.start()
            if not machines and per_machine is None:
                per_machine = value
    nodes = _nodes_before(text, start)
    if nodes and count and per_machine and per_machine == count:
        count *= nodes
    name = _resolve(match[1], form, memory, catalog)
    negated = bool(_NOT_BEFORE.search(text[max(0, start - 24) : start]) or _NOT_AFTER.match(text, end))
    said = words.said(match.start(), end)
    return (
        GpuFound(match.start(), Mention(kind="gpu", text=said, name=name, negated=negated), count, memory),
        start,
        end,
    )


def _nodes_before(text: str, start: int) -> int | None:
    """Machines stated just before "8卡A800": 两机, 三台, "2 nodes of"."""
    head = text[max(0, start - 14) : start]
    match = re.search(r"(?<![\d.])(\d{1,3})\s*(?:台|机|节点|nodes?\s(?:of|with)|x|\s)\s*$", head)
    return int(match[1]) if match and 1 < int(match[1]) <= 512 else None


def _in_negated_list(text: str, spans: list[tuple[int, int]], found: list[GpuFound], start: int) -> bool:
    return bool(found and found[-1].mention.negated and _LIST_GAP.fullmatch(text, spans[-1][1], start))


def _resolve(core: str, form: str, memory: int | None, catalog: Catalog) -> str:
    """The canonical model of a name; of several memory sizes the one that was said."""
    found = None
    for name in (f"{core} {form}", core):
        try:
            found = catalog.gpu(name)
            break
        except AdvisorError:
            continue
    if found is None:
        return ""
    if memory and found.memory_gib and abs(found.memory_gib - memory) > 1:
        stem = found.gpu_model.split("-")[0]
        kin = [
            row for row in catalog.gpus if row.gpu_model.split("-")[0] == stem and row.memory_gib == memory
        ]
        return min(kin, key=lambda row: len(row.gpu_model), default=found).gpu_model
    return found.gpu_model


def nodes_said(words: Words) -> int | None:
    """How many machines a turn speaks of, two and more."""
    values = [int(match[1] or match[2]) for match in _NODES.finditer(words.plain)]
    return next((value for value in values if value > 1), None)


@lru_cache(maxsize=256)
def rentable(catalog: Catalog, gpu_model: str) -> str:
    """The GPU itself where some type carries it, else the nearest current one: memory, bandwidth, rate."""
    sold = {row.gpu_model for row in catalog.instances}
    gpu = catalog.gpu(gpu_model)
    if gpu.gpu_model in sold and gpu.sold_on_alibaba_ecs != "no":
        return gpu.gpu_model
    whole = {row.gpu_model for row in catalog.instances if row.status == "current" and row.gpu_count >= 1}
    candidates = [
        row for row in catalog.gpus if row.gpu_model in whole and row.fp16_tflops and row.memory_gib
    ]
    if not candidates or not gpu.memory_gib:
        return ""
    return min(candidates, key=lambda row: _distance(gpu, row)).gpu_model


def _distance(one: Gpu, other: Gpu) -> float:
    """How far two cards lie apart: octaves of memory, bandwidth and 16-bit rate; one where unknown."""
    pairs = (
        (one.memory_gib, other.memory_gib),
        (one.memory_bandwidth_gbs, other.memory_bandwidth_gbs),
        (one.fp16_tflops, other.fp16_tflops),
    )
    octaves = [abs(math.log2(a / b)) if a and b else 1.0 for a, b in pairs]
    return 3 * octaves[0] + octaves[1] + octaves[2]  # a card is chosen by its memory first


def is_consumer(gpu_model: str) -> bool:
    return (
        gpu_model.startswith(
            ("RTX-2", "RTX-3", "RTX-4090", "RTX-408", "RTX-407", "RTX-406", "RTX-50", "TITAN")
        )
        and "Ada" not in gpu_model
    )
