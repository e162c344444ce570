"""Tells pasted material (a log, a config.json, nvidia-smi output, code) from the question around it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["", "log", "config", "nvidia_smi", "code"]

READ_CHARS = 200_000  # of a turn that are looked at; the chat cuts earlier, other callers may send more
_KEPT = 30_000  # characters of pasted material that are kept
_MANY_LINES = 12  # from here on lines with an error among them are a log, in whatever form
_ENDLESS = 400  # characters of a line that nobody types
_SMI = re.compile(
    r"nvidia-smi\s+\d{3}\.|\|\s*gpu\s+name\s|\d{1,6}mib\s*/\s*\d{1,6}mib|driver version:\s*\d{3}"
)
_SMI_LINE = re.compile(r"\s*[|+]|.{0,200}\d{1,6}mib\s*/|.{0,40}driver version")
# One card of the table: "|   0  NVIDIA A10          On   | 00000000:00:07.0 Off |".
_SMI_CARD = re.compile(r"^\|\s{1,4}\d{1,2}\s{1,4}(\S[^|\n]{1,40}?)\s+(?:On|Off|N/A)\s*\|", re.MULTILINE)
_CONFIG = re.compile(
    r'"(?:hidden_size|num_hidden_layers|num_attention_heads|model_type|architectures|n_layer)"\s*:'
)
_CONFIG_KEYS = 2  # of them: one alone also stands in questions about a config
_FENCE = re.compile(r"```[a-z]*\n(.*?)(?:```|\Z)", re.DOTALL)
_LOG_LINE = re.compile(
    r"\s*(?:\(\w{1,40} pid=\d+\)|\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d"
    r"|\(?(?:info|warning|error|debug|warn|critical|fatal)\b"
    r"|traceback"
    r'|file ".{1,200}", line \d+|at [\w.$]{3,80}\(|\w{1,40}(?:error|exception)\b|\[rank\d|\[\s*\d+\.\d+\]'
    r"|(?:llama_|llm_load|ggml_|load_tensors|print_info|build: \d|common_init|main: |system_info)"
    r"|(?:torch\.)?(?:cuda\.)?outofmemoryerror|[eiw]\d{4} |nccl|cuda error|raise |return |self\.|\d+: )"
)
# What engines write of memory at their start: a line or two of it are a log.
_FIGURE = re.compile(
    r"model loading took|loading model weights took|available kv cache memory|gpu kv cache size"
    r"|kv cache is needed|# (?:gpu|cuda) blocks:|no available memory for the cache"
    r"|desired gpu memory utilization|load weight end|kv cache is allocated"
    r"|max_total_num_tokens=|(?:cuda|rocm)\d+ (?:model |kv |compute )?buffer size"
)
_CODE_LINE = re.compile(
    r"\s*(?:import |from \w+ import|def |class |#!|sudo |pip |docker |apt|yum |resource \"|from |run |\$ "
    r"|for .{1,80} in .{1,80}:|if .{1,80}:$|\w{1,40} ?= ?\w{1,40}\()"
)
_ERROR = re.compile(
    r"error|exception|failed|failure|cannot|could not|couldn't|fatal|killed|out of memory|oom|denied"
    r"|not found"
    r"|no such|unable|mismatch|invalid|timeout|xid|segfault|unsupported|not supported|insufficient|报错"
    r"|错误|失败"
)
# A line that ends a traceback says more than a warning on the way to it.
_TELLING = re.compile(r"[\w.]{1,60}(?:error|exception)\b|.{0,160}(?:out of memory|cuda error|xid|nccl)")
# PyTorch's out-of-memory sentence, old and new form, over the lines that a terminal wraps it into.
_MEMORY_SENTENCE = re.compile(
    r"(?:[\w.]{0,60}error:\s*)?(?:(?:cuda|hip)\s)?out of memory\.\s+tried to allocate\s+[\d.]{1,12}\s+"
    r"[kmg]i?b.{0,900}(?:memory management\s+\(\S{1,200}\)|pytorch but unallocated\.?|in total by pytorch\)?"
    r"|avoid fragmentation\.?|is free\.?|MiB free[;)]|total capacity[^\n;]{0,60})",
    re.IGNORECASE | re.DOTALL,
)
_STAMPS = re.compile(
    r"\s*(?:(?:\[?\d{4}-\d\d-\d\d[t ]\d\d:\d\d:\d\d[.,\d]*z?\]?|\[?\d\d:\d\d:\d\d[.,\d]*\]?"
    r"|\(?(?:info|warning|error|critical)\b:?|\[[\w.:/ -]{1,40}\]|[ei]\d{4}|\(\w+ pid=\d+\)|\d\d-\d\d)[\s:"
    r"|-]*){1,6}"
)


@dataclass(frozen=True)
class Pasted:
    """A turn split into the user's own words and what was pasted."""

    prose: str
    kind: Kind = ""
    text: str = ""
    errors: str = ""  # the lines that say what went wrong, without time stamps


