"""Which sections answer which intent: the middle of every answer, between corrections and assumptions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from agent.guides import GuidesFound
from agent.planner.money import prices_traffic
from agent.planner.plan import ASKED_WITH_SIZES, further_intents
from agent.reading.asks import asks
from agent.reading.types import Intent
from agent.steps import Case
from agent.writing import facts, names
from agent.writing.capacity import capacity_section, compute_budget_section, latency_section
from agent.writing.claims import discount_lines, own_card_lines, whole_memory_lines
from agent.writing.comparison import comparison_sections, price_ratio_line
from agent.writing.cost import cost_sections, money_sections, quote_lines, times_line
from agent.writing.cost_details import stock_sections
from agent.writing.cost_headline import training_cost_line
from agent.writing.data_sizes import byte_sections
from agent.writing.expert import answered_by_rule
from agent.writing.glossary import entries
from agent.writing.guides import guide_sections, short_answer
from agent.writing.hpc import fp64_sections
from agent.writing.launch import launch_sections
from agent.writing.log_comparison import log_sections
from agent.writing.memory import memory_line
from agent.writing.memory_answer import (
    companion_line,
    companions,
    instead_sections,
    largest_models_line,
    memory_sections,
    other_size_lines,
)
from agent.writing.opening import opening_sections
from agent.writing.order import TOLD_BY_GUIDE, in_order
from agent.writing.other_speed import other_speed_sections
from agent.writing.recommendation import headline, recommendation_sections
from agent.writing.small import declined
from agent.writing.speed_answer import bound_line, speed_sections
from agent.writing.vague import question_back, symptom_question, vague_sections, which_model
from agent.writing.value import held_speeds, value_line
from agent.writing.verdict import card_memory_lines, first_token_line, unsold_lines, verdict_section
from agent.writing.words import Words, bullets
from tools.contracts.compare import CompareLogReport
from tools.contracts.cost import CostReport
from tools.contracts.launch import LaunchKit
from tools.contracts.lookup import (
    Comparison,
    FamilyReport,
    FindReport,
    GpuReport,
    InstanceReport,
    ModelReport,
    NameReport,
    PrecisionReport,
)
from tools.contracts.memory import MemoryReport
from tools.contracts.other import OtherMemoryReport
from tools.contracts.other_speed import OtherSpeedReport
from tools.contracts.sizing import Recommendation
from tools.contracts.throughput import ThroughputReport
from tools.cost.extras import cny_per_usd

# Topics on which a paragraph of a guide adds to a calculation; on the others the calculation says it all.
_NOTED_TOPICS = frozenset(
    {
        "spot", "subscription", "economical_mode", "multi_node", "rdma", "nvlink", "storage", "network",
        "oom", "offload", "quantization", "vgpu", "grid", "autoscale", "compliance", "dataloader", "mig",
        "checkpoint",
    }
)  # fmt: skip
_KV_CACHE = re.compile(r"kv[ -]?(?:cache|memory|缓存)", re.IGNORECASE)
_ASKS_HOW = re.compile(
    r"怎么|如何|坑|注意|可以吗|行吗|how (?:do|can|should|to)|should|fine|risk|what (?:do|should)",
    re.IGNORECASE,
)
_FIRST = 2  # of a rate's sections: the rate, and what the day's work takes
Body = Callable[[Words, Case], list[str]]


def body_sections(w: Words, case: Case) -> list[str]:
    """Sections of the main intent, then of the further ones; a report is told once."""
    kit = case.done.first(LaunchKit)
    if kit is not None:
        return [*_chosen(w, case), *launch_sections(w, kit)]
    compared = case.done.first(CompareLogReport)
    logged = log_sections(w, compared) if compared is not None else []
    rated = case.done.first(OtherSpeedReport) is not None
    loads = [capacity_section(w, case.reading, rated), compute_budget_section(w, case.reading, case.catalog)]
    asked_back = [] if logged else _asked_back(w, case)
    sections = [
        *logged,
        *asked_back,
        *opening_sections(w, case),
        *filter(None, loads),
        *([] if prices_traffic(case.reading) else byte_sections(w, case)),
        *fp64_sections(w, case),
    ]
    for intent in in_order(case):
        for section in _BODIES.get(intent, _guide)(w, case):
            if section and not any(section in told for told in sections):
                sections.append(section)
    return sections or _facts(w, case) or _guide(w, case)


def _chosen(w: Words, case: Case) -> list[str]:
    found = case.done.first(Recommendation)
    return [headline(w, found.options[0])] if found is not None and found.options else []


def _asked_back(w: Words, case: Case) -> list[str]:
    """The question whose answer would change the recommendation, with the usual cases already calculated."""
    if case.reading.intent == "vague":
        return []
    if case.reading.clarify in ASKED_WITH_SIZES:
        return vague_sections(w, case)
    if case.reading.clarify == "model_size":
        return [which_model(w, case.reading)]
    return [symptom_question(w)] if case.reading.clarify == "symptom" else []


def _size(w: Words, case: Case) -> list[str]:
    found = case.done.first(Recommendation)
    if found is None:
        return memory_sections(w, case.done)
    request = case.reading.request
    loaded = request.requests_per_second or request.concurrency or request.users
    counted = asks(case.reading, "least_cards")
    # How many cards a load takes is for the recommendation to say, not for the memory of one request.
    job = request.dataset_tokens is not None and request.gpu_count is None
    skip = (counted and loaded) or job
    named = [] if skip else memory_sections(w, case.done, brief=True, count_asked=counted)
    others = companions(case.done)
    best = found.options[0].memory if found.options else None
    beside = [companion_line(w, best, others)] if best is not None and others and not named else []
    speed = found.options[0].speed if found.options else None
    late = [latency_section(w, case.reading, speed)] if isinstance(speed, ThroughputReport) else []
    rates = _other_speed(w, case)
    named = [*rates[:_FIRST], *named]
    late += rates[_FIRST:]
    other = [*instead_sections(w, case.done), other_size_lines(w, case.done)]
    if not found.options and named and instead_sections(w, case.done):
        # The verdict says that the cards named cannot; the answer goes on with what can.
        return [*named, *late, *beside, *other, *_guide_note(case)]
    head, *rest = recommendation_sections(w, found, case.done)
    serves = [line] if (line := largest_models_line(w, case.done)) else []
    return [*named, head, *serves, *rest, *late, *beside, *other, *_guide_note(case)]


def _memory(w: Words, case: Case) -> list[str]:
    rent = case.reading.intent in ("memory", "speed") and "size" not in further_intents(case.reading)
    other = [other_size_lines(w, case.done), *(instead_sections(w, case.done) if rent else [])]
    kv_asked = bool(_KV_CACHE.search(case.reading.question))
    counted = asks(case.reading, "least_cards")
    told = memory_sections(w, case.done, rent=rent, kv_asked=kv_asked, count_asked=counted)
    return [*told, *other, *_guide_note(case)]


def _speed(w: Words, case: Case) -> list[str]:
    others = _other_speed(w, case)
    if others:
        line = memory_line(w, case.done.first(OtherMemoryReport))
        return [*others, *([line] if line else []), *_guide_note(case)]
    speeds = speed_sections(w, case.done)
    if not speeds:
        return _size(w, case)
    report = case.done.first(ThroughputReport)
    latency = [latency_section(w, case.reading, report)] if report is not None else []
    first = training_cost_line(w, case.done)
    return [
        *first, *latency, *speeds, bound_line(w, case), other_size_lines(w, case.done), *_guide_note(case)
    ]  # fmt: skip


def _other_speed(w: Words, case: Case) -> list[str]:
    return other_speed_sections(w, case.done)


def _cost(w: Words, case: Case) -> list[str]:
    if case.done.first(OtherSpeedReport) is not None:
        return _speed(w, case)
    costs = [
        report for report in case.done.all(CostReport) if report not in case.done.all(CostReport, "fp64")
    ]
    if not costs:
        return _size(w, case)
    speeds = speed_sections(w, case.done) if case.reading.token_price else []
    priced = money_sections(w, case.reading, costs)
    times = times_line(w, case, costs)
    if times:
        return [times, *priced[1:], *speeds]
    chosen = case.done.first(Recommendation)
    if chosen is not None:
        return [*recommendation_sections(w, chosen, case.done), *priced[1:], *speeds]
    return [*priced, *speeds]


def _buying(w: Words, case: Case) -> list[str]:
    reports = case.done.all(CostReport)
    if not reports:
        return _guide(w, case)
    costs = money_sections(w, case.reading, reports)
    # A price that is known answers at once; where none is, the rules of that way to pay come first.
    request = case.reading.request
    known = bool(request.purchase or request.hours_per_month) and reports[0].price is not None
    return [*costs, *_guide(w, case)] if known else [*_guide(w, case), *costs]


def _compare(w: Words, case: Case) -> list[str]:
    report = case.done.first(Comparison)
    if report is None:
        return _facts(w, case) + _guide(w, case)
    priced = case.done.all(CostReport, "beside")
    ratio = price_ratio_line(w, priced, case.catalog) if report.kind == "gpu" else ""
    quotes = [*quote_lines(w, priced), ratio]
    speeds = held_speeds(case.done.all(ThroughputReport))
    compared = comparison_sections(w, report, speeds, case.reading.topics)
    value = first_token_line(w, case) or value_line(w, case, report)
    on_cards = card_memory_lines(w, case)
    retired = unsold_lines(w, case, report) if report.kind == "gpu" else []
    beside = [bullets([*on_cards, *retired])] if on_cards or retired else []
    return [value, *compared, verdict_section(w, case, report), *beside, *quotes, *_guide_note(case)]


def _region(w: Words, case: Case) -> list[str]:
    reports = case.done.all(CostReport)
    shelf = stock_sections(w, reports) if "stock" in case.reading.topics else []
    unlisted = _unlisted(w, reports) if case.reading.request.regions else []
    costs = cost_sections(w, reports, shelf=not shelf) if reports else []
    stock = w(
        "A price in the list is no promise of stock: check the zone in the console or with "
        "`DescribeAvailableResource`.",
        "价目表里有价不等于有货：请在控制台或用 `DescribeAvailableResource` 查可用区库存。",
    )
    rows: list[InstanceReport | FamilyReport] = [
        *case.done.all(InstanceReport),
        *case.done.all(FamilyReport),
    ]
    if not reports and rows:
        families = sorted(case.done.all(FamilyReport), key=lambda row: -len(row.regions))
        return ["\n".join(f"- {facts.sold_line(w, row)}" for row in families), stock, *_guide(w, case)]
    places = [facts.regions_line(w, row.regions, row.regions_as_of) for row in rows if row.regions]
    guide = [] if costs and not _ASKS_HOW.search(case.reading.question) else _guide(w, case)
    return [*shelf, *unlisted, *costs, bullets(places) if places else stock, *guide]


def _unlisted(w: Words, reports: Sequence[CostReport]) -> list[str]:
    """Regions asked about whose price lists have none of the machines."""
    places = dict.fromkeys(report.region for report in reports)
    empty = [place for place in places if not any(r.price or r.hourly for r in reports if r.region == place)]
    if not empty or len(empty) < len(places):
        return []
    listed = w.listed(empty)
    return [w(f"**No: it is not in the price lists of {listed}.**", f"**没有：{listed} 的价目表里没有。**")]


def _interconnect(w: Words, case: Case) -> list[str]:
    found = case.done.first(FindReport, "links")
    unlinked = case.done.first(FindReport, "unlinked")
    links = names.link_sections(w, found, unlinked) if found is not None else []
    guide = None if answered_by_rule(case) else case.done.first(GuidesFound)
    noted = guide_sections(w, guide, limit=1 if links else 3) if guide is not None else []
    sized = memory_sections(w, case.done, rent=False)[:2]
    told = [] if answered_by_rule(case) else _facts(w, case)
    return [*links, *told, *noted, *sized]


def _lookup(w: Words, case: Case) -> list[str]:
    found = case.done.first(FindReport, "main")
    rent = case.done.first(Recommendation, "rent")
    if found is None and rent is not None:  # more cards than one machine has
        return recommendation_sections(w, rent, case.done)
    listed = names.find_sections(w, found) if found is not None else []
    chosen = case.done.first(Recommendation)
    priced = chosen is not None and chosen.options and chosen.options[0].hourly_cny is not None
    cheapest = [headline(w, chosen.options[0])] if listed and chosen is not None and priced else []
    if listed and found is not None and found.found and chosen is not None and not priced:
        cheapest = [names.most_memory_line(w, found)]
    if listed and found is not None and not cheapest:
        cheapest = names.cheapest_line(w, found)
    return [*cheapest, *listed, *_facts(w, case), *_guide_note(case)]


def _naming(w: Words, case: Case) -> list[str]:
    told = _facts(w, case)
    return [*told, names.convention_section(w, named=bool(told))]


def _claim(w: Words, case: Case) -> list[str]:
    """After the verdict the facts in short, prices where one was stated, and the guide's paragraph."""
    reports = case.done.all(CostReport)
    costs = cost_sections(w, reports)[:2] if reports and case.reading.intent != "cost" else []
    told = [section for step in case.done for section in _fact(w, step.artifact, step.call.purpose)[:1]]
    guide = case.done.first(GuidesFound)
    guided = costs or told or set(further_intents(case.reading)) & TOLD_BY_GUIDE
    noted = [short_answer(guide)] if guide is not None and not guided else []
    sized = memory_sections(w, case.done, brief=True) if case.done.first(MemoryReport, "main") else []
    wrong = [*own_card_lines(w, case), *discount_lines(w, case)]
    noted = [] if sized else noted
    return [
        *wrong,
        *whole_memory_lines(w, case),
        *sized,
        *instead_sections(w, case.done),
        *told,
        *costs,
        *noted,
    ]


