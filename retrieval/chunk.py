"""Guides cut into chunks: whole sections where they are short, paragraphs packed to a length where not."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from knowledge.guides import Guide

# Dense vectors of the embedded model are sharpest for passages of this length; it costs about 0.2 ms a
# character in English and up to 0.6 in Chinese to embed one.
CHUNK_CHARACTERS = {"en": 400, "zh": 200}
OWN = "own"  # category of a help desk's own document, and the kind of its passages


@dataclass(frozen=True)
class Chunk:
    """A passage of a guide or a line of the spec sheet; `id` is a hash of what is embedded."""

    guide_id: str
    language: str
    kind: str  # guide, own, instance, gpu, family, model
    category: str
    title: str
    heading: str
    order: int
    text: str

    @property
    def passage(self) -> str:
        """The text that is embedded: a passage names its guide, so that it makes sense alone."""
        return f"{self.title}. {self.text}" if self.kind in ("guide", OWN) else self.text

    @property
    def content_hash(self) -> str:
        return hashlib.sha256(self.passage.encode()).hexdigest()[:32]

    @property
    def id(self) -> str:
        place = f"{self.kind}/{self.guide_id}/{self.language}/{self.order}/{self.content_hash}"
        return hashlib.sha256(place.encode()).hexdigest()[:32]


def kind_of(guide: Guide) -> str:
    """ "own" for a document of the help desk, "guide" for one of ours."""
    return OWN if guide.category == OWN else "guide"


def chunk_guides(guides: Iterable[Guide]) -> list[Chunk]:
    """All chunks of all guides, in order."""
    return [chunk for guide in guides for chunk in chunk_guide(guide)]


def chunk_guide(guide: Guide) -> Iterator[Chunk]:
    """A head chunk (title and symptoms), then the sections of the body."""
    texts = [("", "\n".join(guide.symptoms))] if guide.symptoms else []
    texts += [
        (heading, piece)
        for heading, section in sections(guide.body)
        for piece in pack(section, CHUNK_CHARACTERS[guide.language])
    ]
    for order, (heading, text) in enumerate(texts):
        yield Chunk(
            guide.id,
            guide.language,
            kind_of(guide),
            guide.category,
            guide.title,
            heading,
            order,
            text.strip(),
        )


def sections(body: str) -> list[tuple[str, str]]:
    """(heading, text) of each section of Markdown; text before the first heading has an empty one.

    A line that starts with `#` inside a fenced block is a comment of the code, not a heading.
    """
    pairs: list[tuple[str, list[str]]] = [("", [])]
    in_code = False
    for line in body.splitlines():
        in_code ^= line.lstrip().startswith("```")
        heading = None if in_code else re.match(r"#{1,6}\s+(.+?)\s*$", line)
        if heading:
            pairs.append((heading[1], []))
        else:
            pairs[-1][1].append(line)
    texts = [(heading, "\n".join(lines).strip()) for heading, lines in pairs]
    return [(heading, text) for heading, text in texts if text]


def pack(text: str, limit: int) -> list[str]:
    """Blocks of a section joined up to about `limit` characters; a code block is never cut in two."""
    pieces: list[str] = []
    for block in _blocks(text):
        if pieces and len(pieces[-1]) + len(block) + 1 <= limit:
            pieces[-1] += "\n" + block
        else:
            pieces.append(block)
    return pieces


def _blocks(text: str) -> Iterator[str]:
    """Fenced code blocks whole, list items and paragraphs one by one."""
    for part in re.split(r"(```.*?```)", text, flags=re.DOTALL):
        if part.startswith("```"):
            yield part
        else:
            yield from (
                block.strip()
                for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+[.)])\s)", part)
                if block.strip()
            )
