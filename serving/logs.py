"""Logs as text or as one JSON object a line, with the request's id, without personal data."""

from __future__ import annotations

import json
import logging
import sys
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Literal

from serving.redact import redact

request_id_of: ContextVar[str] = ContextVar("request_id", default="")
_OWN = set(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName", "color_message"}


class JsonLines(logging.Formatter):
    """Time, level, logger, message, request id and the record's extra fields."""

    def format(self, record: logging.LogRecord) -> str:
        values: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": redact(record.getMessage()),
        }
        if request_id_of.get():
            values["request_id"] = request_id_of.get()
        values |= {key: value for key, value in record.__dict__.items() if key not in _OWN}
        if record.exc_info:
            values["trace"] = redact(self.formatException(record.exc_info))
        return json.dumps(values, ensure_ascii=False, default=str)


class Lines(logging.Formatter):
    """The same for people."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        text = redact(super().format(record))
        return f"{text} [{request_id_of.get()}]" if request_id_of.get() else text


def set_up_logs(form: Literal["text", "json"]) -> None:
    """Sends all logs to standard error in one form."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if form == "json" else Lines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for noisy in ("httpx", "httpx2", "httpcore", "alembic", "mcp", "uvicorn.access"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
