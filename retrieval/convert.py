"""Files of a help desk to Markdown text: PDF, HTML and Docx by markitdown, Markdown as it is."""

from __future__ import annotations

import re
import zipfile
from io import BytesIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markitdown import MarkItDown

SUFFIXES = frozenset({".md", ".markdown", ".pdf", ".html", ".htm", ".docx"})
MAX_UNPACKED_BYTES = 200_000_000  # of a Docx, which is a zip: a small file may hide a huge one
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


class Converter:
    """Converts one file after the other; the converter library is loaded with the first that needs it."""

    def __init__(self) -> None:
        self._library: MarkItDown | None = None

    def text(self, content: bytes, suffix: str) -> str:
        """The text as Markdown without control characters; raises `ValueError` with the reason."""
        if suffix in (".md", ".markdown"):
            return _plain(_decoded(content))
        if suffix == ".docx":
            _refuse_bomb(content)
        from markitdown import MarkItDownException, StreamInfo

        try:
            done = self._markitdown().convert_stream(
                BytesIO(content), stream_info=StreamInfo(extension=suffix)
            )
        except MarkItDownException as error:
            raise ValueError(str(error).strip().splitlines()[-1][:200]) from error
        return _plain(done.markdown)

    def _markitdown(self) -> MarkItDown:
        if self._library is None:
            from markitdown import MarkItDown  # two seconds: it loads a model that tells file types
            from markitdown.converters import DocxConverter, HtmlConverter, PdfConverter

            # Its other converters would read a broken PDF as plain text, follow links or unpack archives.
            self._library = MarkItDown(enable_builtins=False, enable_plugins=False)
            self._library.register_converter(PdfConverter())
            self._library.register_converter(HtmlConverter())
            self._library.register_converter(DocxConverter())  # type: ignore[no-untyped-call]
        return self._library


def _decoded(content: bytes) -> str:
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise ValueError("neither UTF-8 nor GB 18030 text")


def _refuse_bomb(content: bytes) -> None:
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            size = sum(item.file_size for item in archive.infolist())
    except zipfile.BadZipFile as error:
        raise ValueError(f"not a Docx file: {error}") from error
    if size > MAX_UNPACKED_BYTES:
        raise ValueError(f"{size} bytes unpacked, more than {MAX_UNPACKED_BYTES}")


def _plain(text: str) -> str:
    """Line ends made one, and no characters that hide or turn round what a reader sees."""
    return _CONTROL.sub("", re.sub(r"\r\n?|\f", "\n", text)).strip()
