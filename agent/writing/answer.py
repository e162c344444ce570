"""The whole answer: corrections, the intent's own sections, assumptions, warnings, next step, sources."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent.guides import GuidesFound
from agent.reading.phrases import tags
from agent.reading.types import Reading
from agent.reading.words import Words as QuestionWords
from agent.steps import Case, Findings
from agent.writing.advice import advice_lines
from agent.writing.body import body_sections
from agent.writing.claims import claim_line, premise_lines
from agent.writing.cost_headline import RULES_TOLD
from agent.writing.expert import expert_section, expert_sources, fitting, lead_section
from agent.writing.faults import fault_section
from agent.writing.glossary import assumption_text, field_name, remark_text, slot_text
from agent.writing.memory_answer import method_word
from agent.writing.names import phantom_sections
from agent.writing.own_model import own_model_line, unreadable_section
from agent.writing.recommendation import TOLD_FIRST
from agent.writing.small import left_out_line, small_answer
from agent.writing.sources import sources_of, sources_section
from agent.writing.stand_in import stand_in_lines
from agent.writing.words import Words, bullets, quoted, short_model
from knowledge.catalog import Catalog
from tools.contracts.base import Assumption, Remark
from tools.contracts.calls import ClaimReport, Fault
from tools.contracts.cost import CostReport
from tools.contracts.lookup import NameReport
from tools.contracts.sizing import Recommendation

_SILENT = frozenset({"greeting", "reset", "out_of_scope", "empty"})
# Reasons of the first option that its buyer must know.
_WARNING_REASONS = frozenset(
    {
        "little_memory_to_spare", "contact_sales", "invitation_only", "ticket_needed", "uefi_image_needed",
        "only_in_api", "no_rdma_between_machines", "legacy_type", "unknown_type",
    }
)  # fmt: skip
_SIDE = frozenset(
    {
        "variant",
        "rent",
        "usual",
        "buys",
        "companion",
        "beside",
        "on_card",
        "holds",
        "other_size",
        "one_card",
        "parallel",
        "load",
        "worth",
    }
)
_NEED_NO_MODEL = frozenset({"hpc", "graphics", "transcoding", "development"})
_WARNINGS_SHOWN = 6
_SHOWN_BY_VERDICT = "model_too_big_for_card"  # where a verdict has the figures, what else helps comes later
_KEYWORD_ONLY = {
    "keyword_only_no_index": (
        "there is no search index yet (`python -m retrieval build` makes it)",
        "还没有检索索引（运行 `python -m retrieval build` 生成）",
    ),
    "keyword_only_other_embedder": (
        "the index was made with another embedder (`python -m retrieval build --rebuild` makes it anew)",
        "检索索引由另一个向量模型生成（运行 `python -m retrieval build --rebuild` 重新生成）",
    ),
    "keyword_only_error": (
        "the search index cannot be read (the log says why)",
        "无法读取检索索引（原因见日志）",
    ),
}
_ASSUMPTIONS_SHOWN = 6
_ONE_FIELD = {"regions": "region", "gpu_wanted": "gpu", "weight_precision": "precision"}
_TOLD_FIRST_OF_SLOTS = (
    "model", "params_b", "task", "method", "precision", "gpu_wanted", "gpu_count", "regions", "budget",
    "concurrency", "users", "context_tokens", "sequence_length", "dataset_tokens", "deadline_hours",
)  # fmt: skip
# Said although the user named the thing: the figures are those of another of its kind.
_STAND_INS = frozenset({"engine_of_equal_kind", "modelled_as", "framework_of_equal_kind", "backbone_of_name"})
# The assumptions that move an answer most; engine settings come after them.
_TOLD_FIRST = (
    "model", "gpu", "gpu_wanted", "region", "regions", "tokens", "steps", "purchase", "hours_per_month",
    "cny_per_usd", "precision", "weight_precision", "method", "context_tokens", "concurrency", "input_tokens",
    "output_tokens", "sequence_length", "micro_batch", "resolution", "frames", "batch", "parallelism",
    "engine",
)  # fmt: skip


def write(reading: Reading, findings: Findings, catalog: Catalog) -> str:
    """The answer to a question as Markdown in its language, made from the reports of the run."""
    w = Words(reading.language)
    if reading.intent in _SILENT:
        return small_answer(w, reading)
    if reading.unreadable:
        return unreadable_section(w, reading)
    corrections = _corrections(w, reading, findings, catalog)
    if reading.intent == "injection":
        corrections.insert(0, small_answer(w, reading))
    case = Case(reading, findings, catalog)
    body = body_sections(w, case)
    if not body and reading.intent != "injection":
        body = [fault_section(w, findings.all(Fault), failed=any(step.artifact is None for step in findings))]
    rows = fitting(case)
    sections = [
        left_out_line(w, reading),
        _strangers(w, reading),
        *corrections,
        lead_section(w, rows),
        "" if reading.follow_up else own_model_line(w, reading),
        *body,
        *(premise_lines(w, _by_verdict(reading)) if _judged(findings) else []),
        expert_section(w, rows),
        _kept(w, reading),
        _assumptions(w, reading, findings),
        _warnings(w, findings, advice_lines(w, case)),
        _search_note(w, findings),
        _next_step(w, findings),
        sources_section(
            w, dict.fromkeys((*expert_sources(rows), *sources_of(step.artifact for step in findings)))
        ),
    ]
    return "\n\n".join(section for section in sections if section)


def _corrections(w: Words, reading: Reading, findings: Findings, catalog: Catalog) -> list[str]:
    """Wrong premises with the right fact, before anything else."""
    said = set(reading.claims)
    words = QuestionWords.of(reading.question).plain
    asserted = any(tags("special")[name].search(words) for name in ("asserted", "confirm"))
    asserted = asserted and not tags("special")["open_question"].search(words)
    lines = [
        claim_line(w, claim, asserted)
        for report in findings.all(ClaimReport)
        for claim in report.claims
        if claim.claim_id in said
    ]
    lines += premise_lines(w, [code for code in reading.claims if code != _SHOWN_BY_VERDICT])
    if not _judged(findings):
        lines += premise_lines(w, _by_verdict(reading))
    for report in findings.all(NameReport, "phantom"):
        if not report.exists:
            lines.append("\n".join(phantom_sections(w, report)))
    for found in findings.all(Recommendation):
        lines += [remark_text(w, remark) for remark in found.corrections]
    return list(dict.fromkeys([*lines, *stand_in_lines(w, reading, catalog)]))


def _judged(findings: Findings) -> bool:
    """Whether a card that was named got a verdict of its own."""
    steps = (step for step in findings if step.call.purpose == "main")
    return any(getattr(step.artifact, "fits", None) is not None for step in steps)


def _by_verdict(reading: Reading) -> list[str]:
    return [code for code in reading.claims if code == _SHOWN_BY_VERDICT]


def _strangers(w: Words, reading: Reading) -> str:
    """Names that were misspelt, and models and cards that the catalog does not know, with near matches; what
    follows leaves the unknown ones out."""
    lines = []
    for mention in reading.mentions:
        if mention.kind == "model" and mention.near and not mention.negated:  # a slip of the pen
            lines.append(
                w(
                    f"“{quoted(mention.text)}” is read as **{short_model(mention.name)}**.",
                    f"“{quoted(mention.text)}”按 **{short_model(mention.name)}** 理解。",
                )
            )
        if mention.kind not in ("unknown_model", "unknown_gpu") or mention.negated:
            continue
        what = w("model", "模型") if mention.kind == "unknown_model" else w("card", "显卡")
        line = w(
            f"**I do not know the {what} “{quoted(mention.text)}”.**",
            f"**没有找到{what}“{quoted(mention.text)}”。**",
        )
        if mention.near:
            near = w.listed(short_model(name) for name in mention.near)
            line += w(f" Did you mean {near}?", f"是不是指 {near}？")
        lines.append(line)
    return "\n".join(dict.fromkeys(lines))


def _kept(w: Words, reading: Reading) -> str:
    """What a follow-up carries on from the turns before."""
    if not reading.follow_up:
        return ""
    kept = [
        f"{field_name(w, name)} {_kept_value(w, reading, name)}"
        for name in _TOLD_FIRST_OF_SLOTS
        if name in reading.slots and name not in reading.changed
    ]
    if not kept:
        return ""
    return w(f"**Kept from before:** {'; '.join(kept)}.", f"**沿用前面的**：{'；'.join(kept)}。")


def _kept_value(w: Words, reading: Reading, name: str) -> str:
    """A slot's value in the reader's language; codes and money are worded."""
    budget, value = reading.request.budget, reading.slots[name].value
    if name == "budget" and budget is not None:
        decimals = 0 if budget.amount == int(budget.amount) else 2
        money = w.money(budget.amount, budget.currency, decimals)
        if budget.period == "total":
            return w(f"{money} in all", f"共 {money}")
        return w(f"{money} per {budget.period}", f"每{w.unit(budget.period)} {money}")
    if name == "method":
        return method_word(w, str(value))
    return slot_text(w, name, value)


def _assumptions(w: Words, reading: Reading, findings: Findings) -> str:
    """What the question left open and was filled in; each field once, what the user said left out."""
    seen: dict[str, Assumption] = {}
    rank = {field: place for place, field in enumerate(_TOLD_FIRST)}
    for report in _main_reports(findings):
        for assumption in getattr(report, "assumptions", ()):
            open_ = assumption.field not in reading.slots or assumption.reason in _STAND_INS
            if open_ and _holds(assumption, report):
                seen.setdefault(_ONE_FIELD.get(assumption.field, assumption.field), assumption)
    if not seen or reading.intent == "vague":
        return ""
    ordered = sorted(seen.values(), key=lambda item: rank.get(item.field, len(rank)))
    listed = w("; ", "；").join(assumption_text(w, item) for item in ordered[:_ASSUMPTIONS_SHOWN])
    return w(
        f"**Assumed:** {listed}. Tell me if any of it differs.", f"**假设**：{listed}。如有不同请告诉我。"
    )


def _holds(assumption: Assumption, report: object) -> bool:
    """An assumed precision is left unsaid where the report ended with another one."""
    used = getattr(report, assumption.field, None)
    if assumption.field == "precision" and isinstance(report, Recommendation) and report.options:
        used = report.options[0].precision
    return not assumption.field.endswith("precision") or used is None or used == assumption.value


def _warnings(w: Words, findings: Findings, advice: Sequence[str]) -> str:
    """Advice first, then what the reports warn of."""
    found: dict[str, None] = dict.fromkeys(advice)
    for report in _main_reports(findings):
        for remark in _remarks_of(report):
            if remark.code not in TOLD_FIRST and not (
                isinstance(report, CostReport) and remark.code in RULES_TOLD
            ):
                found.setdefault(remark_text(w, remark))
    lines = list(found)[:_WARNINGS_SHOWN]
    return w("**Mind**\n", "**注意**\n") + bullets(lines) if lines else ""


def _remarks_of(report: object) -> Iterable[Remark]:
    yield from getattr(report, "warnings", ())
    if isinstance(report, Recommendation):
        for option in (report.options or report.fallback)[:1]:
            yield from (remark for remark in option.why if remark.code in _WARNING_REASONS)
            for part in (option.memory, option.speed, option.cost):
                if part is not None:
                    yield from part.warnings


def _main_reports(findings: Findings) -> list[object]:
    """The reports that answer; those made only to compare with do not speak of their own assumptions."""
    return [step.artifact for step in findings if step.call.purpose not in _SIDE]


def _search_note(w: Words, findings: Findings) -> str:
    found = findings.first(GuidesFound)
    if found is None or not found.note:
        return ""
    english, chinese = _KEYWORD_ONLY.get(found.note, _KEYWORD_ONLY["keyword_only_error"])
    return w(f"*Guides were searched by keyword only: {english}.*", f"*指南目前只按关键词检索：{chinese}。*")


def _next_step(w: Words, findings: Findings) -> str:
    found = findings.first(Recommendation)
    if found is None or not found.options or findings.called("launch_commands"):
        return ""
    if not (found.request.model or found.request.params_b or found.request.task in _NEED_NO_MODEL):
        return w(
            "**Next:** tell me what it is for (inference, training, images, graphics; model and size): then "
            "I calculate memory and speed.",
            "**下一步**：请告诉我用途（推理、训练、出图、图形）和模型规模，我再算显存和速度。",
        )
    return w(
        "**Next:** check the zone's stock in the console; I can write the launch commands.",
        "**下一步**：在控制台确认可用区库存；启动命令（Terraform、CLI、推理或训练）我可以给出。",
    )
