"""The nouns of finray: small frozen values that all layers share.

A *filing* is one document of an EDGAR submission, a *page* one of its printed pages, a *chunk* at most 1,024
characters of one page, a *passage* a chunk that was retrieved, *evidence* a passage that the curator kept.

Page numbers are 0-based everywhere in code and data (the index of the PDF page, or of the HTML page between page
breaks); only text for people adds one.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from finray.core.records import OmitEmpty, OmitNone, Record

FiscalPeriod = Literal["FY", "Q1", "Q2", "Q3", "Q4"]
FactSource = Literal["ixbrl", "sgml", "cover", "text", "table", "name", "ocr", "unread", "repair"]
Mark = Literal["unidentified", "ocr", "unread", "repaired"]
Statement = Literal["income", "balance", "cash_flow", "comprehensive_income", "equity"]
Place = Literal["cover", "contents", "signatures", "exhibit_index", "exhibit"]
Status = Literal["answered", "unanswerable", "error"]
EvidenceKind = Literal["table", "prose"]

EARNINGS_RELEASE = "EX-99.1"
"""Form of an earnings release: the exhibit number under which an 8-K furnishes it (Regulation S-K, Item 601)."""
ANNUAL_REPORT_TO_HOLDERS = "ARS"
"""Form of a glossy annual report to security holders (Rule 14a-3)."""
UNIDENTIFIED = "unidentified"
"""Company or form of a report in which finray cannot find it."""
PLAIN_DOCUMENT = "document"
"""Form of a contract or another document that is not an SEC filing (``collection.profile = "documents"``)."""
_DATED_FORMS = ("10-K", "10-Q", "8-K", "20-F", "40-F", "6-K", EARNINGS_RELEASE, ANNUAL_REPORT_TO_HOLDERS, UNIDENTIFIED)


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
    PDF points, None for HTML. ``concept`` is the XBRL concept if the cell is tagged.
    ``statement`` is None for tables of notes and of management's discussion.
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


@dataclass(frozen=True, slots=True)
class ParsedFiling:
    """The result of reading one filing: everything that the index stores about it except vectors."""

    filing: Filing
    pages: tuple[Page, ...]
    line_items: tuple[LineItem, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentRef(Record):
    """A filing that document retrieval proposed, as a prediction names it: the index describes it."""

    doc_name: str
    filing_id: str
    score: float
    company: OmitEmpty[str] = ""
    form: OmitEmpty[str] = ""
    reasons: OmitEmpty[tuple[str, ...]] = ()
    """Why it ranked there."""


@dataclass(frozen=True, slots=True)
class Document:
    """A filing that document retrieval proposed. ``reasons`` explain its rank."""

    filing: Filing
    score: float
    reasons: tuple[str, ...] = ()

    @property
    def ref(self) -> DocumentRef:
        filing = self.filing
        return DocumentRef(filing.doc_name, filing.filing_id, self.score, filing.company, filing.form, self.reasons)


@dataclass(frozen=True, slots=True)
class Passage(Record):
    """A chunk that was retrieved; also the shape of evidence."""

    doc_name: str
    filing_id: str
    page: int
    start: int
    end: int
    text: str
    """Characters ``start`` to ``end`` of the page's text."""
    score: float


@dataclass(frozen=True, slots=True)
class RenderedBlock(Record):
    """Evidence for a reader: a table with its title, heads and units, or prose with its heading."""

    id: str
    """``e1``, ``e2``, …: unique in its prediction."""
    doc_name: str
    filing_id: str
    page: int
    kind: EvidenceKind
    heading: str
    """The table's title, or the heading above the prose."""
    text: str
    """Markdown without HTML. ``|``, ``\\`` and ``<`` of the filing are escaped by ``\\``; a row that is left out is
    counted in the last line."""


@dataclass(frozen=True, slots=True)
class PageRef(Record):
    """The page of a passage, without its text."""

    doc_name: str
    filing_id: str
    page: int


