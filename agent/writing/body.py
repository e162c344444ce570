"""Which sections answer which intent: the middle of every answer, between corrections and assumptions."""

from __future__ import annotations

from collections.abc import Callable

from agent.guides import GuidesFound
from agent.planner.plan import ASKED_WITH_SIZES, further_intents
from agent.reading.types import Intent, Reading
from agent.steps import Findings
from agent.writing import facts
from agent.writing.comparison import comparison_sections
from agent.writing.cost import cost_sections
from agent.writing.guides import guide_sections, short_answer
from agent.writing.launch import launch_sections
from agent.writing.memory_answer import memory_sections
from agent.writing.recommendation import headline, recommendation_sections
from agent.writing.speed_answer import speed_sections
from agent.writing.vague import vague_sections, which_model
from agent.writing.words import Words, bullets
from knowledge.catalog import Catalog
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
from tools.contracts.sizing import Recommendation
from tools.contracts.throughput import ThroughputReport

# Topics on which a paragraph of a guide adds to a calculated answer; on the others the calculation says it all.
_NOTED_TOPICS = frozenset(
    {
        "spot", "subscription", "economical_mode", "multi_node", "rdma", "nvlink", "storage", "network", "oom", "offload",
        "moe", "kv_cache", "quantization", "vgpu", "grid", "autoscale", "compliance", "dataloader", "mig", "checkpoint",
    }
)  # fmt: skip
Body = Callable[[Words, Reading, Findings, Catalog], list[str]]


def body_sections(w: Words, reading: Reading, findings: Findings, catalog: Catalog) -> list[str]:
    """Sections of the main intent, then of the further ones; a report is told once."""
    kit = findings.first(LaunchKit)
    if kit is not None:
        found = findings.first(Recommendation)
        chosen = [headline(w, found.options[0])] if found is not None and found.options else []
        return [*chosen, *launch_sections(w, kit)]
    sections = _asked_back(w, reading, findings)
    for intent in (reading.intent, *further_intents(reading)):
        for section in _BODIES.get(intent, _guide)(w, reading, findings, catalog):
            if section and not any(section in told for told in sections):
                sections.append(section)
    return sections or _facts(w, reading, findings, catalog) or _guide(w, reading, findings, catalog)


def _asked_back(w: Words, reading: Reading, findings: Findings) -> list[str]:
    """The question whose answer would change the recommendation, with the usual cases already calculated."""
    if reading.intent == "vague":
        return []
    if reading.clarify in ASKED_WITH_SIZES:
        return vague_sections(w, reading, findings)
    if reading.clarify == "model_size":
        return [which_model(w, reading)]
    return []


def _size(w: Words, reading: Reading, findings: Findings, catalog: Catalog) -> list[str]:
    found = findings.first(Recommendation)
    if found is None:
        return []
    named = memory_sections(w, findings, brief=True)
    return [*named, *recommendation_sections(w, found, findings), *_guide_note(w, reading, findings)]


def _cost(w: Words, reading: Reading, findings: Findings, catalog: Catalog) -> list[str]:
    reports = [
        item for item in findings.all(CostReport) if item not in findings.all(CostReport, "fewer_cards")
    ]
    if not reports:
        return _size(w, reading, findings, catalog)
    speeds = [line for line in speed_sections(w, findings)] if reading.token_price else []
    return [*cost_sections(w, reports), *speeds]


def _buying(w: Words, reading: Reading, findings: Findings, catalog: Catalog) -> list[str]:
    sections = _guide(w, reading, findings, catalog)
    reports = findings.all(CostReport)
    return sections + (cost_sections(w, reports) if reports else [])


def _compare(w: Words, reading: Reading, findings: Findings, catalog: Catalog) -> list[str]:
    report = findings.first(Comparison)
    if report is None:
        return _facts(w, reading, findings, catalog)
    return [
        *comparison_sections(w, report, findings.all(ThroughputReport)),
        *_guide_note(w, reading, findings),
    ]


def _region(w: Words, reading: Reading, findings: Findings, catalog: Catalog) -> list[str]:
    reports = findings.all(CostReport)
    costs = cost_sections(w, reports) if reports else []
    stock = w(
        "A price in the list is no promise of stock: check the zone in the console or with `DescribeAvailableResource`.",
        "价目表里有价不等于有货：请在控制台或用 `DescribeAvailableResource` 查可用区库存。",
    )
    rows = [*findings.all(InstanceReport), *findings.all(FamilyReport)]
    places = [facts.regions_line(w, row.regions) for row in rows if row.regions]
    return [*costs, bullets(places) if places else stock, *_guide(w, reading, findings, catalog)]


def _interconnect(w: Words, reading: Reading, findings: Findings, catalog: Catalog) -> list[str]:
    found = findings.first(FindReport)
    links = facts.link_sections(w, found) if found is not None else []
    guide = findings.first(GuidesFound)
    noted = guide_sections(w, guide, limit=1) if guide is not None else []
    return [*links, *_facts(w, reading, findings, catalog), *noted]


def _facts(w: Words, reading: Reading, findings: Findings, catalog: Catalog) -> list[str]:
    """Everything that was looked up, in the order of the question."""
    sections: list[str] = []
    for step in findings:
        sections += _fact(w, step.artifact, step.call.purpose)
    return sections


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
        return facts.name_sections(w, artifact)
    return []


def _lookup(w: Words, reading: Reading, findings: Findings, catalog: Catalog) -> list[str]:
    found = findings.first(FindReport, "main")
    listed = facts.find_sections(w, found) if found is not None else []
    return [*listed, *_facts(w, reading, findings, catalog), *_guide_note(w, reading, findings)]


def _guide(w: Words, reading: Reading, findings: Findings, catalog: Catalog) -> list[str]:
    found = findings.first(GuidesFound)
    if found is None:
        return []
    sections = guide_sections(w, found)
    if sections or reading.intent not in ("troubleshoot", "howto"):
        return sections
    return [
        w(
            "**I have no guide for this.** Send the exact error text, the output of `nvidia-smi`, the instance type and what "
            "you ran, and I can narrow it down.",
            "**没有找到对应的指南。** 请发来完整的报错、`nvidia-smi` 输出、实例规格和执行的命令，我再缩小范围。",
        )
    ]


def _guide_note(w: Words, reading: Reading, findings: Findings) -> list[str]:
    """One paragraph of the guide beside an answer that a calculation gives."""
    found = findings.first(GuidesFound)
    if found is None or not set(reading.topics) & _NOTED_TOPICS:
        return []
    text = short_answer(found)
    return [text] if text else []


def _memory(w: Words, reading: Reading, findings: Findings, catalog: Catalog) -> list[str]:
    return [*memory_sections(w, findings), *_guide_note(w, reading, findings)]


def _speed(w: Words, reading: Reading, findings: Findings, catalog: Catalog) -> list[str]:
    return [
        *(speed_sections(w, findings) or _size(w, reading, findings, catalog)),
        *_guide_note(w, reading, findings),
    ]


def _vague(w: Words, reading: Reading, findings: Findings, catalog: Catalog) -> list[str]:
    return vague_sections(w, reading, findings)


_BODIES: dict[Intent, Body] = {
    "size": _size,
    "memory": _memory,
    "speed": _speed,
    "cost": _cost,
    "buying": _buying,
    "compare": _compare,
    "lookup": _lookup,
    "naming": _facts,
    "region": _region,
    "interconnect": _interconnect,
    "troubleshoot": _guide,
    "howto": _guide,
    "claim": _lookup,
    "vague": _vague,
}
