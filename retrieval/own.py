"""A help desk's own documents: folders of Markdown, PDF, HTML and Docx files, searched beside the guides.

What they say is quoted as an excerpt with folder and file name, never followed as an instruction.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import Field

from knowledge.guides import Guide, GuideSource
from retrieval.chunk import CHUNK_CHARACTERS, OWN
from retrieval.convert import SUFFIXES, Converter
from retrieval.words import text_language

log = logging.getLogger(__name__)

MAX_FILES = 5_000
MAX_FILE_BYTES = 20_000_000
MAX_CHARACTERS = 500_000  # of one document; what comes after is left out
_CACHE_VERSION = "1"  # raise when `convert.py` reads differently
_TITLE_CHARACTERS = 120


class OwnDocument(Guide):
    """A document as a guide, so that one search ranks both; it may be short and has no front matter."""

    body: str = Field(min_length=1)


def own_documents(folders: Sequence[Path], cache: Path) -> list[Guide]:
    """The documents of all folders, in order. What cannot be read is logged and left out.

    `cache` holds converted texts by hash of the file, so that only new and changed files are converted.
    """
    if not folders:
        return []
    converter = Converter()
    documents: list[Guide] = []
    used: set[str] = set()
    for label, path in _files(folders):
        try:
            text, key = _text(path, cache, converter)
            used.add(key)
            documents.append(_document(label, path, text))
        except Exception as error:  # noqa: BLE001 - the parsers raise anything; one file stops no search
            log.warning("%s is left out: %s", label, error)
    _drop_unused(cache, used)
    return documents


def _files(folders: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """(folder and file name, path) of every document; hidden files and links to elsewhere are left out."""
    seen: Counter[str] = Counter()
    count = 0
    for folder in folders:
        root = folder.resolve()
        if not root.is_dir():
            log.warning("KNOWLEDGE_DIRS: %s is not a folder", folder)
            continue
        seen[root.name] += 1
        name = root.name if seen[root.name] == 1 else f"{root.name} {seen[root.name]}"
        for path in sorted(root.rglob("*")):
            inside = path.relative_to(root)
            if path.suffix.lower() not in SUFFIXES or any(part.startswith(".") for part in inside.parts):
                continue
            if not path.is_file() or not path.resolve().is_relative_to(root):
                continue
            count += 1
            if count > MAX_FILES:
                log.warning("KNOWLEDGE_DIRS: only the first %d files are read", MAX_FILES)
                return
            yield f"{name}/{inside.as_posix()}", path


def _text(path: Path, cache: Path, converter: Converter) -> tuple[str, str]:
    """The text of a file and its key in the cache."""
    size = path.stat().st_size
    if size > MAX_FILE_BYTES:
        raise ValueError(f"{size} bytes, more than {MAX_FILE_BYTES}")
    content = path.read_bytes()
    suffix = path.suffix.lower()
    key = hashlib.sha256(f"{_CACHE_VERSION}{suffix}".encode() + content).hexdigest()
    kept = cache / f"{key}.md"
    if kept.is_file():
        return kept.read_text(encoding="utf-8"), key
    text = converter.text(content, suffix)
    if len(text) > MAX_CHARACTERS:
        log.warning("%s: only the first %d characters are searched", path.name, MAX_CHARACTERS)
        text = text[:MAX_CHARACTERS]
    try:
        cache.mkdir(parents=True, exist_ok=True)
        part = kept.with_suffix(f".{os.getpid()}.part")
        part.write_text(text, encoding="utf-8")
        part.replace(kept)
    except OSError as error:  # only costs time
        log.warning("converted texts cannot be kept: %s", error)
    return text, key


def _drop_unused(cache: Path, used: set[str]) -> None:
    for path in cache.glob("*.md"):
        if path.stem not in used:
            path.unlink(missing_ok=True)


def _document(label: str, path: Path, text: str) -> OwnDocument:
    body = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL).strip()
    if not body:
        raise ValueError("no text in it (a scan?)")
    heading = re.search(r"(?m)^#{1,3}\s+(\S.+)$", body)
    title = plain(heading[1] if heading else "")
    language = "zh" if text_language(body) == "zh" else "en"
    changed = datetime.fromtimestamp(path.stat().st_mtime, UTC).date().isoformat()
    return OwnDocument(
        id=f"own-{hashlib.sha256(label.encode()).hexdigest()[:16]}",
        language=language,
        title=title if len(title) >= 3 else plain(label),
        category=OWN,
        sources=(GuideSource(title=plain(label), date=changed),),
        body="\n\n".join(_blocks(body, CHUNK_CHARACTERS[language])),
    )


def plain(text: str) -> str:
    """One line without the characters by which Markdown and HTML say more than text."""
    return re.sub(r"[\s<>\[\]`*|\\!#]+", " ", text).strip()[:_TITLE_CHARACTERS]


def _blocks(body: str, limit: int) -> Iterator[str]:
    """Paragraphs and whole code blocks; a paragraph as long as a page is cut at ends of sentences."""
    for part in re.split(r"(```.*?```)", body, flags=re.DOTALL):
        if part.startswith("```") and len(part) <= 8 * limit:
            yield part
        else:
            for block in re.split(r"\n\s*\n", part):
                yield from _cut(block.strip(), limit) if block.strip() else ()


def _cut(block: str, limit: int) -> Iterator[str]:
    if len(block) <= 2 * limit:
        yield block
        return
    held = ""
    for piece in re.split(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n", block):
        if held and len(held) + len(piece) > limit:
            yield held
            held = ""
        held = f"{held}\n{piece}" if held else piece
        while len(held) > 2 * limit:  # no end of a sentence in sight
            yield held[:limit]
            held = held[limit:]
    if held:
        yield held
