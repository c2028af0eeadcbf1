"""Question files: hostile bytes in, one ``Question`` or ``BadLine`` for every non-empty line out.

A file is ``.jsonl`` (one JSON object a line), ``.parquet``, ``.csv`` or ``.xlsx``, on a local path or ``s3://``.
A bad line does not stop a run; it is reported with its number, an id and the reason.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from finray.batch.question_lines import BadLine as BadLine
from finray.batch.question_lines import LineReader
from finray.batch.question_tables import TABLES, QuestionFile, read_question_table
from finray.core.errors import SourceError
from finray.core.question_fields import excerpt
from finray.core.questions import Question
from finray.core.records import to_json, to_object
from finray.core.settings import BulkSettings
from finray.storage.columns import arrow_schema
from finray.storage.locations import read_bytes, write_bytes

_ROWS_PER_BATCH = 1024
_LIMITS = BulkSettings()
_RECORDS = (".parquet", ".jsonl", ".ndjson")
_SCHEMA = arrow_schema(Question)
"""Columns of a Parquet question file."""


def read_questions(
    uri: str,
    *,
    max_characters: int = _LIMITS.max_question_characters,
    read: Callable[[str], bytes] = read_bytes,
) -> Iterator[Question | BadLine]:
    """Each non-empty line of the file at ``uri``, in order.

    Raises SourceError if the whole file cannot be used: unreachable, another format, Parquet without the columns
    ``qid`` and ``question``, or a table without a column of questions.
    """
    yield from read_question_file(uri, max_characters=max_characters, read=read).lines


def read_question_file(
    uri: str,
    *,
    max_characters: int = _LIMITS.max_question_characters,
    max_bytes: int = _LIMITS.max_table_bytes,
    question_column: str | None = None,
    sheet: str | None = None,
    read: Callable[[str], bytes] = read_bytes,
) -> QuestionFile:
    """The lines of the file at ``uri``, and the other columns of a ``.csv`` or ``.xlsx``.

    A table has at most ``max_bytes``; ``question_column`` and ``sheet`` name its column and sheet of questions, which
    are found by default. Raises SourceError as :func:`read_questions`.
    """
    name = uri.lower()
    if name.endswith(TABLES):
        return read_question_table(
            read(uri),
            uri,
            max_characters=max_characters,
            max_bytes=max_bytes,
            question_column=question_column,
            sheet=sheet,
        )
    if not name.endswith(_RECORDS):
        raise SourceError(f"{uri!r}: a question file ends in .jsonl, .parquet, .csv or .xlsx")
    if question_column is not None or sheet is not None:
        raise SourceError(f"{uri!r}: only in .csv and .xlsx can the column and the sheet of the questions be chosen")
    parse = parse_parquet if _is_parquet(uri) else parse_jsonl
    return QuestionFile(tuple(parse(read(uri), max_characters=max_characters, name=uri)))


def parse_jsonl(content: bytes, *, max_characters: int, name: str = "questions.jsonl") -> Iterator[Question | BadLine]:
    """Each non-empty line. Raises SourceError for UTF-16."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise SourceError(f"{name!r} is UTF-16; save it as UTF-8")
    reader = LineReader(max_characters)
    content = content.removeprefix(b"\xef\xbb\xbf")
    for number, raw in enumerate(io.BytesIO(content), start=1):
        if raw.strip():
            yield reader.read_json(number, raw)


def parse_parquet(
    content: bytes, *, max_characters: int, name: str = "questions.parquet"
) -> Iterator[Question | BadLine]:
    """Each row. Raises SourceError if it is not Parquet, is damaged, or has no column ``qid`` or ``question``."""
    try:
        file = pq.ParquetFile(pa.BufferReader(content))
    except (pa.ArrowException, OSError) as error:
        raise SourceError(f"{name!r} is not a Parquet file: {excerpt(str(error))}") from error
    columns = file.schema_arrow.names
    absent = [column for column in ("qid", "question") if column not in columns]
    if absent:
        raise SourceError(f"{name!r} has no column {absent[0]!r}; its columns are {', '.join(columns) or 'none'}")
    wanted = [column for column in (*_SCHEMA.names, "exact") if column in columns]
    reader = LineReader(max_characters)
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
    """Raise SourceError for a name that cannot be written as a question file, before any work is done."""
    if not uri.lower().endswith(_RECORDS):
        raise SourceError(f"{uri!r}: questions are written to a file that ends in .jsonl or .parquet")


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
