"""Finds GPU names with their count over all machines, their memory size, and whether they are refused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from agent.reading.types import Mention
from agent.reading.words import Words
from knowledge.catalog import Catalog
from knowledge.derived import per_catalog
from knowledge.errors import AdvisorError
from knowledge.names import near

_FORM = re.compile(r"[-_ ]?(sxm\d?|pcie|nvl|hgx|显卡|卡(?!x)|gpu)")
_MEMORY_AFTER = re.compile(r"\s*[-_(]?\s*(?:显存|每[张卡块])?\s*(\d{1,3})\s*g(?:i?b)?(?![a-z0-9])\)?")
_MEMORY_BEFORE = re.compile(r"(?<![\d.])(\d{1,3})\s*g(?:i?b)?\s*(?:显存)?的?\s*$")
_MAKER = r"nvidia|tesla|rtx|geforce|gtx|英伟达"
_COUNT_BEFORE = re.compile(
    r"(?<![\d.a-z¦$¥])(\d{1,5})\s*(?:(?P<unit>x|\*|张|块|卡|片|颗|个|枚|台|机|-?gpu)\s*)?"
    rf"(?:的|{_MAKER}|gpus?\s+of|单卡|卡机)?\s*(?:[a-z]{{3,10}}\s)?$"
)
_COUNT_AFTER = re.compile(
    r"s?\s*(?:-?class)?\s*(?:[x*]\s?(\d{1,4})(?![\d.]|\s*(?:元|块钱|gb?\b))"
    r"|(?:显卡|gpu)?\s*(\d{1,4})\s*(?:张|卡|块(?!钱)|片)(?!\w{0,2}[a-z]\d))"
)
_MACHINES_BEFORE = re.compile(r"(?<![\d.a-z])(\d{1,3})\s*(?:台|机|节点|nodes?\s(?:of|with)|x|\s)\s*$")
_MACHINES = re.compile(
    r"(?<![\d.])(\d{1,4})\s*(?:台|机(?!房|器学习)|个?节点|nodes?|servers?|machines?|boxes)"
    r"|(?<![\d.])(\d{1,4})\s+(?:\d{1,2}\s*x\s*[a-z]+\d+[^,.;]{0,12}|\d+-gpu\s+)(?:nodes?|servers?|machines?)"
)
_REFUSAL = (
    r"(?:不要|不想要?|不用|别用|别给我|别|不考虑|不选|不能用|没有|除了|除|排除|避开|避免|without|not|no"
    r"|except(?:\sfor)?|exclud(?:e|ing)|avoid(?:ing)?|other\sthan|instead\sof|anything\sbut|rather\sthan"
    r"|don't\s(?:want|use)|do\snot\swant|non-?|非)"
)
_REFUSED_BEFORE = re.compile(
    rf"(?<!why )(?<!为什么)(?<!为啥)(?<![要能是有]){_REFUSAL}"
    r"\s*(?:an?|the|any|use|using|使用|用|选|推荐|给我|nvidia|tesla)?\s*$"
)
_REFUSED_AFTER = re.compile(r"\s*(?:卡|显卡)?\s*(?:不要|除外|就算了|不考虑|excluded|are out|is out)")
_LIST_GAP = re.compile(r"\s*(?:,|、|/|和|或者?|与|及|跟|or|and|nor)\s*(?:an?|the)?\s*")
# What a bare number before it counts: "4090 tokens" is no card.
_COUNTED_THING = re.compile(
    r"\s*(?:tokens?|元|块钱|次|条|个|人|ms|mb|qps|req|请求|步|并发|steps|字|%|cny|usd)"
)
# Names of the field that the catalog does not have: read, and said to be unknown.
_STRANGER = re.compile(
    r"(?:(?<=\dx)|(?<![a-z0-9.]))(?:(?:gtx|rtx)[-\s]?\d{3,4}(?:[-\s]?(?:ti|super|ultra)){0,2}"
    r"|(?:1060|1070|1080|1660|2060|2070|2080|4060|4070)(?:[-\s]?(?:ti|super))"
    r"|l40|a2|gh200|mi2\d0x?|mi325x|mi355x|昇腾\s?\d{3}\w?|ascend\s?\d{3}\w?|910b|rtx\s?4500|k80|gb300"
    r"|a5500)(?![a-z0-9])"
)


@dataclass(frozen=True)
class GpuFound:
    """A GPU of a turn; `count` is over all machines, None where none is said."""

    start: int
    mention: Mention
    count: int | None


@dataclass
class _Span:
    """A name's place in the text, growing over what belongs to it."""

    text: str
    start: int
    end: int

    def after(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self.text, self.end)
        self.end = match.end() if match else self.end
        return match

    def before(self, pattern: re.Pattern[str], reach: int) -> re.Match[str] | None:
        match = pattern.search(self.text, max(0, self.start - reach), self.start)
        self.start = match.start() if match else self.start
        return match


@per_catalog
def _pattern(catalog: Catalog) -> re.Pattern[str]:
    """All GPU names, longest first, with free separators and without the memory size."""
    cores: set[str] = set()
    for name in _names(catalog):
        core = re.sub(r"[\s-]\d{1,3}\s?gi?b\b.*$|\(.*$", "", name.lower())
        core = re.sub(
            r"^(?:nvidia|amd|intel)\s|\b(?:geforce|tesla|generation|radeon|instinct|firepro)\s?", "", core
        )
        core = re.sub(r"[\s-](?:sxm\d?|pcie?|nvl|class|edition|with)\b.*$", "", core).strip(" -")
        if re.fullmatch(r"[a-z0-9][a-z0-9 \-]{1,28}", core) and re.search(r"\d", core):
            cores |= {core, re.sub(r"^rtx[\s-]", "", core)}
    # Two characters name a card in three cases only; plain numbers of few digits name none.
    cores -= {core for core in cores if re.fullmatch(r"\d{1,3}|[456]000|[a-z]\d", core)} - {"t4", "p4", "l4"}
    parts = {re.sub(r"[\s-]+", r"[-\\s]?", core) for core in cores}
    return re.compile(
        rf"(?:(?<=\dx)|(?<![a-z0-9.]))(?:(?:{_MAKER}|quadro)[-\s]?){{0,3}}"
        rf"({'|'.join(sorted(parts, key=len, reverse=True))})(?=s?(?![a-z0-9]|\.\d)|x\s?\d(?!\d{{3}}))"
    )