def _injection(w: Words, case: Case) -> list[str]:
    """Sizes, facts and list prices of what was named; nothing of the attempt."""
    chosen = case.done.first(Recommendation)
    if chosen is not None:
        return recommendation_sections(w, chosen, case.done)
    sizes = vague_sections(w, case)[1:] if case.done.first(MemoryReport, "usual") is not None else []
    found = case.done.first(FindReport, "main")
    listed = names.find_sections(w, found) if found is not None else []
    if found is not None and _over_budget(case, found):
        listed[0] = declined(w, "over_budget")
    return [*_claim(w, case), *sizes, *listed] or [declined(w, "ask_for_work")]


def _over_budget(case: Case, found: FindReport) -> bool:
    """Whether even the cheapest of the types found costs more than the hourly budget."""
    budget = case.reading.request.budget
    prices = [item.price.amount for item in found.found if item.price is not None]
    if budget is None or not prices:
        return False
    rate = cny_per_usd(case.catalog, case.reading.request.cny_per_usd)[0] if budget.currency == "USD" else 1
    return budget.period == "hour" and min(prices) > budget.amount * rate


def _facts(w: Words, case: Case) -> list[str]:
    """Everything that was looked up, in the order of the question."""
    return [section for step in case.done for section in _fact(w, step.artifact, step.call.purpose)]


