"""One line of a question file, or one row of a table of questions, as a ``Question`` or ``BadLine``."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from finray.core.errors import QuestionError
from finray.core.question_fields import (
    EXCERPT_CHARACTERS,
    excerpt,
    kind,
    read_answer_or_exact,
    read_context,
    read_evidence,
    read_note,
    read_qid,
    read_question,
    read_question_type,
    read_value,
)
from finray.core.questions import Question


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


def question_id(question: str, given: dict[str, int]) -> str:
    """An id made of the question, so that it stays the same if the row moves, and a number if the same question came
    before. Counts the questions in ``given``."""
    digest = hashlib.sha256(" ".join(question.split()).encode("utf-8", errors="replace")).hexdigest()[:12]
    given[digest] = given.get(digest, 0) + 1
    return f"q-{digest}" + (f"-{given[digest]}" if given[digest] > 1 else "")


class LineReader:
    """Reads lines or rows of one file; every id is used once."""

    def __init__(self, max_characters: int) -> None:
        self._max_characters = max_characters
        self._lines: dict[str, int] = {}

    def read_json(self, number: int, raw: bytes) -> Question | BadLine:
        shown = raw[: 4 * EXCERPT_CHARACTERS + 4].decode("utf-8", errors="replace")
        try:
            record = json.loads(raw.decode("utf-8"))
        except UnicodeDecodeError as error:
            return self.bad(number, None, shown, f"not UTF-8: byte 0x{raw[error.start]:02x} at {error.start + 1}")
        except json.JSONDecodeError as error:
            return self.bad(number, None, shown, f"not JSON: {error.msg} at column {error.colno}")
        except (ValueError, RecursionError) as error:  # a number with thousands of digits; deep nesting
            return self.bad(number, None, shown, f"not readable JSON: {excerpt(str(error))}")
        if not isinstance(record, dict):
            return self.bad(number, None, shown, f"not a JSON object but {kind(record)}")
        question = record.get("question")
        return self.read_record(number, record, question if isinstance(question, str) else shown)

    def read_record(self, number: int, record: dict[str, Any], shown: str) -> Question | BadLine:
        try:
            qid = read_qid(record.get("qid"))
        except QuestionError as error:
            return self.bad(number, None, shown, str(error))
        if qid in self._lines:
            reason = f"duplicate qid {excerpt(qid)!r}: line {self._lines[qid]} has it already"
            return self.bad(number, None, shown, reason)
        try:
            question = Question(
                qid=qid,
                question=read_question(record.get("question"), self._max_characters),
                answer=read_answer_or_exact(record.get("answer"), record.get("exact")),
                question_type=read_question_type(record.get("question_type")),
                evidence=read_evidence(record.get("evidence")),
                value=read_value(record.get("value")),
                unit=read_note(record.get("unit")),
                program=read_note(record.get("program")),
                source=read_note(record.get("source")),
                context=read_context(record.get("context"), self._max_characters),
            )
        except QuestionError as error:
            return self.bad(number, qid, shown, str(error))
        self._lines[qid] = number
        return question

    def bad(self, number: int, qid: str | None, shown: str, reason: str) -> BadLine:
        """The line ``number`` as bad, under ``qid`` if it has a usable one."""
        qid = qid or f"line-{number}"
        while qid in self._lines:  # an earlier question has this name
            qid += "-bad"
        self._lines[qid] = number
        return BadLine(number, qid, excerpt(shown.strip()), reason)
