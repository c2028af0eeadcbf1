"""Training data of the row reader from TAT-QA: its questions, and further ones about the same tables and texts
(``benchmarks/table_questions/tatqa.jsonl``), beside the rows or sentences of their context."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from finray.answering.cells.page_cells import PageCells
from finray.answering.table_reader.shortlist import Shortlist, rows_of, shortlist
from finray.batch.question_files import BadLine
from finray.core.passages import Passage
from finray.filings.pages.sentences import page_sentences
from finray.lab.datasets.tatqa import TatqaContext, TatqaQuestion, read_contexts
from finray.lab.datasets.tatqa_page import view
from finray.lab.training.readers.row_examples import (
    RowExample,
    absent_example,
    is_backwards,
    rows_of_cell,
    sentence_example,
    table_example,
)
from finray.question.rule_reader import RuleReader, plain_query

_ROWS, _MOST_QUOTED = 40, 3
_FIGURE = re.compile(
    r"[-−]?\$?[(]?[$€£]? ?(?:\d[\d,]{0,20}+(?:\.\d{1,9})?|\.\d{1,9}) ?%?[)]? ?%?"
    r"(?: ?(?:thousand|million|billion|cents|per ?cent))?"
)
_NUMBER = re.compile(r"\d[\d,]*\.?\d*|\.\d+")
_YEAR = re.compile(r"(?:19|20)\d\d")
_UNARY_MINUS = re.compile(r"(?<![N)])-")
_DERIVATIONS: Final[Mapping[str, re.Pattern[str]]] = {
    "difference": re.compile(r"\(?N-N\)?"),
    "growth": re.compile(r"\(?\(?N-N\)?/N(?:-N)?\)?(?:\*N)?\)?|N/N-N"),
    "ratio": re.compile(r"\(?N/N\)?(?:\*N)?"),
    "average": re.compile(r"\(?\(?N(?:\+N){1,20}\)?/N\)?"),
    "sum": re.compile(r"\(?N(?:\+N){1,20}\)?"),
}
"""Shapes of derivations, N being any number."""


def tatqa_examples(files: Sequence[Path], lines: Sequence[Mapping[str, Any]]) -> Iterator[RowExample]:
    """One for each question of ``files``, and for each of ``lines`` about a context in ``files``, if its operands are
    found in rows or its answer in a sentence; others, and malformed contexts, are left out. Raises SourceError."""
    of_context: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for line in lines:
        if "context" in line:
            of_context[str(line["context"])].append(line)
    for path in files:
        for context in read_contexts(path.read_bytes(), path.name):
            if not isinstance(context, BadLine):
                maker = _Maker(context)
                own = of_context[context.uid]
                made = (*map(maker.of_question, context.questions), *map(maker.of_line, own))
                absent = (maker.of_no_table(line) for line in own if "cells" not in line)
                yield from (example for example in (*made, *absent) if example is not None)


class _Maker:
    def __init__(self, context: TatqaContext) -> None:
        self._facts, catalog, filing = view(context)
        self._reader = RuleReader(catalog)
        self._cells = PageCells(self._facts).read([Passage(filing.doc_name, filing.filing_id, 0, 0, 1, "", 1.0)])
        pages = self._facts.pages([(filing.filing_id, 0)])
        self._sentences = [sentence for page in pages.values() for sentence in page_sentences(page.text)]
        self._paragraphs = {each.order: " ".join(each.text.split()) for each in context.paragraphs}
        self._group = f"tatqa:{context.uid}"

    def of_question(self, question: TatqaQuestion) -> RowExample | None:
        if operation := _operation(question):
            rows = self._rows(question.question)
            operands = [_series_with(number, rows) for number in _numbers(question, operation)]
            return table_example(question.question, operation, rows, operands, self._group)
        if question.answer_from == "table" or question.answer_type not in ("span", "multi-span"):
            return None
        texts = [self._paragraphs[order] for order in question.paragraphs if order in self._paragraphs]
        quoted = [
            sentence.text
            for sentence in self._sentences
            if any(sentence.text in text for text in texts)
            and any(" ".join(answer.split()).rstrip(".") in sentence.text for answer in question.answer)
        ]
        figure = _FIGURE.fullmatch(question.answer[0].strip())
        line: dict[str, Any] = {
            "question": question.question,
            "kind": "figure" if figure else "what",
            "evidence": [{"text": text} for text in quoted],
        }
        if figure and len(question.answer) == 1:
            line["figure"] = figure[0]
        return self._of_sentences(line) if len(quoted) <= _MOST_QUOTED else None

    def of_line(self, line: Mapping[str, Any]) -> RowExample | None:
        if "cells" not in line:
            return self._of_sentences(line)
        question = str(line["question"])
        rows = self._rows(question)
        operands = [rows_of_cell(cell, rows, 0) for cell in line["cells"]]
        found = table_example(question, str(line["operation"]), rows, operands, self._group)
        return None if found is None else replace(found, backwards=is_backwards(line))

    def of_no_table(self, line: Mapping[str, Any]) -> RowExample | None:
        return absent_example(line, self._rows(str(line["question"])), self._group)

    def _rows(self, question: str) -> Shortlist:
        return shortlist(rows_of(self._reader.understand(question, question), self._cells, self._facts), _ROWS)

    def _of_sentences(self, line: Mapping[str, Any]) -> RowExample | None:
        return sentence_example(line, plain_query(str(line["question"])).text, self._sentences, self._group)


def _operation(question: TatqaQuestion) -> str | None:
    """None if the question asks for no figure of the table, or for another computation."""
    if not question.from_table:
        return None
    if question.answer_type == "span":
        (text, *others) = question.answer
        figure = _FIGURE.fullmatch(text.strip()) and not _YEAR.fullmatch(text.strip())
        return "value" if figure and not others else None
    if question.answer_type != "arithmetic":
        return None
    shape = re.sub(r"[\s$]", "", question.derivation).replace("[", "(").replace("]", ")")
    shape = _UNARY_MINUS.sub("", re.sub(r"[\d.,%]+", "N", shape)).replace("(N)", "N")
    found = next((name for name, pattern in _DERIVATIONS.items() if pattern.fullmatch(shape)), None)
    numbers = [_number(each) for each in _NUMBER.findall(question.derivation)]
    if found == "growth" and numbers[2:] and "-N)/N" in shape and numbers[2] != numbers[1]:
        return None
    if found == "average" and numbers[-1] != len(numbers) - 1:
        return None
    return "share" if found == "ratio" and question.scale == "percent" else found


def _numbers(question: TatqaQuestion, operation: str) -> list[Decimal]:
    """The operands, without signs, in the order of ``operation``."""
    if operation == "value":
        return [_number(match) for match in _NUMBER.findall(question.answer[0])[:1]]
    found = [_number(match) for match in _NUMBER.findall(question.derivation)]
    if operation == "average":
        return found[:-1]
    return found if operation == "sum" else found[:2]


def _series_with(number: Decimal, rows: Shortlist) -> tuple[int, ...]:
    """The series with a cell that prints ``number``."""
    owners = zip(rows.cells, rows.owner, strict=True)
    return tuple(sorted({owner for cell, owner in owners if number in map(_number, _NUMBER.findall(cell.item.text))}))


def _number(printed: str) -> Decimal:
    return Decimal(printed.replace(",", ""))
