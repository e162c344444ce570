"""Takes personal data and secrets out of text before it is logged or stored; technical words stay."""

from __future__ import annotations

import re
from collections.abc import Callable
from ipaddress import ip_address

_EDGE = r"(?<![A-Za-z0-9])"
_NO_UNIT = r"(?!\s*(?i:bytes?|[kmg]i?b|tokens?|flops?|params?|字节|参数))"
_Replace = str | Callable[[re.Match[str]], str]


def _card(match: re.Match[str]) -> str:
    digits = [int(letter) for letter in match[0] if letter.isdigit()]
    doubled = [
        digit if place % 2 == 0 else digit * 2 - 9 * (digit > 4) for place, digit in enumerate(digits[::-1])
    ]
    return "[card]" if sum(doubled) % 10 == 0 and len(set(digits)) > 2 else match[0]


def _public_address(match: re.Match[str]) -> str:
    try:
        return "[ip]" if ip_address(match[0]).is_global else match[0]  # 10.x and 192.168.x help to diagnose
    except ValueError:
        return match[0]


# In order: what a later line would cut in two comes first. A run of letters that a rule repeats over is
# entered at its beginning alone (the look-behinds), so that the time stays linear in the length.
_RULES: tuple[tuple[re.Pattern[str], _Replace], ...] = (
    (
        re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
        "[private key]",
    ),
    (re.compile(r"(?<=://)[^\s/:@]*:[^\s/@]+(?=@)"), "[secret]"),
    (re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9+/=._~-]{8,}"), r"\1 [secret]"),
    (re.compile(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"), "[secret]"),
    (
        re.compile(
            _EDGE + r"(?:gsa_[0-9a-f]{12}_[\w-]{20,}|(?:visit|session)\.[\w-]{10,}\.[\w-]{20,}|sk-[\w-]{16,}"
            r"|LTAI[A-Za-z0-9]{12,}|AKID[A-Za-z0-9]{12,}|AKIA[A-Z0-9]{12,}|gh[pousr]_\w{20,}|hf_[A-Za-z0-9]{20,}"
            r"|xox[a-z]-[\w-]{10,})"
        ),
        "[secret]",
    ),
    (
        re.compile(
            r"(?i)((?:pass(?:word|wd)?|secret|token|api[_-]?key|access[_-]?key(?:[_-]?(?:id|secret))?|密码|口令|密钥)"
            r"[\"']?\s*(?:[=:：]|是|为)\s*[\"']?)(?!\[|\d{1,9}\b)[^\s\"',;，。]{4,}"
        ),
        r"\1[secret]",
    ),
    (
        re.compile(r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}"),
        "[mail]",
    ),
    (
        re.compile(r"(?<!\d)[1-9]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])\d{3}[\dXx](?!\d)"),
        "[id]",
    ),
    (re.compile(r"(?<!\d)(?:\d[ -]?){15,18}\d(?!\d)"), _card),
    (re.compile(r"(?<![\d.])(?:\+?86[ -]?)?1[3-9]\d[ -]?\d{4}[ -]?\d{4}(?![\d.])" + _NO_UNIT), "[phone]"),
    (re.compile(r"(?<![\w.])\+\d{1,3}[ -]\(?\d{1,4}\)?(?:[ -]\d{2,4}){2,4}(?!\d)"), "[phone]"),
    (re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])"), _public_address),
)


def redact(text: str) -> str:
    """The text without mail addresses, phone, identity and card numbers, public addresses and secrets."""
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text


def redact_head(text: str, most: int) -> str:
    """The first `most` characters, redacted: what is not kept costs no time. A word that the cut halves is
    left out, for half a secret is not known as one."""
    end = min(most, len(text))
    if end < len(text):
        while end and text[end - 1].isascii() and not text[end - 1].isspace():
            end -= 1
    return redact(text[:end])[:most]
