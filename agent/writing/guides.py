"""Guides as answers: a fault's likeliest cause, checks and fixes in order; else short answer and steps."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from agent.guides import Excerpt, GuidesFound
from agent.writing.words import Words
from knowledge.guides import Guide

_CAUSES = ("Why", "原因")
_CHECK = ("How to check", "如何检查")
_FIX = ("How to fix", "如何修复")
_SHORT = ("Short answer", "结论")
_TRAPS = ("Traps", "常见误区")
_LEFT_OUT = (
    "What you see", "现象", "Version limits", "版本限制", "How to prevent", "如何预防",
)  # fmt: skip
_SECTION_CHARS = 2_200
_ALSO = 3


def guide_sections(w: Words, found: GuidesFound, limit: int = 4) -> list[str]:
    """The best guide as an answer, at most `limit` of its sections, and the titles of the next ones."""
    if found.no_answer:
        return []
    quoted = _quoted(w, found.own)
    if not found.guides:
        return quoted
    guide = found.guides[0]
    parts = split_sections(guide.body)
    lines = _fault(w, guide, parts) if any(name in parts for name in _FIX) else _topic(w, guide, parts, limit)
    others = [hit.title for hit in found.hits[1 : 1 + _ALSO] if hit.kind == "guide"]
    if others:
        lines.append(w("**Also worth a look:** ", "**相关指南**：") + w("; ", "；").join(others))
    return [*quoted, *lines] if found.own and found.own[0].leads else [*lines, *quoted]


def short_answer(found: GuidesFound) -> str:
    """The first paragraph of the best guide's short answer or cause, "" without one."""
    if not found.guides or found.no_answer:
        return ""
    parts = split_sections(found.guides[0].body)
    text = _pick(parts, _SHORT) or _pick(parts, _CAUSES)
    return text.split("\n\n", 1)[0].strip()


def split_sections(body: str) -> dict[str, str]:
    """The sections of a guide by heading, in order; text before the first heading under ""."""
    parts: dict[str, str] = {}
    heading = ""
    fence = False
    for line in body.splitlines():
        fence ^= line.lstrip().startswith("```")
        match = None if fence else re.match(r"##\s+(.*)", line)
        if match:
            heading = match[1].strip()
            continue
        parts[heading] = f"{parts.get(heading, '')}{line}\n"
    return {name: text.strip() for name, text in parts.items() if text.strip()}


def _quoted(w: Words, excerpts: Sequence[Excerpt]) -> list[str]:
    """Excerpts of own documents, each with its file: block quotes in which no markup works."""
    return [
        w("**From your own documents:** ", "**摘自贵方文档**：")
        + f"{literal(excerpt.title)} ({literal(excerpt.source)})\n\n"
        + "\n".join(f"> {literal(line)}  " for line in excerpt.text.splitlines() if line.strip())
        for excerpt in excerpts
    ]


def literal(text: str) -> str:
    """Text that shows as it is in Markdown and HTML: no tag, link, image, code or formula."""
    return re.sub(r"([\\`*_\[\]!#|~$])", r"\\\1", html.escape(text.strip(), quote=False))


def _fault(w: Words, guide: Guide, parts: dict[str, str]) -> list[str]:
    causes = _pick(parts, _CAUSES)
    first, rest = _first_cause(causes)
    lines = [f"**{guide.title}**"]
    if first:
        lines[0] += w(f"\n\nMost likely: {first}", f"\n\n最可能的原因：{first}")
    if rest:
        lines.append(w("Other causes, by likelihood:\n", "其他可能，按可能性排序：\n") + rest)
    check, fix = _pick(parts, _CHECK), _pick(parts, _FIX)
    if check:
        lines.append(w("**Step 1. Check**\n\n", "**第 1 步：检查**\n\n") + _cut(check))
    if fix:
        number = 2 if check else 1
        lines.append(w(f"**Step {number}. Fix**\n\n", f"**第 {number} 步：修复**\n\n") + _cut(fix))
    return lines


def _topic(w: Words, guide: Guide, parts: dict[str, str], limit: int) -> list[str]:
    short = _pick(parts, _SHORT)
    lines = [short or f"**{guide.title}**"]
    for heading, text in parts.items():
        if text != short and heading not in _LEFT_OUT and heading not in _TRAPS and len(lines) < limit:
            lines.append(f"**{heading}**\n\n{_cut(text)}" if heading else _cut(text))
    traps = _pick(parts, _TRAPS)
    if traps and limit > 1:
        lines.append(w("**Traps**\n\n", "**常见误区**\n\n") + _cut(traps))
    return lines


def _first_cause(text: str) -> tuple[str, str]:
    """The first bullet of a list of causes and the bullets after it; without bullets the first paragraph."""
    bullets = re.findall(r"(?m)^(?:[-*]|\d+\.)\s+(.*(?:\n(?![-*]|\d+\.|\n).*)*)", text)
    if bullets:
        return bullets[0].strip(), "\n".join(f"- {item.strip()}" for item in bullets[1:])
    return text.split("\n\n", 1)[0], ""


def _pick(parts: dict[str, str], names: tuple[str, ...]) -> str:
    return next((parts[name] for name in names if name in parts), "")


def _cut(text: str) -> str:
    """A long section cut at a paragraph, never inside a code block."""
    if len(text) <= _SECTION_CHARS:
        return text
    kept = ""
    for paragraph in text.split("\n\n"):
        if len(kept) + len(paragraph) > _SECTION_CHARS and kept.count("```") % 2 == 0:
            break
        kept += paragraph + "\n\n"
    return kept.strip()
