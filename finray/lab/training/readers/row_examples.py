"""Training data of the row reader: questions beside rows of tables and sentences, some of which are gold.

The questions are those of benchmarks/table_questions. Beside the gold rows stand those of the same page, and of pages
of the filing that share most words with the question, shortened as for an answer. Questions that a sentence answers
stand beside rows too, none of which is gold.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, Literal, cast

from finray.answering.cells.page_cells import PageCells, measure_of
from finray.answering.sentences.read import sentence_text
from finray.answering.table_reader.operations import LISTED, OPERATIONS, Operation, roles_of
from finray.answering.table_reader.shortlist import Shortlist, rows_of, shortlist
from finray.core.errors import UsageError
from finray.core.filing import LineItem
from finray.core.passages import Passage
from finray.core.plan import Measure
from finray.filings.pages.sentences import Sentence, page_sentences
from finray.filings.prose.figures import prose_figures
from finray.index.reading.facts import FilingFacts
from finray.lab.evaluation.numbers import find_numbers
from finray.models.row_reader import OPERATIONS as NAMED
from finray.question.companies.catalog import CompanyCatalog
from finray.question.rule_reader import RuleReader, plain_query
from finray.question.synonyms import words_of

_PAGES = 6
_ROWS, _SENTENCES = 40, 24
_FEWEST = 4
"""Fewest rows beside a question that none of them answers."""
_OF_FIGURES: Final = frozenset({"figure", "yesno", "which"})
_YEARS: Final = frozenset(map(Decimal, range(1900, 2100)))


@dataclass(frozen=True, slots=True)
class RowExample:
    """``rows`` are texts beside ``question``, the likeliest by their words first. ``first``, ``second``, ``listed`` and
    ``answering`` are the numbers of those that are gold in each role, none if a sentence answers and ``rows`` are
    of tables; ``answering`` is for sentences, ``further`` for operands whose role is not known. ``several`` is
    whether the operands are of several rows, None if there is one; ``backwards`` whether the first of two is of the
    earlier period, None if their periods are not two. ``measure`` is what the first operand measures, None for
    sentences. ``figure`` is the one of a sentence that answers, as printed, "" if none does, None if that is not
    known. ``group`` is the company, or TAT-QA's context."""

    question: str
    rows: tuple[str, ...]
    operation: str
    group: str
    first: tuple[int, ...] = ()
    second: tuple[int, ...] = ()
    listed: tuple[int, ...] = ()
    answering: tuple[int, ...] = ()
    further: tuple[int, ...] = ()
    several: bool | None = None
    backwards: bool | None = None
    measure: Measure | Literal["number"] | None = None
    figure: str | None = None

    @property
    def gold(self) -> frozenset[int]:
        return frozenset((*self.first, *self.second, *self.listed, *self.answering, *self.further))


def read_lines(path: Path) -> list[Mapping[str, Any]]:
    """The questions of a file; a line with ``questions``, wordings of one question, counts as one each. Raises
    UsageError."""
    try:
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} is no file of questions, one JSON object a line: {error}") from error
    found: list[Mapping[str, Any]] = []
    for number, line in enumerate(lines, start=1):
        keys = set(line) if isinstance(line, dict) else set()
        if "answer" in keys and line.get("question_type") == "prose_figure":
            line = {**line, "kind": "figure", "figure": line["answer"]}
            keys = set(line)
        asked = line["questions"] if "questions" in keys else [line["question"]] if "question" in keys else []
        placed = {"operation", "cells"} <= keys and keys & {"evidence", "context"}
        if not asked or not (placed or {"kind", "evidence"} <= keys):
            needed = "question (or questions), evidence (or context, of TAT-QA), and operation with cells, or kind"
            raise UsageError(f"{path}, line {number}: give {needed}")
        found += [{**line, "question": question} for question in asked]
    return found