@dataclass(frozen=True, slots=True)
class PassageRef(Record):
    """The place of a passage, without its text."""

    doc_name: str
    filing_id: str
    page: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class GoldEvidence(Record):
    """One gold page, or a gold filing whose page is unknown."""

    doc_name: str
    """The source file's stem, or the accession number."""
    page: OmitNone[int | None] = None
    """Metrics of pages leave out evidence without it."""
    text: OmitNone[str | None] = None
    alternative_pages: OmitEmpty[tuple[int, ...]] = ()
    """Other pages of the same filing that show the same: any one of them counts as this gold page."""
    start: OmitNone[int | None] = None
    """The gold characters of the page's text are those from ``start`` up to ``end``; absent if the whole page is
    gold."""
    end: OmitNone[int | None] = None

    @property
    def places(self) -> frozenset[tuple[str, int]]:
        """Every (doc_name, page) that counts as this evidence; none if its page is unknown."""
        return frozenset((self.doc_name, page) for page in self.pages)

    @property
    def pages(self) -> tuple[int, ...]:
        """The gold page and its alternatives; () if unknown."""
        return () if self.page is None else (self.page, *self.alternative_pages)


@dataclass(frozen=True, slots=True)
class Question(Record):
    """A question and, if known, its gold answer: one line of a question file."""

    qid: str
    """Unique in the file; a number is taken as text."""
    question: str
    """At most ``bulk.max_question_characters`` long."""
    answer: OmitNone[str | None] = None
    """The gold answer for a person; a number is taken as text."""
    question_type: OmitNone[str | None] = None
    """Reports are broken down by it. For a type that begins with ``unanswerable``, a refusal is right."""
    evidence: OmitEmpty[tuple[GoldEvidence, ...]] = ()
    """The gold pages."""
    value: OmitNone[float | None] = None
    """The gold number, in ``unit``; anything but a number is ignored."""
    unit: OmitNone[str | None] = None
    """``USD``, ``USD/share``, ``percent``, ``ratio``, ``shares``, …"""
    program: OmitNone[str | None] = None
    """The arithmetic behind the gold answer, or the tagged fact it is."""
    source: OmitNone[str | None] = None
    """The data set that the question was made from: ``finqa``, ``financebench``, ``secqa``."""
    context: OmitEmpty[tuple[str, ...]] = ()
    """Earlier questions of the conversation, oldest first: what the question lacks is taken from them."""


@dataclass(frozen=True, slots=True)
class TokenUsage(Record):
    """Tokens of a language model in one stage."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: OmitEmpty[float] = 0.0
    """At ``llm.prompt_price`` and ``llm.completion_price``; 0 for replies from the replay cache."""
    cached_tokens: OmitEmpty[int] = 0
    """Tokens of the prompt that came from the server's prefix cache, if it reports them."""
    calls: OmitEmpty[int] = 0
    """Replies."""

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cost + other.cost,
            self.cached_tokens + other.cached_tokens,
            self.calls + other.calls,
        )


@dataclass(frozen=True, slots=True)
class CitedCell(Record):
    """A number that an answer was computed from, and the cell of a table that prints it."""

    name: str
    """Its name in ``program``."""
    value: float
    """In base units, as the program uses it."""
    doc_name: str
    filing_id: str
    page: int
    label: str
    """The row as printed; the concept's name if the tagged number stands in a sentence."""
    text: str
    """The cell as printed."""
    section: OmitNone[str | None] = None
    """The heading inside the table that governs the row."""
    column_label: OmitNone[str | None] = None
    """What stands above the column."""
    statement: OmitNone[Statement | None] = None
    period_end: OmitNone[dt.date | None] = None
    months: OmitNone[int | None] = None
    """Length of the period, 0 for an instant."""
    concept: OmitNone[str | None] = None
    """The XBRL concept that the cell is tagged with."""
    box: OmitNone[tuple[float, float, float, float] | None] = None
    """(x0, y0, x1, y1) in PDF points; absent for HTML."""
    fit: float = 1.0
    """In [0, 1]: how well the row matches the question's words; 1 for a line that a named metric is defined by."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answerer's conclusion. ``value`` is in ``unit`` (``"USD"``, ``"USD/share"``, ``"percent"``, ``"ratio"``,
    ``"shares"``); ``text`` is for a person. ``program`` shows the arithmetic over named operands."""

    text: str
    status: Status
    value: float | None = None
    unit: str | None = None
    program: str | None = None
    evidence: tuple[Passage, ...] = ()
    operands: tuple[CitedCell, ...] = ()
    confidence: float | None = None
    """The probability that the answer is right, from how it was found; None for a refusal or if unknown."""
    missing: tuple[str, ...] = ()
    nearest: tuple[str, ...] = ()
    """For a refusal: the contents of the index that are closest to what is missing, for a person."""
    grounded: bool | None = None
    """Whether every number that the answer was computed from, or that it states, is in its evidence; None if that was
    not checked."""
    closest: bool = False
    """A refusal that shows the printed rows or sentences closest to the question."""

    @classmethod
    def refused(cls, *missing: str) -> Answer:
        """No answer, because the filings lack what ``missing`` names."""
        return cls(f"Not found in the filings: {'; '.join(missing)}.", "unanswerable", missing=missing)