def _fact(w: Words, artifact: object, purpose: str) -> list[str]:
    if isinstance(artifact, InstanceReport):
        return facts.instance_sections(w, artifact)
    if isinstance(artifact, FamilyReport):
        return facts.family_sections(w, artifact)
    if isinstance(artifact, GpuReport):
        return facts.gpu_sections(w, artifact)
    if isinstance(artifact, ModelReport):
        return facts.model_sections(w, artifact)
    if isinstance(artifact, PrecisionReport):
        return facts.precision_sections(w, artifact)
    if isinstance(artifact, NameReport) and purpose != "phantom":
        return names.name_sections(w, artifact)
    return []


def _guide(w: Words, case: Case) -> list[str]:
    found = case.done.first(GuidesFound)
    if found is None:
        return []
    sections = guide_sections(w, found)
    told = case.done.first(CompareLogReport)
    if told is not None and told.cause not in entries("log_causes"):
        return []  # nothing failed: a guide on faults would mislead
    if sections or told is not None or case.reading.intent not in ("troubleshoot", "howto"):
        return sections
    if case.reading.intent == "howto" and not case.reading.pasted:  # a wish in few words rather than a fault
        return [question_back(w, case.reading)]
    return [
        w(
            "**I have no guide for this.** Send the exact error text, the output of `nvidia-smi`, the "
            "instance type and what you ran, and I can narrow it down.",
            "**没有找到对应的指南。** 请发来完整的报错、`nvidia-smi` 输出、实例规格和执行的命令，"
            "我再缩小范围。",
        )
    ]


def _guide_note(case: Case) -> list[str]:
    """One paragraph of the guide beside an answer that a calculation gives."""
    found = case.done.first(GuidesFound)
    intents = {case.reading.intent, *further_intents(case.reading)}
    if found is None or intents & TOLD_BY_GUIDE or not set(case.reading.topics) & _NOTED_TOPICS:
        return []
    text = short_answer(found)
    return [text] if text else []


_BODIES: dict[Intent, Body] = {
    "size": _size,
    "memory": _memory,
    "speed": _speed,
    "cost": _cost,
    "buying": _buying,
    "compare": _compare,
    "lookup": _lookup,
    "naming": _naming,
    "region": _region,
    "interconnect": _interconnect,
    "troubleshoot": _guide,
    "howto": _guide,
    "claim": _claim,
    "injection": _injection,
    "vague": vague_sections,
}
