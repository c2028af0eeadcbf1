"""A context of TAT-QA as the one page of a filing, processed like those of an index: grid, line items, chunks.

A context has no company or cover; the filing's year is the latest in the context.
"""

from __future__ import annotations

import calendar
import datetime as dt
import html
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, cast

import pyarrow as pa

from finray.core.filing import Filing, LineItem, Page
from finray.core.settings import load_settings
from finray.filings.html.grid import table_grid
from finray.filings.html.pages import parse_html, split_pages
from finray.filings.pages.chunks import chunk_pages
from finray.filings.tables.line_items import extract_line_items
from finray.filings.tables.statements import label_statements
from finray.index import schema
from finray.index.reading.facts import FilingFacts
from finray.index.reading.filing_table import FilingTable
from finray.index.reading.reader import IndexReader
from finray.lab.datasets.tatqa import TatqaContext
from finray.models.hash_encoder import HashEncoder
from finray.question.companies.catalog import CompanyCatalog

YEAR: Final = re.compile(r"\b(?:19|20)\d\d\b")
_MONTHS = list(calendar.month_name)[1:]
_MONTH = "(" + "|".join([*_MONTHS, *(name[:3] for name in _MONTHS)]) + ")"
_FULL_DATE = re.compile(rf"\b{_MONTH}\.?\s+(\d{{1,2}})\b(?!\s*\d)|\b(\d{{1,2}})\s+{_MONTH}\b")
_ENDED = re.compile(r"\b(?:years?|months|weeks)[ -]+ended[^.]{0,40}", re.I)
_BEFORE_TABLE = re.compile(r"\b(?:following|below|as follows)\b|:\s*$", re.I)


class OnePage:
    """The part of an index that :class:`FilingFacts` reads, for one filing of one page, with the hash encoder."""

    def __init__(self, filing: Filing, page: Page, items: Sequence[LineItem]) -> None:
        self._filing, self._page, self._items = filing, page, tuple(items)
        self._chunks = chunk_pages([page], load_settings("local").chunks)

    def filings(self) -> FilingTable:
        fields = [field for field in schema.table_schemas(1)[schema.FILINGS] if field.name in schema.FILING_COLUMNS]
        rows = pa.Table.from_pylist([schema.filing_row(self._filing)], pa.schema(fields))
        return FilingTable(lambda name: rows[name])

    def pages_at(self, places: Collection[tuple[str, int]]) -> dict[tuple[str, int], Page]:
        return {place: self._page for place in places if place == (self._filing.filing_id, self._page.page)}

    def line_items(self, filing_ids: Collection[str]) -> Mapping[str, Sequence[LineItem]]:
        return {self._filing.filing_id: self._items}

    def chunks_of_pages(self, pages: Collection[tuple[str, int]], columns: Sequence[str]) -> pa.Table:
        rows = [
            {"filing_id": self._filing.filing_id, "page": c.page, "start": c.start, "end": c.end, "text": c.text}
            for c in self._chunks
        ]
        encoder = HashEncoder()
        vectors = encoder.encode_passages([chunk.text for chunk in self._chunks])
        table = pa.Table.from_pylist(rows).append_column("vector", schema.vectors_array(vectors, encoder.dimension))
        return table.select(list(columns))


def view(context: TatqaContext) -> tuple[FilingFacts, CompanyCatalog, Filing]:
    """The facts and the catalog of an index of this context alone, and its filing."""
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
    """An annual report for the latest year in the table's heading, else in the text, with the year end that the
    context mentions."""
    text = "\n".join([context.table_text, *(p.text for p in context.paragraphs)])
    years = Counter(int(year) for year in YEAR.findall(text))
    headed = {int(year) for row in context.table[:4] for cell in row for year in YEAR.findall(cell)}
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
        fiscal_year=year - 1 if (end.month, end.day) < (1, 16) else year,
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
        figures = [cell for cell in row[1:] if re.search(r"\d", cell) and not YEAR.search(cell)]
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
