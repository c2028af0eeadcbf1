from __future__ import annotations

import json
import logging
import sys

import pytest

from finray.api.logs import JsonFormatter, log_json


def test_a_log_line_is_one_json_object_for_any_message() -> None:
    record = logging.LogRecord("finray.x", logging.WARNING, "", 0, "two\nlines %s", ("é",), None)
    line = JsonFormatter().format(record)
    assert "\n" not in line
    found = json.loads(line)
    assert (found["level"], found["logger"], found["message"]) == ("warning", "finray.x", "two\nlines é")
    record.fields = {"request_id": "1", "status": 200}
    assert json.loads(JsonFormatter().format(record))["request_id"] == "1"


def test_an_exception_stays_on_its_line() -> None:
    try:
        raise ZeroDivisionError("no")
    except ZeroDivisionError:
        record = logging.LogRecord("finray", logging.ERROR, "", 0, "failed", (), sys.exc_info())
    line = JsonFormatter().format(record)
    assert "\n" not in line
    assert "ZeroDivisionError: no" in json.loads(line)["exception"]


def test_logging_is_set_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    log = logging.getLogger("finray")
    monkeypatch.setattr(log, "handlers", [])
    monkeypatch.setattr(log, "propagate", True)
    monkeypatch.setattr(log, "level", log.level)
    log_json(logging.INFO)
    log_json(logging.INFO)
    assert len(log.handlers) == 1
