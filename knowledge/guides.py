"""The guide shelf: Markdown files with typed front matter, one per topic and language.

A file `knowledge/guides/<language>/<id>.md` starts with YAML between `---` lines and goes on with Markdown.
Both languages of a guide carry the same commands, figures and literal error strings; `parity_faults` says
where they differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from knowledge.errors import InputError

GUIDES_DIR = Path(__file__).parent / "guides"
Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")
CATEGORIES = (
    "access_ssh_security", "container", "cost_billing", "data_loading", "deployment_terraform_cli",
    "driver_cuda", "hardware_xid", "inference_serving", "instance_lifecycle", "low_utilisation",
    "monitoring", "multi_gpu_nccl", "oom_memory", "performance_tuning", "quantization", "rdma_network",
    "region_stock_quota", "selection", "spot", "storage", "training_finetune", "vgpu_graphics",
)  # fmt: skip


class GuideSource(BaseModel):
    """Where a guide's facts come from; `date` is empty where the source has none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str = Field(min_length=3)
    url: str = ""
    date: str = Field(default="", pattern=r"^(\d{4}(-\d{2}(-\d{2})?)?)?$")


class Guide(BaseModel):
    """One guide in one language; `symptoms` holds literal error strings and the words users say."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    language: Language
    title: str = Field(min_length=3)
    category: str
    symptoms: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    sources: tuple[GuideSource, ...] = Field(min_length=1)
    as_of: str = Field(default="", pattern=r"^(\d{4}(-\d{2}(-\d{2})?)?)?$")
    body: str = Field(min_length=80)


def parse_guide(text: str, where: str) -> Guide:
    """A guide from its file text; raises `InputError` naming the file and the field that is wrong."""
    match = re.match(r"---\n(.*?)\n---\n(.*)", text, re.DOTALL)
    if match is None:
        raise InputError(where, text[:40], "a guide starts with YAML front matter between `---` lines")
    try:
        front = yaml.safe_load(match[1])
    except yaml.YAMLError as error:
        raise InputError(where, str(error).replace("\n", " "), "valid YAML front matter") from None
    if not isinstance(front, dict):
        raise InputError(where, front, "front matter is a mapping")
    for key in ("as_of",):
        if front.get(key) is not None:
            front[key] = str(front[key])
    for source in front.get("sources") or []:
        if isinstance(source, dict) and source.get("date") is not None:
            source["date"] = str(source["date"])
    try:
        guide = Guide(**front, body=match[2].strip())
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{where}: {field}", first.get("input"), first["msg"]) from None
    if guide.category not in CATEGORIES:
        raise InputError(f"{where}: category", guide.category, f"one of {', '.join(CATEGORIES)}")
    return guide


def load_guides(folder: Path = GUIDES_DIR) -> list[Guide]:
    """All guides under `<folder>/<language>/`, ordered by language and id."""
    return [guide for language in LANGUAGES for guide in _language_guides(folder, language)]


def _language_guides(folder: Path, language: Language) -> Iterator[Guide]:
    for path in sorted((folder / language).glob("*.md")):
        where = f"guides/{language}/{path.name}"
        guide = parse_guide(path.read_text(encoding="utf-8"), where)
        if guide.id != path.stem:
            raise InputError(f"{where}: id", guide.id, f"the id equals the file name, {path.stem!r}")
        if guide.language != language:
            raise InputError(f"{where}: language", guide.language, f"the folder says {language!r}")
        yield guide


def code_blocks(body: str) -> list[str]:
    """The lines of all fenced code blocks, comments and blank lines left out, in order."""
    lines: list[str] = []
    for block in re.findall(r"```[^\n]*\n(.*?)```", body, re.DOTALL):
        for line in block.splitlines():
            bare = re.sub(r"(^|\s)#.*$", "", line).rstrip()
            if bare.strip():
                lines.append(bare)
    return lines


def figures(body: str) -> set[str]:
    """The numbers of a guide's text, for comparing its two languages (list numbering left out)."""
    text = re.sub(r"(?m)^\s*\d+[.)]\s", " ", body)
    return set(re.findall(r"(?<![\w.])\d+(?:\.\d+)*", text))


def error_strings(body: str) -> set[str]:
    """Inline code of a guide's text: commands, flags and literal messages, equal in both languages."""
    return set(re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", " ", body, flags=re.DOTALL)))


def parity_faults(english: Guide, chinese: Guide) -> list[str]:
    """Where two languages of one guide tell different facts; empty when they agree."""
    faults: list[str] = []
    if english.category != chinese.category:
        faults.append(f"{english.id}: category {english.category} / {chinese.category}")
    if english.sources != chinese.sources:
        faults.append(f"{english.id}: sources differ")
    if english.as_of != chinese.as_of:
        faults.append(f"{english.id}: as_of {english.as_of} / {chinese.as_of}")
    if english.families != chinese.families:
        faults.append(f"{english.id}: families differ")
    if code_blocks(english.body) != code_blocks(chinese.body):
        faults.append(f"{english.id}: commands in code blocks differ")
    for name, extract in (("inline code", error_strings), ("figures", figures)):
        left, right = extract(english.body), extract(chinese.body)
        if left != right:
            faults.append(f"{english.id}: {name} differ: {sorted(left ^ right)[:6]}")
    return faults


def shelf_faults(folder: Path = GUIDES_DIR) -> list[str]:
    """Every fault of the shelf: a missing language, or a pair that differs."""
    by_id: dict[str, dict[str, Guide]] = {}
    for guide in load_guides(folder):
        by_id.setdefault(guide.id, {})[guide.language] = guide
    faults: list[str] = []
    for guide_id, pair in sorted(by_id.items()):
        missing = [language for language in LANGUAGES if language not in pair]
        if missing:
            faults.append(f"{guide_id}: missing in {', '.join(missing)}")
        else:
            faults.extend(parity_faults(pair["en"], pair["zh"]))
    return faults