def examples(lines: Sequence[Mapping[str, Any]], facts: FilingFacts, catalog: CompanyCatalog) -> Iterator[RowExample]:
    """One for each question whose filing is in the index and whose gold rows or sentences are found there, and another
    with rows for one that a sentence answers; questions about a ``context`` of TAT-QA are left out (``tatqa_rows`` has
    them)."""
    ids = {filing.doc_name: filing.filing_id for company in catalog.companies for filing in facts.filings_of(company)}
    maker = _Maker(facts, RuleReader(catalog))
    own = (line for line in lines if "context" not in line)
    for line in sorted(own, key=lambda line: str(line["evidence"][0]["doc_name"])):
        filing_id = ids.get(str(line["evidence"][0]["doc_name"]))
        if filing_id is None:
            continue
        if "cells" in line:
            made = [maker.of_table(line, filing_id)]
        else:
            made = [maker.of_sentences(line, filing_id), maker.of_no_table(line, filing_id)]
        yield from (example for example in made if example is not None)


class _Maker:
    def __init__(self, facts: FilingFacts, reader: RuleReader) -> None:
        self._facts, self._reader, self._cells = facts, reader, PageCells(facts)
        self._words: tuple[str, Mapping[int, set[str]]] = ("", {})

    def of_table(self, line: Mapping[str, Any], filing_id: str) -> RowExample | None:
        question, page = str(line["question"]), int(line["evidence"][0]["page"])
        rows = self._rows(question, filing_id, page)
        operands = [rows_of_cell(cell, rows, page) for cell in line["cells"]]
        found = table_example(question, str(line["operation"]), rows, operands, self._facts.company_of(filing_id))
        return None if found is None else replace(found, backwards=is_backwards(line))

    def of_no_table(self, line: Mapping[str, Any], filing_id: str) -> RowExample | None:
        rows = self._rows(str(line["question"]), filing_id, int(line["evidence"][0]["page"]))
        return absent_example(line, rows, self._facts.company_of(filing_id))

    def _rows(self, question: str, filing_id: str, page: int) -> Shortlist:
        query = self._reader.understand(question, question)
        name = self._facts.filing(filing_id).doc_name
        pages = self._pages(filing_id, query.text, page)
        passages = [Passage(name, filing_id, number, 0, 1, "", 1.0) for number in pages]
        return shortlist(rows_of(query, self._cells.read(passages), self._facts), _ROWS)

    def of_sentences(self, line: Mapping[str, Any], filing_id: str) -> RowExample | None:
        question, page = str(line["question"]), int(line["evidence"][0]["page"])
        wanted = plain_query(question).text
        places = [(filing_id, number) for number in self._pages(filing_id, wanted, page)]
        pages = self._facts.pages(places)
        found = [s for place in places if place in pages for s in page_sentences(pages[place].text)]
        return sentence_example(line, wanted, found, self._facts.company_of(filing_id))

    def _pages(self, filing_id: str, text: str, gold: int) -> list[int]:
        """The gold page first, then those whose rows share most words with ``text``."""
        if self._words[0] != filing_id:
            words: dict[int, set[str]] = defaultdict(set)
            for item in self._facts.line_items([filing_id])[filing_id]:
                words[item.page].update(words_of(" ".join(filter(None, (item.label, item.section, item.caption)))))
            self._words = (filing_id, words)
        of_page, asked = self._words[1], set(words_of(text))
        on = Counter(word for words in of_page.values() for word in words & asked)
        score = {
            page: sum(math.log(1 + len(of_page) / on[word]) for word in words & asked)
            for page, words in of_page.items()
            if page != gold
        }
        return [gold, *sorted(score, key=lambda page: -score[page])[: _PAGES - 1]]


def table_example(
    question: str, operation: str, rows: Shortlist, operands: Sequence[tuple[int, ...]], group: str
) -> RowExample | None:
    """``operands`` are the numbers of the series that may hold each operand, in the order of ``operation``; None if one
    is in none. The row reader learns operations that the table reader does not compute as "other" ones."""
    if not operands or not all(operands) or operation not in NAMED:
        return None
    if operation not in OPERATIONS:
        operation = "other"
    shared = set(operands[0]).intersection(*operands[1:])
    example = RowExample(
        question,
        tuple(series.text for series in rows.series),
        operation,
        group,
        several=None if len(operands) == 1 else not shared,
        measure=measure_of(rows.series[operands[0][0]].first.item) or "number",
    )
    if len(operands) == 1 or shared:
        return replace(example, first=tuple(sorted(shared)))
    if operation == "other":
        return replace(example, further=_union(operands))
    roles = roles_of(cast(Operation, operation), len(operands), several=True)
    return replace(
        example,
        first=() if roles.first is None else operands[roles.first],
        second=() if roles.second is None else operands[roles.second],
        listed=_union([operands[place] for place in roles.summed]),
    )