def split_pasted(turn: str) -> Pasted:
    """Splits a turn. A question that quotes one line of an error stays prose."""
    turn = turn[:READ_CHARS]
    low = turn[:_KEPT].lower()
    if "{" in turn and len(set(_CONFIG.findall(low))) >= _CONFIG_KEYS:
        return _config(turn)
    if "\n" not in turn and len(turn) < _ENDLESS and not _MEMORY_SENTENCE.search(turn):
        return Pasted(turn)
    if sentence := _MEMORY_SENTENCE.search(turn):
        return _fault(turn, sentence)
    lines = turn.splitlines()
    fenced = _FENCE.search(turn)
    smi = bool(_SMI.search(low))
    marks = [_is_material(line, smi) for line in lines]
    figured = any(marks) and _FIGURE.search(low)
    if not (fenced or smi or figured or sum(marks) >= 3 or _many_with_error(lines)):
        return Pasted(turn)
    kind: Kind = "nvidia_smi" if smi else "code" if _mostly_code(lines) else "log"
    if fenced:
        prose = f"{turn[: fenced.start()]} {turn[fenced.end() :]}"
        return Pasted(prose, kind, fenced[1][:_KEPT], error_lines(fenced[1].splitlines()))
    own, material = _apart(lines, marks)
    return Pasted("\n".join(own), kind, "\n".join(material)[:_KEPT], error_lines(material))


def cards_of(pasted: Pasted) -> str:
    """The cards that an nvidia-smi table lists, as one would write them: "2x NVIDIA A10"; "" for none."""
    names = _SMI_CARD.findall(pasted.text) if pasted.kind == "nvidia_smi" else []
    return f"{len(names)}x {names[0]}" if names else ""


def _config(turn: str) -> Pasted:
    start, end = turn.index("{"), turn.rfind("}") + 1
    end = end if end > start else len(turn)
    prose = f"{turn[:start]} {turn[end:]}".replace("```json", " ").replace("```", " ")
    return Pasted(prose, "config", turn[start:end])


def _fault(turn: str, sentence: re.Match[str]) -> Pasted:
    """A turn around PyTorch's out-of-memory sentence; what stands before it in the trace belongs to it."""
    lines = turn[: sentence.start()].splitlines()
    marks = [_is_material(line, smi=False) for line in lines]
    own, traced = _apart(lines, marks) if any(marks) else (lines, [])
    material = "\n".join([*traced, sentence[0]])
    prose = "\n".join([*own, turn[sentence.end() :]])
    return Pasted(
        prose.strip(), "log", material[-_KEPT:], error_lines([*traced, " ".join(sentence[0].split())])
    )


def _is_material(line: str, smi: bool) -> bool:
    low = line[:_ENDLESS].lower()
    if smi and _SMI_LINE.match(low):
        return True
    return bool(_LOG_LINE.match(low) or _CODE_LINE.match(low) or _FIGURE.search(low))


def _many_with_error(lines: Sequence[str]) -> bool:
    return len(lines) >= _MANY_LINES and any(_ERROR.search(line[:_ENDLESS].lower()) for line in lines)


def _mostly_code(lines: Sequence[str]) -> bool:
    return 2 * sum(bool(_CODE_LINE.match(line[:_ENDLESS].lower())) for line in lines) > len(lines)


def _apart(lines: list[str], marks: list[bool]) -> tuple[list[str], list[str]]:
    """The user's lines before and after, and all between the first and the last marked one. Without a
    mark the first line counts as the question."""
    if not any(marks):
        return lines[:1], lines[1:]
    first, last = marks.index(True), len(marks) - marks[::-1].index(True)
    return lines[:first] + lines[last:], lines[first:last]


def error_lines(lines: Sequence[str], limit: int = 4) -> str:
    """The lines that name an error, most telling and latest first, without time stamps; 600 characters."""
    hits: list[str] = []
    for line in [*reversed(lines[-600:]), *reversed(lines[:600])]:
        clean = line[:_ENDLESS].strip()
        stamp = _STAMPS.match(clean.lower())
        # Lower case keeps the length of ASCII text; elsewhere nothing is cut.
        clean = clean[stamp.end() :] if stamp and clean.isascii() else clean
        clean = clean.strip(" |=-+*#")[:200]
        if len(clean) > 8 and clean not in hits and _ERROR.search(clean.lower()):
            hits.append(clean)
    hits.sort(key=lambda line: not _TELLING.match(line.lower()))
    return " ".join(hits[:limit])[:600]
