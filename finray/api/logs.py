"""Logging as one JSON object per line, on standard error."""

from __future__ import annotations

import datetime as dt
import json
import logging
import sys
from typing import Any

_NAME = "finray-json"


class JsonFormatter(logging.Formatter):
    """``{"time", "level", "logger", "message"}``; a record with ``fields`` has these in place of ``message``."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": dt.datetime.fromtimestamp(record.created, dt.UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
        }
        fields = getattr(record, "fields", None)
        line |= fields if isinstance(fields, dict) else {"message": record.getMessage()}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def log_json(level: int) -> None:
    """Write finray's log to standard error as JSON. Idempotent."""
    log = logging.getLogger("finray")
    log.setLevel(level)
    if any(handler.name == _NAME for handler in log.handlers):
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.name = _NAME
    handler.setFormatter(JsonFormatter())
    log.addHandler(handler)
    log.propagate = False
