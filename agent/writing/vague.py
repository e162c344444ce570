"""Questions that say too little: one short question back, with what can be said already."""

from __future__ import annotations

from agent.reading.types import Reading
from agent.steps import Case, Findings
from agent.writing.facts import cards_of, price_of
from agent.writing.memory import peak_gib
from agent.writing.memory_answer import method_word
from agent.writing.words import Words, short_model, table
from knowledge.cards import USABLE_RATIO
from tools.contracts.lookup import FindReport
from tools.contracts.memory import MemoryReport
from tools.contracts.other import OtherMemoryReport
from tools.contracts.training import TrainingMemoryReport

_TIGHT_SHARE = 0.9
_PARTS_ASKED = {
    "task": (
        "the task (inference, fine-tuning, training, image or video generation, graphics)",
        "任务（推理、微调、训练、出图出视频、图形）",
    ),
    "model": ("the model and its size", "模型和规模"),
    "load": ("how many requests at once and how long the texts are", "同时请求数和文本长度"),
    "budget": ("the budget and region", "预算和地域"),
}  # fmt: skip


def symptom_question(w: Words) -> str:
    """What a symptom without detail needs to be narrowed down."""
    return w(
        "**To narrow this down please give** the output of `nvidia-smi`, the model and engine, the batch "
        "size, disk and CPU load, and what you compare with. Meanwhile the checks that find the cause most "
        "often:",
        "**为缩小范围，请提供** `nvidia-smi` 输出、模型和引擎、批大小、磁盘与 CPU 负载，以及对比的基准。"
        "先做这些最常见的检查：",
    )


def vague_sections(w: Words, case: Case) -> list[str]:
    """The question back, what usual sizes need, and an entry-level price."""
    findings = case.done
    sections = [question_back(w, case.reading)]
    sizes = _sizes(w, findings, case.reading.vram_gb)
    if sizes:
        sections.append(w("Until then, what usual cases need of GPU memory:", "先给一个常见情况的显存参考："))
        sections.append(sizes)
    found = findings.first(FindReport, "usual")
    if found is not None and found.found:
        entry = found.found[0]
        price = price_of(w, entry.price)
        sections.append(
            w(
                f"A usual place to start: {entry.instance.instance_type} ({cards_of(w, entry.instance)}), "
                f"{price}.",
                f"常见的入门选择：{entry.instance.instance_type}（{cards_of(w, entry.instance)}），{price}。",
            )
        )
    return sections


def which_model(w: Words, reading: Reading) -> str:
    """Which of a line's models is meant, with the choices."""
    near = [name for mention in reading.mentions if mention.kind == "unsized_model" for name in mention.near]
    choices = w.listed(dict.fromkeys(short_model(name) for name in near))
    return w(f"**Which of these do you mean?** {choices}", f"**请问具体是哪一个？** {choices}")


def question_back(w: Words, reading: Reading) -> str:
    """One sentence that asks for what is missing to size the work."""
    request = reading.request
    missing = []
    if "task" not in reading.slots:
        missing.append("task")
    if not (request.model or request.params_b):
        missing.append("model")
    if request.concurrency is None and request.users is None:
        missing.append("load")
    if request.budget is None:
        missing.append("budget")
    asked = w.listed(w(*_PARTS_ASKED[part]) for part in missing[:4])
    return w(
        f"**To name the right instance I need: {asked}.** One sentence is enough.",
        f"**要给出合适的实例，请告诉我：{asked}。** 一句话就够。",
    )


def _sizes(w: Words, findings: Findings, vram_gb: float | None) -> str:
    """Usual cases as a table; with the verdict on a card of `vram_gb` where one was asked about."""
    served = w("inference, ", "推理，")
    found: list[tuple[str, str, float | None, float]] = [
        (report.model, served + w.precision(report.weight_precision), report.weights_gib, peak_gib(report))
        for report in findings.all(MemoryReport, "usual")
    ]
    found += [
        (report.model, method_word(w, report.method), report.parameters_gib, peak_gib(report))
        for report in findings.all(TrainingMemoryReport, "usual")
    ]
    found += [
        (report.model, w("images, ", "出图，") + report.mode, None, report.peak_gib_per_gpu)
        for report in findings.all(OtherMemoryReport, "usual")
    ]
    rows = []
    for model, use, weights_gib, total_gib in found:
        row = [short_model(model), use, "–" if weights_gib is None else w.gib(weights_gib), w.gib(total_gib)]
        rows.append([*row, _verdict(w, total_gib, vram_gb)] if vram_gb else row)
    header = [w("Model", "模型"), w("Use", "用途"), w("Weights", "权重"), w("Total", "合计")]
    if vram_gb:
        header.append(w(f"On {vram_gb:g} GB", f"{vram_gb:g} GB 卡"))
    return table(header, rows) if rows else ""


def _verdict(w: Words, total_gib: float, vram_gb: float) -> str:
    share = total_gib / (vram_gb * USABLE_RATIO)
    if share > 1:
        return w("does not fit", "放不下")
    return w("barely fits", "勉强放下") if share > _TIGHT_SHARE else w("fits", "放得下")
