"""Advice that follows from the request and the chosen machine, as an expert would add it unasked."""

from __future__ import annotations

from collections.abc import Iterator

from agent.planner.requests import mentioned
from agent.steps import Case
from agent.writing.glossary import entries
from agent.writing.words import Words
from knowledge.errors import AdvisorError
from knowledge.rows import Gpu
from tools.contracts.cost import CostReport
from tools.contracts.memory import MemoryReport
from tools.contracts.sizing import Recommendation
from tools.contracts.throughput import ThroughputReport

_PART_TIME_HOURS = 500.0  # a month; above it a subscription is the better way to save
_ALWAYS_ON_HOURS = 700.0
_FEW_PER_SECOND = 0.01
_CALCULATED = frozenset({"size", "memory", "speed", "cost", "compare", "vague", "region", "lookup"})
_SPLITTING = frozenset({"ollama", "llama.cpp", "llamacpp", "transformers"})
_SHOWN = 3


def advice_lines(w: Words, case: Case) -> list[str]:
    """The lines that apply, most specific first, at most three."""
    if case.reading.intent not in _CALCULATED:
        return []
    found: dict[str, None] = {}
    for code, values in (*_of_work(case), *_of_money(case)):
        text = entries("advice")[code][w.language]
        found.setdefault(text.format(**values))
    return list(found)[:_SHOWN]


def _of_work(case: Case) -> Iterator[tuple[str, dict[str, str]]]:
    request, topics = case.reading.request, set(case.reading.topics)
    for gpu in _cards(case):
        if (
            gpu.compute_capability is not None
            and gpu.compute_capability < 8
            and request.task not in ("graphics", "hpc")
        ):
            yield "no_bf16", {"gpu": gpu.gpu_model, "capability": f"{gpu.compute_capability:g}"}
    if request.kv_precision:
        yield "kv_precision", {"precision": request.kv_precision}
    if request.engine in _SPLITTING and (request.gpu_count or 1) > 1:
        yield "layer_split", {"engine": request.engine}
    memory = case.done.first(MemoryReport)
    model = case.catalog.find_model(request.model) if request.model else None
    if memory is not None and model is not None and model.attention == "mla":
        yield "latent_attention", {"kib": f"{memory.kv_bytes_per_token / 1024:.1f}"}
    if case.reading.nodes or "multi_node" in topics:
        yield "one_node_first", {}
    chosen = case.done.first(Recommendation)
    sliced = chosen is not None and any(item.family.startswith(("vgn", "sgn")) for item in chosen.options[:1])
    if (
        sliced
        or topics & {"vgpu", "grid"}
        or any(item.name.startswith(("vgn", "sgn")) for item in mentioned(case.reading, "family"))
    ):
        yield "vgpu", {}
    if request.task in ("asr", "tts"):
        yield "measure_stream", {}
    if request.task in ("diffusion", "video", "embedding", "reranker") and case.reading.items_per_day:
        yield "batch_on_spot", {}
    if request.task in ("hpc", "graphics") and topics & {"grid", "ecc"}:
        yield "licence", {}
    if case.reading.intent in ("speed", "compare") and case.done.first(ThroughputReport) is not None:
        yield "quantize_for_speed", {}


def _of_money(case: Case) -> Iterator[tuple[str, dict[str, str]]]:
    request = case.reading.request
    hours = request.hours_per_month
    if hours is not None and hours < _PART_TIME_HOURS:
        yield "stop_when_idle", {}
    if hours is not None and hours > _ALWAYS_ON_HOURS:
        yield "always_on", {}
    if request.budget is not None and request.budget.period == "total":
        yield "short_project", {}
    if request.requests_per_second is not None:
        yield ("few_requests" if request.requests_per_second < _FEW_PER_SECOND else "scale_out"), {}
    regions = {report.region for report in case.done.all(CostReport)}
    if len(regions) > 1:
        yield "prices_by_region", {}


def _cards(case: Case) -> list[Gpu]:
    """The cards named, or else that of the first option."""
    names = [item.name for item in mentioned(case.reading, "gpu")] or list(case.reading.request.gpu_wanted)
    found = case.done.first(Recommendation)
    if not names and found is not None and found.options:
        names = [found.options[0].gpu_model]
    cards = []
    for name in names[:2]:
        try:
            cards.append(case.catalog.gpu(name))
        except AdvisorError:
            continue
    return cards
