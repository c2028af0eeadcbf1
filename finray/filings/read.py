"""Reads a filing from bytes into cover facts, pages and line items: the entry point of this package."""

import gc
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice

from finray.core.currencies import CURRENCIES, mentions
from finray.core.errors import FilingError
from finray.core.filing import UNIDENTIFIED, FactSource, Filing, LineItem, Page, ParsedFiling, Place, Statement
from finray.core.settings import FilingSettings
from finray.core.tables import Cell, Row, Table, line_items
from finray.filings.cover import fiscal
from finray.filings.cover import page as cover
from finray.filings.cover.facts import Facts, merge
from finray.filings.cover.report_signs import is_report
from finray.filings.cover.submission import ACCESSION_NUMBER, Document, parse_submission
from finray.filings.html import inline_xbrl
from finray.filings.html.pages import check_length
from finray.filings.pages.headings import page_headings
from finray.filings.pages.items import label_items
from finray.filings.pages.places import label_places
from finray.filings.pdf.doubts import differing_figures, with_marks
from finray.filings.pdf.grid import grids_of_words, page_grids
from finray.filings.pdf.tessdata import Ocr
from finray.filings.pdf.text import open_pdf, pdf_text
from finray.filings.sniff import Kind, is_markup, sniff
from finray.filings.tables.continued import Unfinished
from finray.filings.tables.currencies import heads_of, reported_currency
from finray.filings.tables.grids import Grid
from finray.filings.tables.line_items import Page as TablePage
from finray.filings.tables.line_items import read_page
from finray.filings.tables.registrants import of_grids, own_registrant
from finray.filings.tables.scales import read_scale
from finray.filings.tables.statements import label_statements, page_registrants
from finray.filings.tables.tags import Tags
from finray.filings.tables.valuation import titled_valuation
from finray.filings.text_documents import TextDocument, dated_by, read_document, read_exhibits, tags_of, with_results

_MIN_FIGURE_LINES = 4
_FIGURE_LINE = re.compile(
    r"^[^\w\n]{0,8}\d[\d,.'’\xa0 ]{0,20}[)%\]\xa0 –-]{0,4}$|"
    r"\d{1,3}(?:,\d{3}){1,4}\)?[%\xa0 ]{0,4}$|\d\.\d{1,2}\)?[%\xa0 ]{0,4}$"
)
"""Many PDFs print a no-break space after each figure."""
_FIGURE_END = re.compile(r"\d[.,]{0,20}[)%\]\xa0 –-]{0,5}$", re.MULTILINE)
"""The end of such a line, which is faster to find."""
_NO_TABLES = frozenset({"contents", "signatures", "exhibit_index"})
"""Places whose numbers are only those of pages, Items and exhibits."""
_OUTSTANDING = re.compile(r"\boutstanding\b", re.IGNORECASE)
_SHARES = re.compile(r"\b(?:shares?|stock|units?|class [a-z])\b", re.IGNORECASE)
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,5}\Z")


def parse_filing(content: bytes, source_uri: str, settings: FilingSettings, ocr: Ocr | None = None) -> ParsedFiling:
    """Read one filing: a PDF, EDGAR HTML, full-submission text or plain text, recognized by content. ``ocr`` reads
    pages whose text cannot be extracted. Exhibits of a submission that hold results are further pages of the filing.

    Raises only FilingError, with a stage and a stable reason.
    """
    kind = sniff(content, settings)
    with _without_collections():
        if kind == "pdf":
            return _parse_pdf(content, source_uri, settings, ocr)
        return _parse_text(content, kind, source_uri, settings)


