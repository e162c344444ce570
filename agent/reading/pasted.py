"""Tells pasted material (a log, a config.json, nvidia-smi output, code) from the question around it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["", "log", "config", "nvidia_smi", "code"]

_KEPT = 20_000  # characters of pasted material that are kept
_LINES = 600
_SMI = re.compile(
    r"nvidia-smi\s+\d{3}\.|\|\s*gpu\s+name\s|\d+mib\s*/\s*\d+mib|driver version:\s*\d{3}", re.IGNORECASE
)
_CONFIG = re.compile(
    r"\"(?:hidden_size|num_hidden_layers|num_attention_heads|model_type|architectures|n_layer)\"\s*:"
)
_LOG_LINE = re.compile(
    r"^\s*(?:\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d|\(?(?:info|warning|error|debug|warn|critical"
    r"|fatal)\b|traceback|file \".{1,200}\", line \d+"
    r"|\s*at [\w.$]{3,80}\(|\w{1,40}(?:error|exception)\b|\[rank\d|\[\s*\d+\.\d+\]|e\d{4} "
    r"|i\d{4} |w\d{4} |nccl|cuda error|raise |return |self\.|\d+: )",
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"error|exception|failed|failure|cannot|could not|couldn't|fatal|killed|out of memory|oom"
    r"|denied|not found|no such|unable|mismatch|invalid|timeout"
    r"|xid|segfault|unsupported|not supported|insufficient|报错|错误|失败",
    re.IGNORECASE,
)
_NOISE = re.compile(
    r"^\s*(?:\[?\d{4}-\d\d-\d\d[t ]\d\d:\d\d:\d\d[.,\d]*z?\]?|\[?\d\d:\d\d:\d\d[.,\d]*\]?"
    r"|\(?(?:info|warning|error|critical)\b:?|\[[\w.:/ -]{1,40}\]|[ei]\d{4}|\(\w+ pid=\d+\)"
    r"|\d{2}-\d{2})+[\s:|-]*",
    re.IGNORECASE,
)
_CODE_LINE = re.compile(
    r"^\s*(?:import |from \w+ import|def |class |#!|sudo |pip |docker |apt|yum |resource \"|FROM "
    r"|RUN |\$ |for .* in .*:|if .*:$|\w+ ?= ?\w+\()"
)


@dataclass(frozen=True)
class Pasted:
    """A turn split into the user's own words and what was pasted."""

    prose: str
    kind: Kind = ""
    text: str = ""
    errors: str = ""  # the lines that say what went wrong, without time stamps


def split_pasted(turn: str) -> Pasted:
    """Splits a turn. Short questions that quote one error line stay prose."""
    if "\n" not in turn and len(turn) < 700:
        return Pasted(turn)
    lines = turn[:200_000].splitlines()
    if _CONFIG.search(turn[:_KEPT]) and "{" in turn:
        start, end = turn.index("{"), turn.rfind("}")
        prose = f"{turn[:start]} {turn[end + 1 :] if end > start else ''}"
        return Pasted(prose, "config", turn[start : end + 1 if end > start else None][:_KEPT])
    fenced = re.search(r"```[a-z]*\n(.*?)(?:```|\Z)", turn[:60_000], re.DOTALL)
    marks = [_is_pasted(line) for line in lines]
    if _SMI.search(turn[:_KEPT]):
        kind: Kind = "nvidia_smi"
        marks = [
            mark or bool(re.match(r"\s*[|+]|.*mib\s*/|.*driver version", line, re.IGNORECASE))
            for mark, line in zip(marks, lines, strict=True)
        ]
    elif fenced or sum(marks) >= 3 or len(turn) >= 1500:
        kind = "code" if sum(bool(_CODE_LINE.match(line)) for line in lines) * 2 > len(lines) else "log"
    else:
        return Pasted(turn)
    if fenced:
        inside, prose = fenced[1], turn[: fenced.start()] + " " + turn[fenced.end() : fenced.end() + 4000]
        return Pasted(prose, kind, inside[:_KEPT], error_lines(inside.splitlines()))
    body = _fill_gaps(marks)
    material = [line for line, mark in zip(lines, body, strict=True) if mark]
    prose_lines = [line for line, mark in zip(lines, body, strict=True) if not mark]
    if len(lines) == 1:  # one endless line: its head is read, the rest is material
        return Pasted(turn[:600], kind, turn[:_KEPT], error_lines(re.split(r"(?<=[.;])\s", turn[:_KEPT])))
    return Pasted("\n".join(prose_lines), kind, "\n".join(material)[:_KEPT], error_lines(material))


def _is_pasted(line: str) -> bool:
    return bool(_LOG_LINE.match(line[:300]) or _CODE_LINE.match(line[:300]) or len(line) > 400)


def _fill_gaps(marks: list[bool]) -> list[bool]:
    """All between the first and the last marked line is material."""
    if not any(marks):
        return marks
    first, last = marks.index(True), len(marks) - 1 - marks[::-1].index(True)
    return [first <= index <= last for index in range(len(marks))]


def error_lines(lines: list[str], limit: int = 4) -> str:
    """The last lines that name an error, without time stamps, most telling first; at most 600 characters."""
    hits: list[str] = []
    for line in reversed(lines[-_LINES:] + lines[:_LINES]):
        clean = _NOISE.sub("", line[:400]).strip(" |=-+*#")
        if clean and _ERROR.search(clean) and clean not in hits and len(clean) > 8:
            hits.append(clean[:200])
    # A line that ends a traceback ("RuntimeError: …") says more than a warning on the way.
    hits.sort(
        key=lambda line: (
            not re.match(r"(?:[\w.]+(?:Error|Exception)\b|.*(?:out of memory|CUDA error|Xid|NCCL))", line)
        )
    )
    return " ".join(hits[:limit])[:600]
