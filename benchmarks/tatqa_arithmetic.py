"""Accuracy on TAT-QA's numeric questions (arXiv 2105.07624) with the table and its paragraphs given.

    python benchmarks/tatqa_arithmetic.py DATASET.json [--out ANSWERS.jsonl] [--types arithmetic span]

The table and the paragraphs around it become one HTML page, which is processed like that of a filing: grid, line items,
then plan, look-up and program of the ``local`` preset. There is no retrieval, company or cover; the filing's year is
the latest in the context. TAT-QA's rule decides whether an answer is right: the value rounded to two digits, and the
scale; "any scale" ignores the scale. Asks arithmetic questions and those whose answer is one printed number ("span"),
but not counts, names or years.
"""

from __future__ import annotations

import argparse
import asyncio
import calendar
import datetime as dt
import html
import json
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import pyarrow as pa

from finray.answering.in_words import WordsAnswerer
from finray.answering.planned import PlannedAnswerer
from finray.answering.statements import StatementAnswerer
from finray.batch.question_files import BadLine
from finray.core.bootstrap import estimate
from finray.core.journal import Journal
from finray.core.roles import Curation
from finray.core.settings import load_settings
from finray.core.types import Answer, Filing, LineItem, Page, Passage
from finray.filings.chunks import chunk_pages
from finray.filings.html import parse_html, split_pages
from finray.filings.html_grid import table_grid
from finray.filings.line_items import extract_line_items
from finray.filings.statements import label_statements
from finray.index.facts import FilingFacts
from finray.index.reader import IndexReader
from finray.lab.datasets.tatqa import TatqaContext, TatqaQuestion, read_contexts
from finray.models.hash_encoder import HashEncoder
from finray.question.companies import CompanyCatalog
from finray.question.rule_reader import RuleReader

_MONTHS = list(calendar.month_name)[1:]
SCALES = {"": 1.0, "thousand": 1e3, "million": 1e6, "billion": 1e9, "percent": 0.01}
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_MONTH = "(" + "|".join([*_MONTHS, *(name[:3] for name in _MONTHS)]) + ")"
_FULL_DATE = re.compile(rf"\b{_MONTH}\.?\s+(\d{{1,2}})\b(?!\s*\d)|\b(\d{{1,2}})\s+{_MONTH}\b")
_ENDED = re.compile(r"\b(?:years?|months|weeks)[ -]+ended[^.]{0,40}", re.I)
_BEFORE_TABLE = re.compile(r"\b(?:following|below|as follows)\b|:\s*$", re.I)
_NUMBER = re.compile(r"\(?-?\$?\s*\(?-?(\d[\d,]*\.?\d*|\.\d+)\)?\s*%?\)?")


@dataclass(frozen=True, slots=True)
class Outcome:
    question: TatqaQuestion
    answer: Answer
    right: bool
    right_at_any_scale: bool

    @property
    def refused(self) -> bool:
        return self.answer.status != "answered"

    @property
    def wrong(self) -> bool:
        return not self.refused and not self.right


class OnePage:
    """The part of an index that :class:`FilingFacts` reads, for one filing of one page."""

    def __init__(self, filing: Filing, page: Page, items: Sequence[LineItem]) -> None:
        self._filing, self._items = filing, tuple(items)
        settings = load_settings("local")
        self._chunks = chunk_pages([page], settings.chunks)

    def filings(self) -> tuple[Filing, ...]:
        return (self._filing,)

    def line_items(self, filing_ids: Collection[str]) -> Mapping[str, Sequence[LineItem]]:
        return {self._filing.filing_id: self._items}

    def chunks_of_pages(self, pages: Collection[tuple[str, int]], columns: Sequence[str]) -> pa.Table:
        rows = [
            {"filing_id": self._filing.filing_id, "page": c.page, "start": c.start, "end": c.end, "text": c.text}
            for c in self._chunks
        ]
        return pa.Table.from_pylist(rows).select(list(columns))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--out", type=Path, help="every question with its answer, .jsonl")
    parser.add_argument("--types", nargs="+", default=["arithmetic", "span"])
    arguments = parser.parse_args()
    outcomes = list(measure(arguments.dataset, arguments.types))
    report(outcomes)
    if arguments.out:
        arguments.out.write_text("".join(f"{json.dumps(_record(each))}\n" for each in outcomes), encoding="utf-8")


