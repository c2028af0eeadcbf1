"""Question files of batches: every format of the bulk driver, and request lines of OpenAI's batch API.

A request line is ``{"custom_id", "method", "url", "body"}``, its body that of ``/v1/answer`` with one ``question``, or
of a chat completion, whose last user message is the question.
"""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import Any

from finray.batch.question_files import read_question_file
from finray.batch.question_tables import TABLES, QuestionFile
from finray.core.errors import SourceError
from finray.core.settings import BulkSettings

_LINES = (".jsonl", ".ndjson")
_KINDS = (*_LINES, ".parquet", *TABLES)
_MAX_NAME = 200
_OPTIONS = {"--question-column": "question_column", "--sheet": "sheet"}
"""Command-line options, as error messages name them, and the fields of a batch that they correspond to."""


def file_name(given: str | None) -> str:
    """The name of an uploaded file, without folders and control characters. Raises SourceError for another format."""
    plain = PurePath((given or "").replace("\\", "/")).name
    name = "".join(char for char in plain if char.isprintable())[-_MAX_NAME:] or "questions"
    if "." not in name:
        name += ".jsonl"
    if not name.lower().endswith(_KINDS):
        raise SourceError(f"{name!r}: a file of questions ends in {', '.join(_KINDS[:-1])} or {_KINDS[-1]}")
    return name


def read_input(
    content: bytes,
    name: str,
    bulk: BulkSettings,
    *,
    max_questions: int,
    question_column: str | None = None,
    sheet: str | None = None,
) -> QuestionFile:
    """The questions of an uploaded file. Raises SourceError if there are none, or more than ``max_questions``."""
    if name.lower().endswith(_LINES) and b'"custom_id"' in content:
        content = b"\n".join(_plain(line) for line in content.split(b"\n"))
    try:
        asked = read_question_file(
            name,
            max_characters=bulk.max_question_characters,
            max_bytes=bulk.max_table_bytes,
            question_column=question_column,
            sheet=sheet,
            read=lambda _name: content,
        )
    except SourceError as error:
        raise SourceError(_for_request(str(error))) from error
    if not asked.lines:
        raise SourceError(f"{name!r} has no questions")
    if (count := len(asked.lines)) > max_questions:
        most = f"{max_questions:,} (serving.max_batch_questions)"
        raise SourceError(f"{name!r} has {count:,} questions, more than {most}; split it")
    remarks = tuple(map(_for_request, asked.remarks))
    return QuestionFile(asked.lines, asked.columns, asked.rows, remarks)


def _for_request(text: str) -> str:
    """``text`` with the fields of a batch in place of command-line options."""
    for option, field in _OPTIONS.items():
        text = text.replace(option, field)
    return text


def _plain(line: bytes) -> bytes:
    """A request line as a line of a question file. Other lines, also invalid ones, stay as they are."""
    try:
        request = json.loads(line)
    except (ValueError, RecursionError):
        return line
    if not isinstance(request, dict) or "custom_id" not in request or "question" in request:
        return line
    body = request.get("body")
    asked = _asked(body) if isinstance(body, dict) else None
    return json.dumps({"qid": request["custom_id"], "question": asked}).encode()


def _asked(body: dict[str, Any]) -> Any:
    """The question of a request; another value if it has none, which the reader of questions then refuses."""
    if "messages" not in body:
        return body.get("question")
    messages = body["messages"] if isinstance(body["messages"], list) else []
    said = [
        message.get("content") for message in messages if isinstance(message, dict) and message.get("role") == "user"
    ]
    last = said[-1] if said else None
    if isinstance(last, list):  # parts of a message
        texts = [part.get("text") for part in last if isinstance(part, dict) and part.get("type") == "text"]
        return "\n".join(text for text in texts if isinstance(text, str))
    return last
