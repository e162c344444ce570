"""Tokens for keyword ranking in English and Chinese; names, codes and error identifiers stay whole."""

from __future__ import annotations

import logging
import re
import tempfile
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

_WORD = re.compile(r"[a-z0-9_][a-z0-9_.+/:\-]*[a-z0-9_+]|[a-z0-9]")
_HAN = re.compile(r"[㐀-鿿]+")
_PARTS = re.compile(r"[-_./:+]+")
_ENGLISH_STOP = frozenset(
    """
    a about am an and any are as at be been but by can could did do does for from get gets had has have help
    how i if in into is it its just know like me my need no not of on one or our please s so some t tell than
    that the their them then there these they this to too up us use using want was we were what when where
    which who why will with would you your
    """.split()
)
_CHINESE_STOP = frozenset(
    """
    的 了 是 在 我 我们 你 你们 他 有 和 与 或 也 都 就 要 会 能 可以 吗 呢 啊 吧 么 什么 怎么 怎么办 如何
    请问 请 想 一个 一下 这个 那个 这 那 哪 哪个 为什么 多少 几 上 下 中 里 后 前 到 从 对 把 被 让 给 用 没
    没有 不 不是 还是 还 再 又 很 太 好 现在 时候 问题 帮 帮忙
    """.split()
)


class Tokenizer:
    """Cuts text into lower-case tokens; `user_words` are Chinese names that must not be cut."""

    def __init__(self, user_words: Iterable[str] = ()) -> None:
        self._user_words = tuple(dict.fromkeys(word for word in user_words if _HAN.search(word)))

    @cached_property
    def _jieba(self) -> Any:
        import jieba  # a second to load its dictionary: only when Chinese text comes

        jieba.setLogLevel(logging.WARNING)
        cutter = jieba.Tokenizer()
        cutter.tmp_dir = str(Path(tempfile.gettempdir()))
        for word in self._user_words:
            cutter.add_word(word)
        return cutter

    def tokens(self, text: str) -> list[str]:
        """All tokens of `text` in order, stop words left out; a compound name gives itself and its parts."""
        lowered = text.lower()
        found: list[str] = []
        for match in _WORD.finditer(lowered):
            word = match[0].rstrip(".:/-")
            if word in _ENGLISH_STOP:
                continue
            found.append(stem(word))
            parts = [part for part in _PARTS.split(word) if part]
            if len(parts) > 1:
                found.extend(stem(part) for part in parts if part not in _ENGLISH_STOP)
        for match in _HAN.finditer(lowered):
            found.extend(word for word in self._jieba.cut_for_search(match[0]) if word not in _CHINESE_STOP)
        return found


def stem(word: str) -> str:
    """A light English stem, enough to join singular, plural and verb forms; names with digits stay whole."""
    if len(word) < 4 or not word.isalpha():
        return word
    for ending, least in (("ingly", 5), ("ing", 4), ("edly", 5), ("ies", 3), ("ed", 4), ("es", 4), ("s", 3)):
        if word.endswith(ending) and len(word) - len(ending) >= least and not word.endswith("ss"):
            root = word[: -len(ending)] + ("y" if ending == "ies" else "")
            return root[:-1] if len(root) > 3 and root[-1] == root[-2] and root[-1] not in "lsz" else root
    return word


def text_language(text: str) -> str:
    """ "zh" when Chinese characters carry the text, else "en": four Latin letters weigh as one character."""
    han = sum(len(run) for run in _HAN.findall(text))
    latin = len(re.findall(r"[A-Za-z]", text))
    return "zh" if han and han * 4 >= latin * 0.5 else "en"