def measure(path: Path, types: Collection[str]) -> Iterator[Outcome]:
    for number, context in enumerate(read_contexts(path.read_bytes(), path.name)):
        if isinstance(context, BadLine):
            print(f"{context.qid}: {context.reason}", file=sys.stderr)
            continue
        asked = [q for q in context.questions if q.answer_type in types and gold_value(q) is not None]
        if not asked:
            continue
        if number % 40 == 0:
            print(f"context {number}", file=sys.stderr, flush=True)
        facts, catalog, filing = view(context)
        answerer = PlannedAnswerer(StatementAnswerer(facts, WordsAnswerer(facts, HashEncoder())), facts)
        reader = RuleReader(catalog)
        passages = facts.passages_of(filing.filing_id, 0)
        for question in asked:
            answer = asyncio.run(_answer(question, answerer, reader, passages))
            yield Outcome(question, answer, *score(question, answer))


async def _answer(
    question: TatqaQuestion, answerer: PlannedAnswerer, reader: RuleReader, passages: Sequence[Passage]
) -> Answer:
    journal = Journal()
    query = await reader.read(question.question, journal)
    # The table is given, so any company in the question is that of the table.
    query = replace(query, unknown_companies=(), forms=())
    return await answerer.answer(query, Curation(tuple(passages), answerable=True), journal)


def view(context: TatqaContext) -> tuple[FilingFacts, CompanyCatalog, Filing]:
    filing = filing_of(context)
    (page,) = split_pages(parse_html(as_html(context).encode()), load_settings("local").filings)
    grids = [grid for t, c in zip(page.tables, page.captions, strict=True) if (grid := table_grid(t, 0, c)) is not None]
    statement = label_statements([page.text])[0]
    items = extract_line_items(grids, page.text, statement, filing)
    if not items:  # the table is about the period of the report, but has no date
        items = extract_line_items(grids, page.text, statement, filing, undated=True)
    reader = OnePage(filing, Page(0, page.text, statement=statement), items)
    catalog = CompanyCatalog(reader.filings())
    return FilingFacts(cast(IndexReader, reader), catalog), catalog, filing


def filing_of(context: TatqaContext) -> Filing:
    """An annual report for the latest year that the context often mentions, with the year end that it mentions."""
    text = "\n".join([context.table_text, *(p.text for p in context.paragraphs)])
    years = Counter(int(year) for year in _YEAR.findall(text))
    headed = {int(year) for row in context.table[:4] for cell in row for year in _YEAR.findall(cell)}
    usual = years.most_common(1)[0][0] if years else 2019
    # Later years are due dates of payments.
    year = max((y for y in headed or years if y <= usual + 1), default=usual)
    heads = "\n".join(cell for row in context.table[:4] for cell in row)
    prose = " ".join(match.group() for match in _ENDED.finditer(text))
    days = Counter((a or d, int(b or c)) for a, b, c, d in _FULL_DATE.findall(heads) or _FULL_DATE.findall(prose))
    month, day = days.most_common(1)[0][0] if days else ("December", 31)
    try:
        end = dt.date(year, [name[:3] for name in _MONTHS].index(month[:3]) + 1, day)
    except ValueError:
        end = dt.date(year, 12, 31)
    return Filing(
        context.uid,
        context.uid,
        "",
        "",
        "The Company",
        "10-K",
        period_end=end,
        fiscal_year=year - 1 if (end.month, end.day) < (1, 16) else end.year,
        fiscal_period="FY",
    )


def as_html(context: TatqaContext) -> str:
    """The paragraphs up to the one that introduces the table, the table, then the other paragraphs."""
    paragraphs = [p.text for p in context.paragraphs]
    announced = [place for place, text in enumerate(paragraphs) if _BEFORE_TABLE.search(text)]
    before = announced[0] + 1 if announced else 1
    rows = "".join(f"<tr>{''.join(_cells(row, heading))}</tr>" for row, heading in _rows(context.table))
    texts = [f"<p>{html.escape(text)}</p>" for text in paragraphs]
    return f"<html><body>{''.join(texts[:before])}<table>{rows}</table>{''.join(texts[before:])}</body></html>"


