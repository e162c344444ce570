"""Sources of an answer: gathered from its reports, each once, with date."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent.guides import GuidesFound
from agent.writing.words import Words, bullets
from tools.contracts.base import SourceRef
from tools.contracts.calls import ClaimReport
from tools.contracts.sizing import Recommendation

_SHOWN = 6
_TITLE_CHARS = 110


def sources_of(reports: Iterable[object]) -> tuple[SourceRef, ...]:
    """Every source named by the reports, in their order, each once."""
    seen: dict[tuple[str, str], SourceRef] = {}
    for report in reports:
        for source in _of(report):
            seen.setdefault((source.title, source.as_of), source)
    return tuple(seen.values())


def sources_section(w: Words, sources: Iterable[SourceRef]) -> str:
    """The sources as a list with dates; "" without any."""
    listed = list(sources)
    if not listed:
        return ""
    lines = [f"{short_title(source.title)} ({w.date(source.as_of)})" for source in listed[:_SHOWN]]
    if len(listed) > _SHOWN:
        more = len(listed) - _SHOWN
        lines.append(w(f"and {more} more beside the figures", f"另有 {more} 条，见各项数据旁"))
    return w("**Sources**\n", "**来源**\n") + bullets(lines)


def short_title(title: str) -> str:
    """A source's title; of one that lists many, the first ones that fit a line."""
    if len(title) <= _TITLE_CHARS:
        return title
    kept = ""
    for part in re.split(r"; | \| ", title):
        if kept and len(kept) + len(part) > _TITLE_CHARS:
            break
        kept = f"{kept}; {part}" if kept else part
    return f"{kept if len(kept) <= 2 * _TITLE_CHARS else kept[:_TITLE_CHARS]} …"


def _of(report: object) -> list[SourceRef]:
    if isinstance(report, ClaimReport):
        return [SourceRef(title=claim.source, as_of=claim.as_of) for claim in report.claims]
    if isinstance(report, GuidesFound):
        return [
            SourceRef(title=source.title, as_of=source.date)
            for guide in report.guides[:1]
            for source in guide.sources
        ] + [SourceRef(title=excerpt.source, as_of=excerpt.date) for excerpt in report.own]
    if isinstance(report, Recommendation):
        return [*report.sources, *_of_options(report)]
    return list(getattr(report, "sources", ()))


def _of_options(report: Recommendation) -> list[SourceRef]:
    """Price, memory and speed sources of the options shown."""
    found: list[SourceRef] = []
    for option in report.options or report.fallback:
        for part in (option.cost, option.memory, option.speed):
            if part is not None:
                found.extend(part.sources)
    return found