def _union(operands: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(sorted({number for operand in operands for number in operand}))


def absent_example(line: Mapping[str, Any], rows: Shortlist, group: str) -> RowExample | None:
    """A question that a sentence answers beside ``rows`` of tables; None if one may print a figure of the sentence."""
    quoted = {number for each in line["evidence"] for number in _numbers(str(each["text"]))}
    printed = {number for cell in rows.cells for number in _numbers(cell.item.text)}
    texts = tuple(series.text for series in rows.series)
    if len(texts) < _FEWEST or (line["kind"] in _OF_FIGURES and quoted & printed):
        return None
    return RowExample(str(line["question"]), texts, "value" if line["kind"] == "figure" else "none", group)


def _numbers(text: str) -> Iterator[Decimal]:
    """Numbers of at least two digits that are not years."""
    faces = (abs(number.face) for number in find_numbers(text))
    return (face for face in faces if len(face.as_tuple().digits) > 1 and face not in _YEARS)


def is_backwards(line: Mapping[str, Any]) -> bool | None:
    """Whether the first of two operands is of the earlier period; None if their periods are not two."""
    ends = [cell.get("period_end") for cell in line["cells"]]
    if len(ends) != 2 or line["operation"] in LISTED or not all(ends) or ends[0] == ends[1]:
        return None
    return bool(ends[0] < ends[1])


def sentence_example(
    line: Mapping[str, Any], wanted: str, sentences: Sequence[Sentence], group: str
) -> RowExample | None:
    """``wanted`` is the question without instructions, ``line["evidence"]`` quotes the gold sentences; None if none of
    ``sentences`` is one."""
    ranked = _by_words(wanted, sentences)
    quoted = {" ".join(str(each["text"]).split()) for each in line["evidence"]}
    kept = [s for at, s in enumerate(ranked) if at < _SENTENCES or s.text in quoted]
    gold = tuple(at for at, sentence in enumerate(kept) if sentence.text in quoted)
    if not gold:
        return None
    asked = line["kind"] == "figure"
    figure = _stated(line, [kept[at].text for at in gold]) if asked else ""
    texts = tuple(map(sentence_text, kept))
    operation = "value" if asked else "none"
    return RowExample(str(line["question"]), texts, operation, group, answering=gold, figure=figure)


def _stated(line: Mapping[str, Any], sentences: Sequence[str]) -> str | None:
    """The figure of the line or, if it has none, the only figure of the gold ``sentences``."""
    if "figure" in line:
        return str(line["figure"])
    printed = {text[figure.start : figure.end] for text in sentences for figure in prose_figures(text)}
    return next(iter(printed)) if len(printed) == 1 else None


def rows_of_cell(cell: Mapping[str, Any], rows: Shortlist, page: int) -> tuple[int, ...]:
    """The series with a cell like ``cell`` on ``page``; if none has its column's head, those with its row, period and
    figure, for parsers come to read heads otherwise."""
    known = (cell["text"], cell["label"], cell.get("period_end"))
    found = [
        (owner, own.item.column_label == cell.get("column"))
        for own, owner in zip(rows.cells, rows.owner, strict=True)
        if own.item.page == page and known == _printed(own.item)
    ]
    headed = {owner for owner, same in found if same}
    return tuple(sorted(headed or {owner for owner, _ in found}))


def _printed(item: LineItem) -> tuple[str, str, str | None]:
    return item.text, item.label, str(item.period_end) if item.period_end else None


def _by_words(text: str, sentences: Sequence[Sentence]) -> list[Sentence]:
    asked = set(words_of(text))
    words = [asked & set(words_of(sentence.text)) for sentence in sentences]
    on = Counter(word for own in words for word in own)
    score = [sum(math.log(1 + len(sentences) / on[word]) for word in own) for own in words]
    return [sentences[at] for at in sorted(range(len(sentences)), key=lambda at: -score[at])]
