"""Values into files: every value is quoted for the language it lands in, whatever the user wrote."""

from __future__ import annotations

import json
import shlex

from jinja2 import Environment, PackageLoader, StrictUndefined


def hcl(value: object) -> str:
    """A value as an HCL literal: JSON strings, with template markers made harmless."""
    return json.dumps(value, ensure_ascii=False).replace("${", "$${").replace("%{", "%%{")


def shell(value: object) -> str:
    """A value as one shell word."""
    return shlex.quote(str(value).replace("\n", " ").replace("\r", " "))


def comment(value: object) -> str:
    """A value inside a comment: on one line."""
    return " ".join(str(value).split())


def environment() -> Environment:
    """Templates of this folder; an unknown name in a template is an error, not an empty text."""
    env = Environment(
        loader=PackageLoader("tools.launch"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # no HTML: each value goes through a filter of its language
    )
    env.filters.update({"hcl": hcl, "shell": shell, "comment": comment, "json": json.dumps})
    return env
