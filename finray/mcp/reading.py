"""Reads what the tools return from one version of the index. ``Tools.read`` calls these functions; citations link to
pages of ``service``, the URL of an HTTP service, or to EDGAR if it is None."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from finray.api.errors import not_found
from finray.api.library import filing_record, filings_record, find, no_page
from finray.api.open_index import OpenIndex
from finray.core.filing import Filing, Page
from finray.core.filing_filter import FilingFilter
from finray.core.ocr_marks import described
from finray.core.passages import Passage, RenderedBlock
from finray.core.predictions import CitedCell
from finray.core.replies import FilingCover
from finray.evidence.rendering import table_text
from finray.evidence.tables import ShownTable, is_contents
from finray.facts.lookup import look_up_facts
from finray.facts.records import Fact
from finray.filings.pages.page_links import Box, PageLinks, named
from finray.mcp.marking import marked, maybe_short, short
from finray.mcp.records import (
    Cell,
    Citation,
    FactLine,
    FactsResult,
    FilingLine,
    FilingResult,
    FilingsResult,
    PageLine,
    PageResult,
    Quote,
    TableName,
    TableResult,
)

SCHEME = "finray://filings"
MAX_CHARACTERS = 20_000
"""Text of a page or table in one result."""
MAX_FACTS = 400


def list_filings(
    index: OpenIndex, service: str | None, narrowed: FilingFilter, after: str, limit: int
) -> FilingsResult:
    """Raises ApiError for an invalid cursor."""
    found = filings_record(index, narrowed, after, limit)
    links = PageLinks(index.filings, service)
    return FilingsResult(tuple(_line(cover, links) for cover in found.data), found.next_cursor)


def read_filing(index: OpenIndex, service: str | None, filing_id: str) -> FilingResult:
    """Raises ApiError 404."""
    detail = filing_record(index, filing_id)
    pages = tuple(PageLine(page.page, page.item, page.statement, page.place) for page in detail.pages)
    (summary,) = marked([detail.summary])
    return FilingResult(_line(detail, PageLinks(index.filings, service)), summary, pages)


def read_page(index: OpenIndex, service: str | None, filing_id: str, page: int, start: int) -> PageResult:
    """At most ``MAX_CHARACTERS`` of the page from ``start``. Raises ApiError 404."""
    filing, found = _page(index, filing_id, page)
    if start and start >= len(found.text):
        raise not_found(
            f"page {page} of {filing_id!r} has {len(found.text):,} characters, none from {start:,}", "start"
        )
    end = start + MAX_CHARACTERS
    (text,) = marked([found.text[start:end]])
    tables = _tables(index, filing, found)
    return PageResult(
        citation=cite(index, filing_id, page, service=service),
        n_pages=index.catalog.n_pages(filing_id),
        text=text,
        about=PageLine(page, found.item, found.statement, found.place),
        tables=tuple(
            TableName(number, short(table.title), len(table.rows)) for number, table in enumerate(tables, start=1)
        ),
        next_start=end if end < len(found.text) else None,
    )


def read_table(index: OpenIndex, service: str | None, filing_id: str, page: int, table: int) -> TableResult:
    """The ``table``-th table of a page, from 1. Raises ApiError 404."""
    filing, found = _page(index, filing_id, page)
    tables = _tables(index, filing, found)
    if table > len(tables):
        has = f"its tables are 1 to {len(tables)}" if tables else "it has none; read_page has its text"
        raise not_found(f"page {page} of {filing_id!r} has no table {table}; {has}", "table")
    chosen = tables[table - 1]
    (text,) = marked([_whole(chosen)])
    title = short(chosen.title)
    return TableResult(cite(index, filing_id, page, service=service), table, title, text)


def look_up(
    index: OpenIndex,
    service: str | None,
    companies: Sequence[str],
    items: Sequence[str],
    years: Sequence[int],
    every_filing: bool,
) -> FactsResult:
    """The first ``MAX_FACTS`` line items."""
    found = look_up_facts(index.reader, companies, items, years, every_filing=every_filing, catalog=index.companies)
    facts = list(islice(found, MAX_FACTS + 1))
    return FactsResult(tuple(_fact(index, fact, service) for fact in facts[:MAX_FACTS]), cut_off=len(facts) > MAX_FACTS)


def quote(index: OpenIndex, service: str | None, found: Sequence[Passage | RenderedBlock]) -> tuple[Quote, ...]:
    """``found`` with citations. All texts are between tags with the same code."""
    return tuple(
        Quote(
            cite(index, each.filing_id, each.page, service=service, doc_name=each.doc_name),
            text,
            each.score if isinstance(each, Passage) else None,
        )
        for each, text in zip(found, marked([each.text for each in found]), strict=True)
    )


def support(
    index: OpenIndex, service: str | None, found: Sequence[Passage | RenderedBlock], cells: Sequence[CitedCell]
) -> tuple[tuple[Quote, ...], tuple[Cell, ...]]:
    """The evidence of an answer: quotes of ``found``, and ``cells`` with citations whose links mark the cell."""
    return quote(index, service, found), tuple(
        Cell(
            name=short(cell.name),
            value=cell.value,
            label=short(cell.label),
            text=short(cell.text),
            citation=cite(index, cell.filing_id, cell.page, cell.box, service=service, doc_name=cell.doc_name),
            section=maybe_short(cell.section),
            column=maybe_short(cell.column_label),
            period_end=cell.period_end,
            concept=maybe_short(cell.concept),
        )
        for cell in cells
    )


def cite(
    index: OpenIndex,
    filing_id: str,
    page: int,
    box: Box | None = None,
    *,
    service: str | None,
    doc_name: str = "",
) -> Citation:
    """The citation of a page. ``doc_name`` names the filing if this version of the index lacks it."""
    filing = index.filings.get(filing_id)
    link = PageLinks(index.filings, service).page(filing_id, page, box)
    name = doc_name if filing is None else named(filing)
    return Citation(f"{short(name)}, p. {page + 1}", filing_id, page, f"{SCHEME}/{filing_id}/pages/{page}", link)


def _line(cover: FilingCover, links: PageLinks) -> FilingLine:
    return FilingLine(
        filing_id=cover.filing_id,
        citation=short(named(cover)),
        company=short(cover.company),
        form=short(cover.form),
        doc_name=short(cover.doc_name),
        n_pages=cover.n_pages,
        resource=f"{SCHEME}/{cover.filing_id}",
        fiscal_year=cover.fiscal_year,
        fiscal_period=cover.fiscal_period,
        period_end=cover.period_end,
        filed_at=cover.filed_at,
        is_amendment=cover.is_amendment,
        ticker=maybe_short(cover.ticker),
        cik=maybe_short(cover.cik),
        link=links.page(cover.filing_id, 0),
    )


def _page(index: OpenIndex, filing_id: str, page: int) -> tuple[Filing, Page]:
    """Raises ApiError 404."""
    filing = find(index, filing_id)
    found = index.reader.pages_at([(filing_id, page)]).get((filing_id, page))
    if found is None:
        raise no_page(index, filing_id, page)
    return filing, found


def _tables(index: OpenIndex, filing: Filing, page: Page) -> list[ShownTable]:
    """The tables with rows on ``page``; one that begins on the page before is whole."""
    found = index.reader.tables_at([(filing.filing_id, page.page)])[filing.filing_id, page.page]
    return [ShownTable.of(table, page, filing) for table in found if not is_contents(table)]


def _whole(table: ShownTable) -> str:
    """``table`` as Markdown, as many rows as ``MAX_CHARACTERS`` hold."""
    rows = len(table.rows)
    text = table_text(table, range(rows))
    while len(text) > MAX_CHARACTERS and rows > 1:
        rows = max(1, min(rows - 1, rows * MAX_CHARACTERS // len(text)))
        text = table_text(table, range(rows))
    return text[:MAX_CHARACTERS]


def _fact(index: OpenIndex, fact: Fact, service: str | None) -> FactLine:
    later = None
    if fact.latest_filing_id is not None and fact.latest_page is not None:
        later = cite(index, fact.latest_filing_id, fact.latest_page, service=service)
    here = None
    if fact.filing_id is not None and fact.page is not None:
        here = cite(index, fact.filing_id, fact.page, fact.box, service=service)
    return FactLine(
        company=short(fact.company),
        item=short(fact.item),
        fiscal_year=fact.fiscal_year,
        value=fact.value,
        unit=fact.unit,
        period_end=fact.period_end,
        months=fact.months,
        label=maybe_short(fact.label),
        text=maybe_short(fact.text),
        section=maybe_short(fact.section),
        column=maybe_short(fact.column_label),
        concept=maybe_short(fact.concept),
        ocr=described(fact.ocr),
        version=fact.version,
        restated=fact.restated,
        latest_value=fact.latest_value,
        citation=here,
        latest_citation=later,
        reason=maybe_short(fact.reason),
    )
