"""Reports of a run: Markdown for people, JUnit for CI, JSON for comparison, one transcript per case."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from agent.builtin_model import BUILTIN
from evals.cases import Case
from evals.outcome import Outcome
from evals.score import CaseScore
from evals.shelf import ShelfReport, shelf_lines, shelf_values
from evals.stats import Summary, by, percentile, summarize


@dataclass(frozen=True)
class Results:
    """A finished run: cases with outcomes and scores in one order, the shelf's report, and what failed the
    gate."""

    model: str
    cases: Sequence[Case]
    outcomes: Sequence[Outcome]
    scores: Sequence[CaseScore]
    shelf: ShelfReport | None
    seconds: float
    breaches: Sequence[str] = ()


def write_reports(results: Results, folder: Path) -> list[Path]:
    """Writes report.md, junit.xml, results.json and transcripts/ under `folder`; returns the first three."""
    transcripts = folder / "transcripts"
    transcripts.mkdir(parents=True, exist_ok=True)
    for case, outcome, score in zip(results.cases, results.outcomes, results.scores, strict=True):
        text = transcript(case, outcome, score)
        (transcripts / f"{case.id}.md").write_text(text, encoding="utf-8")
    paths = [folder / "report.md", folder / "junit.xml", folder / "results.json"]
    paths[0].write_text(markdown(results), encoding="utf-8")
    junit(results).write(paths[1], encoding="utf-8", xml_declaration=True)
    paths[2].write_text(json.dumps(values(results), ensure_ascii=False, indent=1), encoding="utf-8")
    return paths


_HEAD = (
    "| | cases | passed | must lines true | must-not broken | checks hold | slots read | oracle | errors |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
)


def markdown(results: Results) -> str:
    """The report for people. Rates are shown with their standard error."""
    seconds = [score.seconds for score in results.scores if not score.error]
    whole = summarize("all", results.scores)
    lines = [f"# Evaluation with the model `{results.model}`", ""]
    lines += [f"- **Below the gate:** {breach}" for breach in results.breaches] or ["The gate is passed."]
    lines += [
        "",
        f"{whole.cases} cases in {results.seconds:.0f} s; code decides {whole.lines_decided} of their lines. "
        f"An answer takes {1000 * percentile(seconds, 0.5):.0f} ms (median), "
        f"{1000 * percentile(seconds, 0.99):.0f} ms (99th percentile).",
        *model_lines(results.outcomes),
        "",
    ]
    for title, summaries in (
        ("All", [whole]),
        ("By kind", by(lambda score: score.kind, results.scores)),
        ("By language", by(lambda score: score.language, results.scores)),
    ):
        lines += [f"## {title}", "", _HEAD, *map(_row, summaries), ""]
    if results.shelf:
        lines += ["## Finding the right guide", "", *shelf_lines(results.shelf), ""]
    lines += ["## Failures", ""]
    for score in results.scores:
        if not score.passed:
            lines.append(f"- [{score.case_id}](transcripts/{score.case_id}.md)")
            lines += [f"  - {failure}" for failure in score.failures]
    return "\n".join(lines) + "\n"


def model_lines(outcomes: Sequence[Outcome]) -> list[str]:
    """What a language model in front did: how many answers are its own, why the others were replaced, and
    what it was asked. Nothing for a run without one."""
    answers = [answer for outcome in outcomes for answer in outcome.answers]
    calls = [call for answer in answers for call in answer.get("model_calls", ())]
    reasons = Counter(notice["code"] for answer in answers for notice in answer.get("notices", ()))
    if not calls and not reasons:
        return []
    own = sum(answer["model"] != BUILTIN for answer in answers)
    told = ", ".join(f"{code} {count}" for code, count in reasons.most_common()) or "none"
    return [
        "",
        f"{own} of {len(answers)} answers are the model's own; replaced: {told}. "
        f"{len(calls)} requests to it, {sum(call['input_tokens'] for call in calls)} prompt and "
        f"{sum(call['output_tokens'] for call in calls)} reply tokens, "
        f"{1000 * percentile([call['seconds'] for call in calls], 0.5):.0f} ms a request (median).",
    ]


def _row(item: Summary) -> str:
    rates = (item.passed, item.must, item.must_not_broken, item.check, item.slots)
    return (
        f"| {item.name} | {item.cases} | {' | '.join(map(str, rates))} | {item.violations} | {item.errors} |"
    )


def junit(results: Results) -> ElementTree.ElementTree[ElementTree.Element]:
    """One test case per case; what breaks it is the failure's text, an exception is an error."""
    failed = sum(not score.passed and not score.error for score in results.scores)
    errors = sum(bool(score.error) for score in results.scores)
    suite = ElementTree.Element(
        "testsuite",
        name=f"evals-{results.model}",
        tests=str(len(results.scores)),
        failures=str(failed),
        errors=str(errors),
        time=f"{results.seconds:.1f}",
    )
    for score in results.scores:
        attributes = {"classname": score.kind, "name": score.case_id, "time": f"{score.seconds:.3f}"}
        element = ElementTree.SubElement(suite, "testcase", attributes)
        if score.failures:
            tag, text = "error" if score.error else "failure", "\n".join(score.failures)
            child = ElementTree.SubElement(element, tag, message=_printable(score.failures[0]))
            child.text = _printable(f"{text}\ntranscripts/{score.case_id}.md")
    return ElementTree.ElementTree(suite)