def _names(catalog: Catalog) -> Iterator[str]:
    for alias in catalog.gpu_aliases:
        if alias.gpu_model and not re.search(r"[|/+]", alias.alias):
            yield alias.alias
    for row in catalog.gpus:
        yield from (row.gpu_model, row.known_as)


def find_gpus(words: Words, catalog: Catalog) -> list[GpuFound]:
    """GPU names of a turn in order; takes the words of each with its count and memory."""
    found: list[GpuFound] = []
    text = words.free
    last_end = 0
    for match in _pattern(catalog).finditer(text):
        if match[1][0].isdigit() and (
            _COUNTED_THING.match(text, match.end()) or text[: match.start()].endswith(("$", "¥"))
        ):
            continue
        span = _Span(text, *match.span())
        count, name = _count_and_name(span, match[1], catalog)
        listed = bool(
            found and found[-1].mention.negated and _LIST_GAP.fullmatch(text, last_end, match.start())
        )
        refused = listed or bool(
            _REFUSED_BEFORE.search(text, max(0, span.start - 24), span.start)
            or _REFUSED_AFTER.match(text, span.end)
        )
        said = words.said(match.start(), span.end)
        if name:
            mention = Mention(kind="gpu", text=said, name=name, negated=refused, count=count)
        else:  # a name that stands for no certain card
            near = tuple(row.gpu_model for row in catalog.gpus if row.gpu_model.lower().startswith(match[1]))
            mention = Mention(
                kind="unknown_gpu", text=said, name=said, negated=refused, count=count, near=near
            )
        found.append(GpuFound(match.start(), mention, count))
        words.take(span.start, span.end)
        last_end = span.end
    return sorted([*found, *_strangers(words, catalog)], key=lambda item: item.start)


def as_carried(gpus: list[GpuFound], named: Iterable[Mention], catalog: Catalog) -> list[GpuFound]:
    """Cards without a memory size as the families beside them carry them: the V100 of gn6e has 32 GB."""
    families = {
        mention.name if mention.kind == "family" else catalog.family_of(mention.name) for mention in named
    }
    carried = [row.gpu_model for row in catalog.instances if row.family in families]
    return [_carried(item, carried) for item in gpus]


def _carried(item: GpuFound, carried: Sequence[str]) -> GpuFound:
    stem, name = item.mention.name.split("-")[0], item.mention.name
    kin = dict.fromkeys(card for card in carried if card.split("-")[0] == stem)
    if name in kin or len(kin) != 1 or re.search(r"\d\s?g", item.mention.text.lower()):
        return item
    return replace(item, mention=item.mention.model_copy(update={"name": next(iter(kin))}))


def _strangers(words: Words, catalog: Catalog) -> Iterator[GpuFound]:
    for match in _STRANGER.finditer(words.free):
        nearest = tuple(near(match[0], [row.gpu_model for row in catalog.gpus], 3))
        said = words.said(*match.span())
        words.take(*match.span())
        yield GpuFound(match.start(), Mention(kind="unknown_gpu", text=said, name=said, near=nearest), None)


def _count_and_name(span: _Span, core: str, catalog: Catalog) -> tuple[int | None, str]:
    """How many cards over all machines, and the canonical name; grows the span over what it reads."""
    form = span.after(_FORM)
    memory = count = None
    for _ in range(2):  # "A100 80G *8" and "A10 一张 24G"
        memory = memory or span.after(_MEMORY_AFTER)
        count = count or span.after(_COUNT_AFTER)
    if span.text[span.end : span.end + 1] == "s" and not span.text[span.end + 1 : span.end + 2].isalnum():
        span.end += 1
    memory = memory or span.before(_MEMORY_BEFORE, 14)
    cards = int(count[1] or count[2]) if count else None
    name = _resolve(core, form[1] if form else "", int(memory[1]) if memory else None, catalog)
    if before := span.before(_COUNT_BEFORE, 26):
        value = int(before[1])
        if cards is None:
            # "三台 8卡A100": the machines stand before the cards of each.
            machines = span.before(_MACHINES_BEFORE, 14) if before["unit"] not in ("台", "机") else None
            return value * (int(machines[1]) if machines else 1), name
        return cards * value if before["unit"] in ("台", "机") else cards, name
    return cards, name


def _resolve(core: str, form: str, memory_gb: int | None, catalog: Catalog) -> str:
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
    if memory_gb and found.memory_gib and abs(found.memory_gib - memory_gb) > 1:
        stem = found.gpu_model.split("-")[0]
        kin = [
            row for row in catalog.gpus if row.gpu_model.split("-")[0] == stem and row.memory_gib == memory_gb
        ]
        return min(kin, key=lambda row: len(row.gpu_model), default=found).gpu_model
    return found.gpu_model


def machines_said(words: Words) -> int | None:
    """How many machines a turn speaks of, two and more."""
    values = [int(match[1] or match[2]) for match in _MACHINES.finditer(words.plain)]
    return next((value for value in values if value > 1), None)
