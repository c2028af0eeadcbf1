"""TAT-QA (Zhu et al. 2021, arXiv 2105.07624): questions over a table and the paragraphs around it, from annual reports.

Source: github.com/NExTplusplus/TAT-QA, folder ``dataset_raw`` (``tatqa_dataset_train.json``, ``…_dev.json``,
``…_test_gold.json``); CC BY 4.0. The data set is its own corpus: each question includes its table and paragraphs but
not the name of the filing, so an index cannot answer it. The questions serve to train rerankers and to test arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, cast, get_args

from finray.batch.question_files import BadLine
from finray.core.errors import QuestionError
from finray.core.question_fields import excerpt, kind, read_question
from finray.core.questions import GoldEvidence, Question
from finray.lab.datasets.records import (
    MAX_QUESTION_CHARACTERS,
    Numbered,
    Record,
    as_object,
    index_of,
    json_list,
    list_of,
    optional_text,
    qid_of,
    read_each,
    text_of,
    texts_of,
)

WHERE = "github.com/NExTplusplus/TAT-QA, folder dataset_raw: tatqa_dataset_dev.json and others (CC BY 4.0)"

AnswerType = Literal["span", "multi-span", "arithmetic", "count"]
AnswerSource = Literal["table", "text", "table-text"]
Scale = Literal["", "thousand", "million", "billion", "percent"]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """``order`` is the paragraph's number in questions, from 1."""

    order: int
    text: str


@dataclass(frozen=True, slots=True)
class TatqaQuestion:
    """``answer`` holds the printed spans, or one number. ``value`` is that number, for "arithmetic" and "count". A
    ``scale`` of "thousand" to "billion" multiplies it, "percent" is appended.

    ``paragraphs`` are the orders of the gold paragraphs; ``from_table`` is true if the table is gold too. ``facts`` are
    the operands and ``cells`` their (row, column) in the table; only the gold test set has them.
    """

    uid: str
    question: str
    answer: tuple[str, ...]
    value: float | None
    scale: Scale
    answer_type: AnswerType
    answer_from: AnswerSource
    derivation: str
    paragraphs: tuple[int, ...]
    facts: tuple[str, ...] = ()
    cells: tuple[tuple[int, int], ...] = ()

    @property
    def from_table(self) -> bool:
        return self.answer_from != "text"

    @property
    def answer_text(self) -> str:
        """The answer as people write it: "17.7%", "1,234 million", "1,568.6; 690.5"."""
        text = "; ".join(self.answer)
        if self.value is None or not self.scale:
            return text
        return f"{text}%" if self.scale == "percent" else f"{text} {self.scale}"


@dataclass(frozen=True, slots=True)
class TatqaContext:
    """A table (rows of cells; the first rows are its heading), the paragraphs around it and the questions on both."""

    uid: str
    table: tuple[tuple[str, ...], ...]
    paragraphs: tuple[Paragraph, ...]
    questions: tuple[TatqaQuestion, ...]

    @property
    def table_text(self) -> str:
        """One line a row, cells joined by " | ", as in stored pages of HTML filings."""
        rows = (" | ".join(cell.strip() for cell in row if cell.strip()) for row in self.table)
        return "\n".join(row for row in rows if row)

    def gold_text(self, question: TatqaQuestion) -> str:
        """The table and paragraphs that ``question`` rests on."""
        parts = [self.table_text] if question.from_table else []
        return "\n".join([*parts, *(p.text for p in self.paragraphs if p.order in question.paragraphs)])


def read_contexts(content: bytes, name: str) -> Iterator[TatqaContext | BadLine]:
    """Each context with its usable questions, then a BadLine for each unusable question; an unusable context is one
    BadLine. Numbers count contexts from 1.

    Raises SourceError if the file is not a JSON list.
    """
    for number, record in json_list(content, name):
        try:
            entry = as_object(record)
            table, paragraphs = _table(entry), _paragraphs(entry)
            raw = list_of(entry, "questions")
        except QuestionError as error:
            yield BadLine(number, f"record-{number}", "", str(error))
            continue
        questions, bad = [], []
        for place, each in enumerate(raw, start=1):
            try:
                questions.append(_question(as_object(each)))
            except QuestionError as error:
                bad.append(BadLine(number, f"record-{number}-{place}", "", f"question {place}: {error}"))
        yield TatqaContext(table[0], table[1], paragraphs, tuple(questions))
        yield from bad


