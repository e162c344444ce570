"""A language model's prose made safe to show: no images, no links but to sources, no raw HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

# What is taken for code here is only spared the escaping of "<" in placeholders: where code begins and ends
# is decided by whoever renders the text, so images, links and addresses are taken out of it as well.
_CODE = re.compile(r"(?m)^```.*?(?:^```[ \t]*$|\Z)|(?<![`\\])`[^`\n]+`(?!`)", re.DOTALL)
_IMAGE = re.compile(r"!\[([^\]]*)\](?:\([^)]*\)?|\[[^\]]*\])?")
_LINK = re.compile(r"\[([^\[\]]+)\]\(\s*<?([^)\s>]*)>?[^)]*\)?")
_REFERENCE = re.compile(r"(?m)^[ \t>]*\[[^\[\]]+\]:\s*\S+.*$")
_ADDRESS = re.compile(
    r"<?\b(?:(?:https?|ftp)://|(?:mailto|data|javascript|vbscript):(?=\S)|www\.)[^\s)\]}>\"'`，。；）]+>?",
    re.IGNORECASE,
)
_URL = re.compile(r"https?://[^\s|;,，；)）]+")
# What reasoning models think aloud where their server does not keep it apart; some templates open the tag in
# the prompt, so that only its end is in the reply.
_THOUGHT = re.compile(r"(?is)\A.*</think(?:ing)?>|<think(?:ing)?>.*\Z")
_THIS_MACHINE = re.compile(r"https?://(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(?=[:/]|$)", re.IGNORECASE)
_TAG = re.compile(
    r"<(?=/?[a-zA-Z][^>=/\s:]{0,80}+[^>]|/|!|\?|(?:script|style|iframe|svg|base|form)\b)", re.IGNORECASE
)


def spoken(text: str) -> str:
    """A reply without what the model thought before it; "" for one that never came to speak."""
    return _THOUGHT.sub("", text).strip()


def clean_prose(text: str, sources: Iterable[str]) -> str:
    """The text with every address removed that no source names; in code those of this machine stay too, for
    they are part of commands. A placeholder such as `<model>` in code keeps its letters."""
    known = frozenset(url.rstrip(".") for source in sources for url in _URL.findall(source))
    parts: list[str] = []
    place = 0
    for match in _CODE.finditer(text):
        parts += [_clean(text[place : match.start()], known.__contains__, prose=True)]
        parts += [
            _clean(match[0], lambda url: url in known or _THIS_MACHINE.match(url) is not None, prose=False)
        ]
        place = match.end()
    return "".join([*parts, _clean(text[place:], known.__contains__, prose=True)]).strip()


def _clean(text: str, allowed: Callable[[str], bool], *, prose: bool) -> str:
    text = _REFERENCE.sub("", text)
    # Behind the last "]" no image has an end; each look for it would go through all that follows.
    open_end = text.find("![", text.rfind("]") + 1)
    whole, rest = (text, "") if open_end < 0 else (text[:open_end], text[open_end:])
    text = _IMAGE.sub(lambda match: match[1], whole) + rest
    text = _LINK.sub(lambda match: match[0] if allowed(match[2]) else match[1], text)
    text = _ADDRESS.sub(lambda match: match[0] if allowed(match[0].strip("<>").rstrip(".")) else "", text)
    return text.replace("<", "&lt;") if prose else _TAG.sub("&lt;", text)