@dataclass(frozen=True, slots=True)
class Prediction(Record):
    """The outcome of one question: one line of a predictions file."""

    qid: str
    question: str
    """As asked."""
    answer: str
    """Text for a person."""
    status: Status
    value: float | None = None
    """The answer as a number, in ``unit``."""
    unit: str | None = None
    """``USD``, ``USD/share``, ``percent``, ``ratio``, ``shares``, …"""
    error: str | None = None
    """What went wrong."""
    documents: tuple[DocumentRef, ...] = ()
    """Best first."""
    passages: tuple[Passage, ...] = ()
    """Best first: the ranked retrieval, before curation."""
    evidence: tuple[Passage, ...] = ()
    """What the answer rests on."""
    evidence_blocks: OmitEmpty[tuple[RenderedBlock, ...]] = ()
    """``evidence`` for a reader: the tables and the prose that it is from, at most ``evidence.shown_tokens``."""
    iterations: int = 0
    """Rounds of the loop."""
    usage: Mapping[str, TokenUsage] = field(default_factory=dict)
    """Tokens of language models by stage."""
    unusable: OmitEmpty[Mapping[str, int]] = field(default_factory=dict)
    """Replies of language models that could not be used, by stage."""
    seconds: float = 0.0
    """From question to answer."""
    settings_hash: str = ""
    """12 hex digits over every setting that can change an answer."""
    program: OmitNone[str | None] = None
    """The arithmetic over named operands."""
    missing: OmitEmpty[tuple[str, ...]] = ()
    """What the index lacks, for unanswerable questions."""
    line: OmitNone[int | None] = None
    """1-based line of the question file, for lines that could not be asked."""
    trace: OmitEmpty[tuple[str, ...]] = ()
    """What each stage did, if it was asked for."""
    rounds: OmitEmpty[tuple[tuple[PageRef, ...], ...]] = ()
    """For each iteration of the loop its distinct pages: those that the curator kept, then those retrieved for what was
    missing."""
    context: OmitEmpty[tuple[PassageRef, ...]] = ()
    """The passages that the answerer was given, best first."""
    grounded: OmitNone[bool | None] = None
    """Whether every number that the answer was computed from (or, for a language model, that it states) is in its
    ``evidence``, except scales, divisors and counts; absent for quotations."""
    nearest: OmitEmpty[tuple[str, ...]] = ()
    """For a refusal: the contents of the index that are closest to what is missing (companies with similar names,
    filings of the nearest years, rows with similar words)."""
    operands: OmitEmpty[tuple[CitedCell, ...]] = ()
    """Each number of ``program`` and the cell that prints it."""
    confidence: OmitNone[float | None] = None
    """The probability that the answer is right; for a quotation, that it is from a page that answers. Only for the
    ``statements`` answerer, or one that ``loop.confidence_model`` was trained for."""
    resolved: OmitNone[str | None] = None
    """The question that was answered, if ``question`` was completed from its ``context``."""
    unclear: OmitNone[str | None] = None
    """What the question leaves open after its ``context``; then nothing was searched."""
    closest: OmitEmpty[bool] = False
    """Whether a refusal shows the printed rows or sentences closest to the question, which may not answer it."""

    @classmethod
    def of_failure(cls, question: Question, error: BaseException, settings_hash: str) -> Prediction:
        """The prediction for a question that ``error`` kept from being answered."""
        problem = f"{type(error).__name__}: {error}"
        return cls(question.qid, question.question, "", "error", error=problem, settings_hash=settings_hash)
