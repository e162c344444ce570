"""The panel: figures from reports only, every text escaped, one scale for all bars."""

from __future__ import annotations

import re

from agent.events import Answer, Token, ToolFinished, ToolReport, ToolStarted
from agent.reading.types import Reading, Slot
from agent.writing.words import Words
from knowledge.catalog import Catalog
from tools.contracts.base import SourceRef
from tools.contracts.memory import MemoryReport
from tools.contracts.sizing import SizingRequest
from tools.langchain_tools import build_tools
from ui.assumptions import form_html
from ui.messages import Transcript
from ui.panel import Bar, empty_panel, memory_bars, memory_parts, panel_html
from ui.texts import LABELS, PANEL, STEPS


def _memory(**changes: object) -> MemoryReport:
    values: dict[str, object] = {
        "model": "some/model",
        "gpu": "A10",
        "gpu_count": 1,
        "tensor_parallel": 1,
        "pipeline_parallel": 1,
        "weight_precision": "bf16",
        "kv_precision": "bf16",
        "engine": "vllm",
        "context_tokens": 4096,
        "concurrency": 1,
        "weights_gib": 15.0,
        "weights_gib_per_gpu": 15.0,
        "kv_bytes_per_token": 131072,
        "kv_cache_gib_per_gpu": 0.5,
        "activation_gib_per_gpu": 1.25,
        "overhead_gib_per_gpu": 0.75,
        "total_gib_per_gpu": 17.5,
        "total_gib_per_gpu_low": 17.0,
        "total_gib_per_gpu_high": 18.0,
        "usable_gib_per_gpu": 22.49,
        **changes,
    }
    return MemoryReport.model_validate(values)


def _answer(language: str = "en", **changes: object) -> Answer:
    reading = Reading(
        language=language,
        intent="memory",
        question="q",
        request=SizingRequest(model="some/model"),
        slots={"model": Slot(value="<b>model", confidence=0.9, turn=0)},
    )
    values: dict[str, object] = {
        "text": "t",
        "language": language,
        "reading": reading,
        "reports": (ToolReport("estimate_memory", _memory()),),
        "sources": (SourceRef(title="A <i>document</i>", as_of=""),),
        **changes,
    }
    return Answer(**values)  # type: ignore[arg-type]


def test_the_parts_of_a_bar_sum_to_the_total_of_the_report() -> None:
    memory = _memory()
    assert sum(size for _name, size in memory_parts(memory, Words("en"))) == memory.total_gib_per_gpu


def test_bars_share_one_scale_and_none_is_wider_than_the_track() -> None:
    bars = [Bar("a", (("weights", 10.0), ("KV cache", 30.0)), 22.0), Bar("b", (("weights", 5.0),), 22.0)]
    html = memory_bars(bars, Words("en"))
    widths = [float(width) for width in re.findall(r"width:([\d.]+)%", html)]
    assert sum(widths[:2]) == 100
    assert widths[2] == 12.5
    assert "does not fit" in html


def test_every_text_is_escaped() -> None:
    html = panel_html(_answer()) + form_html(_answer())
    assert "<b>model" not in html
    assert "&lt;b&gt;model" in html
    assert "<i>document" not in html


def test_an_undated_source_says_so_in_the_language_of_the_answer() -> None:
    assert "undated" in panel_html(_answer("en"))
    assert "无日期" in panel_html(_answer("zh"))


def test_an_answer_without_reports_shows_no_figures() -> None:
    html = panel_html(_answer(reports=(), sources=()))
    assert "GiB" not in html
    assert "section" in empty_panel() or "panel-empty" in empty_panel()


def test_every_tool_has_a_title_in_both_languages(catalog: Catalog) -> None:
    names = {tool.name for tool in build_tools(catalog)} | {"search_guides"}
    assert names == STEPS.keys()


def test_all_steps_are_one_foldable_line_that_ends_done() -> None:
    transcript = Transcript("zh")
    transcript.add(ToolStarted("1", "estimate_memory", {"model": "x```<b>"}))
    (pending,) = transcript.messages()
    assert pending.metadata["status"] == "pending"
    transcript.add(ToolFinished("1", "estimate_memory", "text", None, True, 0.25))
    transcript.add(ToolStarted("2", "estimate_cost", {}))
    transcript.add(ToolFinished("2", "estimate_cost", "text", None, False, 0.25))
    transcript.add(Token("答案"))
    steps, answer = transcript.messages()
    assert steps.metadata["title"] == "计算显存、计算费用: 失败"
    assert (steps.metadata["status"], steps.metadata["duration"]) == ("done", 0.5)
    assert steps.content.count("```") == 2
    assert answer.content == "答案"


def test_every_label_exists_in_every_language() -> None:
    assert LABELS["en"].keys() == LABELS["zh-CN"].keys() == LABELS["zh-TW"].keys()
    for table in (PANEL, STEPS):
        assert all(english and chinese for english, chinese in table.values())
