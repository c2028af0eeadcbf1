"""The closed-domain questions that an open-domain benchmark is made from, with the text of their gold pages.

FinQA as published (``train.json``, ``dev.json``, ``test.json``) has the table and the sentences of its page; a finray
question file may have only the filing and the printed page number. FinanceBench has the pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, Literal

from finray.batch.question_files import BadLine, parse_jsonl
from finray.core.errors import QuestionError, SourceError
from finray.core.question_fields import read_value
from finray.core.questions import GoldEvidence, Question
from finray.lab.datasets import financebench, finqa
from finray.lab.datasets.records import (
    MAX_QUESTION_CHARACTERS,
    Record,
    as_object,
    json_lines,
    json_list,
    list_of,
)
from finray.storage.locations import read_bytes

Source = Literal["finqa", "financebench", "secqa"]

_PLACE = re.compile(r"\A(?P<ticker>[A-Za-z.\-]{1,8})/(?P<year>(?:19|20)\d\d)/page_(?P<page>\d{1,4})\b")
_FIGURE_LINE = re.compile(r"^\W{0,4}\d[\d,.]{0,20}\W{0,4}$", re.MULTILINE)
_PROSE_WORDS = 8
_TABLE_LINES = 6
"""Gold text with this many lines that are only a figure, or this many bars between cells, counts as a table."""


@dataclass(frozen=True, slots=True)
class Context:
    """The known facts about one gold page: its filing (``doc_name``, or ``ticker`` and ``year``), text and number.

    ``table`` and ``prose`` are empty if unknown. ``page`` is the known gold page (0-based), ``printed`` its page number
    in another edition of the report.
    """

    doc_name: str | None = None
    ticker: str | None = None
    year: int | None = None
    table: str = ""
    prose: str = ""
    page: int | None = None
    printed: int | None = None

    @property
    def has_text(self) -> bool:
        return bool(self.table.strip() or self.prose.strip())


@dataclass(frozen=True, slots=True)
class ClosedQuestion:
    """``question`` has no evidence yet; ``tabular`` is whether its gold evidence is a table, None if unknown."""

    question: Question
    source: Source
    contexts: tuple[Context, ...]
    split: str = "test"
    tabular: bool | None = None


def read_finqa(uri: str) -> Iterator[ClosedQuestion | BadLine]:
    """The questions of a FinQA file as published (.json), or of a question file whose evidence names filings (.jsonl).

    Raises SourceError.
    """
    content = read_bytes(uri)
    if uri.lower().endswith(".jsonl"):
        yield from _named(content, uri)
        return
    stem = PurePosixPath(uri).stem
    split = next((name for name in ("train", "dev", "test") if name in stem), "test")
    for (number, record), line in zip(json_list(content, uri), finqa.load(content, uri), strict=True):
        if isinstance(line, BadLine):
            yield line
            continue
        try:
            yield _finqa(line, as_object(record), split)
        except QuestionError as error:
            yield BadLine(number, line.qid, line.question[:200], str(error))


def _finqa(question: Question, record: Record, split: str) -> ClosedQuestion:
    place = _PLACE.match(question.qid)
    if place is None:
        raise QuestionError(f"'id' is {question.qid!r}, not like 'ETR/2016/page_23.pdf-2'")
    gold = as_object(as_object(record.get("qa")).get("gold_inds") or {})
    table = "\n".join(
        " | ".join(str(cell) for cell in row) for row in list_of(record, "table") if isinstance(row, list)
    )
    prose = "\n".join(str(line) for name in ("pre_text", "post_text") for line in list_of(record, name))
    context = Context(None, place["ticker"].upper(), int(place["year"]), table, prose, printed=int(place["page"]))
    tabular = any(name.startswith("table") for name in gold) if gold else None
    return ClosedQuestion(replace(question, evidence=()), "finqa", (context,), split, tabular)


def _named(content: bytes, uri: str) -> Iterator[ClosedQuestion | BadLine]:
    """Questions in finray's format, whose evidence names filings, perhaps without a page."""
    extra: dict[str, dict[str, Any]] = {}
    for _, record in json_lines(content):
        if isinstance(record, dict) and isinstance(record.get("qid"), str):
            extra[record["qid"]] = record
    for line in parse_jsonl(content, max_characters=MAX_QUESTION_CHARACTERS, name=uri):
        if isinstance(line, BadLine):
            yield line
            continue
        record = extra.get(line.qid, {})
        place = _PLACE.match(line.qid)
        printed = record.get("printed_page", int(place["page"]) if place else None)
        exact = line.value if line.value is not None else read_value(_number(record.get("exact")))
        contexts = tuple(_context(gold, printed if isinstance(printed, int) else None) for gold in line.evidence)
        yield ClosedQuestion(replace(line, evidence=(), value=exact), "finqa", contexts)


def read_financebench(uri: str) -> Iterator[ClosedQuestion | BadLine]:
    """The questions of FinanceBench as published, or of a finray question file that has their pages.

    Raises SourceError.
    """
    content = read_bytes(uri)
    first = next((record for _, record in json_lines(content)), None)
    if first is None:
        raise SourceError(f"{uri!r} is empty; FinanceBench comes from {financebench.WHERE}")
    published = isinstance(first, dict) and "financebench_id" in first
    lines = (
        financebench.load(content, uri)
        if published
        else parse_jsonl(content, max_characters=MAX_QUESTION_CHARACTERS, name=uri)
    )
    for line in lines:
        if isinstance(line, BadLine):
            yield line
            continue
        contexts = tuple(map(_context, line.evidence))
        tabular = any(is_tabular(gold.text or "") for gold in line.evidence)
        yield ClosedQuestion(replace(line, evidence=()), "financebench", contexts, tabular=tabular)


def _context(gold: GoldEvidence, printed: int | None = None) -> Context:
    table, prose = split_text(gold.text or "")
    return Context(gold.doc_name, table=table, prose=prose, page=gold.page, printed=printed)


def split_text(text: str) -> tuple[str, str]:
    """Split a text taken from a page into (table, prose): its short lines, and those of eight words or more. Each is
    the whole text if there are no such lines."""
    lines = text.splitlines()
    prose = "\n".join(line for line in lines if len(line.split()) >= _PROSE_WORDS)
    table = "\n".join(line for line in lines if len(line.split()) < _PROSE_WORDS)
    return (table if table.strip() else text, prose if prose.strip() else text)


def is_tabular(text: str) -> bool:
    """Whether a text taken from a page prints a table: figures on lines of their own, or cells between bars."""
    return len(_FIGURE_LINE.findall(text)) >= _TABLE_LINES or text.count(" | ") >= _TABLE_LINES


def _number(value: object) -> object:
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return None
