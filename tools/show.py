"""A report in the terminal: figures in columns, nested parts indented."""

from __future__ import annotations

from pydantic import BaseModel


def show(report: BaseModel) -> str:
    """The report as aligned lines for people; programs use `--json`."""
    return "\n".join(_lines(report.model_dump(mode="json"), ""))


def _lines(value: object, indent: str) -> list[str]:
    if isinstance(value, dict):
        shown = {key: item for key, item in value.items() if item not in (None, "", [], {})}
        width = max((len(key) for key in shown), default=0)
        lines: list[str] = []
        for key, item in shown.items():
            if isinstance(item, dict | list):
                lines += [f"{indent}{key}:", *_lines(item, indent + "  ")]
            else:
                lines.append(f"{indent}{key:{width}}  {_figure(item)}")
        return lines
    if isinstance(value, list):
        return [line for item in value for line in _item(item, indent)]
    return [f"{indent}{_figure(value)}"]


def _item(item: object, indent: str) -> list[str]:
    lines = _lines(item, indent + "  ")
    if isinstance(item, dict) and lines:
        lines[0] = f"{indent}- {lines[0].strip()}"
    return lines


def _figure(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)