@contextmanager
def _without_collections() -> Iterator[None]:
    """No garbage collection meanwhile: the cells of a filing refer to no cycles, but to look through them again and
    again takes a tenth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _parse_pdf(content: bytes, source_uri: str, settings: FilingSettings, ocr: Ocr | None) -> ParsedFiling:
    with open_pdf(content, settings) as document:
        read = pdf_text(document, settings, ocr, tabular=_is_tabular)
        texts = read.texts
        check_length(texts, settings)
        statements = label_statements(texts)
        filing = _filing(content, source_uri, cover.read_facts(texts), texts, statements)
        provenance = dict(filing.provenance)
        if read.words or read.unread:
            provenance["pages"] = "ocr" if read.words else "unread"
        if document.is_repaired:
            provenance["file"] = "repair"
        filing = replace(filing, provenance=provenance)
        words = {**read.printed, **read.words}

        def grids(number: int) -> list[Grid]:
            tabular = number in read.printed or (number in read.words and _is_tabular(texts[number]))
            if not tabular and statements[number] is None:
                return []
            found = words.get(number)
            return page_grids(document[number], number) if found is None else grids_of_words(found, number)

        places = label_places(texts, statements, filing.form)
        tables = _tables(filing, texts, statements, places, grids)
        items = with_marks(list(_figures(tables)), read.again)
        doubts = {page: differing_figures(read.words[page], again) for page, again in read.again.items()}
        pages = tuple(
            replace(page, ocr_doubts=doubts.get(page.page)) for page in _parsed(filing, texts, statements, places).pages
        )
        return ParsedFiling(filing, pages, tuple(items), tuple(_marked(tables, items)))


def _parse_text(content: bytes, kind: Kind, source_uri: str, settings: FilingSettings) -> ParsedFiling:
    sources: dict[FactSource, Facts] = {}
    body = content
    others: tuple[Document, ...] = ()
    if kind == "submission":
        submission = parse_submission(content)
        sources["sgml"], body, others = submission.facts, submission.body.encode(), submission.others
    main = read_document(body, settings, html=kind == "html" or (kind == "submission" and is_markup(body)))
    if main.root is not None and inline_xbrl.has_inline_xbrl(main.root):
        sources = {"ixbrl": inline_xbrl.cover_facts(main.root), **sources}
    found = cover.read_facts(main.texts, merge(sources)[0])
    filing = _filing(content, source_uri, {**sources, **found}, main.texts, main.statements)
    exhibits, left_out = read_exhibits(main, others, filing.form, settings)
    filing = replace(filing, left_out=tuple(left_out))
    places = label_places(main.texts, main.statements, filing.form)
    parsed = _parsed(filing, main.texts, main.statements, places)
    tags = tags_of([main, *exhibits])
    pages = list(parsed.pages)
    tables: list[Table] = []
    tagged: list[LineItem] = []
    for document in (main, *exhibits):
        first = len(pages) if document.kind is not None else 0
        if document.kind is not None:
            pages += _exhibit_pages(document, first)
        places = [page.place for page in pages[first:]]
        dated = dated_by(document, filing)
        own = _tables(dated, document.texts, document.statements, places, document.grids, tags)
        tables += (_moved(table, first) for table in own)
        tagged += document.tagged(tags, first, _figures(own))
    items = (*_figures(tables), *tagged)
    return ParsedFiling(with_results(filing, exhibits, items), tuple(pages), items, tuple(tables))


def _exhibit_pages(document: TextDocument, first: int) -> list[Page]:
    """The pages of an exhibit; the first of them has number ``first``."""
    texts = document.texts
    columns = zip(texts, document.statements, page_headings(texts), strict=True)
    return [
        Page(number, text, statement=statement, headings=headings, document=document.kind)
        for number, (text, statement, headings) in enumerate(columns, first)
    ]


def _figures(tables: Iterable[Table]) -> tuple[LineItem, ...]:
    return tuple(item for table in tables for item in line_items(table))


def _marked(tables: Sequence[Table], items: Sequence[LineItem]) -> Sequence[Table]:
    """``tables`` with the marks of their figures that OCR read."""
    marks = {(item.page, item.row, item.column): item.ocr for item in items if item.ocr is not None}
    if not marks:
        return tables

    def marked(row: Row) -> Row:
        cells = (replace(cell, ocr=marks.get((row.page, row.row, cell.column))) for cell in row.cells)
        return replace(row, cells=tuple(cells))

    return [replace(table, rows=tuple(map(marked, table.rows))) for table in tables]


def _moved(table: Table, first: int) -> Table:
    """``table`` of a document whose first page has number ``first``."""
    if not first:
        return table
    rows = tuple(replace(row, page=first + row.page) for row in table.rows)
    return replace(table, page=first + table.page, last_page=first + table.last_page, rows=rows)


def _joined(begun: Table, rest: Table) -> Table:
    """A table that goes on overleaf as one, under the heads of its beginning."""
    columns = {column.column: column for column in (*rest.columns, *begun.columns)}
    return replace(
        begun,
        last_page=rest.last_page,
        columns=tuple(columns[number] for number in sorted(columns)),
        rows=(*begun.rows, *rest.rows),
    )


def _tables(
    filing: Filing,
    texts: Sequence[str],
    statements: Sequence[Statement | None],
    places: Sequence[Place | None],
    grids: Callable[[int], Sequence[Grid]],
    tags: Tags | None = None,
) -> list[Table]:
    """The tables of a document. One that goes on overleaf is one table."""
    tables: list[Table] = []
    stated = (read_scale(text[:3000]) for text, statement in zip(texts, statements, strict=True) if statement)
    # The scale that most statements announce, for notes that announce none.
    usual = next((scale for scale, _ in Counter(filter(None, stated)).most_common(1)), None)
    reported = reported_currency(texts, heads_of(texts, statements), filing.form)
    headed = page_registrants(texts)
    own = own_registrant(headed, filing.company)
    unfinished: Unfinished | None = None
    for number, (before, text, statement) in enumerate(zip(("", *texts), texts, statements, strict=False)):
        if places[number] in _NO_TABLES:
            unfinished = None
            continue
        found = grids(number)
        registrants = [None if each in (own, None) else each.name for each in of_grids(headed[number], text, found)]
        cover = places[number] == "cover"
        scale = None if cover else usual
        known = TablePage(before, scale, reported, tags=tags or Tags(), of=registrants, unfinished=unfinished)
        read = read_page(found, text, statement, filing, known)
        unfinished = read.unfinished
        of_page = titled_valuation(read.tables, text)
        if cover:
            of_page = [_counting(table) for table in of_page if any(map(_is_dated, _cells(table)))]
        if read.continues and of_page and tables:
            tables[-1] = _joined(tables[-1], of_page.pop(0))
        tables += of_page
    return tables


def _cells(table: Table) -> Iterator[Cell]:
    return (cell for row in table.rows for cell in row.cells)


def _is_dated(cell: Cell) -> bool:
    return cell.period_end is not None


def _counting(table: Table) -> Table:
    """A table of a cover, with its counts of shares outstanding as such. The market value is printed with its sign."""
    if not any(_OUTSTANDING.search(text) for text in (table.title, table.caption, *_heads(table))):
        return table

    def counted(row: Row) -> Row:
        return replace(row, cells=tuple(map(as_shares, row.cells))) if _SHARES.search(row.label) else row

    def as_shares(cell: Cell) -> Cell:
        is_count = cell.unit in CURRENCIES and cell.concept is None and not any(mentions(cell.text))
        return replace(cell, unit="shares", months=0) if is_count else cell

    return replace(table, rows=tuple(map(counted, table.rows)))


def _heads(table: Table) -> Iterator[str]:
    return (head for column in table.columns for head in column.heads)


def _is_tabular(text: str) -> bool:
    """Whether a page seems to have a table. Reading words by position is slow, so it skips other pages."""
    ends = (match.end() for match in _FIGURE_END.finditer(text))
    figures = (end for end in ends if _FIGURE_LINE.search(text[text.rfind("\n", 0, end) + 1 : end]))
    return sum(1 for _ in islice(figures, _MIN_FIGURE_LINES)) == _MIN_FIGURE_LINES


def _parsed(
    filing: Filing,
    texts: Sequence[str],
    statements: Sequence[Statement | None],
    places: Sequence[Place | None],
) -> ParsedFiling:
    columns = zip(texts, label_items(texts, statements), statements, places, page_headings(texts), strict=True)
    pages = tuple(Page(number, *values) for number, values in enumerate(columns))
    return ParsedFiling(filing, pages)


def _filing(
    content: bytes,
    source_uri: str,
    sources: dict[FactSource, Facts],
    texts: Sequence[str],
    statements: Sequence[Statement | None],
) -> Filing:
    """The filing's facts, each from its best source. Raises FilingError ``not_a_filing`` if form or company is missing
    and the pages are not those of a report."""
    digest = hashlib.sha256(content).hexdigest()
    name = doc_name(source_uri)
    if ACCESSION_NUMBER.fullmatch(name):
        sources = {**sources, "name": Facts(accession_number=name)}
    facts, provenance = merge(sources)
    facts = fiscal.complete(facts)
    if (facts.form is None or facts.company is None) and not is_report(texts, statements):
        missing = " and ".join(name for name in ("form", "company") if getattr(facts, name) is None)
        raise FilingError(
            "parse",
            "not_a_filing",
            f"no {missing} on the first pages, no financial statements and no Items: neither a report nor a release",
        )
    form, company = facts.form or UNIDENTIFIED, facts.company or UNIDENTIFIED
    if facts.accession_number is not None:
        provenance["filing_id"] = provenance.pop("accession_number")
    provenance.pop("transition_from", None)
    provenance["is_amendment"] = provenance.pop("amendment", "cover")
    for derived in ("fiscal_year", "fiscal_period"):
        if getattr(facts, derived) is not None and derived not in provenance and "period_end" in provenance:
            provenance[derived] = provenance["period_end"]
    amends = facts.amends
    if facts.amendment and facts.form is not None:
        if amends is None and facts.period_end:
            amends = f"{form.removesuffix('/A')} {facts.period_end.isoformat()}"
        form = f"{form.removesuffix('/A')}/A"
    return Filing(
        filing_id=facts.accession_number or digest[:20],
        doc_name=name,
        source_uri=source_uri,
        content_sha256=digest,
        company=company,
        form=form,
        cik=facts.cik,
        ticker=facts.ticker,
        commission_file_number=facts.commission_file_number,
        is_amendment=bool(facts.amendment),
        amends=amends,
        filed_at=facts.filed_at,
        period_end=facts.period_end,
        fiscal_year=facts.fiscal_year,
        fiscal_period=facts.fiscal_period,
        fiscal_year_end=facts.fiscal_year_end,
        aliases=tuple(alias for alias in facts.aliases if alias.lower() != company.lower()),
        provenance=provenance,
    )


def doc_name(source_uri: str) -> str:
    """The stem of a path or URI: "s3://bucket/a/ACME_2022_10K.pdf" is "ACME_2022_10K"."""
    return _SUFFIX.sub("", source_uri.rstrip("/").rpartition("/")[2]) or source_uri
