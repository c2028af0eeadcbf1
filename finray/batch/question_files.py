"""Question files: hostile bytes in, one ``Question`` or ``BadLine`` for every non-empty line out.

A file is ``.jsonl`` (one JSON object a line) or ``.parquet``, on a local path or ``s3://``.
A bad line does not stop a run; it is reported with its number, an id and the reason.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from finray.core.errors import QuestionError, SourceError
from finray.core.question_fields import (
    EXCERPT_CHARACTERS,
    excerpt,
    kind,
    read_answer,
    read_evidence,
    read_note,
    read_qid,
    read_question,
    read_question_type,
    read_value,
)
from finray.core.records import to_json, to_object
from finray.core.settings import BulkSettings
from finray.core.types import Question
from finray.storage.columns import arrow_schema
from finray.storage.locations import read_bytes, write_bytes

_ROWS_PER_BATCH = 1024
_SCHEMA = arrow_schema(Question)
"""Columns of a Parquet question file."""


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that cannot be asked. ``line`` is 1-based (the row number in Parquet).

    ``qid`` is the line's own if usable, else ``"line-<number>"``, and unique in the file. ``text`` is an excerpt of the
    question or raw line, at most 200 characters.
    """

    line: int
    qid: str
    text: str
    reason: str


def read_questions(
    uri: str,
    *,
    max_characters: int = BulkSettings().max_question_characters,
    read: Callable[[str], bytes] = read_bytes,
) -> Iterator[Question | BadLine]:
    """Each non-empty line of the file at ``uri``, in order.

    Raises SourceError if the whole file cannot be used: unreachable, another format, or Parquet without the columns
    ``qid`` and ``question``.
    """
    check_target(uri)
    parse = parse_parquet if _is_parquet(uri) else parse_jsonl
    yield from parse(read(uri), max_characters=max_characters, name=uri)


def parse_jsonl(content: bytes, *, max_characters: int, name: str = "questions.jsonl") -> Iterator[Question | BadLine]:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise SourceError(f"{name!r} is UTF-16; save it as UTF-8")
    reader = _LineReader(max_characters)
    content = content.removeprefix(b"\xef\xbb\xbf")
    for number, raw in enumerate(io.BytesIO(content), start=1):
        if raw.strip():
            yield reader.read_json(number, raw)


def parse_parquet(
    content: bytes, *, max_characters: int, name: str = "questions.parquet"
) -> Iterator[Question | BadLine]:
    try:
        file = pq.ParquetFile(pa.BufferReader(content))
    except (pa.ArrowException, OSError) as error:
        raise SourceError(f"{name!r} is not a Parquet file: {excerpt(str(error))}") from error
    columns = file.schema_arrow.names
    absent = [column for column in ("qid", "question") if column not in columns]
    if absent:
        raise SourceError(f"{name!r} has no column {absent[0]!r}; its columns are {', '.join(columns) or 'none'}")
    wanted = [column for column in _SCHEMA.names if column in columns]
    reader = _LineReader(max_characters)
    for number, row in enumerate(_rows(file, wanted, name), start=1):
        question = row.get("question")
        yield reader.read_record(number, row, question if isinstance(question, str) else "")


def _rows(file: pq.ParquetFile, columns: list[str], name: str) -> Iterator[dict[str, Any]]:
    try:
        for batch in file.iter_batches(batch_size=_ROWS_PER_BATCH, columns=columns):
            yield from batch.to_pylist()
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{name!r} is damaged: {excerpt(str(error))}") from error


def check_target(uri: str) -> None:
    """Raise SourceError for a name that is none of a question file, before any work is done."""
    if not uri.lower().endswith((".parquet", ".jsonl", ".ndjson")):
        raise SourceError(f"{uri!r}: a question file ends in .jsonl or .parquet")


def _is_parquet(uri: str) -> bool:
    return uri.lower().endswith(".parquet")


def write_questions(uri: str, questions: Iterable[Question]) -> None:
    """Write a ``.jsonl`` or ``.parquet`` file, replacing the target in one step. Raises SourceError."""
    check_target(uri)
    if _is_parquet(uri):
        records = [to_object(question) for question in questions]
        sink = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(records, schema=_SCHEMA), sink)
        write_bytes(uri, sink.getvalue())
    else:
        write_bytes(uri, b"".join(to_json(question) + b"\n" for question in questions))


class _LineReader:
    """Turns lines into results with unique ids."""

    def __init__(self, max_characters: int) -> None:
        self._max_characters = max_characters
        self._lines: dict[str, int] = {}

    def read_json(self, number: int, raw: bytes) -> Question | BadLine:
        shown = raw[: 4 * EXCERPT_CHARACTERS + 4].decode("utf-8", errors="replace")
        try:
            record = json.loads(raw.decode("utf-8"))
        except UnicodeDecodeError as error:
            return self._bad(number, None, shown, f"not UTF-8: byte 0x{raw[error.start]:02x} at {error.start + 1}")
        except json.JSONDecodeError as error:
            return self._bad(number, None, shown, f"not JSON: {error.msg} at column {error.colno}")
        except (ValueError, RecursionError) as error:  # a number with thousands of digits; deep nesting
            return self._bad(number, None, shown, f"not readable JSON: {excerpt(str(error))}")
        if not isinstance(record, dict):
            return self._bad(number, None, shown, f"not a JSON object but {kind(record)}")
        question = record.get("question")
        return self.read_record(number, record, question if isinstance(question, str) else shown)

    def read_record(self, number: int, record: dict[str, Any], shown: str) -> Question | BadLine:
        try:
            qid = read_qid(record.get("qid"))
        except QuestionError as error:
            return self._bad(number, None, shown, str(error))
        if qid in self._lines:
            reason = f"duplicate qid {excerpt(qid)!r}: line {self._lines[qid]} has it already"
            return self._bad(number, None, shown, reason)
        try:
            question = Question(
                qid=qid,
                question=read_question(record.get("question"), self._max_characters),
                answer=read_answer(record.get("answer")),
                question_type=read_question_type(record.get("question_type")),
                evidence=read_evidence(record.get("evidence")),
                value=read_value(record.get("value")),
                unit=read_note(record.get("unit")),
                program=read_note(record.get("program")),
            )
        except QuestionError as error:
            return self._bad(number, qid, shown, str(error))
        self._lines[qid] = number
        return question

    def _bad(self, number: int, qid: str | None, shown: str, reason: str) -> BadLine:
        qid = qid or f"line-{number}"
        while qid in self._lines:  # an earlier question has this name
            qid += "-bad"
        self._lines[qid] = number
        return BadLine(number, qid, excerpt(shown.strip()), reason)