def _rows(table: Sequence[Sequence[str]]) -> Iterator[tuple[Sequence[str], bool]]:
    """Each row, and whether it is above the first figures."""
    heading = True
    for row in table:
        figures = [cell for cell in row[1:] if re.search(r"\d", cell) and not _YEAR.search(cell)]
        heading = heading and not (row[0].strip() and figures and len(figures) * 2 >= sum(map(bool, row[1:])))
        yield row, heading


def _cells(row: Sequence[str], heading: bool) -> Iterator[str]:
    """Cells with column spans, which the data set lacks: a single heading spans all columns, others up to the next."""
    cells = [cell.strip() for cell in row]
    filled = [place for place, cell in enumerate(cells) if cell and place]
    spans = dict.fromkeys(range(len(cells)), 1)
    columns = len(cells) - 1
    if heading and filled and len(filled) < columns:
        blocks = columns // len(filled)
        if columns % len(filled) == 0 and [(p - 1) // blocks for p in filled] == list(range(len(filled))):
            yield f"<td>{html.escape(cells[0])}</td>"
            for place in filled:
                yield f'<td colspan="{blocks}">{html.escape(cells[place])}</td>'
            return
        for place, following in zip(filled, [*filled[1:], len(cells)], strict=True):
            spans[place] = following - place
    place = 0
    while place < len(cells):
        yield f'<td colspan="{spans[place]}">{html.escape(cells[place])}</td>'
        place += spans[place]


def gold_value(question: TatqaQuestion) -> float | None:
    """The answer as a number in its scale; None if it is a name, a year or a sentence."""
    if question.value is not None:
        return question.value
    (text, *others) = question.answer
    match = _NUMBER.fullmatch(text.strip())
    if others or match is None or _YEAR.fullmatch(text.strip()):
        return None
    value = float(match.group(1).replace(",", ""))
    return -value if text.strip().startswith(("(", "-", "$(")) else value


def score(question: TatqaQuestion, answer: Answer) -> tuple[bool, bool]:
    """(right, right at any scale)."""
    gold = gold_value(question)
    if answer.status != "answered" or answer.value is None or gold is None:
        return False, False
    value = answer.value / 100 if answer.unit == "percent" else answer.value
    percent = question.scale == "percent" or "%" in question.answer[0]
    own = SCALES["percent"] if percent else SCALES[question.scale]
    at = {scale: round(value / scale, 2) == round(gold, 2) for scale in SCALES.values()}
    return at[own], any(at.values())


def report(outcomes: Sequence[Outcome]) -> None:
    groups = {"all": outcomes}
    for kind in dict.fromkeys(each.question.answer_type for each in outcomes):
        groups[kind] = [each for each in outcomes if each.question.answer_type == kind]
    for source in ("table", "table-text", "text"):
        groups[f"arithmetic, {source}"] = [
            e for e in outcomes if e.question.answer_type == "arithmetic" and e.question.answer_from == source
        ]
    print("| questions | n | right | right at any scale | refused | wrong | wrong at any scale |")
    print("|---|---|---|---|---|---|---|")
    for name, group in groups.items():
        columns = (
            [e.right for e in group],
            [e.right_at_any_scale for e in group],
            [e.refused for e in group],
            [e.wrong for e in group],
            [not e.refused and not e.right_at_any_scale for e in group],
        )
        shown = " | ".join(_interval(column) for column in columns) if group else ""
        print(f"| {name} | {len(group)} | {shown} |")


def _interval(column: Sequence[bool]) -> str:
    found = estimate([float(each) for each in column])
    return f"{found.value:.3f} [{found.low:.2f}, {found.high:.2f}]"


def _record(outcome: Outcome) -> dict[str, object]:
    question, answer = outcome.question, outcome.answer
    return {
        "uid": question.uid,
        "question": question.question,
        "gold": question.answer_text,
        "derivation": question.derivation,
        "type": question.answer_type,
        "from": question.answer_from,
        "status": answer.status,
        "answer": answer.text,
        "value": answer.value,
        "program": answer.program,
        "right": outcome.right,
        "any_scale": outcome.right_at_any_scale,
    }


if __name__ == "__main__":
    main()
