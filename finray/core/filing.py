"""One filing as it is read: its cover facts, pages, chunks and line items.

A *filing* is one document of an EDGAR submission, a *page* one of its printed pages, a *chunk* at most 1,024
characters of one page.

Page numbers are 0-based everywhere in code and data (the index of the PDF page, or of the HTML page between page
breaks); only text for people adds one.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from finray.core.forms import ANNUAL_REPORT_TO_HOLDERS, CURRENT, EARNINGS_RELEASE, PERIODIC
from finray.core.ocr_marks import OcrMark
from finray.core.records import Record

if TYPE_CHECKING:
    from finray.core.tables import Table

FiscalPeriod = Literal["FY", "Q1", "Q2", "Q3", "Q4"]
FactSource = Literal["ixbrl", "sgml", "cover", "text", "table", "name", "ocr", "unread", "repair"]
Mark = Literal["unidentified", "ocr", "unread", "repaired"]
Statement = Literal["income", "balance", "cash_flow", "comprehensive_income", "equity"]
Place = Literal["cover", "contents", "signatures", "exhibit_index", "exhibit"]

UNIDENTIFIED = "unidentified"
"""Company or form of a report in which finray cannot find it."""
PLAIN_DOCUMENT = "document"
"""Form of a contract or another document that is not an SEC filing (``collection.profile = "documents"``)."""
_DATED_FORMS = (*PERIODIC, *CURRENT, EARNINGS_RELEASE, ANNUAL_REPORT_TO_HOLDERS, UNIDENTIFIED)


@dataclass(frozen=True, slots=True)
class Filing(Record):
    """One filing and the facts on its cover.

    ``filing_id`` is the accession number if the filing carries one, else the first 20 hex digits of the
    content's SHA-256. ``doc_name`` is the stem of the source file. ``fiscal_year`` is the year as the company itself
    counts it; the calendar year of ``period_end`` may differ. ``filed_at`` is the filing date, never a fiscal fact.
    ``amends`` names what an amendment amends: the form and period it restates (``"10-K 2022-12-31"``) or an
    accession number if the filing gives one. ``provenance`` is the source of each fact; under ``pages`` it has "ocr" if
    OCR read pages, or "unread" if some need it and were left out, and under ``file`` "repair" if the file was repaired.
    """

    filing_id: str
    doc_name: str
    source_uri: str
    content_sha256: str
    company: str
    form: str
    cik: str | None = None
    ticker: str | None = None
    commission_file_number: str | None = None
    """Such as ``001-06991``: one a registrant, printed on covers that lack a CIK."""
    is_amendment: bool = False
    amends: str | None = None
    filed_at: dt.date | None = None
    period_end: dt.date | None = None
    fiscal_year: int | None = None
    fiscal_period: FiscalPeriod | None = None
    fiscal_year_end: str | None = None
    """``MM-DD`` on which the company's fiscal year ends, if the filing states it."""
    aliases: tuple[str, ...] = ()
    """Other names the filing gives its company: former names, short names such as (“Acme”), the brand."""
    provenance: Mapping[str, FactSource] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    """Types of the submission's documents with text that were not read ("EX-31.1"), one for each."""
    results_end: dt.date | None = None
    """The last day of the fiscal period whose results an exhibit of a current report announces; ``period_end`` is the
    report's own date."""

    @property
    def closes(self) -> dt.date | None:
        """The last day of ``fiscal_period``."""
        return self.results_end or self.period_end

    @property
    def unknown(self) -> tuple[str, ...]:
        """Which of company, form and period could not be read; empty for a document that is not an SEC filing."""
        if self.form == PLAIN_DOCUMENT:
            return ()
        undated = self.period_end is None and self.fiscal_year is None and self.form.startswith(_DATED_FORMS)
        facts = {"company": self.company == UNIDENTIFIED, "form": self.form == UNIDENTIFIED, "period": undated}
        return tuple(fact for fact, missing in facts.items() if missing)

    @property
    def marks(self) -> tuple[Mark, ...]:
        """Reasons to trust the filing's text less than that of others."""
        marks: dict[Mark, bool] = {
            "unidentified": bool(self.unknown),
            "ocr": self.provenance.get("pages") == "ocr",
            "unread": self.provenance.get("pages") == "unread",
            "repaired": self.provenance.get("file") == "repair",
        }
        return tuple(mark for mark, holds in marks.items() if holds)


@dataclass(frozen=True, slots=True)
class Page:
    """One printed page. ``item`` is the SEC Item it belongs to ("7", "1A"), ``statement`` the primary financial
    statement printed on it, ``place`` its role (the cover, an exhibit), each None if there is none."""

    page: int
    text: str
    item: str | None = None
    statement: Statement | None = None
    place: Place | None = None
    headings: str = ""
    """The headings printed on the page, one a line."""
    document: str | None = None
    """The type of the exhibit that the page belongs to ("EX-99.1"), None in the filing's main document."""
    ocr_doubts: tuple[str, ...] | None = None
    """If OCR read the page, the figures of which its two readings differ, as printed; None for text layers and HTML."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """``text == page.text[start:end]``; at most 1,024 characters (``ChunkSettings.size``)."""

    page: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class LineItem(Record):
    """One number of a financial table: a row of the ``facts`` table.

    ``value`` is in base units (dollars, shares, or a plain ratio), already multiplied by ``scale`` and signed;
    ``text`` is the cell as printed. ``unit`` is a currency, a currency "/share", "shares", "percent", or "pure" for
    ratios, years and counts of other things. ``period_end`` closes the period (None if a note's table shows no date),
    ``months`` is its length (0 for an instant, such as a balance-sheet date; None if the table does not state it).
    ``label`` is the row as printed, ``section`` the heading inside the table that governs it, ``column_label`` the
    column head if it is more than a period (a segment, "Level 1"), with the part of the company that a tag names in
    brackets, ``caption`` the text just above a table that is not a primary statement. ``box`` is (x0, y0, x1, y1) in
    PDF points, None for HTML. ``concept`` is the XBRL concept if the cell is tagged, ``tagged`` the value of the tag in
    the same unit with the tag's own sign: a cell that prints "(45)" for payments has ``value`` -45 and ``tagged`` 45.
    ``statement`` is None for tables of notes and of management's discussion. ``registrant`` is the company whose
    statement it is in a combined report, as its title names it; None for the filer's own and if it is unknown.
    """

    page: int
    statement: Statement | None
    label: str
    value: float
    text: str
    unit: str
    scale: int
    period_end: dt.date | None
    months: int | None
    section: str | None = None
    row: int = 0
    column: int = 0
    box: tuple[float, float, float, float] | None = None
    concept: str | None = None
    column_label: str | None = None
    caption: str | None = None
    registrant: str | None = None
    tagged: float | None = None
    ocr: OcrMark | None = None
    """What is known of the reading if OCR read the figure; None for text layers and HTML."""


@dataclass(frozen=True, slots=True)
class ParsedFiling:
    """The result of reading one filing: everything that the index stores about it except vectors. ``line_items`` are
    the figures of its ``tables`` and the tagged ones of its prose."""

    filing: Filing
    pages: tuple[Page, ...]
    line_items: tuple[LineItem, ...] = ()
    tables: tuple[Table, ...] = ()