def load(content: bytes, name: str) -> Iterator[Question | BadLine]:
    """The questions; ``doc_name`` is the context's uid, the page is 0. Raises SourceError."""
    bad: list[BadLine] = []

    def flat() -> Iterator[Numbered]:
        number = 0
        for context in read_contexts(content, name):
            if isinstance(context, BadLine):
                bad.append(context)
                continue
            for question in context.questions:
                number += 1
                yield number, {"context": context, "question": question}

    yield from read_each(flat(), lambda _, record: _converted(record["context"], record["question"]))
    yield from bad


def _converted(context: TatqaContext, question: TatqaQuestion) -> Question:
    percent = question.scale == "percent"
    return Question(
        qid=question.uid,
        question=question.question,
        answer=question.answer_text,
        question_type=question.answer_type,
        evidence=(GoldEvidence(context.uid, 0, context.gold_text(question)),),
        value=question.value,
        unit=None if question.value is None else "percent" if percent else question.scale or None,
        program=question.derivation or None,
    )


def _table(entry: Record) -> tuple[str, tuple[tuple[str, ...], ...]]:
    table = as_object(entry.get("table"))
    rows = list_of(table, "table")
    return qid_of(table, "uid"), tuple(texts_of({"table row": row}, "table row") for row in rows)


def _paragraphs(entry: Record) -> tuple[Paragraph, ...]:
    read = [as_object(each) for each in list_of(entry, "paragraphs")]
    return tuple(Paragraph(index_of(each, "order"), text_of(each, "text")) for each in read)


def _question(record: Record) -> TatqaQuestion:
    answer_type = cast(AnswerType, _choice(record, "answer_type", get_args(AnswerType)))
    answer, value = _answer(record, numeric=answer_type in ("arithmetic", "count"))
    return TatqaQuestion(
        uid=qid_of(record, "uid"),
        question=read_question(record.get("question"), MAX_QUESTION_CHARACTERS),
        answer=answer,
        value=value,
        scale=cast(Scale, _choice(record, "scale", get_args(Scale))),
        answer_type=answer_type,
        answer_from=cast(AnswerSource, _choice(record, "answer_from", get_args(AnswerSource))),
        derivation=optional_text(record, "derivation") or "",
        paragraphs=tuple(index_of({"rel_paragraphs": n}, "rel_paragraphs") for n in list_of(record, "rel_paragraphs")),
        facts=texts_of(record, "facts"),
        cells=_cells(record),
    )


def _choice(record: Record, name: str, options: tuple[str, ...]) -> str:
    value = record.get(name)
    if value not in options:
        raise QuestionError(f"{name!r} is {excerpt(repr(value), 40)}, none of {', '.join(map(repr, options))}")
    return str(value)


def _answer(record: Record, *, numeric: bool) -> tuple[tuple[str, ...], float | None]:
    answer = record.get("answer")
    spans = texts_of({"answer": answer if isinstance(answer, list) else [answer]}, "answer")
    if not spans:
        raise QuestionError("'answer' is an empty list")
    if not numeric:
        return spans, None
    try:
        value = float(spans[0].replace(",", ""))
    except ValueError as error:
        raise QuestionError(f"'answer' is {excerpt(spans[0], 40)!r}, not a number") from error
    if len(spans) > 1 or not math.isfinite(value):
        raise QuestionError(f"'answer' is {excerpt(repr(answer), 40)}, not one number")
    return spans, value


def _cells(record: Record) -> tuple[tuple[int, int], ...]:
    cells = []
    for mapping in list_of(record, "mappings"):
        place = as_object(mapping).get("table")
        if place is None:
            continue
        if not isinstance(place, list) or len(place) != 2:
            raise QuestionError(f"a mapping to the table is {kind(place)}, not [row, column]")
        cells.append((index_of({"row": place[0]}, "row"), index_of({"column": place[1]}, "column")))
    return tuple(cells)