def _printable(text: str) -> str:
    """Text without the control characters that XML forbids."""
    return "".join(sign for sign in text if sign >= " " or sign in "\n\t")


def values(results: Results) -> dict[str, Any]:
    """The run as JSON values; `--compare` reads them."""
    groups = {
        "all": [summarize("all", results.scores)],
        "kinds": by(lambda score: score.kind, results.scores),
        "languages": by(lambda score: score.language, results.scores),
    }
    return {
        "model": results.model,
        "seconds": round(results.seconds, 1),
        "breaches": list(results.breaches),
        "summary": {name: [dataclasses.asdict(item) for item in items] for name, items in groups.items()},
        "retrieval": shelf_values(results.shelf) if results.shelf else None,
        "cases": [
            {**dataclasses.asdict(score), "passed": score.passed, "failures": score.failures}
            for score in results.scores
        ],
    }


def transcript(case: Case, outcome: Outcome, score: CaseScore) -> str:
    """The whole dialogue of a case with its findings, as Markdown."""
    lines = [f"# {case.id}", "", f"{case.kind}, {case.language}; {case.source}", ""]
    for number, turn in enumerate(case.turns):
        lines += [f"## User {number + 1}", "", *(f"> {line}" for line in turn.splitlines()), ""]
        if number < len(outcome.answers):
            answer = outcome.answers[number]
            lines += [
                f"## Answer {number + 1} ({answer.get('seconds', 0.0):.3f} s)",
                "",
                str(answer["text"]),
                "",
            ]
            called = ", ".join(str(report["tool"]) for report in answer.get("reports", ()))
            lines += [f"Calculated with: {called or 'nothing'}", "", "Read:", "", "```json"]
            lines += [json.dumps(_read(answer), ensure_ascii=False, indent=1), "```", ""]
    if outcome.error:
        lines += ["## Error", "", "```", outcome.error, "```", ""]
    lines += ["## Findings", ""]
    marks = {True: "yes", False: "**no**", None: "not decided by code"}
    lines += [f"- must, {marks[item.true]}: {item.line}" for item in score.must]
    broken = {True: "**broken**", False: "kept", None: "not decided by code"}
    lines += [f"- must not, {broken[item.true]}: {item.line}" for item in score.must_not]
    for title, findings in (("check", score.check), ("slot", score.slots)):
        lines += [f"- {title} {item.what}, {marks[item.ok]}: {item.detail}" for item in findings]
    lines += [f"- oracle, **{item.rule}**: {item.option}: {item.detail}" for item in score.violations]
    return "\n".join(lines) + "\n"


def _read(answer: Any) -> dict[str, Any]:
    reading = answer.get("reading") or {}
    request = {
        key: value for key, value in (reading.get("request") or {}).items() if value not in (None, "", [])
    }
    kept = ("intent", "intents", "topics", "claims", "clarify", "search_query")
    return {**{key: reading[key] for key in kept if reading.get(key)}, "request": request}


def compare(first: Path, second: Path) -> str:
    """Two runs side by side: rates by kind, and the cases that only one of them passes. Each path is a
    results.json or the folder that holds one."""
    a, b = (_load(path) for path in (first, second))
    lines = [f"# {first.name} ({a['model']}) and {second.name} ({b['model']})", ""]
    lines += ["| | passed A | passed B | must A | must B |", "| --- | ---: | ---: | ---: | ---: |"]
    for group in ("all", "kinds", "languages"):
        other = {item["name"]: item for item in b["summary"][group]}
        for item in a["summary"][group]:
            if item["name"] in other:
                pairs = [
                    _shown(side[field])
                    for field in ("passed", "must")
                    for side in (item, other[item["name"]])
                ]
                lines.append(f"| {item['name']} | {' | '.join(pairs)} |")
    passed = {case["case_id"]: case["passed"] for case in b["cases"]}
    for title, wanted in (("Only A passes", True), ("Only B passes", False)):
        names = [
            case["case_id"]
            for case in a["cases"]
            if case["case_id"] in passed
            and case["passed"] is wanted
            and passed[case["case_id"]] is not wanted
        ]
        lines += ["", f"## {title}: {len(names)}", "", *(f"- {name}" for name in names)]
    return "\n".join(lines) + "\n"


def _load(path: Path) -> Any:
    file = path / "results.json" if path.is_dir() else path
    return json.loads(file.read_text(encoding="utf-8"))


def _shown(item: dict[str, float]) -> str:
    return f"{100 * item['value']:.1f} ± {100 * item['error']:.1f} %"
