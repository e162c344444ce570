"""Secrets taken out of texts that go to a log."""

from __future__ import annotations

import re

_SECRET = re.compile(r"(?i)\bsk-[\w*-]+|\bbearer\s+\S+|(?<=api key provided: )\S+|(?<=api_key=)\S+")


def without_secrets(text: str, key: str = "") -> str:
    """The text without `key` and what looks like one: services repeat the key they were sent in errors."""
    if len(key) > 4:
        text = text.replace(key, "***")
    return _SECRET.sub("***", text)
