"""Reads files of published data sets (untrusted JSON) as numbered records or clear errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from finray.batch.question_files import BadLine
from finray.core.errors import QuestionError, SourceError
from finray.core.question_fields import excerpt, kind, read_qid
from finray.core.questions import Question
from finray.core.settings import BulkSettings

MAX_QUESTION_CHARACTERS = BulkSettings().max_question_characters

Record = dict[str, Any]
Numbered = tuple[int, object]
"""A 1-based number and its record: the line of a .jsonl file, or the position in a JSON list."""


def json_lines(content: bytes) -> Iterator[Numbered]:
    """The record of each non-empty line; a QuestionError for a line that is not JSON."""
    for number, raw in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if raw.strip():
            try:
                yield number, _loads(raw)
            except ValueError as error:
                yield number, QuestionError(f"not JSON: {excerpt(str(error), 120)}")


def json_list(content: bytes, name: str, key: str | None = None) -> Iterator[Numbered]:
    """Each element of a JSON list, or of the list under ``key`` of a JSON object.

    Raises SourceError if the file is anything else.
    """
    try:
        found = _loads(content.removeprefix(b"\xef\xbb\xbf"))
    except ValueError as error:
        raise SourceError(f"{name!r} is not JSON: {excerpt(str(error), 120)}") from error
    where = "a JSON list"
    if key is not None:
        where = f"a JSON object with a list under {key!r}"
        found = found.get(key) if isinstance(found, dict) else None
    if not isinstance(found, list):
        raise SourceError(f"{name!r} is not {where}, which this data set's files are; is it another file?")
    yield from enumerate(found, start=1)


def _loads(content: bytes) -> object:
    try:
        return json.loads(content.decode("utf-8"))
    except RecursionError as error:
        raise ValueError("brackets nest too deep") from error


def read_each(records: Iterable[Numbered], read: Callable[[int, Record], Question]) -> Iterator[Question | BadLine]:
    """``read`` each record. A record with a QuestionError or a repeated qid gives a BadLine with its number."""
    numbers: dict[str, int] = {}
    for number, record in records:
        try:
            question = read(number, as_object(record))
            if question.qid in numbers:
                raise QuestionError(f"qid {excerpt(question.qid)!r} came before, in record {numbers[question.qid]}")
        except QuestionError as error:
            shown = json.dumps(record, default=str)[:400] if not isinstance(record, QuestionError) else ""
            yield BadLine(number, f"record-{number}", excerpt(shown), str(error))
        else:
            numbers[question.qid] = number
            yield question


def as_object(record: object) -> Record:
    if isinstance(record, QuestionError):
        raise record
    if not isinstance(record, dict):
        raise QuestionError(f"not a JSON object but {kind(record)}")
    return record


def text_of(record: Record, name: str) -> str:
    """A required, non-blank text. Raises QuestionError."""
    value = record.get(name)
    if not isinstance(value, str) or not value.strip():
        raise QuestionError(f"{name!r} is {'blank' if value == '' else kind(value)}, not text")
    return value.encode("utf-8", "replace").decode("utf-8")


def optional_text(record: Record, name: str) -> str | None:
    """A text; None if it is missing, null or "". Raises QuestionError for anything else."""
    value = record.get(name)
    if value is None or value == "":
        return None
    return text_of(record, name)


def list_of(record: Record, name: str) -> list[Any]:
    """A list; empty if it is missing or null. Raises QuestionError for anything else."""
    value = record.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise QuestionError(f"{name!r} is {kind(value)}, not a list")
    return value


def texts_of(record: Record, name: str) -> tuple[str, ...]:
    """A list of texts and numbers, as texts. Raises QuestionError."""
    values = list_of(record, name)
    bad = next((value for value in values if not isinstance(value, (str, int, float)) or isinstance(value, bool)), None)
    if bad is not None:
        raise QuestionError(f"{name!r} holds {kind(bad)}, not text")
    return tuple(str(value).encode("utf-8", "replace").decode("utf-8") for value in values)


def index_of(record: Record, name: str) -> int:
    """A whole number from 0. Raises QuestionError."""
    value = record.get(name)
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit() and len(value) < 10:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise QuestionError(f"{name!r} is {excerpt(repr(value), 40)}, not an index from 0")
    return value


def qid_of(record: Record, name: str) -> str:
    """The record's own id. Raises QuestionError."""
    try:
        return read_qid(record.get(name))
    except QuestionError as error:
        raise QuestionError(f"no usable {name!r}: {error}") from error
